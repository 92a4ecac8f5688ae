"""Held-out error: the mean absolute difference from the ground truth, with colours from 0 to 1."""

import torch
import torch.nn.functional as F

from hints import MOST_STROKES
from pairs import held_out_pairs

SEED = 20261120  # of the held-out sketches: the same in every evaluation
BATCH = 32
EDGE, FLAT = 0.1, 0.01  # steepness from 0 to 1: at least that of an edge, at most that of an area
WHITE = 0.95  # of -1 to 1


class HeldOut:
    """The held-out pictures, their sketches without hints and with as many as in training."""

    def __init__(self, pictures, device):
        self.plain, self.truth = (t.to(device) for t in held_out_pairs(pictures, 0, SEED))
        self.hinted = held_out_pairs(pictures, MOST_STROKES, SEED)[0].to(device)

    def errors(self, generator):
        """Errors of the generator without and with hints."""
        return tuple(error(paint(generator, s), self.truth) for s in (self.plain, self.hinted))


def error(pictures, truth):
    return (pictures - truth).abs().mean().item() / 2


def steepness(pictures):
    """Largest difference between neighbours within two pixels, over all channels, 0 to 1."""
    down = F.pad((pictures[:, :, 1:] - pictures[:, :, :-1]).abs(), (0, 0, 0, 1))
    across = F.pad((pictures[..., 1:] - pictures[..., :-1]).abs(), (0, 1))
    return F.max_pool2d(torch.maximum(down, across).amax(1, keepdim=True) / 2, 5, 1, 2)


def sharpness(pictures, truth):
    """How steep the pictures are at the edges of the truth, as a fraction of the truth; 1 is as
    sharp as that."""
    wanted = steepness(truth)
    edges = wanted > EDGE
    return (steepness(pictures)[edges].sum() / wanted[edges].sum()).item()


def grain(pictures, truth):
    """How uneven the pictures are where the truth is flat and not white: the mean difference between
    a pixel and its four neighbours' mean, colours from 0 to 255. A grid and spots are grain."""
    around = torch.tensor([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]], device=pictures.device) / 4
    mean = F.conv2d(pictures, around.expand(3, 1, 3, 3), padding=1, groups=3)
    uneven = (pictures - mean).abs().mean(1, keepdim=True) * 127.5
    flat = (steepness(truth) < FLAT) & (truth.amin(1, keepdim=True) < WHITE)
    flat[..., [0, -1]] = flat[..., [0, -1], :] = False
    return uneven[flat].mean().item()


@torch.no_grad()
def paint(generator, sketches):
    return torch.cat([generator(s) for s in sketches.split(BATCH)])
