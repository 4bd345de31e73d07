"""How an update is made: the settings of TAWT, each with its reason, and two presets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from tawt.errors import ConfigError, is_number
from tawt.hypergradient import Alignment, Cosine, OwnAlignment
from tawt.per_example import Way

if TYPE_CHECKING:
    from collections.abc import Sequence

TargetShare = Literal["learned"] | float | tuple[float, float]
"""The target's own share of the objective in joint training: learned, held, or kept in a range."""


@dataclass(frozen=True, kw_only=True)
class UpdateRule:
    """How weights move at an update.

    Start from a preset: `UpdateRule.paper()` or `UpdateRule.robust()`.

    Example:
        >>> UpdateRule.paper().own_alignment, UpdateRule.robust().own_alignment
        ('itself', 'held-out')
    """

    alignment: Alignment = field(default_factory=Cosine)
    """What is measured: `Cosine(scale=c)` or `CurvatureWeighted(curvature)`."""

    step: Literal["mirror", "evidence"] = "mirror"
    """Mirror descent (eq. mirror_descent), or "evidence": a weight is in proportion to the
    probability, as far as updates have shown it, that its source agrees with the target more than
    sources do on average. For whole tasks."""

    step_size: float = 1.0
    """η of mirror descent."""

    own_alignment: OwnAlignment = "itself"
    """In joint training the target competes too. "itself" compares its gradient with itself, so
    that it always wins; "held-out" takes the target's side from examples that the direction
    did not see, so that it competes by what generalises."""

    anchor: float = 0.0
    """How far, as a share, each step first returns towards the initial weights. With 0 alignments
    add up for ever and the best source ends with everything; with 0.05 weights follow an average
    over about twenty updates. It is mirror descent with a penalty (λ/η)·KL(ω‖ω⁰)."""

    ratio_bound: float | None = None
    """β of W_β: no weight may exceed β times another, as the theorem assumes. It keeps a source
    that was unlucky early from being lost, and the best from having everything."""

    way: Way = "auto"
    """Units finer than tasks: whether examples are measured by forward mode, which is exact; by the
    same in mixed precision; or by differences of two forward passes, which are often cheaper. By
    default the first where the model's operators have it."""

    def __post_init__(self) -> None:
        if self.way not in get_args(Way):
            known = ", ".join(get_args(Way))
            raise ConfigError(f"`way` must be one of {known}; got {self.way!r}.")
        if not (is_number(self.step_size) and self.step_size > 0):
            raise ConfigError(
                f"`step_size` (η) must be positive and finite; got {self.step_size!r}."
            )
        if self.step not in ("mirror", "evidence"):
            raise ConfigError(f'`step` must be "mirror" or "evidence"; got {self.step!r}.')
        check_sizes(self.step, self.alignment.scale, self.step_size, self.anchor)
        if self.own_alignment not in ("itself", "held-out"):
            raise ConfigError(
                f'`own_alignment` must be "itself" or "held-out"; got {self.own_alignment!r}.'
            )
        if not (is_number(self.anchor) and 0 <= self.anchor < 1):
            raise ConfigError(
                f"`anchor` must be a number of at least 0 and below 1; got {self.anchor!r}."
            )
        bound = self.ratio_bound
        if bound is not None and not (is_number(bound) and bound >= 1):
            raise ConfigError(
                f"`ratio_bound` (β) must be a finite number of at least 1, or None for no bound; "
                f"got {bound!r}."
            )

    @classmethod
    def paper(cls, *, scale: float = 1.0) -> Self:
        """The authors' rule: cosine times c, η = 1, the target compared with itself."""
        return cls(alignment=Cosine(scale=scale))

    @classmethod
    def robust(cls) -> Self:
        """Our defaults for weights on tasks; `docs/decisions/024-evidence.md` argues each."""
        return cls(own_alignment="held-out", step="evidence")

    @classmethod
    def bounded(cls) -> Self:
        """Our defaults for weights on groups and examples: mirror descent inside W_10."""
        return cls(own_alignment="held-out", ratio_bound=10.0)


def check_sizes(step: str, scale: float, step_size: float, anchor: float) -> None:
    """Refuse sizes of steps where weights go by evidence, which asks for none.

    Raises:
        ConfigError: One is not what it is by default.
    """
    given = {"scale": scale != 1, "step_size": step_size != 1, "anchor": anchor != 0}
    if step == "evidence" and any(given.values()):
        name = next(name for name, differs in given.items() if differs)
        raise ConfigError(
            f"`{name}` has no effect where `step` is evidence: weights go by how sure it is that a "
            "source leads, not by how far. Leave it out, or set `step` to mirror.",
            place=(name,),
        )


def checked_rule(rule: UpdateRule) -> UpdateRule:
    """The rule, if it is one and not the name of a preset.

    Example:
        >>> checked_rule("paper")
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: `rule` must be an UpdateRule, such as UpdateRule.paper(); got \
'paper'.
    """
    if not isinstance(rule, UpdateRule):
        raise ConfigError(
            f"`rule` must be an UpdateRule, such as UpdateRule.paper(); got {rule!r}."
        )
    return rule


def share_range(target_share: TargetShare) -> tuple[float, float]:
    """The range the target's share is kept in.

    Raises:
        ConfigError: It is no share, and no range of shares.

    Example:
        >>> share_range("learned"), share_range(0.5), share_range((0.0, 0.5))
        ((0.0, 1.0), (0.5, 0.5), (0.0, 0.5))
    """
    if isinstance(target_share, str) and target_share == "learned":
        return 0.0, 1.0
    ends: Sequence[Any] = [target_share] * 2
    if isinstance(target_share, tuple | list):
        ends = target_share
    if len(ends) != 2 or not all(is_number(end) for end in ends):
        raise ConfigError(
            '`target_share` must be a number, a range (low, high) or "learned"; or None, for '
            f"pre-training. Got {target_share!r}."
        )
    low, high = float(ends[0]), float(ends[1])
    if not 0 <= low <= high <= 1 or high == 0:
        raise ConfigError(
            f"`target_share` must lie between 0 and 1, low end first; got {target_share}."
        )
    return low, high


def plain_share(target_share: TargetShare | None) -> TargetShare | None:
    """The target's share in Python's own numbers, whichever it was given in.

    Example:
        >>> import numpy as np
        >>> plain_share(np.float32(0.5)), plain_share([0, 1]), plain_share("learned")
        (0.5, (0.0, 1.0), 'learned')
    """
    if target_share is None:
        return None
    low, high = share_range(target_share)
    if isinstance(target_share, str):
        return target_share
    return (low, high) if isinstance(target_share, tuple | list) else low
