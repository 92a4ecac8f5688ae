"""Pix2Pix: a U-Net generator for 256 x 256 pictures and a PatchGAN discriminator."""

import torch
import torch.nn.functional as F
from torch import nn

SLOPE = 0.2  # of the LeakyReLUs
HALVINGS = 7
# Residual blocks after each halving and after the doubling that undoes it: where pictures are small
# they see far; after doublings they remove what those leave of a grid.
ENCODER_BLOCKS = (0, 0, 0, 2, 2, 0, 0)
DECODER_BLOCKS = (0, 1, 1, 1, 0, 0, 0)
HEAD = 8  # channels of 256 x 256 pixels


class Block(nn.Module):
    """A convolution with batch norm and LeakyReLU."""

    def __init__(self, conv):
        super().__init__()
        self.conv, self.norm = conv, nn.BatchNorm2d(conv.out_channels)

    def forward(self, x):
        return F.leaky_relu(self.norm(self.conv(x)), SLOPE)


class Residual(Block):
    """One whose result is added to what it reads, before the LeakyReLU."""

    def __init__(self, channels):
        super().__init__(nn.Conv2d(channels, channels, 3, 1, 1, bias=False))

    def forward(self, x):
        return F.leaky_relu(x + self.norm(self.conv(x)), SLOPE)


class Generator(nn.Module):
    """A U-Net: seven halvings, then seven doublings with skip connections. Two 3 x 3 convolutions
    at the end see the sketch itself, so that edges follow its lines."""

    def __init__(self, ngf, dropout=0.0):
        super().__init__()
        width = [HEAD, *(ngf * m for m in (1, 2, 4, 8, 8, 8, 8))]
        self.dropout = dropout
        self.down, self.encoder = nn.ModuleList(), nn.ModuleList()
        self.up, self.decoder = nn.ModuleList(), nn.ModuleList()
        for i in range(HALVINGS):
            before, after = (width[i] if i else 3), width[i + 1]
            self.down.append(Block(nn.Conv2d(before, after, 4, 2, 1, bias=False)))
            self.encoder.append(residuals(after, ENCODER_BLOCKS[i]))
        for i in reversed(range(HALVINGS)):
            read = width[i + 1] * (1 if i == HALVINGS - 1 else 2)
            self.up.append(Block(nn.ConvTranspose2d(read, width[i], 4, 2, 1, bias=False)))
            self.decoder.append(residuals(width[i], DECODER_BLOCKS[i]))
        self.head = Block(nn.Conv2d(HEAD + 3, HEAD, 3, 1, 1, bias=False))
        self.last = nn.Conv2d(HEAD, 3, 3, 1, 1)
        self.apply(initialise)

    def forward(self, sketch):
        x, skips = sketch, []
        for down, blocks in zip(self.down, self.encoder):
            x = blocks(down(x))
            skips.append(x)
        x = skips.pop()
        for i, (up, blocks) in enumerate(zip(self.up, self.decoder)):
            if i:
                x = torch.cat([x, skips.pop()], 1)
            x = blocks(up(x))
            if i < 2:
                x = F.dropout(x, self.dropout, self.training)
        x = self.head(torch.cat([x, sketch], 1))
        return torch.tanh(self.last(x).float())


def residuals(channels, count):
    return nn.Sequential(*(Residual(channels) for _ in range(count)))


class SpectralConv(nn.Conv2d):
    """A convolution whose weights, as a matrix, are scaled to a largest singular value of 1."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.register_buffer("left", F.normalize(torch.randn(self.weight.shape[0]), dim=0))

    def forward(self, x):
        with torch.autocast(x.device.type, enabled=False):
            matrix = self.weight.flatten(1)
            with torch.no_grad():
                right = F.normalize(self.left @ matrix, dim=0)
                if self.training:
                    self.left.copy_(F.normalize(matrix @ right, dim=0))
            weight = self.weight / (self.left @ matrix @ right)
        return F.conv2d(x, weight, self.bias, self.stride, self.padding)


class Discriminator(nn.Module):
    """Classifies each 70 x 70 patch of a picture together with its sketch."""

    def __init__(self, ndf):
        super().__init__()
        self.layers = nn.ModuleList(
            [
                SpectralConv(6, ndf, 4, 2, 1),
                SpectralConv(ndf, ndf * 2, 4, 2, 1),
                SpectralConv(ndf * 2, ndf * 4, 4, 2, 1),
                SpectralConv(ndf * 4, ndf * 8, 4, 1, 1),
                SpectralConv(ndf * 8, 1, 4, 1, 1),
            ]
        )

    def forward(self, sketch, picture):
        """The judgement of each patch, and the features that it comes from."""
        x, features = torch.cat([sketch, picture], 1), []
        for layer in self.layers[:-1]:
            x = F.leaky_relu(layer(x), SLOPE)
            features.append(x)
        return self.layers[-1](x).float(), features


def initialise(module):
    if isinstance(module, nn.ConvTranspose2d):
        initialise_as_bilinear(module.weight)
    elif isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, SLOPE)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


@torch.no_grad()
def initialise_as_bilinear(weight):
    """Random mixtures of channels, each enlarged smoothly: the four phases of a 4 x 4 window of
    stride 2 begin alike, so that they leave no grid (as with ICNR)."""
    ramp = torch.tensor([0.25, 0.75, 0.75, 0.25])
    mixture = torch.randn(*weight.shape[:2], 1, 1) * (2 / weight.shape[0]) ** 0.5
    weight.copy_(mixture * torch.outer(ramp, ramp))


def save_generator(path, generator, about):
    """Weights as half floats, as in the released model; `about` is a dict of plain values."""
    torch.save({"state": halves(generator), **about}, path)


def halves(network):
    state = network.state_dict().items()
    return {k: (v.half() if v.dim() == 4 else v).cpu() for k, v in state}


def load_generator(path):
    """Returns the generator, ready to use, and the other saved values."""
    stored = torch.load(path, map_location="cpu")
    generator = Generator(stored["ngf"])
    generator.load_state_dict(stored["state"])
    return generator.eval(), stored
