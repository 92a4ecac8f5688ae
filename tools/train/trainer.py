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


def slopes(pictures):
    """Differences of neighbours, down and across."""
    down = pictures[:, :, 1:] - pictures[:, :, :-1]
    return down, pictures[..., 1:] - pictures[..., :-1]


def mean_difference(some, others):
    return sum(F.l1_loss(a, b) for a, b in zip(some, others)) / len(some)


class Trainer:
    def __init__(self, pictures, options, device, team):
        self.pictures, self.options, self.device = pictures, options, device
        self.team = team
        layout = torch.channels_last
        self.generator = Generator(options.ngf, options.dropout)
        self.generator = self.generator.to(device, memory_format=layout)
        self.discriminator = Discriminator(options.ndf).to(device, memory_format=layout)
        self.average = copy.deepcopy(self.generator).eval().requires_grad_(False)
        self.optimizers = [self.adam(self.generator), self.adam(self.discriminator)]
        self.steps, self.seconds = 0, 0.0
        self.adversarial = torch.zeros((), device=device)  # weight of the adversarial loss
        self.losses = torch.zeros(3, device=device)  # L1 (0 to 1), generator's and discriminator's

    def adam(self, network):
        # A rate on the device can change between replays of a captured step.
        on_gpu = self.device.type == "cuda"
        rate = torch.tensor(self.options.rate, device=self.device) if on_gpu else self.options.rate
        return torch.optim.Adam(network.parameters(), rate, (0.5, 0.999), capturable=on_gpu)

    def parts(self):
        return [self.generator, self.discriminator, self.average, *self.optimizers]

    def state(self):
        parts = [p.state_dict() for p in self.parts()]
        return {"steps": self.steps, "seconds": self.seconds, "parts": parts}

    def restore(self, state):
        self.steps, self.seconds = state["steps"], state["seconds"]
        for part, stored in zip(self.parts(), state["parts"]):
            part.load_state_dict(stored)

    def autocast(self):
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")

    def batch(self):
        with torch.no_grad():
            pairs = training_pairs(self.pictures, self.options.batch)
            return [p.contiguous(memory_format=torch.channels_last) for p in pairs]

    def update(self):
        """Updates both networks from one batch, without waiting for the GPU."""
        sketch, truth = self.batch()
        with self.autocast():
            fake = self.generator(sketch)
        judged = self.teach_discriminator(sketch, truth, fake.detach())
        adversarial, features = self.judge(sketch, truth, fake)
        difference = F.l1_loss(fake, truth)
        loss = self.options.l1 * difference + self.adversarial * adversarial
        loss = loss + self.options.slopes * mean_difference(slopes(fake), slopes(truth))
        self.learn(self.optimizers[0], loss + self.options.features * features)
        self.losses.copy_(torch.stack([difference / 2, adversarial, judged]).detach())

    def judge(self, sketch, truth, fake):
        """The adversarial loss, and the mean difference of the discriminator's features."""
        self.discriminator.requires_grad_(False)
        with self.autocast():
            with torch.no_grad():
                wanted = self.discriminator(sketch, truth)[1]
            judgement, made = self.discriminator(sketch, fake)
            features = mean_difference(made, wanted)
        self.discriminator.requires_grad_(True)
        return -judgement.mean(), features

    def teach_discriminator(self, sketch, truth, fake):
        with self.autocast():
            judgement, _ = self.discriminator(torch.cat([sketch] * 2), torch.cat([truth, fake]))
        real, made = judgement.chunk(2)
        loss = F.relu(1 - real).mean() + F.relu(1 + made).mean()
        self.learn(self.optimizers[1], loss)
        return loss

    def learn(self, optimizer, loss):
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        weights = [w for group in optimizer.param_groups for w in group["params"]]
        self.team.average([w.grad for w in weights if w.grad is not None])
        optimizer.step()

    def set_progress(self, rate, adversarial):
        self.adversarial.fill_(adversarial)
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
