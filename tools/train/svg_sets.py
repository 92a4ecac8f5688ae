"""The pictures of sets that npm has as SVG (@iconify-json/NAME), with code points by their names."""

import io
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PIL import Image

from glyphs import FLAGS, SKIN_TONES

SIDE = 192  # pixels of a rendered picture


def read_sets(folders):
    """Returns {(set, name, code points): bytes of a lossless WebP file} of the packages unpacked in
    `folders`, without flags and skin tones, of which the font has enough. No code points: the name
    is no emoji's."""
    folders = [Path(folder) for folder in folders]
    codes = codes_by_name(folders)
    drawings = {}
    for folder in folders:
        icons = json.loads((folder / "icons.json").read_text())
        for name, icon in sorted(largest(icons["icons"]).items()):
            known = codes.get(plain(name), ())
            if not ((FLAGS | SKIN_TONES) & set(known) if known else FLAG_OR_TONE.search(name)):
                drawings[(icons["prefix"], name, known)] = as_svg(icons, icon)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        files = dict(zip(drawings, pool.map(render, drawings.values())))
    return {key: file for key, file in files.items() if file}


FLAG_OR_TONE = re.compile(r"^flag-|-(light|medium-light|medium|medium-dark|dark)(-skin-tone)?$")
PIXELS = re.compile(r"-(1[2-9]|[2-9]\d|\d{3,})$")


def largest(icons):
    """`icons` without those that are there in a larger size, too: add-16, add-24."""
    found = {}
    for name in icons:
        size = PIXELS.search(name)
        base, pixels = (name[: size.start()], int(size[1])) if size else (name, 0)
        found[base] = max(found.get(base, (0, name)), (pixels, name))
    return {name: icons[name] for _, name in found.values()}


def plain(name):
    """`name` as all sets have it: no hyphens, no number of a variant."""
    return re.sub(r"-\d$", "", name).replace("-", "")


def codes_by_name(folders):
    """The code points of plain names; sets that lack them use the names of those that have them."""
    codes = {}
    for folder in folders:
        for text, name in json.loads((folder / "chars.json").read_text()).items():
            codes.setdefault(plain(name), tuple(int(code, 16) for code in text.split("-")))
    return codes


def as_svg(icons, icon):
    width, height = (icon.get(side, icons.get(side, 16)) for side in ("width", "height"))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' viewBox="0 0 {width} {height}">{icon["body"]}</svg>'
    )


def render(svg):
    """The bytes of a WebP file; None where librsvg refuses the drawing."""
    command = ["rsvg-convert", "--width", str(SIDE), "--height", str(SIDE)]
    png = subprocess.run(command, input=svg.encode(), capture_output=True).stdout
    if not png:
        return None
    file = io.BytesIO()
    Image.open(io.BytesIO(png)).save(file, "WEBP", lossless=True)
    return file.getvalue()
