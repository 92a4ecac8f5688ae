"""Held-out errors of a generator, a sheet of held-out results, outputs for given sketches."""

import argparse

import numpy
import torch
from PIL import Image

from dataset import Pictures
from hints import MOST_STROKES
from images import SIZE, on_white
from measure import SEED, HeldOut, error, paint
from model import load_generator
from pairs import held_out_pairs

SHOWN = 24  # held-out pictures, at a fixed stride, not selected by quality
COLUMNS = 3
TILE = 128  # pixels on the sheet


def errors(generator, held_out, pictures, seen, device):
    """Rows of a table: name and error."""
    plain, hinted = held_out.errors(generator)
    truth = held_out.truth
    every = torch.arange(len(seen.pixels))[:, None]
    mean = torch.stack([on_white(seen.take(i)).mean((0, 2, 3)) for i in every]).mean(0)
    mean = (mean[:, None, None] * 2 - 1).to(device)
    yield "generator, plain sketch", plain
    for strokes in (4, 8):
        sketches = held_out_pairs(pictures, strokes, SEED)[0].to(device)
        yield f"generator, {strokes} coloured strokes", error(paint(generator, sketches), truth)
    yield f"generator, {MOST_STROKES} coloured strokes", hinted
    yield "white picture", error(torch.ones_like(truth), truth)
    yield "the plain sketch itself", error(held_out.plain, truth)
    yield "the sketch with strokes itself", error(held_out.hinted, truth)
    yield "mean colour of all training pictures", error(mean, truth)


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


def held_out_rows(generator, held_out):
    """Sketch, its output, sketch with hints, its output, ground truth."""
    shown = slice(0, None, max(len(held_out.truth) // SHOWN, 1))
    everything = held_out.plain, held_out.hinted, held_out.truth
    plain, hinted, truth = (t[shown][:SHOWN] for t in everything)
    return list(zip(plain, paint(generator, plain), hinted, paint(generator, hinted), truth))


def read_sketch(path, device):
    image = Image.open(path).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    white.alpha_composite(image)
    pixels = numpy.array(white.convert("RGB").resize((SIZE, SIZE), Image.LANCZOS), numpy.float32)
    return torch.from_numpy(pixels / 127.5 - 1).permute(2, 0, 1).to(device)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="what prepare.py wrote")
    parser.add_argument("generator", help="generator.pt, which train.py wrote")
    parser.add_argument("--sheet", help="a PNG of held-out sketches, results and truth")
    parser.add_argument("--drawn", nargs="+", metavar="PNG", help="the PNG to write, then sketches")
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    generator = load_generator(options.generator)[0].to(device)
    pictures = Pictures(options.data, "held-out", "cpu")
    held_out = HeldOut(pictures, device)
    seen = Pictures(options.data, "train", "cpu")
    for what, value in errors(generator, held_out, pictures, seen, device):
        print(f"{value:.4f}  {what}")
    if options.sheet:
        sheet(held_out_rows(generator, held_out), COLUMNS).save(options.sheet)
    if options.drawn:
        sketches = torch.stack([read_sketch(path, device) for path in options.drawn[1:]])
        sheet(list(zip(sketches, paint(generator, sketches))), COLUMNS).save(options.drawn[0])


if __name__ == "__main__":
    main()
