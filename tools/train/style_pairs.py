"""Writes pairs of a style, to fine-tune the generator: sketches, and the pictures as watercolours.

FOLDER/train and FOLDER/held-out get sketches/NNN.png and paintings/NNN.png of the same picture.
"""

import argparse
import io
import os
import random

import numpy
from PIL import Image, ImageDraw, ImageFilter

SIZE = 256
PAPER = (250, 238, 214)
INK = (84, 52, 38)
STROKES = 12


def read_pictures(path, part):
    """PNG files of a part of prepare.py's data set: the first of each group."""
    with numpy.load(path) as data:
        ends, png = data["end"], data["png"].tobytes()
        first = numpy.unique(data["group"], return_index=True)[1]
        chosen = first[data["part"][first] == part]
    starts = numpy.concatenate([[0], ends[:-1]])
    return [png[starts[i] : ends[i]] for i in chosen]


def place(png):
    """The picture in the middle of a transparent square."""
    picture = Image.open(io.BytesIO(png)).convert("RGBA")
    factor = SIZE * 7 / 8 / max(picture.size)
    picture = picture.resize([round(side * factor) for side in picture.size], Image.LANCZOS)
    square = Image.new("RGBA", (SIZE, SIZE))
    square.paste(picture, ((SIZE - picture.width) // 2, (SIZE - picture.height) // 2))
    return square


def on_paper(picture, paper):
    return Image.alpha_composite(Image.new("RGBA", picture.size, paper + (255,)), picture).convert("RGB")


def lines(picture):
    """255 where the colour changes, in lines about three pixels wide."""
    smooth = numpy.asarray(on_paper(picture, (255, 255, 255)).filter(ImageFilter.GaussianBlur(1.5)), float)
    dy, dx = numpy.gradient(smooth, axis=(0, 1))
    strength = numpy.sqrt(dx**2 + dy**2).max(2)
    ink = Image.fromarray((strength > 9).astype(numpy.uint8) * 255)
    return ink.filter(ImageFilter.MinFilter(3)).filter(ImageFilter.GaussianBlur(0.8))


def few_colours(picture, paper):
    flat = on_paper(picture, paper).filter(ImageFilter.MedianFilter(9))
    return flat.quantize(8, dither=0).convert("RGB")


def sketch(picture, ink, chooser):
    """Lines of ink over short strokes of the picture's colours."""
    drawn = Image.new("RGB", picture.size, "white")
    colours = few_colours(picture, (255, 255, 255))
    inside = numpy.argwhere(numpy.asarray(picture)[:, :, 3] > 128).tolist()
    for y, x in chooser.sample(inside, STROKES):
        end = (x + chooser.randint(-20, 20), y + chooser.randint(-20, 20))
        ImageDraw.Draw(drawn).line([(x, y), end], colours.getpixel((x, y)), width=6)
    return Image.composite(Image.new("RGB", picture.size), drawn, ink)


def paint(picture, ink):
    """Few, pale colours that run at their edges, on paper, with lines of brown ink."""
    flat = few_colours(picture, PAPER)
    pale = Image.blend(flat.filter(ImageFilter.GaussianBlur(2)), Image.new("RGB", flat.size, PAPER), 0.3)
    return Image.composite(Image.new("RGB", flat.size, INK), pale, ink.point(lambda v: v * 0.8))


def write(folder, number, png):
    picture = place(png)
    ink = lines(picture)
    images = {"sketches": sketch(picture, ink, random.Random(number)), "paintings": paint(picture, ink)}
    for name, image in images.items():
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        image.save(os.path.join(folder, name, f"{number:03d}.png"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="the data set, of prepare.py")
    parser.add_argument("folder")
    parser.add_argument("--pairs", type=int, default=64, help="to train with")
    parser.add_argument("--held-out", type=int, default=32, metavar="PAIRS")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    for part, count in (("train", options.pairs), ("held-out", options.held_out)):
        pictures = read_pictures(options.data, part)
        for number, png in enumerate(random.Random(options.seed).sample(pictures, count)):
            write(os.path.join(options.folder, part), number, png)


if __name__ == "__main__":
    main()
