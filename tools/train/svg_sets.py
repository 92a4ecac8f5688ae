"""The pictures of emoji sets that npm has as SVG (@iconify-json/NAME), with their code points."""

import io
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PIL import Image

from glyphs import FLAGS, SKIN_TONES

SIDE = 192  # pixels of a rendered picture


def read_sets(folders):
    """Returns {(set, code points): bytes of a lossless WebP file} of the packages unpacked in
    `folders`, without flags and skin tones, of which the font has enough."""
    folders = [Path(folder) for folder in folders]
    codes = codes_by_name(folders)
    drawings = {}
    for folder in folders:
        icons = json.loads((folder / "icons.json").read_text())
        for name, icon in sorted(icons["icons"].items()):
            if name in codes and not (FLAGS | SKIN_TONES) & set(codes[name]):
                drawings[(icons["prefix"], codes[name])] = as_svg(icons, icon)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(drawings, pool.map(render, drawings.values())))


def codes_by_name(folders):
    """The code points of names; sets that lack chars.json use the names of those that have it."""
    codes = {}
    for folder in folders:
        for text, name in json.loads((folder / "chars.json").read_text()).items():
            codes.setdefault(name, tuple(int(code, 16) for code in text.split("-")))
    return codes


def as_svg(icons, icon):
    width, height = (icon.get(side, icons[side]) for side in ("width", "height"))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' viewBox="0 0 {width} {height}">{icon["body"]}</svg>'
    )


def render(svg):
    command = ["rsvg-convert", "--width", str(SIDE), "--height", str(SIDE)]
    png = subprocess.run(command, input=svg.encode(), check=True, capture_output=True).stdout
    file = io.BytesIO()
    Image.open(io.BytesIO(png)).save(file, "WEBP", lossless=True)
    return file.getvalue()
