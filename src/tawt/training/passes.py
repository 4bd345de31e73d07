"""How often the examples of each task may be trained on, and which tasks in one batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tawt.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.tasks import Task
    from tawt.training.settings import Settings

_LEAST = 1e-12
_MANY = 100.0  # passes; small tasks are fine-tuned in 3 to 20, and sources are no targets
_BESIDE = 10.0  # times as often as all examples together


def steps_per_epoch(settings: Settings, epochs: int) -> int | None:
    """Steps in each of so many epochs of equal length, where `steps` says how many there are.

    Args:
        settings: Of the loop.
        epochs: Parts that the steps are divided into; rounded up.

    Example:
        >>> from tawt.training.settings import Settings
        >>> steps_per_epoch(Settings(sampling="weight", steps=10), epochs=4)
        3
    """
    return None if settings.steps is None else -(-settings.steps // epochs)


class Need(NamedTuple):
    """What the steps need of all tasks together, and what a limit on passes leaves for them."""

    steps: int
    wanted: int
    """Examples."""
    there: float
    """Examples, each as often as it may come."""

    @property
    def is_met(self) -> bool:
        """Whether there are enough."""
        return self.wanted <= self.there


def most_passes(
    sizes: Mapping[str, int], settings: Settings, *, batch_size: int, epochs: int = 1
) -> float | None:
    """How often each task may be passed over, if there is a limit.

    The usual limit is none where all examples together are too few for the steps; one that was
    given is refused then.

    Args:
        sizes: Number of examples of each task.
        settings: Say how many steps there are, and how often a task may be passed over.
        batch_size: Examples in a step.
        epochs: Parts of equal length that the steps are divided into, which may take more steps;
            passes, if no number of steps is given.

    Raises:
        ConfigError: All tasks would have had the passes that were given before the steps are done.

    Example:
        >>> from tawt.training.settings import Settings
        >>> settings = Settings(sampling="weight", steps=10, most_passes=2)
        >>> most_passes({"web": 40, "news": 40}, settings, batch_size=16)
        2
        >>> most_passes({"web": 20, "news": 40}, settings, batch_size=16)
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: `steps` (10) of 16 examples need 160, but `most_passes` (2) over \
all sources give 120; lower `steps` or raise `most_passes`.
        >>> settings = Settings(sampling="weight", steps=10, most_passes="usual")
        >>> most_passes({"web": 40, "news": 40}, settings, batch_size=16)
        12.0
        >>> most_passes({"web": 2, "news": 4}, settings, batch_size=16)
    """
    need = _need(sizes, settings, batch_size=batch_size, epochs=epochs)
    if need is None or need.is_met:
        return settings.passes_limit
    if settings.most_passes == "usual":
        return None
    raise ConfigError(
        f"{_said(need, settings, batch_size=batch_size, epochs=epochs)}; lower "
        f"`{'epochs' if settings.steps is None else 'steps'}` or raise `most_passes`.",
        place=("training", "most_passes"),
    )


def too_often(
    sources: Mapping[str, int], settings: Settings, *, epochs: int, all_sizes: Mapping[str, int]
) -> dict[str, float]:
    """From how many passes on a source is repeated while there is more to be seen.

    A hundred, or ten times as many as the steps are over all sources, if that is more: what is
    trained for long is repeated often. Nothing, where the settings have a limit.

    Args:
        sources: Number of examples of each that has any weight.
        settings: Say how many steps there are.
        epochs: As for `most_passes`.
        all_sizes: Number of examples of each task, targets as well.

    Example:
        >>> from tawt.training.settings import Settings
        >>> sizes, settings = {"few": 8, "many": 3992}, Settings(sampling="weight")
        >>> too_often(sizes, settings, epochs=2, all_sizes=sizes)
        {'few': 100.0, 'many': 100.0}
        >>> too_often(sizes, settings, epochs=50, all_sizes=sizes)["few"]
        504.0
    """
    if settings.most_passes is not None or not sources:
        return {}
    length = steps_per_epoch(settings, epochs)
    if length is None:
        length = sum(-(-size // settings.batch_size) for size in all_sizes.values())
    passes = epochs * length * settings.batch_size / sum(sources.values())
    return dict.fromkeys(sources, max(_MANY, _BESIDE * passes))


def why_unlimited(
    sizes: Mapping[str, int], settings: Settings, *, batch_size: int, epochs: int = 1
) -> str | None:
    """A sentence, if there is no limit on passes because the usual one leaves too few examples.

    Args:
        sizes: Number of examples of each task.
        settings: As for `most_passes`.
        batch_size: Examples in a step.
        epochs: As for `most_passes`.
    """
    need = _need(sizes, settings, batch_size=batch_size, epochs=epochs)
    if settings.most_passes != "usual" or need is None or need.is_met:
        return None
    return (
        f"{_said(need, settings, batch_size=batch_size, epochs=epochs)}, so there is no limit on "
        "passes: small sources may be repeated until they are learned by heart."
    )


def _need(
    sizes: Mapping[str, int], settings: Settings, *, batch_size: int, epochs: int
) -> Need | None:
    """Nothing, where there is no limit."""
    limit = settings.passes_limit
    if limit is None or settings.sampling == "size":
        return None
    there = limit * sum(sizes.values())
    length = steps_per_epoch(settings, epochs)
    if length is not None:
        return Need(epochs * length, epochs * length * batch_size, there)
    steps = epochs * sum(-(-size // batch_size) for size in sizes.values())
    return Need(steps, (steps - 1) * batch_size + 1, there)  # the last may be of fewer examples


def _said(need: Need, settings: Settings, *, batch_size: int, epochs: int) -> str:
    given, limit = settings.steps, f"{settings.passes_limit:g}"
    if given is None:
        steps = f"`epochs` ({epochs}), {need.steps} steps"
    elif need.steps == given:
        steps = f"`steps` ({given})"
    else:
        steps = f"`steps` ({given}, rounded up to {need.steps} for {epochs} epochs)"
    return (
        f"{steps} of {batch_size} examples need {need.wanted}, but `most_passes` "
        f"({'usual, ' if settings.most_passes == 'usual' else ''}{limit}) over all sources give "
        f"{need.there:g}"
    )


def limited(weights: Mapping[str, float], limits: Mapping[str, float]) -> dict[str, float] | None:
    """The shares nearest in proportion to the weights of which none is above its limit.

    One that would be is held there, and what it loses goes to the others in proportion to their
    weights, of which some may reach theirs. None if the limits do not come to one.

    Args:
        weights: They sum to one.
        limits: Of each share.

    Example:
        >>> limited({"a": 0.75, "b": 0.125, "c": 0.125}, {"a": 0.5, "b": 1, "c": 1})
        {'a': 0.5, 'b': 0.25, 'c': 0.25}
    """
    if sum(limits.values()) < 1 - 1e-9:
        return None
    held: dict[str, float] = {}
    while True:
        # Where all the weight is on those that are held, the others share what is left alike.
        free = {name: max(share, _LEAST) for name, share in weights.items() if name not in held}
        scale = (1 - sum(held.values())) / sum(free.values()) if free else 0.0
        over = [name for name, share in free.items() if share * scale > limits[name] * (1 + 1e-9)]
        if not over:
            return held | {name: share * scale for name, share in free.items()}
        held.update({name: limits[name] for name in over})


def check_mixed(tasks: Sequence[Task]) -> None:
    """Refuse to put examples of tasks into one batch that do not share a head.

    Raises:
        ConfigError: Naming two that differ.
    """
    first = tasks[0]
    for task in tasks[1:]:
        if not (first.kind.shares_head and task.kind == first.kind):
            raise ConfigError(
                "`sampling: mixed` puts examples of all tasks into every batch, so they must share "
                f"the whole model; {first.name!r} and {task.name!r} have heads of "
                "their own. Use `sampling: weight`.",
                place=("training", "sampling"),
            )
