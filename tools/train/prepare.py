"""Writes the data set: every picture of an emoji font, in groups, with a fixed split.

A group holds all pictures of one subject (skin tones, genders, families, flags) and whatever looks
almost like one of them. The held-out set has the first picture of each held-out group; the other
pictures of these groups are used for nothing.
"""

import argparse
import io
import random

import numpy
from PIL import Image

from glyphs import read_font, subject
from similar import merge_alike, outline

LARGEST_HELD_OUT = 40  # pictures; no larger groups (flags, families, professions)


def group_pictures(pictures):
    """Returns the groups as lists of code point sequences, the simplest sequence first."""
    subjects = {}
    for codes in sorted(pictures, key=lambda codes: (len(codes), codes)):
        subjects.setdefault(subject(codes), []).append(codes)
    first = [Image.open(io.BytesIO(pictures[s[0]])).convert("RGBA") for s in subjects.values()]
    groups = {}
    numbers = merge_alike(numpy.stack([outline(p) for p in first]))
    for number, codes in zip(numbers, subjects.values()):
        groups.setdefault(number, []).extend(codes)
    return list(groups.values())


def split(groups, held_out, seed):
    """Returns the split of each picture of each group."""
    small = [g for g, codes in enumerate(groups) if len(codes) <= LARGEST_HELD_OUT]
    chosen = set(random.Random(seed).sample(small, held_out))
    return [
        ["held-out"] + ["unused"] * (len(codes) - 1) if g in chosen else ["train"] * len(codes)
        for g, codes in enumerate(groups)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("font", help="NotoColorEmoji.ttf, of Debian's fonts-noto-color-emoji")
    parser.add_argument("output", help="the data set, an .npz")
    parser.add_argument("--held-out", type=int, default=96, metavar="GROUPS")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    pictures = read_font(options.font)
    groups = group_pictures(pictures)
    parts = sum(split(groups, options.held_out, options.seed), [])
    order = sum(groups, [])
    files = [pictures[codes] for codes in order]
    numpy.savez(
        options.output,
        png=numpy.frombuffer(b"".join(files), numpy.uint8),
        end=numpy.cumsum([len(f) for f in files]),
        name=numpy.array(["-".join(f"{c:x}" for c in codes) for codes in order]),
        group=numpy.repeat(range(len(groups)), [len(g) for g in groups]),
        part=numpy.array(parts),
    )
    counts = ", ".join(f"{parts.count(part)} {part}" for part in ("train", "held-out", "unused"))
    print(f"{len(order)} pictures in {len(groups)} groups: {counts}")


if __name__ == "__main__":
    main()
