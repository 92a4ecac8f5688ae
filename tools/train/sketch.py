"""Line drawings of pictures, as people might draw them: 1 is ink, 0 is paper."""

import torch
import torch.nn.functional as F

from images import blur, chance, log_uniform, on_white, pixel_centres, smooth_noise, uniform

HYSTERESIS_STEPS = 8
ERASED_SQUARES = 3


def draw(pictures):
    """Draws pictures with premultiplied alpha, each with a random style, line width and damage."""
    count, device = len(pictures), pictures.device
    strength, direction = gradient(pictures)
    threshold = log_uniform(count, 0.05, 0.4, device)
    thin = hysteresis(strength * is_crest(strength, direction), threshold)
    thick = (strength > threshold * 2).float()
    ink = torch.where(chance(count, 0.15, device) > 0, thick, thin)
    ink = torch.where(chance(count, 0.15, device) > 0, dark_sides(pictures), ink)
    ink = ink * worn(ink)
    ink = torch.maximum(ink, dark_spots(pictures) * chance(count, 0.2, device))
    return pen(ink) * (1 - erased(count, device)) * uniform(count, 0.8, 1.0, device)


def gradient(pictures):
    """Strength (about an edge's contrast) and direction of the gradient over all channels."""
    count, device = len(pictures), pictures.device
    sigma = log_uniform(count, 0.8, 2.2, device)
    colour = 1 - chance(count, 0.1, device)  # otherwise outlines only
    alpha = uniform(count, 0.3, 1.0, device)
    weighted = torch.cat([on_white(pictures) * colour, pictures[:, 3:] * alpha], 1)
    padded = F.pad(blur(weighted, sigma), [1] * 4, mode="replicate")
    dx = (padded[:, :, 1:-1, 2:] - padded[:, :, 1:-1, :-2]) / 2
    dy = (padded[:, :, 2:, 1:-1] - padded[:, :, :-2, 1:-1]) / 2
    xx, yy, xy = ((a * b).sum(1, keepdim=True) for a, b in ((dx, dx), (dy, dy), (dx, dy)))
    spread = torch.sqrt((xx - yy) ** 2 + 4 * xy**2)
    strength = torch.sqrt(F.relu(xx + yy + spread) / 2) * 2.5 * torch.sqrt(sigma**2 + 1)
    return strength, torch.atan2(2 * xy, xx - yy) / 2


def is_crest(strength, direction):
    """1 where no neighbour along the gradient is stronger (non-maximum suppression)."""
    x, y = pixel_centres(strength.device)
    step = torch.cat([torch.cos(direction), torch.sin(direction)], 1).permute(0, 2, 3, 1)
    here = torch.stack([x, y], -1)
    ahead, behind = (
        F.grid_sample(strength, (here + s * step) / 128 - 1, align_corners=False) for s in (1, -1)
    )
    return ((strength >= ahead) & (strength > behind)).float()


def hysteresis(crest, threshold):
    """Edges above the threshold, and weaker ones connected to them (hysteresis)."""
    weak = (crest > threshold * 0.4).float()
    strong = (crest > threshold).float()
    for _ in range(HYSTERESIS_STEPS):
        strong = F.max_pool2d(strong, 3, 1, 1) * weak
    return strong


def grey(pictures):
    return on_white(pictures).mean(1, keepdim=True)


def dark_sides(pictures):
    """A difference of Gaussians: the dark sides of edges, as with a brush."""
    count, device = len(pictures), pictures.device
    sigma = log_uniform(count, 0.8, 1.8, device)
    light = grey(pictures) - 0.1 * pictures[:, 3:]  # white shapes have an outline, too
    difference = blur(light, 1.6 * sigma) - blur(light, sigma)
    return (difference > log_uniform(count, 0.008, 0.04, device)).float()


def dark_spots(pictures):
    """Dark areas: eyes, wheels and others that are drawn filled."""
    return (grey(pictures) < uniform(len(pictures), 0.15, 0.35, pictures.device)).float()


def worn(ink):
    """0 in gaps of lines and on pieces that are too short."""
    count, device = len(ink), ink.device
    gaps = smooth_noise(count, 1, 28, device) > log_uniform(count, 1.2, 6.0, device)
    nearby = F.avg_pool2d(ink, 25, 1, 12) * 625
    return (~gaps & (nearby > uniform(count, 0, 16, device))).float()


def pen(ink):
    """Lines one pixel wide to smooth strokes 1 to 5 pixels wide."""
    width = log_uniform(len(ink), 1.0, 5.0, ink.device)
    spread = blur(ink, width / 2)
    return ((spread * width / 0.485 - 1) * 2 + 0.5).clamp(0, 1)


def erased(count, device):
    """1 inside of small squares, in some images."""
    x, y = pixel_centres(device)
    mask = torch.zeros(count, 1, *x.shape, device=device)
    for _ in range(ERASED_SQUARES):
        side = uniform(count, 6, 24, device)
        far_x = (x - uniform(count, 0, 256, device)).abs()
        far_y = (y - uniform(count, 0, 256, device)).abs()
        mask = torch.maximum(mask, (torch.maximum(far_x, far_y) < side).float())
    return mask * chance(count, 0.4, device)
