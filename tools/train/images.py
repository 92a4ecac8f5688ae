"""Batches of images as tensors [batch, channels, SIZE, SIZE], on any device.

Nothing here or in what builds on it waits for the GPU, so a training step can be captured as one
CUDA graph.
"""

import math

import torch
import torch.nn.functional as F

SIZE = 256
BLUR_RADIUS = 6  # pixels; enough for a sigma of 3


def uniform(count, low, high, device):
    """One number per image, shaped to multiply images with."""
    return low + (high - low) * torch.rand(count, 1, 1, 1, device=device)


def log_uniform(count, low, high, device):
    return torch.exp(uniform(count, math.log(low), math.log(high), device))


def chance(count, probability, device):
    """1 with the given probability, else 0, per image."""
    return (torch.rand(count, 1, 1, 1, device=device) < probability).float()


def smooth_noise(count, channels, cells, device):
    """Noise of about unit variance whose features are SIZE / cells pixels wide."""
    coarse = torch.randn(count, channels, cells, cells, device=device)
    return F.interpolate(coarse, size=(SIZE, SIZE), mode="bicubic", align_corners=False) * 1.3


def pixel_centres(device):
    """x and y of all pixels, [SIZE, SIZE] each."""
    line = torch.arange(SIZE, device=device) + 0.5
    return line.expand(SIZE, SIZE), line[:, None].expand(SIZE, SIZE)


def blur(images, sigma):
    """Gaussian blur with a sigma (pixels, [batch, 1, 1, 1]) for each image."""
    batch, channels, height, width = images.shape
    offset = torch.arange(-BLUR_RADIUS, BLUR_RADIUS + 1, device=images.device)
    kernel = torch.exp(-0.5 * (offset / sigma) ** 2)
    kernel = (kernel / kernel.sum(-1, keepdim=True)).repeat_interleave(channels, 0)
    one = F.pad(images, [BLUR_RADIUS] * 4, mode="replicate").reshape(
        1, batch * channels, height + 2 * BLUR_RADIUS, width + 2 * BLUR_RADIUS
    )
    one = F.conv2d(one, kernel, groups=batch * channels)
    one = F.conv2d(one, kernel.transpose(2, 3), groups=batch * channels)
    return one.reshape(batch, channels, height, width)


def over(top, bottom):
    """`top` laid over `bottom`; both have premultiplied alpha as their fourth channel."""
    return top + bottom * (1 - top[:, 3:])


def on_white(pictures):
    """The colours of pictures with premultiplied alpha on white paper, 0 to 1."""
    return (pictures[:, :3] + 1 - pictures[:, 3:]).clamp(0, 1)
