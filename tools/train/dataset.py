"""The pictures that prepare.py wrote, decoded into one tensor."""

import io
from concurrent.futures import ThreadPoolExecutor

import numpy
import torch
from PIL import Image

from images import SIZE

FURTHER = 0.4  # share of the samples that come from other sets than the font

class Pictures:
    """Pictures of one split, "train" or "held-out": `pixels` are RGBA, premultiplied alpha, uint8
    [count, 4, SIZE, SIZE]."""

    def __init__(self, path, part, device):
        with numpy.load(path) as stored:
            chosen = numpy.nonzero(stored["part"] == part)[0]
            end, png = stored["end"], stored["png"].tobytes()
            self.names = stored["name"][chosen].tolist()
            groups, further = stored["group"][chosen], stored["further"][chosen]
        start = numpy.concatenate([[0], end[:-1]])
        with ThreadPoolExecutor() as pool:
            decoded = list(pool.map(lambda i: decode(png[start[i] : end[i]]), chosen))
        self.pixels = torch.from_numpy(numpy.stack(decoded)).to(device)
        self.heights = sampling_heights(groups, further).to(device)

    def sample(self, count):
        """Samples picture indices with replacement."""
        return torch.searchsorted(self.heights, torch.rand(count, device=self.heights.device))

    def take(self, numbers):
        return self.pixels[numbers].float() / 255


def decode(png):
    picture = Image.open(io.BytesIO(png)).convert("RGBA").convert("RGBa")
    side = max(picture.size)
    square = Image.new("RGBa", (side, side))
    square.paste(picture, ((side - picture.width) // 2, (side - picture.height) // 2))
    pixels = numpy.asarray(square.resize((SIZE, SIZE), Image.LANCZOS))
    return pixels.transpose(2, 0, 1).copy()


def sampling_heights(groups, further):
    """The cumulative probabilities of all pictures but the last. A group's probability is
    proportional to the square root of its size, so that flags and skin tones do not dominate; the
    groups of further sets share FURTHER."""
    size = torch.bincount(torch.from_numpy(groups))[torch.from_numpy(groups)]
    chance, further = size.double() ** -0.5, torch.from_numpy(further)
    if further.any():
        chance[further] *= FURTHER / chance[further].sum()
        chance[~further] *= (1 - FURTHER) / chance[~further].sum()
    return torch.cumsum(chance / chance.sum(), 0)[:-1].float()
