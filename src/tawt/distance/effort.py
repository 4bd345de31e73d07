"""How much there is to do for distances, so that the time left can be told from what is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.distance.items import batch_count
from tawt.distance.pieces import BACKWARD, FORWARD, passes, pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tawt.distance import Job, Question, SampleSizes
    from tawt.distance.budgets import TrainingBudget
    from tawt.distance.pieces import Kept
    from tawt.tasks import Task


@dataclass(frozen=True)
class StudyProgress:
    """How far it has got, in passes over batches: trainings and estimates differ by far."""

    done: float
    total: float
    doing: str


class Effort:
    """What this call has to do: not what was known before.

    Args:
        question: What is asked.
        tasks: By name.
        budget: Of the trainings.
        sizes: Of the samples of the estimates.
        trainings: Those that are not made yet.
        mixtures: Weights of the mixtures to be estimated, as far as they are known.
        kept: Has the pieces of the estimates that are made.
        on_step: Told of every step.
    """

    def __init__(
        self,
        question: Question,
        tasks: Mapping[str, Task],
        *,
        budget: TrainingBudget,
        sizes: SampleSizes,
        trainings: Sequence[Job],
        mixtures: Mapping[str, Mapping[str, float]],
        kept: Kept,
        on_step: Callable[[StudyProgress], None],
    ) -> None:
        self._question, self._tasks, self._budget = question, tasks, budget
        self._on_step = on_step
        self._trainings, self._made = len(trainings), 0
        self._trained = 0.0
        missing = [
            piece
            for piece in pieces(question.candidates, question.measured, mixtures)
            if kept.known(piece) is None
        ]
        by_name = {name: tasks[name] for name in question.candidates}
        targets = {name: tasks[name] for name in question.measured}
        self._total = sum(self.cost(job) for job in trainings) + sum(
            passes(piece, sources=by_name, targets=targets, sizes=sizes) for piece in missing
        )
        self._tell(0.0)

    def trained(self, cost: float) -> None:
        """One training of that cost is done."""
        self._trained += cost
        self._made += 1
        self._tell(0.0)

    def estimated(self, done: float) -> None:
        """So many passes of the estimates are done."""
        self._tell(done)

    def _tell(self, estimated: float) -> None:
        doing = "estimates"
        if self._made < self._trainings:
            doing = f"training {self._made + 1} of {self._trainings}"
        self._on_step(
            StudyProgress(min(self._total, self._trained + estimated), self._total, doing)
        )

    def cost(self, job: Job) -> float:
        """Of a training, and of measuring what it came to."""
        seen = (FORWARD + BACKWARD) * batch_count(round(self._examples(job)))
        measured = [self._tasks[name] for name in self._question.measured]
        if job.what in ("alone", "with"):
            measured = measured[:1]
        return seen + FORWARD * sum(batch_count(_size(task)) for task in measured)

    def _examples(self, job: Job) -> float:
        """That a training looks at, over all its passes."""
        budget, size = self._budget, {name: len(task.train) for name, task in self._tasks.items()}
        if job.what == "own":
            return budget.own(size[job.name]) * size[job.name]
        if job.what == "alone":
            return budget.alone * budget.target_size
        if job.what == "with":
            return budget.joint(size[job.name]) * (size[job.name] + budget.target_size)
        once = budget.epochs * sum(size[name] for name, _ in job.weights)
        return 2 * once if job.what == "learned" else once


def _size(task: Task) -> int:
    held_out = task.test or task.dev
    return len(task.train) + (len(held_out) if held_out is not None else 0)
