"""Pairs of nearly empty sheets: nothing, dots, lines. The picture is what was drawn, so that an
empty canvas gives an empty picture."""

import torch

from hints import segment, wavy_centres
from images import SIZE, chance, log_uniform, uniform
from shapes import DARK, random_colours

MOST_STROKES = 4
REACH = 90  # pixels to each side of a line's middle


def scribble_pairs(count, device):
    """Sketches and pictures, -1 to 1. A fifth of them is blank."""
    paper = picture = torch.ones(count, 3, SIZE, SIZE, device=device)
    strokes = torch.floor(uniform(count, 0, MOST_STROKES + 1, device))
    for k in range(MOST_STROKES):
        x, y = wavy_centres(count, device)
        from_x, from_y = (uniform(count, 20, SIZE - 20, device) for _ in range(2))
        reach = REACH * chance(count, 0.7, device)  # otherwise a dot
        mask = segment(x, y, from_x, from_y, log_uniform(count, 2, 24, device), reach)
        mask = mask * (k < strokes)
        black = chance(count, 0.6, device)
        colour = random_colours(count, device) * (1 - black)
        paper = paper + mask * (colour - paper)
        picture = picture + mask * (colour + DARK * black - picture)
    return paper * 2 - 1, picture * 2 - 1
