"""Held-out figures of generators side by side, a sheet of held-out results, outputs for sketches."""

import argparse

import numpy
import torch
from PIL import Image

from dataset import Pictures
from hints import MOST_STROKES
from images import SIZE, on_white
from measure import SEED, error, grain, paint, sharpness
from model import load_generator
from onnx_model import OnnxModel
from pairs import held_out_pairs

SHOWN = 24  # held-out pictures, at a fixed stride, not selected by quality
COLUMNS = 3
TILE = 128  # pixels on the sheet


def load(path, device):
    """generator.pt, or an .onnx file."""
    generator = OnnxModel(path) if path.endswith(".onnx") else load_generator(path)[0]
    return generator.to(device).eval()


def figures(generators, pictures, device):
    """Rows of a table: a name and a number for each generator."""
    for strokes in (0, 4, 8, MOST_STROKES):
        sketches, truth = (t.to(device) for t in held_out_pairs(pictures, strokes, SEED))
        results = [paint(generator, sketches) for generator in generators]
        for name, measure in (("L1", error), ("sharpness", sharpness), ("grain", grain)):
            yield f"{name}, {strokes} strokes", [measure(r, truth) for r in results]


def comparisons(pictures, seen):
    """Errors of what needs no generator."""
    plain, truth = held_out_pairs(pictures, 0, SEED)
    every = torch.arange(len(seen.pixels))[:, None]
    mean = torch.stack([on_white(seen.take(i)).mean((0, 2, 3)) for i in every]).mean(0)
    yield "L1, white picture", error(torch.ones_like(truth), truth)
    yield "L1, the plain sketch itself", error(plain, truth)
    yield "L1, mean colour of all training pictures", error(mean[:, None, None] * 2 - 1, truth)


def sheet(rows, columns):
    """An image of `rows`, each a list of pictures [3, SIZE, SIZE] side by side, in columns."""
    width = len(rows[0])
    lines = -(-len(rows) // columns)
    image = Image.new("RGB", (columns * width * TILE, lines * TILE), "white")
    for i, row in enumerate(rows):
        for j, picture in enumerate(row):
            pixels = ((picture + 1) * 127.5).round().clamp(0, 255).byte().permute(1, 2, 0)
            tile = Image.fromarray(pixels.cpu().numpy()).resize((TILE, TILE), Image.LANCZOS)
            image.paste(tile, ((i // lines * width + j) * TILE, i % lines * TILE))
    return image


def rows(generators, *sketches):
    """For each picture its sketches, each followed by the generators' results."""
    columns = []
    for some in sketches:
        columns += [some, *(paint(generator, some) for generator in generators)]
    return list(zip(*columns))


def held_out_rows(generators, pictures, device):
    """Sketch and results, sketch with strokes and results, ground truth."""
    shown = slice(0, None, max(len(pictures.pixels) // SHOWN, 1))
    plain, truth = (t[shown][:SHOWN].to(device) for t in held_out_pairs(pictures, 0, SEED))
    hinted = held_out_pairs(pictures, MOST_STROKES, SEED)[0][shown][:SHOWN].to(device)
    return [[*row, t] for row, t in zip(rows(generators, plain, hinted), truth)]


def read_sketch(path, device):
    image = Image.open(path).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    white.alpha_composite(image)
    pixels = numpy.array(white.convert("RGB").resize((SIZE, SIZE), Image.LANCZOS), numpy.float32)
    return torch.from_numpy(pixels / 127.5 - 1).permute(2, 0, 1).to(device)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="what prepare.py wrote")
    parser.add_argument("generators", nargs="+", help="generator.pt, or .onnx files")
    parser.add_argument("--sheet", help="a PNG of held-out sketches, results and truth")
    parser.add_argument("--drawn", nargs="+", metavar="PNG", help="the PNG to write, then sketches")
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    generators = [load(path, device) for path in options.generators]
    pictures = Pictures(options.data, "held-out", "cpu")
    for what, values in figures(generators, pictures, device):
        print(*(f"{value:.4f}" for value in values), what, sep="  ")
    for what, value in comparisons(pictures, Pictures(options.data, "train", "cpu")):
        print(f"{value:.4f}  {what}")
    if options.sheet:
        sheet(held_out_rows(generators, pictures, device), COLUMNS).save(options.sheet)
    if options.drawn:
        sketches = torch.stack([read_sketch(path, device) for path in options.drawn[1:]])
        sheet(rows(generators, sketches), COLUMNS).save(options.drawn[0])


if __name__ == "__main__":
    main()
