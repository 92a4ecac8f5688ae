"""Writes the data set: every picture of an emoji font, in groups, with a fixed split.

A group holds all pictures of one subject (skin tones, genders, families, flags) and whatever looks
almost like one of them. The held-out set has the first picture of each held-out group; the other
pictures of these groups are used for nothing. Further sets are only trained on: their pictures of
held-out subjects, and those that look almost like one, are left out.
"""

import argparse
import io
import random
import unicodedata

import numpy
from PIL import Image

from glyphs import read_font, subject
from similar import ALIKE, merge_alike, outline
from svg_sets import read_sets

LARGEST_HELD_OUT = 40  # pictures; no larger groups (flags, families, professions)


def group_pictures(pictures):
    """Returns the groups as lists of code point sequences, the simplest sequence first."""
    subjects = {}
    for codes in sorted(pictures, key=lambda codes: (len(codes), codes)):
        subjects.setdefault(subject(codes), []).append(codes)
    groups = {}
    numbers = merge_alike(outlines(pictures[codes[0]] for codes in subjects.values()))
    for number, codes in zip(numbers, subjects.values()):
        groups.setdefault(number, []).extend(codes)
    return list(groups.values())


def outlines(files):
    return numpy.stack([outline(Image.open(io.BytesIO(f)).convert("RGBA")) for f in files])


def split(groups, held_out, seed):
    """Returns the split of each picture of each group."""
    small = [g for g, codes in enumerate(groups) if len(codes) <= LARGEST_HELD_OUT]
    chosen = set(random.Random(seed).sample(small, held_out))
    return [
        ["held-out"] + ["unused"] * (len(codes) - 1) if g in chosen else ["train"] * len(codes)
        for g, codes in enumerate(groups)
    ]


def further_groups(sets, pictures, hidden):
    """Groups of (set, name, code points), one for each set and subject, that share no subject or
    outline with `hidden`, code points of the font's `pictures` that are not trained on, and, where
    there are no code points, no name of one of these."""
    subjects = {subject(codes) for codes in hidden}
    names = [unicodedata.name(chr(codes[0]), None) for codes in hidden if len(codes) == 1]
    names = [words(name) for name in names if name]
    looks = outlines(pictures[codes] for codes in hidden)
    groups = {}
    for key, look in zip(sets, outlines(sets.values())):
        source, name, codes = key
        group = source, subject(codes) if codes else name
        named = not codes and any(held <= words(name) for held in names)
        if group[1] not in subjects and not named and (looks @ look).max() < ALIKE:
            groups.setdefault(group, []).append(key)
    return list(groups.values())


def words(name):
    return set(name.lower().replace("-", " ").split())


def spell(key):
    """`key` as text: code points, or a set and a name."""
    return ":".join(key[:2]) if isinstance(key[0], str) else "-".join(f"{c:x}" for c in key)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("font", help="NotoColorEmoji.ttf, of Debian's fonts-noto-color-emoji")
    parser.add_argument("output", help="the data set, an .npz")
    parser.add_argument("sets", nargs="*", help="folders of @iconify-json packages to add")
    parser.add_argument("--held-out", type=int, default=96, metavar="GROUPS")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    pictures = read_font(options.font)
    groups = group_pictures(pictures)
    parts = sum(split(groups, options.held_out, options.seed), [])
    hidden = [codes for codes, part in zip(sum(groups, []), parts) if part != "train"]
    sets = read_sets(options.sets)
    groups += further_groups(sets, pictures, hidden) if sets else []
    order = sum(groups, [])
    parts += ["train"] * (len(order) - len(parts))
    files = [(pictures | sets)[key] for key in order]
    numpy.savez(
        options.output,
        png=numpy.frombuffer(b"".join(files), numpy.uint8),
        end=numpy.cumsum([len(f) for f in files]),
        name=numpy.array([spell(key) for key in order]),
        group=numpy.repeat(range(len(groups)), [len(g) for g in groups]),
        further=numpy.array([isinstance(key[0], str) for key in order]),
        part=numpy.array(parts),
    )
    counts = ", ".join(f"{parts.count(part)} {part}" for part in ("train", "held-out", "unused"))
    print(f"{len(order)} pictures in {len(groups)} groups: {counts}")


if __name__ == "__main__":
    main()
