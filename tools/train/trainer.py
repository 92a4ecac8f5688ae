"""One step of training, and the state that steps change."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

from model import Discriminator, Generator
from pairs import training_pairs

EMA_EVERY = 4  # steps
EMA_DECAY = 0.998
STATISTICS_BATCHES = 50


class Trainer:
    def __init__(self, pictures, options, device):
        self.pictures, self.options, self.device = pictures, options, device
        layout = torch.channels_last
        self.generator = Generator(options.ngf).to(device, memory_format=layout)
        self.discriminator = Discriminator(options.ndf).to(device, memory_format=layout)
        self.average = copy.deepcopy(self.generator).eval().requires_grad_(False)
        self.optimizers = [self.adam(self.generator), self.adam(self.discriminator)]
        self.steps = 0
        self.losses = torch.zeros(3, device=device)  # L1 (0 to 1), generator's and discriminator's

    def adam(self, network):
        # A rate on the device can change between replays of a captured step.
        on_gpu = self.device.type == "cuda"
        rate = torch.tensor(self.options.rate, device=self.device) if on_gpu else self.options.rate
        return torch.optim.Adam(network.parameters(), rate, (0.5, 0.999), capturable=on_gpu)

    def parts(self):
        return [self.generator, self.discriminator, self.average, *self.optimizers]

    def state(self):
        return {"steps": self.steps, "parts": [p.state_dict() for p in self.parts()]}

    def restore(self, state):
        self.steps = state["steps"]
        for part, stored in zip(self.parts(), state["parts"]):
            part.load_state_dict(stored)

    def autocast(self):
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")

    def batch(self):
        with torch.no_grad():
            numbers = self.pictures.sample(self.options.batch)
            pairs = training_pairs(self.pictures, numbers)
            return [p.contiguous(memory_format=torch.channels_last) for p in pairs]

    def update(self):
        """Updates both networks from one batch, without waiting for the GPU."""
        sketch, truth = self.batch()
        with self.autocast():
            fake = self.generator(sketch)
        judged = self.teach_discriminator(sketch, truth, fake.detach())
        self.discriminator.requires_grad_(False)
        with self.autocast():
            adversarial = -self.discriminator(sketch, fake).mean()
        self.discriminator.requires_grad_(True)
        difference = F.l1_loss(fake, truth)
        self.learn(self.optimizers[0], self.options.l1 * difference + adversarial)
        self.losses.copy_(torch.stack([difference / 2, adversarial, judged]).detach())

    def teach_discriminator(self, sketch, truth, fake):
        with self.autocast():
            judgement = self.discriminator(torch.cat([sketch] * 2), torch.cat([truth, fake]))
        real, made = judgement.chunk(2)
        loss = F.relu(1 - real).mean() + F.relu(1 + made).mean()
        self.learn(self.optimizers[1], loss)
        return loss

    def learn(self, optimizer, loss):
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    def set_rate(self, rate):
        for group in (g for o in self.optimizers for g in o.param_groups):
            if torch.is_tensor(group["lr"]):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def finish_step(self):
        """Updates the averaged generator (EMA)."""
        self.steps += 1
        if self.steps % EMA_EVERY:
            return
        decay = min(EMA_DECAY**EMA_EVERY, self.steps / (self.steps + 100))
        with torch.no_grad():
            new = self.generator.state_dict()
            for name, value in self.average.state_dict().items():
                if value.is_floating_point():
                    value.lerp_(new[name], 1 - decay)

    def averaged(self):
        """A copy of the averaged generator with recomputed batch statistics."""
        generator = copy.deepcopy(self.average)
        norms = [m for m in generator.modules() if isinstance(m, nn.BatchNorm2d)]
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None  # the plain mean over all batches
            norm.train()
        with torch.no_grad():
            for _ in range(STATISTICS_BATCHES):
                generator(self.batch()[0])
        return generator.eval()
