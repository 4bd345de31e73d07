"""The weighting that a configuration names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tawt.errors import WeightsError
from tawt.weighting.fixed import Fixed
from tawt.weighting.rule import TargetShare, UpdateRule, plain_share
from tawt.weighting.starting import initial_weights
from tawt.weighting.target_aware import TargetAware

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.units import Units
    from tawt.weighting.base import Weighting
    from tawt.weights import Initial

Kind = Literal["target-aware", "fixed"]


def make_weighting(
    kind: Kind,
    *,
    sources: Sequence[str],
    target: str | Mapping[str, float],
    target_share: TargetShare | None,
    initial: Initial = "uniform",
    sizes: Mapping[str, int] | None = None,
    rule: UpdateRule | None = None,
    units: Units | None = None,
) -> Weighting:
    """A weighting by the name of its kind; arguments as for `TargetAware`.

    Weights that are "fixed" start where target-aware ones would, and stay there.

    Args:
        kind: "target-aware" or "fixed".
        sources: Names of the source tasks.
        target: The target, or several with their shares.
        target_share: `None` where the target is not trained on beside the sources.
        initial: Where weights start.
        sizes: Number of training examples of each task; those not weighed are passed over.
        rule: How weights move, if they do.
        units: What they are put on, if not on tasks; only weights that move are on finer units.

    Example:
        >>> make_weighting("fixed", sources=["pos", "chunk"], target="ner", target_share=0.5)
        Fixed(pos=0.250, chunk=0.250, ner=0.500)
        >>> make_weighting("target-aware", sources=["pos"], target="ner", target_share=None)
        TargetAware(target='ner', updates=0, pos=1.000)
    """
    targets = [target] if isinstance(target, str) else list(target)
    tasks = [*sources] if target_share is None else [*sources, *targets]
    if sizes is not None:
        sizes = {name: size for name, size in sizes.items() if name in tasks}
    if kind == "target-aware":
        return TargetAware(
            sources=sources,
            target=target,
            target_share=target_share,
            initial=initial,
            sizes=sizes,
            rule=rule,
            units=units,
        )
    if kind != "fixed":
        raise WeightsError(f'`kind` must be "target-aware" or "fixed"; got {kind!r}.')
    if units is not None and units.finer:
        raise WeightsError(
            "Weights that are fixed are put on tasks, not on groups or examples; leave `units` "
            "out, or make the weighting target-aware."
        )
    start = initial_weights(
        tasks, initial, sizes=sizes, target=targets, target_share=plain_share(target_share)
    )
    return Fixed(tasks, initial=start.shares())
