"""Sparse strokes in a picture's own colours, as a person would add them to a sketch."""

import torch
import torch.nn.functional as F

from images import SIZE, blur, log_uniform, on_white, pixel_centres, smooth_noise, uniform

MOST_STROKES = 12
CELL = 4  # pixels; strokes start in the cells of a grid


def paint(paper, pictures, strokes):
    """White paper, 0 to 1, with strokes in the colours of the pictures. `strokes` is the number of
    strokes of each, [batch, 1, 1, 1], at most MOST_STROKES."""
    count, device = len(pictures), pictures.device
    colours = blur(on_white(pictures), uniform(count, 1, 3, device))
    x, y = wavy_centres(count, device)
    width = log_uniform(count, 6, 28, device)
    tolerance = log_uniform(count, 0.25, 1.5, device)
    start = start_cells(pictures)
    for k in range(MOST_STROKES):
        colour = colours.flatten(2).gather(2, start[:, k].expand(-1, 3, 1))[..., None]
        mask = segment(x, y, start[:, k, :, :, None], width * uniform(count, 0.6, 1.4, device))
        inside = (colours - colour).abs().amax(1, keepdim=True) < tolerance
        mask = mask * inside * (k < strokes)
        shade = (colour + 0.03 * torch.randn_like(colour)).clamp(0, 1)
        paper = paper + mask * (shade - paper)
    return paper


def start_cells(pictures):
    """Pixel indices within the pictures' shapes, [batch, MOST_STROKES, 1, 1]."""
    shape = (F.avg_pool2d(pictures[:, 3:], CELL) > 0.5).float().flatten(2)
    chances = torch.rand(len(pictures), MOST_STROKES, shape.shape[2], device=shape.device)
    cell = (chances * shape).argmax(-1)
    across = SIZE // CELL
    middle = CELL // 2
    pixel = (cell // across * CELL + middle) * SIZE + cell % across * CELL + middle
    return pixel[..., None, None]


def wavy_centres(count, device):
    """Coordinates in which a straight segment looks drawn by hand."""
    x, y = pixel_centres(device)
    waves = smooth_noise(count, 2, 6, device) * uniform(count, 0, 8, device)
    return x + waves[:, :1], y + waves[:, 1:]


def segment(x, y, start, width):
    """A soft-edged round segment through the pixel index `start`, 0 to 1."""
    count, device = len(start), start.device
    angle = uniform(count, 0, 3.1416, device)
    half = uniform(count, 0, 36, device)
    dx, dy = x - start % SIZE, y - start // SIZE
    along = dx * torch.cos(angle) + dy * torch.sin(angle)
    across = dy * torch.cos(angle) - dx * torch.sin(angle)
    beyond = F.relu(along.abs() - half)
    return (width / 2 + 0.5 - torch.sqrt(across**2 + beyond**2)).clamp(0, 1)
