"""Runs models on the held-out sketches of a style; prints each one's L1 and writes a contact sheet.

The sheet has a column for each of the first sketches: the sketch, each model's picture, the painting.
"""

import argparse
import os
import subprocess
import tempfile

import numpy
from PIL import Image

SHOWN = 8
SIDE = 128  # of a picture on the sheet


def read(path):
    return Image.open(path).convert("RGB")


def run(tool, model, sketch, folder):
    made = os.path.join(folder, "made.png")
    command = [tool, "run", model, "-i", sketch, "-o", made, "--range", "-1:1"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return read(made)


def difference(a, b):
    """The mean absolute difference on a 0..1 scale."""
    return numpy.abs(numpy.asarray(a, float) - numpy.asarray(b, float)).mean() / 255


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="the tessera command")
    parser.add_argument("folder", help="held-out, of style_pairs.py")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--sheet", default="sheet.png")
    parser.add_argument("--skip", type=int, default=0, help="sketches that the sheet leaves out")
    options = parser.parse_args()

    names = sorted(os.listdir(os.path.join(options.folder, "sketches")))
    sketches = [os.path.join(options.folder, "sketches", name) for name in names]
    paintings = [read(os.path.join(options.folder, "paintings", name)) for name in names]
    rows = [[read(sketch) for sketch in sketches]]
    with tempfile.TemporaryDirectory() as folder:
        for model in options.models:
            rows.append([run(options.tool, model, sketch, folder) for sketch in sketches])
            error = numpy.mean([difference(a, b) for a, b in zip(rows[-1], paintings)])
            print(f"{model}: L1 {error:.4f} of {len(names)} pictures")
    rows.append(paintings)

    sheet = Image.new("RGB", (SHOWN * SIDE, len(rows) * SIDE))
    for y, row in enumerate(rows):
        for x, picture in enumerate(row[options.skip : options.skip + SHOWN]):
            sheet.paste(picture.resize((SIDE, SIDE), Image.LANCZOS), (x * SIDE, y * SIDE))
    sheet.quantize(256).save(options.sheet, optimize=True)


if __name__ == "__main__":
    main()
