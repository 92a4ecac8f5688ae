"""Finds pictures so similar that training on one would leak the other."""

import numpy
from PIL import Image

GRID = (34, 32)
ALIKE = 0.8  # correlation of outlines; groups clock faces, coloured hearts, books, banknotes


def outline(picture):
    """The outlines of an RGBA picture as a unit vector, invariant to colour and small shifts."""
    white = Image.new("RGBA", picture.size, "white")
    white.alpha_composite(picture)
    pixels = numpy.asarray(white.convert("RGB"), numpy.float32) / 255
    down = numpy.abs(numpy.diff(pixels, axis=0)).max(-1)[:, :-1]
    right = numpy.abs(numpy.diff(pixels, axis=1)).max(-1)[:-1]
    edges = Image.fromarray(numpy.minimum(numpy.hypot(down, right), 0.3))
    vector = numpy.asarray(edges.resize(GRID, Image.BOX)).ravel()
    vector = vector - vector.mean()
    return vector / max(numpy.linalg.norm(vector), 1e-6)


def merge_alike(outlines):
    """Numbers the rows of `outlines`; rows connected by similar pairs share a number."""
    group = list(range(len(outlines)))
    alike = numpy.triu(outlines @ outlines.T > ALIKE, 1)
    for first, second in zip(*numpy.nonzero(alike)):
        old, new = group[second], group[first]
        group = [new if g == old else g for g in group]
    return group
