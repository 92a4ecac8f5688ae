"""Pairs of simple shapes in flat colours, one in, on or beside another, each with its own stroke of
colour: they teach that a stroke fills the region that lines close, up to the lines."""

import torch

from hints import segment
from images import SIZE, chance, log_uniform, pixel_centres, smooth_noise, uniform

MOST_SHAPES = 7
DARK = 0.14  # of 0 to 1: what black ink becomes in a picture


def shape_pairs(count, device):
    """Sketches and pictures, -1 to 1."""
    x, y = pixel_centres(device)
    waves = smooth_noise(count, 2, 5, device) * uniform(count, 0, 3, device)
    x, y = x + waves[:, :1], y + waves[:, 1:]
    shaky = smooth_noise(count, 2, 12, device) * uniform(count, 0, 1.5, device)
    pen = log_uniform(count, 1.5, 6, device)
    shapes = torch.floor(uniform(count, 1, MOST_SHAPES + 1, device))
    sheet = Sheet(count, device)
    places = []
    for k in range(MOST_SHAPES):
        places.append(next_place(places, count, device))
        kind, form = uniform(count, 0, 4, device), random_form(count, device)
        exact = distance(kind, form, places[k], x, y)
        drawn = distance(kind, form, places[k], x + shaky[:, :1], y + shaky[:, 1:])
        used = (k < shapes).float()
        sheet.add(exact, drawn, places[k], pen, used)
    return sheet.paper * (1 - sheet.ink) * 2 - 1, sheet.picture * 2 - 1


class Sheet:
    """What is drawn so far: lines, strokes of colour on paper, and the picture; 0 to 1."""

    def __init__(self, count, device):
        self.ink = torch.zeros(count, 1, SIZE, SIZE, device=device)
        self.paper = torch.ones(count, 3, SIZE, SIZE, device=device)
        self.picture = self.paper

    def add(self, exact, drawn, place, pen, used):
        """Adds a shape over what is there, in images where `used` is 1. `exact` and `drawn` are
        the signed distances (pixels) of the picture's outline and of the sketch's."""
        count, device = len(used), used.device
        inside, covered = (0.5 - exact).clamp(0, 1) * used, (0.5 - drawn).clamp(0, 1) * used
        line = (pen / 2 + 0.5 - drawn.abs()).clamp(0, 1) * used
        black = chance(count, 0.12, device)
        colour = random_colours(count, device) * (1 - black) + DARK * black
        self.picture = torch.lerp(self.picture, colour * shading(place, count, device), inside)
        self.ink = torch.maximum(torch.maximum(self.ink * (1 - covered), line), covered * black)
        self.paper = torch.lerp(self.paper, torch.ones_like(self.paper), covered)
        strokes = torch.maximum(stroke_in(place, count, device), stroke_in(place, count, device))
        strokes = torch.maximum(strokes, chance(count, 0.12, device)) * (drawn < 0)
        self.paper = torch.lerp(self.paper, colour, strokes * used)


def random_colours(count, device):
    """[count, 3, 1, 1]; mostly strong colours of any hue, some greys."""
    hue = uniform(count, 0, 6, device)
    saturation = uniform(count, 0.4, 1, device) * chance(count, 0.85, device)
    value = uniform(count, 0.4, 1, device)
    wheel = (hue + 5 - 2 * torch.arange(3, device=device).view(1, 3, 1, 1)) % 6
    return value * (1 - saturation * torch.minimum(wheel, 4 - wheel).clamp(0, 1))


def shading(place, count, device):
    """A factor that falls slightly from top to bottom in some shapes."""
    _, centre_y, _, half_height = place
    y = pixel_centres(device)[1]
    down = ((y - centre_y) / half_height).clamp(-1, 1)
    return 1 - (0.5 + 0.5 * down) * uniform(count, 0, 0.25, device) * chance(count, 0.5, device)


def stroke_in(place, count, device):
    """A short straight stroke near the middle of a shape, 0 to 1."""
    x, y = pixel_centres(device)
    centre_x, centre_y, half_width, half_height = place
    from_x = centre_x + half_width * uniform(count, -0.6, 0.6, device)
    from_y = centre_y + half_height * uniform(count, -0.6, 0.6, device)
    reach = torch.minimum(half_width, half_height) * 0.8
    return segment(x, y, from_x, from_y, log_uniform(count, 3, 14, device), reach)


def next_place(places, count, device):
    """Centre x, y and half the width and height of a shape: anywhere, or in or at an earlier one."""
    half_width, half_height = (log_uniform(count, 24, 100, device) for _ in range(2))
    shift_x, shift_y = (uniform(count, -1, 1, device) for _ in range(2))
    centre_x, centre_y = SIZE / 2 + shift_x * 60, SIZE / 2 + shift_y * 60
    if not places:
        return centre_x, centre_y, half_width, half_height
    parent = (torch.rand(count, 1, 1, 1, device=device) * len(places)).long()
    near_x, near_y, wide, high = (
        torch.stack(values).gather(0, parent[None])[0] for values in zip(*places)
    )
    smaller = log_uniform(count, 0.12, 0.7, device)
    ratio = log_uniform(count, 0.7, 1.4, device)
    beside = chance(count, 0.3, device) * 0.6 + 0.6  # 1.2: partly outside
    small = smaller * wide * ratio, smaller * high / ratio
    child = near_x + shift_x * wide * beside, near_y + shift_y * high * beside
    inner = chance(count, 0.85, device) > 0
    return tuple(
        torch.where(inner, a, b)
        for a, b in zip(child + small, (centre_x, centre_y, half_width, half_height))
    )


def random_form(count, device):
    """Angle, number of petals and their depth."""
    angle = uniform(count, -0.5, 0.5, device) * chance(count, 0.5, device)
    return angle, torch.floor(uniform(count, 3, 9, device)), uniform(count, 0.1, 0.35, device)


def distance(kind, form, place, x, y):
    """About the signed distance (pixels) from the outline of an ellipse (kind below 1.4), a
    rectangle (below 2.4), a triangle (below 3.2) or a flower; negative inside."""
    centre_x, centre_y, half_width, half_height = place
    angle, petals, depth = form
    dx, dy = x - centre_x, y - centre_y
    across = dx * torch.cos(angle) + dy * torch.sin(angle)
    down = dy * torch.cos(angle) - dx * torch.sin(angle)
    u, v = across / half_width, down / half_height
    size = torch.minimum(half_width, half_height)
    radius = torch.sqrt(u**2 + v**2)
    ellipse = (radius - 1) * size
    rectangle = torch.maximum(across.abs() - half_width, down.abs() - half_height)
    slope = torch.sqrt(1 + 4 * (half_height / half_width) ** 2)
    side = (2 * u.abs() - v - 1) * half_height / slope
    triangle = torch.maximum(side, down - half_height)
    flower = (radius - 1 + depth * (1 + torch.cos(petals * torch.atan2(v, u)))) * size
    rest = torch.where(kind < 3.2, triangle, flower)
    return torch.where(kind < 1.4, ellipse, torch.where(kind < 2.4, rectangle, rest))
