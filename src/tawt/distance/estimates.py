"""How far a source is from a target, estimated from the starting encoder without training.

One pass over a sample of each task gives its vectors; a linear head is fitted on those (a convex
problem of seconds). From these alone:

| estimate | asks | smaller means |
| --- | --- | --- |
| `leep`, `nce` | do the source head's answers on the target's items tell their labels? | farther |
| `logme`, `h_score`, `transrate` | does what the source's head looks at explain them? | farther |
| `alignment` | does the source's gradient point where the target's does, as TAWT asks? | farther |
| `bottleneck` | the target's risk on no more than what the source's head looks at | nearer |
| `tangent` | the target's risk on the encoder that the source would train, linearised | nearer |
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from tawt.distance.items import Items, batches, gathered
from tawt.distance.linear_head import LinearHead
from tawt.distance.probe import Probe
from tawt.distance.tangent import Sample, gradient_of_samples, slope, tangent_items, tangent_step
from tawt.distance.trained import held_out
from tawt.distance.transferability import h_score, leep, logme, nce, transrate
from tawt.gradients import squared_norm, untouched
from tawt.per_example.conditions import full_float32
from tawt.training.streams import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tawt.tasks import Batch, Examples, Task

NEARER_IF_LARGER = ("leep", "nce", "logme", "h_score", "transrate", "alignment")
"""Scores; the others are distances."""


def as_distance(estimate: str, value: float) -> float:
    """An estimate, turned around if it is a score.

    Example:
        >>> as_distance("leep", -0.5), as_distance("tangent", 0.1)
        (0.5, 0.1)
    """
    return -value if estimate in NEARER_IF_LARGER else value


_TIMED = ("alignment", "bottleneck", "tangent")
ESTIMATES = (*NEARER_IF_LARGER, "bottleneck", "tangent")


@dataclass(frozen=True, kw_only=True)
class SampleSizes:
    """How many examples are looked at."""

    head: int = 100
    """Of every source, to fit its head on."""
    step: int = 256
    """Of every task, to find its gradient and its step on: the mean over several batches."""
    target: int = 100
    """Of the target's training examples."""
    held_out: int = 100
    """Of the target's held-out examples."""


@dataclass(frozen=True)
class Estimates:
    """What was found without training, and in what time."""

    values: dict[str, dict[str, dict[str, float]]]
    """By target, by source or mixture, by estimate; of mixtures only some."""
    seconds: dict[str, float]
    """By estimate: for all targets and sources together, with what it needs."""


@dataclass(frozen=True)
class _Target:
    """What a target's estimates need, whatever the source."""

    task: Task
    sample: Sample
    seen: tuple[list[Batch], Items]
    """Training examples, and their starting vectors."""
    unseen: tuple[list[Batch], Items]
    """Held-out ones."""
    norm: float
    """Of its gradient."""
    through: float
    """Risk through its own head."""
    stepped: float
    """Risk after its own step."""


class Estimator:
    """Estimates from one starting encoder.

    Nothing of a source is kept but its head: memory does not grow with their number.

    Args:
        representation: φ at its start.
        sizes: Of the samples.
        seed: By which samples are drawn.
    """

    def __init__(
        self, representation: nn.Module, *, sizes: SampleSizes | None = None, seed: int = 0
    ) -> None:
        self._representation = representation
        self._sizes = sizes or SampleSizes()
        self._seed = seed
        self._like = next(representation.parameters()).detach()
        self._heads: dict[int, Probe] = {}  # by task, since two may have one name
        self._seconds = dict.fromkeys(("heads", "scores", *_TIMED), 0.0)

    def estimates(
        self,
        sources: Sequence[Task],
        targets: Sequence[Task],
        *,
        mixtures: Mapping[str, Mapping[str, float]] | None = None,
        on_done: Callable[[], None] = lambda: None,
    ) -> Estimates:
        """Every estimate of every source for every target; a task is no source of its own.

        Args:
            sources: Tasks.
            targets: Tasks with held-out examples.
            mixtures: By name, weights of some of the sources.
            on_done: Told after each source and mixture.
        """
        with untouched([self._representation]), full_float32():
            self._representation.eval()
            known = [self._target(task) for task in targets]
            values: dict[str, dict[str, dict[str, float]]] = {each.name: {} for each in targets}
            for source in sources:
                others = [each for each in known if each.task.name != source.name]
                for target, found in self._of_source(source, others).items():
                    values[target][source.name] = found
                on_done()
            by_name = {task.name: task for task in sources}
            for name, weights in (mixtures or {}).items():
                samples = [self._sample(by_name[each], w) for each, w in weights.items()]
                others = [each for each in known if each.task.name not in weights]
                aligned, stepped = self._aligned(samples, others), self._stepped(samples, others)
                for target in aligned:
                    found = {"alignment": aligned[target], "tangent": stepped[target]}
                    values[target][name] = found
                on_done()
        heads, scores = self._seconds["heads"], self._seconds["scores"]
        seconds = dict.fromkeys(NEARER_IF_LARGER[:-1], heads + scores)
        seconds |= {name: heads + self._seconds[name] for name in _TIMED}
        return Estimates(values, seconds)

    def _of_source(self, source: Task, targets: Sequence[_Target]) -> dict[str, dict[str, float]]:
        probe = self._head(source)
        with self._timed("scores"):
            found = {each.task.name: _transferred(probe, each.seen[1]) for each in targets}
        with self._timed("bottleneck"):
            for each in targets:
                found[each.task.name]["bottleneck"] = _through(probe, each) - each.through
        sample = self._sample(source)
        for name, cosine in self._aligned([sample], targets).items():
            found[name]["alignment"] = cosine
        for name, risk in self._stepped([sample], targets).items():
            found[name]["tangent"] = risk
        return found

    def _aligned(self, samples: Sequence[Sample], targets: Sequence[_Target]) -> dict[str, float]:
        """Cosines of the samples' gradient with the targets'."""
        with self._timed("alignment"):
            gradient = gradient_of_samples(self._representation, samples)
            norm = float(squared_norm(list(gradient)).sqrt()) or 1.0
            return {
                each.task.name: slope(self._representation, each.sample, gradient)
                / (norm * each.norm)
                for each in targets
            }

    def _stepped(self, samples: Sequence[Sample], targets: Sequence[_Target]) -> dict[str, float]:
        """The targets' risk after a step of these samples, over that after their own."""
        with self._timed("tangent"):
            step = tangent_step(self._representation, samples)
            return {each.task.name: self._risk(each, step) - each.stepped for each in targets}

    def _risk(self, target: _Target, step: Sequence[Tensor]) -> float:
        """L0* of the linearised encoder; clipped log-loss."""
        seen, unseen = (
            tangent_items(self._representation, target.task.kind, batches, list(step), start)
            for batches, start in (target.seen, target.unseen)
        )
        return Probe.fitted(seen).risk(unseen).clipped

    def _target(self, task: Task) -> _Target:
        unseen = held_out(task)
        with self._timed("heads"):
            parts = [
                (
                    self._batches(examples, most, task.name, what),
                    self._gathered(task, examples, most, what),
                )
                for examples, most, what in (
                    (task.train, self._sizes.target, "train"),
                    (unseen, self._sizes.held_out, "held out"),
                )
            ]
        sample = self._sample(task)
        with self._timed("alignment"):
            gradient = gradient_of_samples(self._representation, [sample])
            norm = float(squared_norm(list(gradient)).sqrt()) or 1.0
        found = _Target(task, sample, parts[0], parts[1], norm, 0.0, 0.0)
        with self._timed("tangent"):
            own = tangent_step(self._representation, [sample])
            found = replace(found, stepped=self._risk(found, own))
        with self._timed("bottleneck"):
            return replace(found, through=_through(self._head(task), found))

    def _head(self, task: Task) -> Probe:
        """Fitted on a sample of the task's starting vectors."""
        if id(task) not in self._heads:
            with self._timed("heads"):
                seen = self._gathered(task, task.train, self._sizes.head, "train")
                self._heads[id(task)] = Probe.fitted(seen)
        return self._heads[id(task)]

    def _sample(self, task: Task, weight: float = 1.0) -> Sample:
        some = self._batches(task.train, self._sizes.step, task.name, "step")
        head = LinearHead.of(self._head(task), like=self._like)
        return Sample(task.kind, some, head, weight)

    def _gathered(self, task: Task, examples: Examples, most: int, what: str) -> Items:
        return gathered(
            self._representation,
            task.kind,
            examples,
            device=self._like.device,
            positions=self._positions(examples, most, task.name, what),
        )

    def _batches(self, examples: Examples, most: int, name: str, what: str) -> list[Batch]:
        positions = self._positions(examples, most, name, what)
        return list(batches(examples, device=self._like.device, positions=positions))

    def _positions(self, examples: Examples, most: int, name: str, what: str) -> Tensor:
        order = stream(self._seed, "distance", name, what).permutation(len(examples))
        return torch.from_numpy(order[:most])

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._seconds[what] += time.perf_counter() - began


def _through(probe: Probe, target: _Target) -> float:
    """The target's risk, clipped log-loss, on what a head makes of the vectors."""
    seen, unseen = (
        Items(probe.outputs(start.vectors), start.labels)
        for start in (target.seen[1], target.unseen[1])
    )
    return Probe.fitted(seen).risk(unseen).clipped


def _transferred(probe: Probe, items: Items) -> dict[str, float]:
    """What a source's head says of a target's items, against their labels; nothing of one label."""
    outputs, labels = probe.outputs(items.vectors), items.labels
    if bool((labels == labels[0]).all()):
        return {}
    outputs_alike = (outputs - outputs.mean(0)) / outputs.std(correction=0).clamp(min=1e-12)
    ones = torch.ones(len(outputs), 1, dtype=outputs.dtype)
    found = {"logme": logme(torch.cat([outputs_alike, ones], 1), labels)}
    if items.is_regression:
        return found
    found["h_score"] = h_score(outputs_alike, labels)
    found["transrate"] = transrate(outputs_alike, labels)
    if not probe.is_regression:
        found["leep"] = leep(outputs.softmax(-1), labels)
        found["nce"] = nce(outputs.argmax(-1), labels)
    return found
