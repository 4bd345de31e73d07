"""How far a source is from a target, estimated from the starting encoder without training.

One pass over a sample of each task gives its vectors; a linear head is fitted on those (a convex
problem of seconds). From these alone:

| estimate | asks | smaller means |
| --- | --- | --- |
| `leep`, `nce` | do the source head's answers on the target's items tell their labels? | farther |
| `logme`, `h_score`, `transrate` | does what the source's head looks at explain them? | farther |
| `alignment` | does the source's gradient point where the target's does, as TAWT asks? | farther |
| `tangent` | the target's risk on the encoder that the source would train, linearised | nearer |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from tawt.distance.items import Items, batches, gathered
from tawt.distance.linear_head import LinearHead
from tawt.distance.probe import Probe
from tawt.distance.tangent import Sample, tangent_items, tangent_step
from tawt.distance.transferability import h_score, leep, logme, nce, transrate
from tawt.errors import DataError
from tawt.gradients import dot, gradient_of, squared_norm, trainable, untouched
from tawt.training.streams import stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.tasks import Batch, Examples, Task

NEARER_IF_LARGER = ("leep", "nce", "logme", "h_score", "transrate", "alignment")
"""Scores; the others are distances."""
ESTIMATES = (*NEARER_IF_LARGER, "tangent")


@dataclass(frozen=True, kw_only=True)
class SampleSizes:
    """How many examples are looked at."""

    head: int = 200
    """Of every source, to fit its head on."""
    step: int = 64
    """Of every source, to find its step and its gradients on."""
    target: int = 200
    """Of the target's training examples."""
    held_out: int = 200
    """Of the target's held-out examples."""


class Estimator:
    """Estimates of several sources for one target, from one starting encoder.

    Args:
        representation: φ at its start.
        target: With held-out examples.
        sizes: Of the samples.
        seed: By which samples are drawn.
    """

    def __init__(
        self,
        representation: nn.Module,
        target: Task,
        *,
        sizes: SampleSizes | None = None,
        seed: int = 0,
    ) -> None:
        held_out = target.test or target.dev
        if held_out is None:
            raise DataError(f"The target {target.name!r} has neither dev nor test examples.")
        self._representation = representation
        self._target = target
        self._sizes = sizes or SampleSizes()
        self._seed = seed
        self._device = next(representation.parameters()).device
        self._like = next(representation.parameters()).detach()
        self._seen = self._batches(target.train, self._sizes.target, target.name, "train")
        self._unseen = self._batches(held_out, self._sizes.held_out, target.name, "held out")
        self._items = self._gathered(target, target.train, self._sizes.target, "train")
        self._head = self._fitted(self._items)

    def scores(self, source: Task) -> dict[str, float]:
        """Every estimate for a source by itself."""
        seen = self._gathered(source, source.train, self._sizes.head, "head")
        probe = Probe.fitted(seen)
        found = self._transferred(probe)
        sample = self._sample(source, probe)
        found["alignment"] = self._alignment(sample)
        found["tangent"] = self._risk([sample]) - self._own_risk()
        return found

    def mixture(self, sources: Mapping[str, float], tasks: Sequence[Task]) -> float:
        """The tangent estimate for weighted sources."""
        by_name = {task.name: task for task in tasks}
        samples = []
        for name, weight in sources.items():
            task = by_name[name]
            probe = Probe.fitted(self._gathered(task, task.train, self._sizes.head, "head"))
            samples.append(self._sample(task, probe, weight))
        return self._risk(samples) - self._own_risk()

    def _transferred(self, probe: Probe) -> dict[str, float]:
        """What the source's head says of the target's items, against their labels."""
        outputs = probe.outputs(self._items.vectors)
        labels = self._items.labels
        found = {"logme": logme(outputs, labels)}
        if self._items.is_regression:
            return found
        found["h_score"] = h_score(outputs, labels)
        found["transrate"] = transrate(outputs, labels)
        if not probe.is_regression:
            found["leep"] = leep(outputs.softmax(-1), labels)
            found["nce"] = nce(outputs.argmax(-1), labels)
        return found

    def _alignment(self, sample: Sample) -> float:
        """Mean cosine of the source's gradients with the target's, batch by batch."""
        parameters = trainable(self._representation)
        cosines = []
        with untouched([self._representation]):
            self._representation.eval()
            for mine, theirs in zip(sample.batches, self._seen, strict=False):
                pair = [
                    gradient_of(head.loss(self._representation, kind, batch), parameters)
                    for head, kind, batch in (
                        (sample.head, sample.kind, mine),
                        (self._head, self._target.kind, theirs),
                    )
                ]
                norms = [squared_norm(gradient).sqrt() for gradient in pair]
                cosines.append(float(dot(*pair) / (norms[0] * norms[1]).clamp(min=1e-30)))
        return float(np.mean(cosines))

    def _risk(self, samples: Sequence[Sample]) -> float:
        """L0* of the encoder that the samples would train, linearised; clipped log-loss."""
        kind = self._target.kind
        with untouched([self._representation]):
            self._representation.eval()
            step = tangent_step(self._representation, samples)
            seen = tangent_items(self._representation, kind, self._seen, step)
            unseen = tangent_items(self._representation, kind, self._unseen, step)
        return Probe.fitted(seen).risk(unseen).clipped

    def _own_risk(self) -> float:
        """The same of the target's own step, which no source can be expected to beat."""
        if not hasattr(self, "_reference"):
            sample = Sample(self._target.kind, self._seen, self._head)
            self._reference = self._risk([sample])
        return self._reference

    def _sample(self, task: Task, probe: Probe, weight: float = 1.0) -> Sample:
        some = self._batches(task.train, self._sizes.step, task.name, "step")
        return Sample(task.kind, some, LinearHead.of(probe, like=self._like), weight)

    def _fitted(self, items: Items) -> LinearHead:
        return LinearHead.of(Probe.fitted(items), like=self._like)

    def _gathered(self, task: Task, examples: Examples, most: int, what: str) -> Items:
        return gathered(
            self._representation,
            task.kind,
            examples,
            device=self._device,
            positions=self._positions(examples, most, task.name, what),
        )

    def _batches(self, examples: Examples, most: int, name: str, what: str) -> list[Batch]:
        positions = self._positions(examples, most, name, what)
        return list(batches(examples, device=self._device, positions=positions))

    def _positions(self, examples: Examples, most: int, name: str, what: str) -> Tensor:
        order = stream(self._seed, "distance", name, what).permutation(len(examples))
        return torch.from_numpy(order[:most])
