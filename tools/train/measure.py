"""Held-out error: the mean absolute difference from the ground truth, with colours from 0 to 1."""

import torch

from hints import MOST_STROKES
from pairs import held_out_pairs

SEED = 20261120  # of the held-out sketches: the same in every evaluation
BATCH = 32


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


@torch.no_grad()
def paint(generator, sketches):
    return torch.cat([generator(s) for s in sketches.split(BATCH)])
