"""Which trainings the table needs."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from benchmarks.mixing.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

EQUAL, BY_SIZE, TEMPERED = "equal weights", "by size", "square root of the size"
SINGLE, PAIR = "single corpus", "pair of corpora"
_BEST = 4  # single corpora whose pairs are tried

FRESH: dict[str, Any] = {"update_every": 20, "gradient_examples": 8}
STEPS: dict[str, Any] = {
    "update_every": 10,
    "gradient_examples": 16,
    "measure": "training steps",
}
RULE: dict[str, Any] = {"scale": 10.0}
"""The best setting of ours, chosen on chemistry and galician."""


def for_all(sources: Sequence[str], *, budget: int, seed: int) -> Iterator[Spec]:
    """Mixtures that do not depend on the target, and the corpora one by one."""
    shared: dict[str, Any] = {"budget": budget, "seed": seed}
    yield Spec(name=EQUAL, kind="fixed", **shared)
    yield Spec(name=BY_SIZE, kind="by size", **shared)
    yield Spec(name=TEMPERED, kind="tempered", **shared)
    yield Spec(name="DoReMi", kind="excess-loss", settings=FRESH, **shared)
    for source in sources:
        yield Spec(name=SINGLE, kind="fixed", sources=(source,), **shared)


def for_target(target: str, *, budget: int, seed: int) -> Iterator[Spec]:
    """Methods that are told what the target is."""
    shared: dict[str, Any] = {"target": target, "budget": budget, "seed": seed}
    aware = Spec(
        name="tawt, fresh batches", kind="target-aware", settings=FRESH, rule=RULE, **shared
    )
    yield aware
    yield aware.of(name="tawt, training steps", settings=STEPS)
    yield aware.of(name="tawt, preset paper", rule={"scale": 1.0})
    robust = {"scale": 1.0, "ratio_bound": 10.0, "own_alignment": "held-out"}
    yield aware.of(name="tawt, preset robust", rule=robust)
    yield Spec(name="DoGE", kind="doge", settings=FRESH, **shared)
    bandit = {"update_every": 2, "gradient_examples": 4}
    yield Spec(name="bandit (EXP3)", kind="bandit", settings=bandit, **shared)
    yield Spec(name="DSIR", kind="dsir", **shared)
    yield Spec(name="equal, then the target", kind="fixed", then_target=3, **shared)
    yield Spec(name="the target as one more source", kind="fixed", with_target=True, **shared)
    yield aware.of(name="tawt, then the target", then_target=3)


def pairs(scores: Mapping[str, float], target: str, *, budget: int, seed: int) -> Iterator[Spec]:
    """Pairs of the single corpora that were best for a target.

    Args:
        scores: Bits a byte on the target's dev text, by corpus.
        target: Whom they are for.
        budget: Steps.
        seed: Of the training.
    """
    best = sorted(scores, key=lambda name: scores[name])[:_BEST]
    for pair in combinations(sorted(best), 2):
        yield Spec(name=PAIR, kind="fixed", target=target, sources=pair, budget=budget, seed=seed)
