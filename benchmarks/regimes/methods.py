"""How sources are weighed: every row of the tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.regimes.gating import GradientSimilarity
from tawt.config.presets import FINER, PRESETS
from tawt.modality import modality_named
from tawt.weighting import Fixed, TargetAware, UpdateRule, Weighting
from tawt.weighting.bandit import Bandit
from tawt.weighting.doge import DoGE
from tawt.weighting.excess_loss import ExcessLoss

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.regimes.problems import Problem, Unit
    from tawt.training import Settings

TARGET_SHARE = PRESETS["robust"].target_share
"""In joint training, of every method but the authors', whose share is learned."""
ROUNDS = 4
"""Parts that steps on sources are divided into, where a method updates once in each."""
_DOGE_STEP = 0.1  # chosen for corpora, see docs/results/mixing.md
_EXPLORED = 0.1  # by the bandit, the same

Kind = Literal[
    "alone", "fixed", "target-aware", "doge", "bandit", "excess loss", "gradient similarity"
]


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way of weighing sources, beside what a regime settles for all."""

    kind: Kind
    size_power: float = 0.0
    """Weights that are fixed: of a source, its size to this power."""
    sources: Literal["all", "picked", "single"] = "all"
    rule: UpdateRule | None = None
    """Of weights that are target-aware; by default, the usual one of what they are put on."""
    by_size: bool = False
    """Whether steps are drawn by size, in passes over all examples."""
    as_default: bool = False
    """Whether it measures as the preset `robust` does, where it has no settings itself."""
    target_share: float | None = None
    """In joint training; that of all by default."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the training."""

    def settings(self, usual: Settings, *, kind: str, unit: Unit) -> Settings:
        """Of the training.

        Args:
            usual: Of the regime.
            kind: Of data.
            unit: What weights are put on.
        """
        default = robust_training(kind, unit) if self.as_default else {}
        changed = {**default, **self.training}
        if self.by_size:
            assert usual.steps is not None
            changed |= {"sampling": "size", "steps": None, "update_every": usual.steps // ROUNDS}
        return replace(usual, **changed)


def robust_training(kind: str, unit: Unit) -> dict[str, Any]:
    """What the preset `robust` sets in the section `training`.

    Args:
        kind: Of data.
        unit: What weights are put on.

    Example:
        >>> robust_training("text", "task")["measure_through"]
        'fitted heads'
        >>> robust_training("digits", "group")
        {'sampling': 'weight', 'gradient_examples': 128, 'head_epochs': 5}
    """
    if unit != "task":
        return dict(FINER.training)
    own = modality_named(kind).robust_defaults.get("training", {})
    return {**PRESETS["robust"].training, **own}


_FITTED, _AS_TRAINED = ({"measure_through": f"{which} heads"} for which in ("fitted", "trained"))
_PEERS = {**_AS_TRAINED, "target_from": "all"}
_BEFORE = {"gradient_examples": 128, "head_epochs": 5}
_BOUNDED = UpdateRule.bounded()
ALONE, EQUAL, PICKED, SINGLE = "target alone", "equal", "hand-picked", "single"
DEFAULT, BEFORE, PAPER = "default", "robust before", "paper"
BOUNDED_STEPS = "default, bounded steps"
HEADS_AS_TRAINED, HEADS_FITTED = "default, heads as trained", "default, fitted heads"
LITTLE, MUCH = "default, target's share 0.1", "default, target's share 0.5"
METHODS: Mapping[str, Method] = {
    ALONE: Method(kind="alone"),
    EQUAL: Method(kind="fixed"),
    "proportional": Method(kind="fixed", size_power=1.0),
    "temperature": Method(kind="fixed", size_power=0.5),
    PAPER: Method(
        kind="target-aware",
        rule=UpdateRule.paper(),
        by_size=True,
        training=PRESETS["paper"].training,
    ),
    BEFORE: Method(kind="target-aware", rule=_BOUNDED, training=_BEFORE),
    DEFAULT: Method(kind="target-aware", as_default=True),
    HEADS_AS_TRAINED: Method(kind="target-aware", as_default=True, training=_AS_TRAINED),
    HEADS_FITTED: Method(kind="target-aware", as_default=True, training=_FITTED),
    BOUNDED_STEPS: Method(kind="target-aware", as_default=True, rule=_BOUNDED),
    LITTLE: Method(kind="target-aware", as_default=True, target_share=0.1),
    MUCH: Method(kind="target-aware", as_default=True, target_share=0.5),
    "DoGE": Method(kind="doge", as_default=True, training=_PEERS),
    "bandit (EXP3)": Method(kind="bandit", as_default=True, training=_PEERS),
    "excess loss (DoReMi)": Method(kind="excess loss", as_default=True, training=_PEERS),
    "gradient similarity": Method(kind="gradient similarity", as_default=True, training=_PEERS),
    PICKED: Method(kind="fixed", sources="picked"),
    SINGLE: Method(kind="fixed", sources="single"),
}
ON_TASKS = tuple(
    name
    for name, method in METHODS.items()
    if method.kind not in ("alone", "fixed", "target-aware")
)
"""Those that weigh whole tasks, and nothing finer."""


def weighting(
    method: Method,
    problem: Problem,
    *,
    is_joint: bool,
    seed: int,
    reference: Mapping[str, float],
) -> Weighting:
    """What the sources of a problem are weighed by.

    Args:
        method: How.
        problem: The sources, those that the method does without left out.
        is_joint: Whether the target is trained on beside them.
        seed: Of the run.
        reference: Losses of a model that was trained with equal weights, for excess losses.
    """
    target, names = problem.target.name, list(problem.sizes)
    share = (method.target_share or TARGET_SHARE) if is_joint else None
    given: dict[str, Any] = {"sources": names, "target": target, "target_share": share}
    authors = {**given, "target_share": "learned" if is_joint else None}
    makers: dict[str, Callable[[], Weighting]] = {
        "fixed": lambda: _fixed(problem, power=method.size_power, is_joint=is_joint),
        "target-aware": lambda: TargetAware(
            **authors if method.by_size else given, rule=method.rule, units=problem.units
        ),
        "doge": lambda: DoGE(**given, step_size=_DOGE_STEP),
        "bandit": lambda: Bandit(**given, exploration=_EXPLORED, seed=seed),
        "excess loss": lambda: ExcessLoss(**given, reference=reference),
        "gradient similarity": lambda: GradientSimilarity(**given),
    }
    return makers[method.kind]()


def _fixed(problem: Problem, *, power: float, is_joint: bool) -> Fixed:
    left = 1.0 - float(TARGET_SHARE) if is_joint else 1.0
    parts = {name: size**power for name, size in problem.sizes.items()}
    shares = {name: left * part / sum(parts.values()) for name, part in parts.items()}
    if is_joint:
        shares[problem.target.name] = 1.0 - left
    return Fixed(list(shares), initial=shares)
