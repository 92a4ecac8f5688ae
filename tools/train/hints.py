"""Sparse strokes in a picture's own colours, as a person would add them to a sketch."""

from collections import namedtuple

import torch
import torch.nn.functional as F

from images import SIZE, blur, chance, log_uniform, on_white, pixel_centres, smooth_noise, uniform

MOST_STROKES = 12
CELL = 4  # pixels; strokes start in the cells of a grid
LEVELS = 4  # of a channel, when colours are counted

# Ranges of a brush's width (pixels) and of the difference from its colour at which it stops (0 to 1
# and above), half the length of a stroke at most, and whether rare colours get strokes like common
# ones. FINE is a careful person with the demo's brush: short strokes that stay in small regions.
Brush = namedtuple("Brush", "widths tolerances reach even")
BROAD = Brush((6, 28), (0.25, 1.5), 36, False)
FINE = Brush((4, 14), (0.06, 0.3), 24, True)


def paint(paper, pictures, strokes, brush=BROAD):
    """White paper, 0 to 1, with strokes in the colours of the pictures. `strokes` is the number of
    strokes of each, [batch, 1, 1, 1], at most MOST_STROKES."""
    count, device = len(pictures), pictures.device
    colours = blur(on_white(pictures), uniform(count, 1, 3, device))
    x, y = wavy_centres(count, device)
    width = log_uniform(count, *brush.widths, device)
    tolerance = log_uniform(count, *brush.tolerances, device)
    start = start_cells(pictures, brush.even)
    for k in range(MOST_STROKES):
        colour = colours.flatten(2).gather(2, start[:, k].expand(-1, 3, 1))[..., None]
        here, wide = start[:, k, :, :, None], width * uniform(count, 0.6, 1.4, device)
        mask = segment(x, y, here % SIZE, here // SIZE, wide, brush.reach)
        inside = (colours - colour).abs().amax(1, keepdim=True) < tolerance
        mask = mask * inside * (k < strokes)
        shade = (colour + 0.03 * torch.randn_like(colour)).clamp(0, 1)
        paper = paper + mask * (shade - paper)
    return paper


def fill(paper, pictures):
    """Paints large areas of some pictures' colours over the paper, as with a wide brush."""
    count, device = len(pictures), pictures.device
    area = smooth_noise(count, 1, 5, device) > uniform(count, -0.5, 1, device)
    mask = area * (pictures[:, 3:] > 0.9) * chance(count, 0.2, device)
    return paper + mask * (blur(on_white(pictures), uniform(count, 1, 3, device)) - paper)


def start_cells(pictures, even):
    """Pixel indices within the pictures' shapes, [batch, MOST_STROKES, 1, 1]; if `even`, cells of
    rare colours are more probable, so that small regions get strokes, too."""
    shape = (F.avg_pool2d(pictures[:, 3:], CELL) > 0.5).float().flatten(2)
    chances = torch.rand(len(pictures), MOST_STROKES, shape.shape[2], device=shape.device)
    if even:
        chances = chances ** frequency(pictures, shape)
    cell = (chances * shape).argmax(-1)
    across = SIZE // CELL
    middle = CELL // 2
    pixel = (cell // across * CELL + middle) * SIZE + cell % across * CELL + middle
    return pixel[..., None, None]


def frequency(pictures, shape):
    """How many cells of the shape have about the colour of each, [batch, 1, cells]."""
    colours = F.avg_pool2d(on_white(pictures), CELL).flatten(2)
    levels = (colours * LEVELS).long().clamp(0, LEVELS - 1)
    kind = (levels[:, :1] * LEVELS + levels[:, 1:2]) * LEVELS + levels[:, 2:]
    counts = torch.zeros(len(pictures), 1, LEVELS**3, device=shape.device)
    return counts.scatter_add(2, kind, shape).gather(2, kind) + 1


def wavy_centres(count, device):
    """Coordinates in which a straight segment looks drawn by hand."""
    x, y = pixel_centres(device)
    waves = smooth_noise(count, 2, 6, device) * uniform(count, 0, 8, device)
    return x + waves[:, :1], y + waves[:, 1:]


def segment(x, y, from_x, from_y, width, reach):
    """A soft-edged round segment through a pixel, 0 to 1, at most `reach` pixels to each side."""
    count, device = len(width), width.device
    angle = uniform(count, 0, 3.1416, device)
    half = uniform(count, 0, 1, device) * reach
    dx, dy = x - from_x, y - from_y
    along = dx * torch.cos(angle) + dy * torch.sin(angle)
    across = dy * torch.cos(angle) - dx * torch.sin(angle)
    beyond = F.relu(along.abs() - half)
    return (width / 2 + 0.5 - torch.sqrt(across**2 + beyond**2)).clamp(0, 1)
