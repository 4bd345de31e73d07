"""A kind of data that the package knows nothing of: sequences of numbers of any length.

A task is one of two questions about them; the model is a small recurrent network.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from pydantic import Field
from torch import nn

from tawt.arrays import Classification
from tawt.errors import ConfigError
from tawt.modality import DataSection, LabelAnswer, Modality, Predictor, Section, register
from tawt.modality.recognising import Drafted, Recognised
from tawt.tasks import Batch, Examples, MultiTaskModel, Shown, Task

QUESTIONS = {
    "rises": lambda sequence: int(sequence[-1] > sequence[0]),
    "positive": lambda sequence: int(sum(sequence) > 0),
}
NAMES = ("no", "yes")
SIZES = {"dev": 12, "test": 30}


class SequenceData(DataSection):
    kind: Literal["sequences"]
    longest: int = Field(9, ge=2, le=100)
    limit: int = Field(24, ge=2, le=40)
    diary: Path | None = None
    one_head: bool = False


class Recurrent(Section):
    width: int = Field(8, ge=1, le=1000)


class Sequences(Examples):
    in_words = True

    def __init__(self, sequences, labels):
        self.sequences, self.labels = sequences, labels
        self.lengths = np.array([len(sequence) for sequence in sequences])

    def __len__(self):
        return len(self.sequences)

    def batch(self, indices):
        chosen = [torch.tensor(self.sequences[index]) for index in indices]
        labels = torch.tensor([self.labels[index] for index in indices])
        return Batch(nn.utils.rnn.pack_sequence(chosen, enforce_sorted=False), labels)

    def show(self, index):
        return Shown(text=" ".join(f"{number:.1f}" for number in self.sequences[index]))

    def label(self, index):
        return NAMES[self.labels[index]]


class Reader(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.recurrent = nn.RNN(1, width, batch_first=True)

    def forward(self, packed):
        one = packed._replace(data=packed.data[:, None])
        return self.recurrent(one)[1][0]


class SequencePredictor(Predictor):
    task_kind = "classification"

    def __init__(self, model, target):
        self.model, self.target = model.eval(), target

    def read(self, handle, *, path, form, typed):
        return (json.loads(line) for line in handle)

    def answers(self, asked):
        for number, sequence in enumerate(asked, start=1):
            batch = Sequences([sequence], [0]).batch([0])
            with torch.no_grad():
                shares = self.model(batch.inputs, self.target)[0].softmax(-1).tolist()
            best = NAMES[int(np.argmax(shares))]
            yield LabelAnswer(number, best, dict(zip(NAMES, shares, strict=True)))


class SequenceModality(Modality):
    name = "sequences"
    data_section = SequenceData
    model_section = Recurrent
    model_wanted = "a `width`"
    groups_wanted = "the names of those who drew"
    dev_wanted = "more draws"
    files_wanted = "sequences (.seq)"
    endings = (".seq",)
    is_pretrained = False
    depends_on_roles = False

    def task_names(self, data):
        return list(QUESTIONS)

    def tasks(self, data, model, *, names, targets, seed):
        return [
            replace(
                Task(name, Classification(NAMES), **self._splits(data, name, seed)),
                head="answer" if data.one_head else None,
            )
            for name in names
        ]

    def _splits(self, data, name, seed):
        return {
            split: Sequences(found, [QUESTIONS[name](each) for each in found])
            for split, size in {**SIZES, "train": data.limit}.items()
            for found in [drawn(size, data.longest, seed=[seed, len(name), len(split)])]
        }

    def model(self, section, tasks):
        alone = MultiTaskModel.for_tasks(Reader(section.width), tasks, width=section.width)
        first = alone.heads[tasks[0].name]
        heads = {task.name: first if task.head else alone.heads[task.name] for task in tasks}
        return MultiTaskModel(alone.representation, heads)

    def save(self, trained, folder):
        saved = {"heads": list(trained.model.heads), "state": trained.model.state_dict()}
        torch.save(saved, folder / "model.pt")

    def predictor(self, folder, request):
        saved = torch.load(folder / "model.pt", weights_only=True)
        heads = {name: nn.Linear(request.section.width, len(NAMES)) for name in saved["heads"]}
        model = MultiTaskModel(Reader(request.section.width), heads)
        model.load_state_dict(saved["state"])
        return SequencePredictor(model, request.target)

    def check(self, data, model, *, targets):
        if data.longest > 50 and model.width < 4:
            raise ConfigError("too narrow for what is so long.", place=("model", "width"))

    @property
    def robust_defaults(self):
        return {
            "weighting": {"step": "mirror", "step_size": 0.75},
            "training": {"update_growth": 0.5},
        }

    def training_defaults(self, model):
        return {"learning_rate": 0.02 if model.get("width", 8) < 7 else 0.01}

    def placed(self, data, model, folder):
        diary = None if data.diary is None else folder / data.diary
        return data.model_copy(update={"diary": diary}), model

    def remarks(self, tasks, *, targets):
        few = [task.name for task in tasks if task.name in targets and len(task.train) < 10]
        return [f"{name!r} has few draws." for name in few]

    def inspect(self, data, model, **options):
        found, warnings = super().inspect(data, model, **options)
        return found, [*warnings, "They were drawn, not seen."]

    def recognise(self, files):
        if files.first.suffix != ".seq":
            return None
        sizes = {"train": len(files.first.read_text().splitlines())}
        return Recognised(
            name="rises", task_kind="rising", taken_for="sequences", sizes=sizes, section={}
        )

    def draft(self, target, sources):
        return Drafted({"data": {"kind": "sequences"}, "model": {"width": 4}})

    def memory_fields(self, model):
        return [f"`model.width` ({model.width})"]

    def whole(self, data, target):
        return None if data.limit == 40 else data.model_copy(update={"limit": 40})

    def sharers(self, data, tasks, *, target):
        return [] if data.one_head else [task.name for task in tasks if task.name != target]

    def with_shared_head(self, data, *, target, sources):
        return data.model_copy(update={"one_head": True})

    def limits(self, data):
        return [data.limit for _ in QUESTIONS]


def drawn(size, longest, *, seed):
    draw = np.random.default_rng(seed)
    return [draw.normal(size=draw.integers(2, longest)).astype(np.float32) for _ in range(size)]


SEQUENCES = SequenceModality()
register(SEQUENCES)
