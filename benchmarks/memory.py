"""Peak extra memory of an update, in copies of the representation's parameters.

Two copies are needed whatever the number of sources: the direction, and the gradient being
measured along it. The activations of one batch of one task come on top, as in any backward pass;
what one forward pass keeps is measured by itself, and the goal is two copies and that much.

On a GPU the loop replays updates as it does steps, from memory that recordings hold on to. What
that comes to is measured too: the memory that a whole training run with learned weights takes from
the device at its peak, beyond what the same run with fixed ones does.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from benchmarks.data import TARGET, Shape, random_tasks, source_names
from benchmarks.finding import Finding, Numbers
from benchmarks.live_storage import peak_extra_bytes
from benchmarks.networks import Encoder, bert_base, dense, parameter_bytes
from tawt.curvature import Identity
from tawt.hypergradient import Alignment, Cosine, CurvatureWeighted
from tawt.tasks import MultiTaskModel, Task
from tawt.training import JointTraining, Settings, train
from tawt.training.devices import to_device
from tawt.weighting import Fixed, TargetAware, UpdateRule, Weighting

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor, nn

_COUNTS = (2, 40)
_EXAMPLES = 16  # of each task
_ALIGNMENTS: dict[str, Alignment] = {
    "cosine": Cosine(),
    "identity": CurvatureWeighted(Identity(scale=5.0)),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A representation and what it reads."""

    name: str
    representation: Callable[[], nn.Module]
    width: int
    shape: Shape


def run(*, device: torch.device, quick: bool) -> list[Finding]:
    """Every model and alignment, for few and for many sources."""
    width = 64 if quick else 1024
    cases = (
        Case(
            name=f"MLP 8 x {width}",
            representation=lambda: dense(features=width, width=width, depth=8),
            width=width,
            shape=Shape(width),
        ),
        Case(
            name=f"encoder 2 x {width}",
            representation=lambda: Encoder(vocabulary=4000, width=width, layers=2, heads=4),
            width=width,
            shape=Shape(4, vocabulary=4000),
        ),
    )
    found = [
        finding
        for case in cases
        for name in _ALIGNMENTS
        for finding in _findings(case, name, device=device)
    ]
    return found if device.type == "cpu" else [*found, *map(_in_the_loop, _COUNTS)]


def _findings(case: Case, alignment: str, *, device: torch.device) -> list[Finding]:
    measured = {
        count: _copies(case, count, _ALIGNMENTS[alignment], device=device) for count in _COUNTS
    }
    few, many = (measured[count][0] for count in _COUNTS)
    activations = max(forward for _, forward in measured.values())
    numbers: Numbers = {
        "peak_copies_2_sources": few,
        "peak_copies_40_sources": many,
        "activation_copies_of_one_batch": activations,
    }
    what = f"{case.name}, {alignment}"
    return [
        Finding(
            benchmark="memory",
            what=f"{what}: peak extra, the larger of 2 and 40 sources",
            value=max(few, many),
            unit="copies",
            goal=2.0 + activations,
            note=f"goal is 2 and the activations of one batch, {activations:.4f}",
            numbers=numbers,
        ),
        Finding(
            benchmark="memory",
            what=f"{what}: 40 sources over 2",
            value=round(
                many / few, 2
            ),  # a gradient kept would make it 1.5, forty scalars do not show
            unit="x",
            goal=1.0,
            numbers=numbers,
        ),
    ]


def _copies(
    case: Case, count: int, alignment: Alignment, *, device: torch.device
) -> tuple[float, float]:
    """Peak extra memory of an update, and of one forward pass, in copies of the parameters."""
    sources = source_names(count)
    tasks = random_tasks(dict.fromkeys([*sources, TARGET], _EXAMPLES), shape=case.shape)
    model = MultiTaskModel.for_tasks(case.representation(), tasks, width=case.width).to(device)
    batches = {
        task.name: to_device(task.train.batch(np.arange(_EXAMPLES)), device) for task in tasks
    }
    kinds = {task.name: task.kind for task in tasks}
    weighting = TargetAware(
        sources=sources,
        target=TARGET,
        target_share="learned",
        rule=UpdateRule(alignment=alignment),
    )

    def loss_of(task: str) -> Tensor:
        batch = batches[task]
        return kinds[task].losses(model(batch.inputs, task), batch.labels).mean()

    def update() -> None:
        weighting.update(model.representation, loss_of=loss_of, touching=[model])

    update()
    present = [*model.parameters(), *model.buffers()]
    present += [tensor for batch in batches.values() for tensor in (batch.inputs, batch.labels)]
    size = parameter_bytes(model.representation)
    forward = peak_extra_bytes(lambda: loss_of(TARGET), device=device, present=present)
    peak = peak_extra_bytes(update, device=device, present=present)
    return peak / size, forward / size


def _in_the_loop(count: int) -> Finding:
    sources = source_names(count)
    tasks = random_tasks(dict.fromkeys([*sources, TARGET], 32), shape=Shape(8, vocabulary=4000))
    learned = TargetAware(sources=sources, target=TARGET, target_share="learned")
    fixed = Fixed([*sources, TARGET], initial="uniform")
    size = parameter_bytes(bert_base())
    taken = {
        name: _taken(tasks, weighting) / size
        for name, weighting in (("fixed", fixed), ("learned", learned))
    }
    return Finding(
        benchmark="memory",
        what=f"training an encoder of BERT's size, {count} sources, cosine: peak, less fixed's",
        value=taken["learned"] - taken["fixed"],
        unit="copies",
        goal=2.0,
        note=f"{taken['learned']:.2f} against {taken['fixed']:.2f}",
        numbers={f"peak_copies_{name}": copies for name, copies in taken.items()},
    )


def _taken(tasks: list[Task], weighting: Weighting) -> int:
    """Bytes taken from the GPU at the peak of a run, what is merely kept in hand included."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    train(
        MultiTaskModel.for_tasks(bert_base(), tasks, width=768),
        tasks=tasks,
        target=TARGET,
        paradigm=JointTraining(epochs=2),
        weighting=weighting,
        settings=Settings(batch_size=8, gradient_examples=8, update_every=10),
    )
    return torch.cuda.max_memory_reserved()
