"""What an update costs: MLP 3 x 256 on 64 features, three sources, 64 examples of each task."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.data import TARGET, Shape, random_tasks, source_names
from benchmarks.live_storage import peak_extra_bytes
from benchmarks.networks import dense, parameter_bytes
from benchmarks.timing import in_turns, seconds
from tawt.tasks import MultiTaskModel
from tawt.weighting import TargetAware, UpdateRule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tawt.hypergradient import Alignment

_EXAMPLES = 64


def cost(alignments: Mapping[str, Alignment]) -> dict[str, dict[str, float]]:
    """Milliseconds, and peak extra memory in copies of the representation, of each."""
    device = torch.device("cpu")
    sources = source_names(3)
    tasks = random_tasks(dict.fromkeys([*sources, TARGET], _EXAMPLES), shape=Shape(64))
    torch.manual_seed(0)
    model = MultiTaskModel.for_tasks(dense(features=64, width=256, depth=3), tasks, width=256)
    batches = {task.name: task.train.batch(np.arange(_EXAMPLES)) for task in tasks}
    optimiser = _trained(model, batches, sources)

    def loss_of(task: str) -> Tensor:
        return nn.functional.cross_entropy(model(batches[task].inputs, task), batches[task].labels)

    def updating(alignment: Alignment) -> Callable[[], object]:
        weights = TargetAware(
            sources=sources,
            target=TARGET,
            target_share=None,
            rule=UpdateRule(alignment=alignment, step_size=1e-6),
        )
        weights.follow(optimiser)
        return lambda: weights.update(model.representation, loss_of=loss_of, touching=[model])

    sides = {name: updating(alignment) for name, alignment in alignments.items()}
    times = in_turns(
        {
            name: lambda action=action: seconds(action, device=device)
            for name, action in sides.items()
        },
        repeats=7,
        warm_up=1,
    )
    present = [*model.parameters(), *model.buffers()]
    present += [tensor for batch in batches.values() for tensor in (batch.inputs, batch.labels)]
    present += [value for state in optimiser.state.values() for value in state.values()]
    size = parameter_bytes(model.representation)
    return {
        name: {
            "milliseconds": 1000 * statistics.median(times[name]),
            "copies": peak_extra_bytes(action, device=device, present=present) / size,
        }
        for name, action in sides.items()
    }


def _trained(
    model: MultiTaskModel, batches: Mapping[str, Any], sources: list[str]
) -> torch.optim.Optimizer:
    """A few steps, so that Adam has something to say."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(5):
        optimiser.zero_grad()
        for task in sources:
            outputs = model(batches[task].inputs, task)
            nn.functional.cross_entropy(outputs, batches[task].labels).backward()
        optimiser.step()
    optimiser.zero_grad()
    return optimiser
