"""Small tasks and networks that the tests of distances share."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from tawt.arrays import classification
from tawt.distance import Distance, Job, Workshop
from tawt.distance.budgets import TrainingBudget
from tawt.probes import Risk
from tawt.tasks import Examples, MultiTaskModel
from tawt.training import Settings

SETTINGS = Settings(
    learning_rate=0.02, clip_norm=None, batch_size=50, head_epochs=5, head_learning_rate=0.05
)


def task(name, seed, *, shuffled=False, flipped=0.0, sizes=(400, 300)):
    """Twenty features; the label says which of the first four is largest.

    The networks below keep four numbers of the twenty: those of a network that was trained on
    such labels tell them, and those of a new network do not.

    Args:
        name: Of the task.
        seed: Of its inputs.
        shuffled: Whether labels belong to other examples.
        flipped: How many labels are another one instead, as a share. The same seed with a larger
            share has the same examples, and those flipped before are flipped as before.
            With three in four flipped, labels say nothing.
        sizes: Training and test examples; with three numbers, training, dev and test.
    """
    draw = np.random.default_rng(seed)
    inputs = draw.normal(size=(sum(sizes), 20)).astype(np.float32)
    labels = inputs[:, :4].argmax(1)
    if shuffled:
        labels = draw.permutation(labels)
    wrong, another = draw.random(len(labels)) < flipped, draw.integers(1, 4, len(labels))
    labels = np.where(wrong, (labels + another) % 4, labels)
    parts = np.split(np.arange(len(labels)), np.cumsum(sizes)[:-1])
    splits = ("train", "test") if len(parts) == 2 else ("train", "dev", "test")
    return classification(
        name,
        **{split: (inputs[part], labels[part]) for split, part in zip(splits, parts, strict=True)},
        labels=["a", "b", "c", "d"],
    )


def model_for(tasks, seed):
    """A network whose representation depends on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        body = nn.Sequential(nn.Linear(20, 16), nn.Tanh(), nn.Linear(16, 4))
        return MultiTaskModel.for_tasks(body, tasks, width=4)


class Watched(Examples):
    """Examples that remember which of them were asked for, and how often one was."""

    def __init__(self, examples):
        self._examples = examples
        self.asked = []

    def __len__(self):
        return len(self._examples)

    def batch(self, indices):
        self.asked += np.asarray(indices).tolist()
        return self._examples.batch(indices)

    @property
    def seen(self):
        return set(self.asked)


def watched(found):
    """The same task with all its examples watched."""
    return replace(
        found,
        **{
            split: None if (part := getattr(found, split)) is None else Watched(part)
            for split in ("train", "dev", "test")
        },
    )


class Bench(Workshop):
    """A workshop that keeps the models that it made."""

    def __init__(self, *tasks, target="goal", **given):
        self.__dict__["models"] = []

        def kept(found, seed):
            self.models.append(model_for(found, seed))
            return self.models[-1]

        by_name = {each.name: each for each in tasks}
        budget = TrainingBudget(
            epochs=given.pop("epochs", 2),
            batch=SETTINGS.batch_size,
            sizes=tuple(len(each.train) for each in tasks if each.name != target),
            target_size=len(by_name[target].train),
        )
        usual = {"budget": budget, "settings": SETTINGS, "measured": {target: by_name[target]}}
        super().__init__(model_for=kept, tasks=by_name, target=target, **{**usual, **given})

    @property
    def representation(self):
        """The parameters of the last model's."""
        return [p.detach().clone() for p in self.models[-1].representation.parameters()]


def distances_of(names, workshops):
    """Of each source by itself from the task "goal", over workshops of several seeds."""

    def risk(workshop, job):
        return Risk(**workshop.done(job)["risks"]["goal"]["risk"])

    workshops = list(workshops)
    best = [risk(workshop, Job("own", "goal")) for workshop in workshops]
    alone = {name: Job("sources", name, ((name, 1.0),)) for name in names}
    return [Distance([risk(shop, alone[name]) for shop in workshops], best) for name in names]
