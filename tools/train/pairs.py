"""Pairs of a sketch, with or without colour hints, and the target picture; -1 to 1."""

import math

import torch
import torch.nn.functional as F

import hints
import sketch
from images import SIZE, chance, on_white, over, smooth_noise, uniform
from scribbles import scribble_pairs
from shapes import shape_pairs

LUMA = (0.299, 0.587, 0.114)
SHAPES, SCRIBBLES = 12, 24  # 1 of 12 pairs is of simple shapes, 1 of 24 is a scribble


def training_pairs(pictures, count):
    """Augmented pairs of sampled pictures, a few of simple shapes and of scribbles."""
    shapes, scribbles = -(-count // SHAPES), -(-count // SCRIBBLES)
    kinds = (
        picture_pairs(pictures, pictures.sample(count - shapes - scribbles)),
        shape_pairs(shapes, pictures.pixels.device),
        scribble_pairs(scribbles, pictures.pixels.device),
    )
    return [torch.cat(parts) for parts in zip(*kinds)]


def picture_pairs(pictures, numbers):
    """Augmented pairs of the pictures with these indices; the second half of them has hints."""
    count, device = len(numbers), numbers.device
    hinted = (torch.arange(count, device=device) >= count // 2).float()[:, None, None, None]
    batch = recolour(pictures.take(numbers), hinted)
    shaky = tremor(count, device)
    picture, model = place(batch, placement(count, 0.7, 1.1, 0.15, device), shaky)
    small, small_model = place(batch.roll(1, 0), placement(count, 0.25, 0.5, 0.6, device), shaky)
    second = chance(count, 0.2, device)
    picture, model = over(small * second, picture), over(small_model * second, model)
    strokes = torch.floor(uniform(count - count // 2, 1, hints.MOST_STROKES + 1, device))
    return pair(picture, simplify(model), strokes, len(strokes) // 2)


def tremor(count, device):
    """Offsets of a drawing hand, as for a sampling grid: slow and fast waves, and in half of the
    images corners, as between the few points of a fast mouse."""
    shaky = smooth_noise(count, 2, 12, device) * uniform(count, 0, 3, device)
    shaky = shaky + smooth_noise(count, 2, 5, device) * uniform(count, 0, 5, device)
    points = torch.randn(count, 2, 20, 20, device=device)
    kinks = F.interpolate(points, size=(SIZE, SIZE), mode="bilinear", align_corners=False)
    shaky = shaky + kinks * uniform(count, 0, 2, device) * chance(count, 0.5, device)
    return shaky.permute(0, 2, 3, 1) * (2 / SIZE)


def simplify(model):
    """Some of the models without their details, so that few lines are drawn."""
    coarse = F.interpolate(F.avg_pool2d(model, 8), size=(SIZE, SIZE), mode="bilinear")
    return torch.lerp(model, coarse, chance(len(model), 0.25, model.device))


def held_out_pairs(pictures, strokes, seed):
    """Reproducible sketches for a seed, of the pictures without augmentation."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        batch = pictures.pixels.cpu().float() / 255
        return pair(batch, batch, torch.full((len(batch), 1, 1, 1), strokes))


def pair(picture, model, strokes, fine=0):
    """Sketches are drawn from `model`, the pictures with a random warp; the last len(strokes)
    pictures get that many strokes of colour each, under the lines or over them, the last `fine` of
    them with a fine brush."""
    ink = sketch.draw(model)
    early = chance(len(ink), 0.3, ink.device)
    paper = (1 - ink * early).expand(-1, 3, -1, -1)
    plain, broad = len(ink) - len(strokes), len(ink) - fine
    parts = [paper[:plain]]
    parts.append(hints.paint(paper[plain:broad], picture[plain:broad], strokes[: broad - plain]))
    if fine:
        filled = hints.fill(paper[broad:], picture[broad:])
        parts.append(hints.paint(filled, picture[broad:], strokes[broad - plain :], hints.FINE))
    paper = torch.cat(parts) * (1 - ink * (1 - early))
    return paper * 2 - 1, on_white(picture) * 2 - 1


def placement(count, smallest, largest, shift, device):
    """A sampling grid that rotates, mirrors, scales and shifts images, which are 2 wide."""
    scale = uniform(count, smallest, largest, device)[:, 0, 0]
    angle = torch.randn(count, 1, device=device) * math.radians(8)
    mirror = 1 - 2 * chance(count, 0.5, device)[:, 0, 0]
    stretch = 1 + 0.08 * torch.randn(count, 1, device=device)
    reach = shift / scale
    shift_x, shift_y = ((torch.rand(count, 1, device=device) * 2 - 1) * reach for _ in range(2))
    cos, sin = torch.cos(angle) / scale, torch.sin(angle) / scale
    rows = [cos * mirror, -sin * mirror, shift_x, sin * stretch, cos * stretch, shift_y]
    matrix = torch.cat(rows, 1).view(count, 2, 3)
    return F.affine_grid(matrix, (count, 1, SIZE, SIZE), align_corners=False)


def place(batch, grid, shaky):
    """The batch sampled on the grid, without and with a random warp."""
    return (F.grid_sample(batch, g, align_corners=False) for g in (grid, grid + shaky))


def recolour(batch, hinted):
    """Slight changes of colour; in some of the hinted images strong ones, different for light and
    dark regions, because there the hints and not the shape should decide."""
    count, device = len(batch), batch.device
    strong = hinted * chance(count, 0.3, device)
    colour, alpha = batch[:, :3], batch[:, 3:]
    luma = sum(w * colour[:, i : i + 1] for i, w in enumerate(LUMA))
    turn = torch.randn(count, 1, 1, 1, device=device) * (0.05 + 3 * strong)
    turn = turn + strong * uniform(count, -6, 6, device) * luma
    chroma = rotate_hue(colour - luma, turn)
    saturation = 1 + uniform(count, -0.15, 0.15, device)
    contrast = 1 + uniform(count, -0.08, 0.08, device)
    colour = (luma + chroma * saturation - 0.5 * alpha) * contrast + 0.5 * alpha
    return torch.cat([torch.minimum(F.relu(colour), alpha), alpha], 1)


def rotate_hue(chroma, angle):
    """Rotates colours about the grey axis by `angle` (radians)."""
    turned = chroma.roll(-2, 1) - chroma.roll(-1, 1)
    mean = chroma.mean(1, keepdim=True) * (1 - torch.cos(angle))
    return chroma * torch.cos(angle) + turned * (torch.sin(angle) / math.sqrt(3)) + mean
