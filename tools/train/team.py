"""Training on several GPUs of one machine: one process for each, started by torchrun."""

import os

import torch
import torch.distributed as dist


class Team:
    """All processes of a training; one alone, if torchrun did not start it."""

    def __init__(self):
        self.size = int(os.environ.get("WORLD_SIZE", 1))
        self.rank = int(os.environ.get("RANK", 0))
        if self.size == 1:
            return
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
        self.host = dist.new_group(backend="gloo")  # for numbers that the host decides by

    def average(self, tensors):
        """Replaces each tensor by its mean over all processes, without waiting for the GPU."""
        if self.size == 1:
            return
        flat = torch.cat([t.reshape(-1) for t in tensors])
        dist.all_reduce(flat)
        parts = (flat / self.size).split([t.numel() for t in tensors])
        for tensor, part in zip(tensors, parts):
            tensor.copy_(part.view_as(tensor))

    def agreed(self, *numbers):
        """The first process's numbers, in all processes."""
        if self.size == 1:
            return numbers
        shared = torch.tensor(numbers, dtype=torch.float64)
        dist.broadcast(shared, 0, group=self.host)
        return shared.tolist()

    def leave(self):
        if self.size > 1:
            dist.destroy_process_group()
