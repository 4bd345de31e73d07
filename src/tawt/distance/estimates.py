"""How far a source is from a target, estimated from the starting encoder without training.

One pass over a sample of each task gives its vectors; a linear head is fitted on those (a convex
problem). From these alone:

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
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from tawt.distance.items import Items
from tawt.distance.pieces import Found, Kept, Meter, NothingKept, passes, pieces
from tawt.distance.probe import Probe
from tawt.distance.samples import Looked, Samples, SampleSizes
from tawt.distance.tangent import (
    Sample,
    gradient_of_samples,
    slope,
    starting_vectors,
    tangent_items,
    tangent_step,
)
from tawt.distance.transferability import h_score, leep, logme, nce, transrate
from tawt.gradients import squared_norm, untouched
from tawt.per_example.conditions import full_float32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from torch import Tensor, nn

    from tawt.distance.pieces import Piece
    from tawt.tasks import Task

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


@dataclass(frozen=True)
class Estimates:
    """What was found without training, and in what time."""

    values: dict[str, dict[str, dict[str, float]]]
    """By target, by source or mixture, by estimate; of mixtures only some."""
    seconds: dict[str, float]
    """By estimate: for all targets and sources together, with what it needs."""

    @classmethod
    def of(cls, targets: Sequence[str], found: Mapping[Piece, Found]) -> Estimates:
        """From all pieces, or those that there are."""
        values: dict[str, dict[str, dict[str, float]]] = {name: {} for name in targets}
        spent = dict.fromkeys(("heads", "scores", *_TIMED), 0.0)
        for piece, each in found.items():
            for part, more in each.seconds.items():
                spent[part] += more
            if not piece.what.startswith("own"):
                for target in piece.targets:
                    known = values[target].setdefault(piece.name, {})
                    known.update(each.values[target])
        seconds = dict.fromkeys(NEARER_IF_LARGER[:-1], spent["heads"] + spent["scores"])
        seconds |= {name: spent["heads"] + spent[name] for name in _TIMED}
        return cls(values, seconds)


@dataclass(frozen=True)
class _Target:
    """What a target's estimates need, whatever the source."""

    task: Task
    seen: Looked
    """Training examples."""
    unseen: Looked
    """Held-out ones."""


@dataclass(frozen=True)
class _Slope:
    """What alignment with a target needs."""

    sample: Sample
    start: list[tuple[Tensor, Tensor]]


class Estimator:
    """Estimates from one starting encoder.

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
        self._meter = Meter(lambda done: None)
        self._samples = Samples(representation, sizes=self._sizes, seed=seed, on_pass=self._passed)
        self._targets: dict[int, _Target] = {}
        self._slopes: dict[int, _Slope] = {}
        self._seconds: dict[str, float] = {}

    def estimates(
        self,
        sources: Sequence[Task],
        targets: Sequence[Task],
        *,
        mixtures: Mapping[str, Mapping[str, float]] | None = None,
        kept: Kept | None = None,
        on_done: Callable[[], None] = lambda: None,
        on_work: Callable[[float], None] = lambda done: None,
    ) -> Estimates:
        """Every estimate of every source for every target; a task is no source of its own.

        Args:
            sources: Tasks.
            targets: Tasks with held-out examples.
            mixtures: By name, weights of some of the sources.
            kept: Has pieces that were made before, and keeps each when it is made.
            on_done: Told after each source and mixture.
            on_work: Told now and then how much is done, in `passes`; may raise to stop.
        """
        by_name = {task.name: task for task in sources}
        goals = {task.name: task for task in targets}
        kept, self._meter = kept or NothingKept(), Meter(on_work)
        found: dict[Piece, Found] = {}
        with untouched([self._representation]), full_float32():
            self._representation.eval()
            for piece in pieces(list(by_name), list(goals), mixtures or {}):
                known = kept.known(piece)
                if known is None:
                    planned = passes(piece, sources=by_name, targets=goals, sizes=self._sizes)
                    self._meter.begin(planned)
                    known = self._made(piece, by_name, goals, found)
                    kept.keep(piece, known)
                    self._meter.end()
                found[piece] = known
                if piece.what == "steps":
                    on_done()
        return Estimates.of(list(goals), found)

    def _made(
        self,
        piece: Piece,
        sources: Mapping[str, Task],
        targets: Mapping[str, Task],
        found: Mapping[Piece, Found],
    ) -> Found:
        """One piece, from those that it is held against."""
        self._seconds = {}
        own: dict[str, dict[str, float]] = {name: {} for name in targets}
        for other, each in found.items():
            if other.what.startswith("own"):
                own[other.name] |= each.values[other.name]
        goals = {name: self._target(targets[name]) for name in piece.targets}
        looked_at = targets if piece.what.startswith("own") else sources
        tasks = [(looked_at[name], weight) for name, weight in piece.weights]
        if piece.what == "own heads":
            values = {piece.name: {"through": self._through(tasks[0][0], goals[piece.name])}}
        elif piece.what == "heads":
            values = self._of_head(tasks[0][0], goals, own)
        else:
            samples = [self._sample(task, weight) for task, weight in tasks]
            if piece.what == "own steps":
                values = {piece.name: self._own_steps(samples, goals[piece.name])}
            else:
                values = self._of_steps(samples, goals, own)
        return Found(values, self._seconds)

    def _of_head(
        self,
        source: Task,
        targets: Mapping[str, _Target],
        own: Mapping[str, Mapping[str, float]],
    ) -> dict[str, dict[str, float]]:
        probe = self._head(source)
        with self._timed("scores"):
            found = {name: _transferred(probe, each.seen.items) for name, each in targets.items()}
        for name, each in targets.items():
            found[name]["bottleneck"] = self._through(source, each) - own[name]["through"]
        return found

    def _own_steps(self, samples: Sequence[Sample], target: _Target) -> dict[str, float]:
        with self._timed("alignment"):
            gradient = self._gradient(samples)
            norm = _norm(gradient)
        with self._timed("tangent"):
            return {"norm": norm, "stepped": self._stepped(samples, gradient, [target])[0]}

    def _of_steps(
        self,
        samples: Sequence[Sample],
        targets: Mapping[str, _Target],
        own: Mapping[str, Mapping[str, float]],
    ) -> dict[str, dict[str, float]]:
        """Cosines of the samples' gradient with the targets', and what their step would cost."""
        slopes = {name: self._slope(each.task) for name, each in targets.items()}
        with self._timed("alignment"):
            gradient = self._gradient(samples)
            norm = _norm(gradient)
            found = {
                name: {
                    "alignment": slope(
                        self._representation,
                        each.sample,
                        gradient,
                        start=each.start,
                        on_pass=self._passed,
                    )
                    / (norm * own[name]["norm"])
                }
                for name, each in slopes.items()
            }
        with self._timed("tangent"):
            risks = self._stepped(samples, gradient, list(targets.values()))
        for name, risk in zip(targets, risks, strict=True):
            found[name]["tangent"] = risk - own[name]["stepped"]
        return found

    def _gradient(self, samples: Sequence[Sample]) -> list[Tensor]:
        return gradient_of_samples(self._representation, samples, on_pass=self._passed)

    def _stepped(
        self, samples: Sequence[Sample], gradient: list[Tensor], targets: Sequence[_Target]
    ) -> list[float]:
        """L0* of the linearised encoder after the samples' step; clipped log-loss."""
        step = tangent_step(self._representation, samples, gradient=gradient, on_pass=self._passed)
        risks = []
        for target in targets:
            seen, unseen = (
                tangent_items(
                    self._representation,
                    target.task.kind,
                    looked.batches,
                    step,
                    looked.items,
                    on_pass=self._passed,
                )
                for looked in (target.seen, target.unseen)
            )
            risks.append(Probe.fitted(seen, on_pass=self._passed).risk(unseen).clipped)
        return risks

    def _through(self, source: Task, target: _Target) -> float:
        """The target's risk, clipped log-loss, on what a source's head makes of the vectors."""
        probe = self._head(source)
        with self._timed("bottleneck"):
            seen, unseen = (
                Items(probe.outputs(looked.items.vectors), looked.items.labels)
                for looked in (target.seen, target.unseen)
            )
            return Probe.fitted(seen, on_pass=self._passed).risk(unseen).clipped

    def _head(self, task: Task) -> Probe:
        with self._timed("heads"):
            return self._samples.head(task)

    def _sample(self, task: Task, weight: float = 1.0) -> Sample:
        with self._timed("heads"):
            return self._samples.sample(task, weight)

    def _target(self, task: Task) -> _Target:
        if id(task) not in self._targets:
            with self._timed("heads"):
                found = _Target(task, self._samples.seen(task), self._samples.unseen(task))
            self._targets[id(task)] = found
        return self._targets[id(task)]

    def _slope(self, task: Task) -> _Slope:
        if id(task) not in self._slopes:
            sample = self._sample(task)
            with self._timed("alignment"):
                start = starting_vectors(self._representation, sample, on_pass=self._passed)
            self._slopes[id(task)] = _Slope(sample, start)
        return self._slopes[id(task)]

    def _passed(self, more: float) -> None:
        self._meter.add(more)

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._seconds[what] = self._seconds.get(what, 0.0) + time.perf_counter() - began


def _norm(gradient: Sequence[Tensor]) -> float:
    return float(squared_norm([*gradient]).sqrt()) or 1.0


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
