"""Figures for tests/test_train_figures.c, which stores them: training steps of PyTorch, in double.

A small U-Net with batch normalization: a step's loss and gradients, ten steps of Adam; then five
steps with a discriminator, which has batch normalization, too. Printed are C initializers.
"""

import math

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


def made(seed, shape, scale, add=0.0):
    """Element i: the same float in the test."""
    count = math.prod(shape)
    wave = torch.sin(0.37 * torch.arange(count, dtype=torch.float64) + 1.3 * seed)
    numbers = wave.float() * torch.tensor(scale, dtype=torch.float32) + torch.tensor(add, dtype=torch.float32)
    return numbers.double().reshape(shape)


IMAGE, TARGET = made(0, (2, 3, 16, 12), 1), made(1, (2, 3, 16, 12), 0.8)
# Seed, shape, scale, what is added.
GENERATOR = [
    (2, (5, 3, 4, 4), 0.2, 0),
    (3, (5,), 0.1, 0),
    (4, (7, 5, 4, 4), 0.2, 0),
    (5, (7,), 0.2, 1),
    (6, (7,), 0.1, 0),
    (7, (7, 5, 4, 4), 0.2, 0),
    (8, (5,), 0.1, 0),
    (9, (10, 3, 4, 4), 0.2, 0),
    (10, (3,), 0.1, 0),
]
DISCRIMINATOR = [
    (11, (6, 6, 4, 4), 0.2, 0),
    (12, (6,), 0.1, 0),
    (13, (7, 6, 4, 4), 0.2, 0),
    (14, (7,), 0.2, 1),
    (15, (7,), 0.1, 0),
    (16, (1, 7, 3, 3), 0.2, 0),
    (17, (1,), 0.1, 0),
]


def parameters(table):
    return [made(*row).requires_grad_() for row in table]


def normalized(x, scale, bias):
    return F.batch_norm(x, None, None, scale, bias, training=True, eps=1e-5)


def generate(weights, x):
    w1, b1, w2, scale, bias, v1, c1, v2, c2 = weights
    e1 = F.conv2d(x, w1, b1, 2, 1)
    e2 = normalized(F.conv2d(F.leaky_relu(e1, 0.2), w2, None, 2, 1), scale, bias)
    d2 = F.conv_transpose2d(F.relu(e2), v1, c1, 2, 1)
    d1 = F.relu(torch.cat([d2, e1], 1))
    return torch.tanh(F.conv_transpose2d(d1, v2, c2, 2, 1))


def judge(weights, x, picture):
    w1, b1, w2, scale, bias, w3, b3 = weights
    x = F.leaky_relu(F.conv2d(torch.cat([x, picture], 1), w1, b1, 2, 1), 0.2)
    x = F.leaky_relu(normalized(F.conv2d(x, w2, None, 2, 1), scale, bias), 0.2)
    return F.conv2d(x, w3, b3, 1, 1)


def norms(tensors):
    return ", ".join(f"{t.norm().item():.8g}" for t in tensors)


def alone():
    weights = parameters(GENERATOR)
    optimizer = torch.optim.Adam(weights, 0.01)
    losses = []
    for step in range(10):
        loss = F.mse_loss(generate(weights, IMAGE), TARGET)
        optimizer.zero_grad()
        loss.backward()
        losses.append(f"{loss.item():.8g}")
        if step == 0:
            print("gradients:", norms(w.grad for w in weights))
        optimizer.step()
    print("trained:", norms(weights))
    print("losses:", ", ".join(losses))


def adversarial(name, discriminator_loss, generator_loss):
    """The discriminator first; the generator meets the new one. 100 x L1 and the adversarial loss."""
    generator, discriminator = parameters(GENERATOR), parameters(DISCRIMINATOR)
    optimizers = [torch.optim.Adam(w, 0.002, (0.5, 0.999)) for w in (generator, discriminator)]
    for _ in range(5):
        fake = generate(generator, IMAGE)
        loss = discriminator_loss(
            judge(discriminator, IMAGE, TARGET), judge(discriminator, IMAGE, fake.detach())
        )
        optimizers[1].zero_grad()
        loss.backward()
        optimizers[1].step()
        l1, deceived = F.l1_loss(fake, TARGET), generator_loss(judge(discriminator, IMAGE, fake))
        optimizers[0].zero_grad()
        (100 * l1 + deceived).backward()
        optimizers[0].step()
        print(f"{name}: {{{l1.item():.8g}, {deceived.item():.8g}, {loss.item():.8g}}},")
    print(name, "generator:", norms(generator))
    print(name, "discriminator:", norms(discriminator))


alone()
adversarial(
    "cross-entropy",
    lambda real, fake: (F.softplus(-real).mean() + F.softplus(fake).mean()) / 2,
    lambda fake: F.softplus(-fake).mean(),
)
adversarial(
    "hinge",
    lambda real, fake: F.relu(1 - real).mean() + F.relu(1 + fake).mean(),
    lambda fake: -fake.mean(),
)
adversarial(
    "least squares",
    lambda real, fake: (((real - 1) ** 2).mean() + (fake**2).mean()) / 2,
    lambda fake: ((fake - 1) ** 2).mean() / 2,
)
