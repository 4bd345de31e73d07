"""Where weights start, and what they serve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tawt import simplex
from tawt.errors import WeightsError
from tawt.given import names_of
from tawt.units import Units
from tawt.weighting.rule import TargetShare, UpdateRule, share_range
from tawt.weighting.stepping import Stepping
from tawt.weights import Initial, SourceWeights, known_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def initial_weights(
    tasks: Sequence[str],
    initial: Initial,
    *,
    sizes: Mapping[str, int] | None,
    target: Iterable[str],
    target_share: TargetShare | None,
) -> SourceWeights:
    """The weights that training starts from, the target's share already where it must be.

    Args:
        tasks: Those that are weighed.
        initial: "uniform", "proportional" (needs `sizes`), or a mapping from task to weight.
        sizes: Number of training examples of each; tasks that are not weighed are passed over.
        target: Names of the targets.
        target_share: As for `TargetAware`.

    Example:
        >>> initial_weights(
        ...     ["a", "b", "goal"], "uniform", sizes=None, target=["goal"], target_share=0.5
        ... ).shares()
        {'a': 0.25, 'b': 0.25, 'goal': 0.5}
    """
    if sizes is not None:
        sizes = {name: size for name, size in sizes.items() if name in tasks}
    weights = SourceWeights.initial(initial, tasks, sizes=sizes)
    if target_share is None:
        return weights
    low, high = share_range(target_share)
    members = weights.members(set(target))
    share = float(weights.logs[members].exp().sum())
    if isinstance(initial, Mapping) and not low - 1e-6 <= share <= high + 1e-6:
        raise WeightsError(
            f"The initial weights give the target {share:.4g}, but `target_share` is "
            f"{target_share}; make them agree, or leave one of them out."
        )
    return weights.moved(simplex.with_share(weights.logs, members, low=low, high=high))


def usual_rule(units: Units | None) -> UpdateRule:
    """The rule of weights for which none is given.

    Args:
        units: What they are put on, if not on tasks.
    """
    finer = units is not None and bool(units.finer)
    return UpdateRule.bounded() if finer else UpdateRule.robust()


def started(
    sources: Sequence[str],
    target: Mapping[str, float],
    *,
    target_share: TargetShare | None,
    initial: Initial,
    sizes: Mapping[str, int] | None,
    rule: UpdateRule,
    units: Units | None,
) -> tuple[SourceWeights, Stepping]:
    """Weights where they start, inside their bounds, and how they step from there.

    Args:
        sources: Names of the source tasks.
        target: Shares of the targets.
        target_share: As for `TargetAware`, like all that follow.
        initial: "uniform", "proportional" or a mapping.
        sizes: Number of training examples of each task.
        rule: How weights move.
        units: What they are put on, if not on tasks.
    """
    weighed = [] if target_share is None else [*target]
    if units is None:
        units = Units.of_tasks([*sources, *weighed])
    else:
        _check_units(units, sources, rule)
        units = units.with_whole(weighed)
    start = initial_weights(
        [*sources, *weighed], initial, sizes=sizes, target=target, target_share=target_share
    )
    if isinstance(initial, Mapping):
        check_ratio(start, target, bound=rule.ratio_bound)
    weights = start.spread(units)
    stepping = Stepping(
        rule=rule,
        initial=weights.logs,
        members=weights.members(target),
        share=(0.0, 1.0) if target_share is None else share_range(target_share),
        by_size=bool(units.finer),
    )
    weights = weights.moved(stepping.allowed(weights.logs))
    return weights, replace(stepping, initial=weights.logs)


def _check_units(units: Units, sources: Sequence[str], rule: UpdateRule) -> None:
    known_names(units.names, sources, what="units")
    if units.finer and rule.step != "mirror":
        raise WeightsError(
            "Weights on groups and examples move by mirror descent; use UpdateRule.bounded(), or "
            'step="mirror".'
        )


def convex(targets: Mapping[str, float]) -> dict[str, float]:
    """Targets with their shares, if these are a convex combination.

    Args:
        targets: Shares by name.

    Example:
        >>> convex({"ner": 0.75, "pos": 0.25})
        {'ner': 0.75, 'pos': 0.25}
    """
    if not isinstance(targets, Mapping):
        raise WeightsError(
            "`target` must be the name of a task, or a mapping from several to the share each has; "
            f"got {targets!r}."
        )
    if not names_of(targets, what="Targets"):
        raise WeightsError("There must be at least one target; got none.")
    SourceWeights.of(targets)  # refuses what is no convex combination
    return dict(targets)


def check_roles(sources: Sequence[str], target: Mapping[str, float]) -> None:
    """Refuse a task that is a source and a target, and targets without a source.

    Example:
        >>> check_roles(["pos", "ner"], {"ner": 1.0})
        Traceback (most recent call last):
        ...
        tawt.errors.WeightsError: 'ner' is the target and also a source; a task has one role. To \
train on the target beside the sources, leave it out of `sources` and set `target_share`.
    """
    if not sources:
        raise WeightsError("There must be at least one source; got none.")
    for name in sources:
        if name in target:
            raise WeightsError(
                f"{name!r} is the target and also a source; a task has one role. To train on the "
                "target beside the sources, leave it out of `sources` and set `target_share`."
            )


def check_ratio(
    weights: SourceWeights, target: Mapping[str, float], *, bound: float | None
) -> None:
    """Refuse weights given by hand that lie outside the bound on their ratio.

    Args:
        weights: On the tasks.
        target: Those whose weight is not bounded.
        bound: β, if there is one.
    """
    sources = weights.logs[~weights.members(target)]
    if bound is not None and simplex.ratio(sources) > bound * (1 + 1e-9):
        raise WeightsError(
            f"The initial weights are further apart than `ratio_bound` ({bound:g}) allows; "
            "pass a rule with a larger bound, or with none."
        )
