"""How far a source is from a target, estimated from the starting encoder without training.

One pass over a sample of each task gives its vectors; a linear head is fitted on those (a convex
problem). From these alone:

| estimate | asks | smaller means |
| --- | --- | --- |
| `leep` | do the source head's answers on the target's items tell their labels? | farther |
| `bottleneck` | the target's risk on no more than what the source's head looks at | nearer |
| `tangent` | the target's risk on the encoder that the source would train, linearised | nearer |

None of them orders sources by what they gain the target; they tell the trained distance, more or
less (`docs/distance.md`).
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.distance.leep import leep
from tawt.distance.pieces import Kept, Meter, NothingKept, PieceResult, passes, pieces
from tawt.distance.samples import Looked, Samples, SampleSizes
from tawt.distance.tangent import tangent_items, tangent_step
from tawt.gradients import untouched
from tawt.per_example.conditions import full_float32
from tawt.probes import Items, Probe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from torch import nn

    from tawt.distance.pieces import Piece
    from tawt.distance.tangent import Sample
    from tawt.tasks import Task

ESTIMATES = ("leep", "bottleneck", "tangent")
"""What is made."""
NEARER_IF_LARGER = ("leep", "nce", "logme", "h_score", "transrate", "alignment")
"""Scores; the others are distances. All but the first are only in results of before."""
READABLE = (*NEARER_IF_LARGER, "bottleneck", "tangent")
"""What results, new and old, may have."""


def as_distance(estimate: str, value: float) -> float:
    """An estimate, turned around if it is a score.

    Example:
        >>> as_distance("leep", -0.5), as_distance("tangent", 0.1)
        (0.5, 0.1)
    """
    return -value if estimate in NEARER_IF_LARGER else value


_TIMED = ("heads", "scores", "bottleneck", "tangent")


@dataclass(frozen=True)
class Estimates:
    """What was found without training, and in what time."""

    values: dict[str, dict[str, dict[str, float]]]
    """By target, by source or mixture, by estimate; of mixtures only some."""
    seconds: dict[str, float]
    """By estimate: for all targets and sources together, with what it needs."""

    @classmethod
    def of(cls, targets: Sequence[str], found: Mapping[Piece, PieceResult]) -> Estimates:
        """From all pieces, or those that there are."""
        values: dict[str, dict[str, dict[str, float]]] = {name: {} for name in targets}
        spent = dict.fromkeys(_TIMED, 0.0)
        for piece, each in found.items():
            for part in _TIMED:  # what was kept by an earlier version may have more
                spent[part] += each.seconds.get(part, 0.0)
            if not piece.what.startswith("own"):
                for target in piece.targets:
                    known = values[target].setdefault(piece.name, {})
                    made = each.values[target]
                    known.update({name: made[name] for name in ESTIMATES if name in made})
        parts = {"leep": "scores", "bottleneck": "bottleneck", "tangent": "tangent"}
        return cls(values, {name: spent["heads"] + spent[part] for name, part in parts.items()})


@dataclass(frozen=True)
class _Target:
    """What a target's estimates need, whatever the source."""

    task: Task
    seen: Looked
    """Training examples."""
    unseen: Looked
    """Held-out ones."""


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
        found: dict[Piece, PieceResult] = {}
        with untouched([self._representation]), full_float32():
            self._representation.eval()
            for piece in pieces(list(by_name), list(goals), mixtures or {}):
                known = kept.known(piece)
                if known is None:
                    planned = passes(piece, sources=by_name, targets=goals, sizes=self._sizes)
                    self._meter.begin(planned)
                    known = self._estimate_piece(piece, by_name, goals, found)
                    kept.keep(piece, known)
                    self._meter.end()
                found[piece] = known
                if piece.what == "steps":
                    on_done()
        return Estimates.of(list(goals), found)

    def _estimate_piece(
        self,
        piece: Piece,
        sources: Mapping[str, Task],
        targets: Mapping[str, Task],
        found: Mapping[Piece, PieceResult],
    ) -> PieceResult:
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
                values = {piece.name: {"stepped": self._stepped(samples, [goals[piece.name]])[0]}}
            else:
                values = self._of_steps(samples, goals, own)
        return PieceResult(values, self._seconds)

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

    def _of_steps(
        self,
        samples: Sequence[Sample],
        targets: Mapping[str, _Target],
        own: Mapping[str, Mapping[str, float]],
    ) -> dict[str, dict[str, float]]:
        """What the samples' step would cost each target."""
        risks = self._stepped(samples, list(targets.values()))
        return {
            name: {"tangent": risk - own[name]["stepped"]}
            for name, risk in zip(targets, risks, strict=True)
        }

    def _stepped(self, samples: Sequence[Sample], targets: Sequence[_Target]) -> list[float]:
        """L0* of the linearised encoder after the samples' step; clipped log-loss."""
        with self._timed("tangent"):
            step = tangent_step(self._representation, samples, on_pass=self._passed)
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

    def _passed(self, more: float) -> None:
        self._meter.add(more)

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._seconds[what] = self._seconds.get(what, 0.0) + time.perf_counter() - began


def _transferred(probe: Probe, items: Items) -> dict[str, float]:
    """What a source's head says of a target's items, against their labels; of classes, not one."""
    labels = items.labels
    if probe.is_regression or items.is_regression or bool((labels == labels[0]).all()):
        return {}
    return {"leep": leep(probe.outputs(items.vectors).softmax(-1), labels)}
