"""Pix2Pix: a U-Net generator for 256 x 256 pictures and a PatchGAN discriminator."""

import torch
import torch.nn.functional as F
from torch import nn

DROPOUT = 0.5


class Generator(nn.Module):
    """A U-Net: eight halvings, then eight doublings with skip connections."""

    def __init__(self, ngf):
        super().__init__()
        width = [ngf * m for m in (1, 2, 4, 8, 8, 8, 8, 8)]
        last = len(width) - 1
        self.down, self.down_norm = nn.ModuleList(), nn.ModuleList()
        self.up, self.up_norm = nn.ModuleList(), nn.ModuleList()
        for i, channels in enumerate(width):
            plain = i in (0, last)
            before = width[i - 1] if i else 3
            self.down.append(nn.Conv2d(before, channels, 4, 2, 1, bias=plain))
            self.down_norm.append(nn.Identity() if plain else nn.BatchNorm2d(channels))
        for i, channels in reversed(list(enumerate(width))):
            after = width[i - 1] if i else 3
            read = channels if i == last else 2 * channels
            self.up.append(nn.ConvTranspose2d(read, after, 4, 2, 1, bias=i == 0))
            self.up_norm.append(nn.BatchNorm2d(after) if i else nn.Identity())
        self.apply(initialise)

    def forward(self, x):
        skips = []
        for i, (conv, norm) in enumerate(zip(self.down, self.down_norm)):
            x = norm(conv(F.leaky_relu(x, 0.2) if i else x))
            skips.append(x)
        x = skips.pop()
        for i, (conv, norm) in enumerate(zip(self.up, self.up_norm)):
            if i:
                x = torch.cat([x, skips.pop()], 1)
            x = norm(conv(F.relu(x)))
            if i < 3:
                x = F.dropout(x, DROPOUT, self.training)
        return torch.tanh(x.float())


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
        self.layers = nn.Sequential(
            SpectralConv(6, ndf, 4, 2, 1),
            nn.LeakyReLU(0.2),
            SpectralConv(ndf, ndf * 2, 4, 2, 1),
            nn.LeakyReLU(0.2),
            SpectralConv(ndf * 2, ndf * 4, 4, 2, 1),
            nn.LeakyReLU(0.2),
            SpectralConv(ndf * 4, ndf * 8, 4, 1, 1),
            nn.LeakyReLU(0.2),
            SpectralConv(ndf * 8, 1, 4, 1, 1),
        )

    def forward(self, sketch, picture):
        return self.layers(torch.cat([sketch, picture], 1)).float()


def initialise(module):
    if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(module.weight, 0, 0.02)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


def save_generator(path, generator, about):
    """Weights as half floats, as in the released model; `about` is a dict of plain values."""
    state = {k: v.half() if v.dim() == 4 else v for k, v in generator.state_dict().items()}
    torch.save({"state": {k: v.cpu() for k, v in state.items()}, **about}, path)


def load_generator(path):
    """Returns the generator, ready to use, and the other saved values."""
    stored = torch.load(path, map_location="cpu")
    generator = Generator(stored["ngf"])
    generator.load_state_dict(stored["state"])
    return generator.eval(), stored
