"""Tasks that share the whole model: one number, which is to be near what each draws around."""

import numpy as np
import torch
from torch import nn

from tawt.tasks import Batch, Examples, Kind, Measure, MultiTaskModel, Task


class Numbers(Examples):
    """Draws around a mean, which the model is to guess."""

    def __init__(self, mean, size, seed=0):
        draw = torch.Generator().manual_seed(seed)
        self.values = mean + torch.randn(size, 1, generator=draw)

    def __len__(self):
        return len(self.values)

    def batch(self, indices):
        return Batch(self.values[torch.as_tensor(indices)], torch.zeros(len(indices)))


class Guess(nn.Module):
    """The whole model: its outputs are its losses, as those of a language model are."""

    def __init__(self):
        super().__init__()
        self.guess = nn.Parameter(torch.zeros(1))

    def forward(self, values):
        return (values - self.guess) ** 2


class Guessing(Kind):
    shares_head = True
    metric = "error"
    measure = Measure(lower_is_better=True, unit="squares")

    def head(self, width):
        return nn.Identity()

    def losses(self, outputs, labels):
        return outputs[:, 0]

    def answers(self, outputs, labels):
        return labels.tolist(), outputs[:, 0].tolist()

    def scores(self, gold, predicted):
        return {"error": float(np.mean(predicted))}

    def example_scores(self, gold, predicted):
        return [-value for value in predicted]


KIND = Guessing()


def tasks():
    held = {"dev": Numbers(3.0, 20, seed=8), "test": Numbers(3.0, 20, seed=9)}
    return [
        Task("near", KIND, Numbers(3.5, 40, seed=1)),
        Task("far", KIND, Numbers(-4.0, 60, seed=2)),
        Task("goal", KIND, Numbers(3.0, 10, seed=3), **held),
    ]


def model():
    return MultiTaskModel(Guess(), {task.name: nn.Identity() for task in tasks()})
