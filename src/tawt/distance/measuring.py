"""`task_distance`: what to train, and what comes of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.distance.bound import Rates, Terms, rates
from tawt.distance.estimates import Estimates, Estimator
from tawt.distance.gains import gain_of
from tawt.distance.jobs import Job, ModelFor, Workshop
from tawt.distance.question import Question
from tawt.distance.result import TaskDistance
from tawt.distance.trained import Distance, held_out
from tawt.errors import ConfigError, DataError, suggestion
from tawt.gradients import trainable
from tawt.probes import Risk
from tawt.training import Settings
from tawt.training.devices import chosen_device

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tawt.distance.pieces import Kept
    from tawt.distance.samples import SampleSizes
    from tawt.tasks import MultiTaskModel, Task
    from tawt.training import JointTraining, PreTraining
    from tawt.weighting import UpdateRule

Outcomes = dict[tuple[Job, int], dict[str, Any]]
"""Of jobs, by seed."""


def task_distance(  # noqa: PLR0913 - the parts of a study, each by its name
    model_for: ModelFor,
    *,
    tasks: Sequence[Task],
    target: str,
    weights: Mapping[str, Mapping[str, float]] | None = None,
    epochs: int = 4,
    settings: Settings | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    training: bool = True,
    matrix: bool = False,
    whole: Task | None = None,
    paradigm: PreTraining | JointTraining | None = None,
    rule: UpdateRule | None = None,
    sizes: SampleSizes | None = None,
    device: str = "auto",
    on_done: Callable[[int, int], None] = lambda done, total: None,
) -> TaskDistance:
    """How far each source, the uniform and the learned mixture are from the target.

    Args:
        model_for: From tasks and a seed to a new model with a head for each task. The
            representation must be the same for the same seed, whatever the tasks.
        tasks: Sources and target; the target has held-out examples (with `matrix`, all have).
        target: Name of the task that counts.
        weights: More mixtures: by a name, weights of some sources that sum to one.
        epochs: Passes over the sources, and over the target.
        settings: Of all trainings.
        seeds: Every training is done for each.
        training: Whether to train at all; otherwise there are estimates only.
        matrix: Measure every task from every other; all of them need held-out examples.
        whole: All that there is of the target, for the best that it could have; its training
            examples by default.
        paradigm: In which sources have to prove themselves; joint training by default.
        rule: By which weights are learned; `UpdateRule.robust()` by default.
        sizes: Of the samples that estimates are made from.
        device: "auto", "cpu", "cuda" or "cuda:N".
        on_done: Told how many steps of how many are done.

    Example:
        >>> import numpy as np, torch
        >>> from tawt.arrays import classification
        >>> draw = np.random.default_rng(0)
        >>> def task(name, column):
        ...     inputs = draw.normal(size=(60, 3)).astype(np.float32)
        ...     labels = (inputs[:, column] > 0).astype(int)
        ...     return classification(
        ...         name, train=(inputs[:30], labels[:30]), test=(inputs[30:], labels[30:])
        ...     )
        >>> tasks = [task("near", 0), task("far", 2), task("goal", 0)]
        >>> def model_for(tasks, seed):
        ...     torch.manual_seed(seed)
        ...     return MultiTaskModel.for_tasks(torch.nn.Linear(3, 1), tasks, width=1)
        >>> from tawt.tasks import MultiTaskModel
        >>> found = task_distance(model_for, tasks=tasks, target="goal", training=False)
        >>> found.estimates["goal"]["near"]["tangent"] < found.estimates["goal"]["far"]["tangent"]
        True
    """
    settings = settings or Settings()
    by_name = {task.name: task for task in tasks}
    if len(by_name) < len(tasks):
        raise DataError("Tasks must have different names.")
    if not seeds:
        raise ConfigError("There must be at least one seed.")
    if target not in by_name:
        raise DataError(f"There is no task called {target!r}; {suggestion(target, by_name)}")
    question = Question(
        tuple(name for name in by_name if name != target), target, weights or {}, matrix
    )
    for name in question.measured:
        held_out(by_name[name])
    jobs = [(job, seed) for seed in seeds for job in question.jobs] if training else []
    total = len(jobs) + question.estimated(trained=training)
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        on_done(done, total)

    on_done(0, total)
    outcomes: Outcomes = {}
    for job, seed in jobs:
        workshop = Workshop(
            model_for=model_for,
            tasks=by_name,
            target=target,
            measured={name: by_name[name] for name in question.measured},
            whole={} if whole is None else {target: whole},
            budget=question.budget(by_name, epochs=epochs, batch=settings.batch_size),
            paradigm=paradigm,
            rule=rule,
            settings=settings,
            seed=seed,
            device=device,
        )
        outcomes[job, seed] = workshop.done(job)
        count()
    model = model_for(tasks, seeds[0])
    model.representation.to(chosen_device(device))
    estimates = estimated(
        question, by_name, model, outcomes, seeds=seeds, sizes=sizes, on_done=count
    )
    return answered(question, by_name, model, outcomes, estimates, seeds=seeds)


def estimated(
    question: Question,
    tasks: Mapping[str, Task],
    model: MultiTaskModel,
    outcomes: Outcomes,
    *,
    seeds: Sequence[int],
    sizes: SampleSizes | None = None,
    kept: Kept | None = None,
    on_done: Callable[[], None] = lambda: None,
    on_work: Callable[[float], None] = lambda done: None,
) -> Estimates:
    """The estimates, from a model before training.

    Args:
        question: What is asked.
        tasks: By name.
        model: Before training.
        outcomes: Of the jobs, as far as there are any: learned weights are taken from there.
        seeds: Of the outcomes; the first is also the samples'.
        sizes: Of the samples.
        kept: Has what was estimated before, and keeps what is estimated now.
        on_done: Told after each source and mixture.
        on_work: Told now and then how much is done; may raise to stop.
    """
    estimator = Estimator(model.representation, sizes=sizes, seed=seeds[0])
    return estimator.estimates(
        [tasks[name] for name in question.candidates],
        [tasks[name] for name in question.measured],
        mixtures=mean_weights(question, outcomes, seeds),
        kept=kept,
        on_done=on_done,
        on_work=on_work,
    )


def answered(
    question: Question,
    tasks: Mapping[str, Task],
    model: MultiTaskModel,
    outcomes: Outcomes,
    estimates: Estimates,
    *,
    seeds: Sequence[int],
) -> TaskDistance:
    """All that follows from what was trained and estimated."""
    mixtures = mean_weights(question, outcomes, seeds)
    seconds = dict(estimates.seconds)
    found: dict[str, Any] = {}
    if outcomes:
        found = _of_trainings(question, outcomes, seeds)
        for kind, names in (
            ("trained", ("own", "sources", "learned")),
            ("gains", ("alone", "with")),
        ):
            seconds[kind] = sum(
                outcome["seconds"] for (job, _), outcome in outcomes.items() if job.what in names
            )
    return TaskDistance(
        target=question.target,
        sources=list(question.sources),
        seeds=list(seeds),
        mixtures=mixtures,
        estimates=estimates.values,
        rates=_rates(question, tasks, model, outcomes, seeds),
        seconds=seconds,
        **found,
    )


def _rates(
    question: Question,
    tasks: Mapping[str, Task],
    model: MultiTaskModel,
    outcomes: Outcomes,
    seeds: Sequence[int],
) -> dict[str, Rates]:
    """Of every mixture, or of the only source; of learned weights, the mean over seeds."""
    by_seed = _weights_by_seed(question, outcomes, seeds)
    if len(question.sources) == 1:
        by_seed = {question.sources[0]: [{question.sources[0]: 1.0}], **by_seed}
    return {
        name: _mean_rates(
            [
                rates(
                    weights,
                    {source: len(tasks[source].train) for source in question.sources},
                    target_size=len(tasks[question.target].train),
                    head=sum(p.numel() for p in model.heads[question.target].parameters()),
                    representation=sum(p.numel() for p in trainable(model.representation)),
                )
                for weights in each
            ]
        )
        for name, each in by_seed.items()
    }


def _mean_rates(found: Sequence[Rates]) -> Rates:
    each = [asdict(rates) for rates in found]
    return Rates(**{name: float(np.mean([rates[name] for rates in each])) for name in each[0]})


def _weights_by_seed(
    question: Question, outcomes: Outcomes, seeds: Sequence[int]
) -> dict[str, list[dict[str, float]]]:
    """ω of the mixtures; those that were to be learned only if they were."""
    found = {name: [weights] for name, weights in question.mixtures.items()}
    if found.pop("learned", None) is not None and outcomes:
        job = question.job_of("learned")
        found["learned"] = [outcomes[job, seed]["weights"] for seed in seeds]
    return found


def mean_weights(
    question: Question, outcomes: Outcomes, seeds: Sequence[int]
) -> dict[str, dict[str, float]]:
    """ω of each mixture, averaged over seeds where it was learned."""
    return {
        name: {source: float(np.mean([weights[source] for weights in each])) for source in each[0]}
        for name, each in _weights_by_seed(question, outcomes, seeds).items()
    }


def _of_trainings(question: Question, outcomes: Outcomes, seeds: Sequence[int]) -> dict[str, Any]:
    def risks(job: Job, target: str, what: str = "risk") -> list[Risk]:
        return [Risk(**outcomes[job, seed]["risks"][target][what]) for seed in seeds]

    trained = {
        target: {
            name: Distance(risks(question.job_of(name), target), risks(own, target))
            for name in (*question.sources, *question.mixtures, *_also(question, target))
            if name != target and not _contains(question, name, target)
        }
        for target in question.measured
        for own in [Job("own", target)]
    }
    alone = [outcomes[Job("alone", question.target), seed] for seed in seeds]
    gains = {}
    for source in question.sources:
        beside = [outcomes[Job("with", source), seed] for seed in seeds]
        gains[source] = gain_of(
            [each["score"] for each in beside],
            [each["score"] for each in alone],
            [each["examples"] for each in beside],
            [each["examples"] for each in alone],
        )
    [half] = [job for job in question.jobs if job.what == "half"]
    target, whole = question.target, question.job_of(half.name)

    def clipped(job: Job, what: str = "risk") -> list[float]:
        return [risk.clipped for risk in risks(job, target, what)]

    each = zip(
        clipped(whole),
        clipped(whole, "half"),
        clipped(half),
        clipped(Job("own", target)),
        strict=True,
    )
    terms = [
        Terms.measured(risk=risk, half_head=head, half_sources=sources, best=best)
        for risk, head, sources, best in each
    ]
    return {"trained": trained, "gains": gains, "metric": alone[0]["metric"], "terms": terms}


def _also(question: Question, target: str) -> list[str]:
    """The target itself is a source of the others, in a matrix."""
    return [question.target] if question.matrix and target != question.target else []


def _contains(question: Question, name: str, target: str) -> bool:
    """Whether a mixture has the target among its sources."""
    return target in question.mixtures.get(name, {})
