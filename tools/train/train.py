"""Trains the generator for --minutes; called again, goes on, until it has trained for --total.

By torchrun, on several GPUs: each makes batches of its own, their gradients are averaged."""

import argparse
import os
import time
from pathlib import Path

import torch

from dataset import Pictures
from measure import HeldOut
from model import halves, save_generator
from replay import Replay
from team import Team
from trainer import Trainer

CHECKPOINT_SECONDS = 120
REPORT_SECONDS = 60
FINISHING_SECONDS = 20  # batch statistics, the last evaluation and two files
HOLD = 0.4  # fraction of the training at the full rate, before it falls to zero
WARM_UP = 200  # steps


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="what prepare.py wrote")
    parser.add_argument("folder", type=Path, help="for checkpoint.pt and generator.pt")
    parser.add_argument("--minutes", type=float, default=1e9, help="of this call, loading included")
    parser.add_argument("--total", type=float, default=20, help="minutes of the whole training")
    parser.add_argument("--start", type=Path, help="folder with weights to begin with, if new")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--ngf", type=int, default=24, help="generator's width")
    parser.add_argument("--ndf", type=int, default=32, help="discriminator's width")
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--l1", type=float, default=100.0, help="weight of L1 loss")
    parser.add_argument("--slopes", type=float, default=100.0, help="weight of L1 of gradients")
    parser.add_argument("--features", type=float, default=10.0, help="weight of feature matching")
    parser.add_argument("--adversarial", type=float, default=1.0, help="its weight at the start")
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cuda-graph", action="store_true", help="replay each step as one graph")
    return parser.parse_args()


def remaining(trainer, options):
    """1 at first, then falling to 0 at the end of the whole training."""
    done = trainer.seconds / 60 / options.total
    return min(max((1 - done) / (1 - HOLD), 0.0), 1.0)


def replace(path, write):
    """Writes atomically: an interrupted write keeps the old file."""
    temporary = path.with_suffix(".new")
    write(temporary)
    os.replace(temporary, path)


def save_checkpoint(trainer, options):
    state = {**trainer.state(), "cpu_random": torch.get_rng_state()}
    if trainer.device.type == "cuda":
        state["cuda_random"] = torch.cuda.get_rng_state()
    replace(options.folder / "checkpoint.pt", lambda path: torch.save(state, path))


def resume(trainer, options):
    path = options.folder / "checkpoint.pt"
    if not path.exists():
        if options.start:
            start_from(trainer, options.start)
        return
    state = torch.load(path, map_location=trainer.device)
    trainer.restore(state)
    torch.set_rng_state(state["cpu_random"].cpu())
    if trainer.device.type == "cuda":
        torch.cuda.set_rng_state(state["cuda_random"].cpu())
    print(f"going on from step {trainer.steps}", flush=True)


def start_from(trainer, folder):
    """Begins with the weights of an earlier training, without the state of its optimizers."""
    generator = torch.load(folder / "generator.pt", map_location=trainer.device)["state"]
    judge = torch.load(folder / "discriminator.pt", map_location=trainer.device)
    trainer.generator.load_state_dict(generator)
    trainer.average.load_state_dict(generator)
    trainer.discriminator.load_state_dict(judge)


class Report:
    """Prints progress and losses once a minute."""

    def __init__(self, trainer, held_out, options):
        self.trainer, self.held_out, self.options = trainer, held_out, options
        self.steps, self.time = trainer.steps, time.monotonic()

    def line(self, generator):
        trainer = self.trainer
        plain, hinted = self.held_out.errors(generator)
        now = time.monotonic()
        speed = (trainer.steps - self.steps) / (now - self.time)
        self.steps, self.time = trainer.steps, now
        l1, adversarial, judged = trainer.losses.tolist()
        print(
            f"step {trainer.steps}, minute {trainer.seconds / 60:.1f} of {self.options.total:.1f},"
            f" {speed:.1f} steps/s;"
            f" training L1 {l1:.4f} G {adversarial:+.2f} D {judged:.2f};"
            f" held-out L1 {plain:.4f}, with hints {hinted:.4f}",
            flush=True,
        )
        return plain, hinted


def train(trainer, report, options, end):
    """Runs steps until the whole training or this call's time is over."""
    update = Replay(trainer.update) if options.cuda_graph else trainer.update
    now = saved = reported = time.monotonic()
    first = trainer.steps
    while True:
        left, late = trainer.team.agreed(remaining(trainer, options), now >= end)
        if left == 0 or late:
            break
        warm = min((trainer.steps - first + 1) / WARM_UP, 1)
        trainer.set_progress(options.rate * left * warm, options.adversarial * left)
        update()
        trainer.finish_step()
        if trainer.team.rank == 0 and now - reported > REPORT_SECONDS:
            report.line(trainer.average)
            reported = now
        if trainer.team.rank == 0 and now - saved > CHECKPOINT_SECONDS:
            save_checkpoint(trainer, options)
            saved = now
        trainer.seconds += time.monotonic() - now
        now = time.monotonic()


def main():
    end = time.monotonic() - FINISHING_SECONDS
    options = parse()
    end += options.minutes * 60
    team = Team()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(options.seed)
    torch.backends.cudnn.benchmark = True
    options.folder.mkdir(parents=True, exist_ok=True)
    held_out = HeldOut(Pictures(options.data, "held-out", "cpu"), device)
    trainer = Trainer(Pictures(options.data, "train", device), options, device, team)
    resume(trainer, options)
    if team.rank > 0:  # other pictures than the first process
        torch.manual_seed((options.seed * 64 + team.rank) * 1000000 + trainer.steps)
    report = Report(trainer, held_out, options)
    train(trainer, report, options, end)
    if team.rank == 0:
        finish(trainer, report, options)
    team.leave()


def finish(trainer, report, options):
    save_checkpoint(trainer, options)
    generator = trainer.averaged()
    plain, hinted = report.line(generator)
    about = {"ngf": options.ngf, "steps": trainer.steps, "seed": options.seed}
    about.update(plain=plain, hinted=hinted)
    replace(options.folder / "generator.pt", lambda path: save_generator(path, generator, about))
    judge = halves(trainer.discriminator)
    replace(options.folder / "discriminator.pt", lambda path: torch.save(judge, path))


if __name__ == "__main__":
    main()
