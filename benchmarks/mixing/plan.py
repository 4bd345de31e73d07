"""Which trainings the table needs, stage by stage."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.mixing import choosing as choices
from benchmarks.mixing.choosing import CHOSEN_ON, chosen
from benchmarks.mixing.setups import LARGE, LORA, PRETRAINED, SMALL, TINY
from benchmarks.mixing.spec import Spec
from tawt.mix.result import Point
from tawt.mix.shares import late_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.mixing.records import Record, Records

EQUAL, BY_SIZE, TEMPERED = "equal weights", "by size", "square root of the size"
SINGLE, PAIR = "single corpus", "pair of corpora"
OURS_DEFAULT, OURS_SIX = "tawt, the default for corpora", "tawt, at most 6 passes"
OURS_FREE = "tawt, no limit on passes"
OURS_FREE_THEN = "tawt, no limit on passes, then the target"
OURS_STEPS = "tawt, no limit on passes, training steps"
OURS, OURS_THEN = "tawt, c = 10, no anchor", "tawt, c = 10, no anchor, then the target"
SCALE_1, BOUND_10 = "tawt, c = 1, no bound", "tawt, c = 1, bound of 10"
EQUAL_ALONE, OURS_ALONE = "equal weights, one corpus a step", "tawt, one corpus a step"
EQUAL_THEN, AS_SOURCE = "equal, then the target", "the target as one more source"
TARGET_ALONE, AS_IT_COMES = "the target alone", "as it comes"
DOREMI, DOGE, BANDIT, DSIR = "DoReMi", "DoGE", "bandit (EXP3)", "DSIR"
GIVEN, SEARCHED = "weights of a smaller model", "corpora that the small model's search found"
_BEST = 4  # single corpora whose pairs are tried
_ONE_CORPUS = {"sampling": "weight"}
_RARELY = {
    "update_every": 5,
    "update_growth": 1.0,
    "gradient_examples": 4,
    "target_examples": 64,
}  # for rows of a rule that is not ours: what suited weights that only add up
_RULE = {"scale": 6.0, "anchor": 0.1}
_FREE: dict[str, Any] = {
    "update_every": 5,
    "update_growth": 0.25,
    "gradient_examples": 2,
    "target_examples": 32,
}
"""The defaults for corpora but for the limit on passes, which came after most trainings."""
EVIDENCE, HALVES = "tawt, by evidence", "tawt, the default, from halves of the target"
_LEARNED_AT = 900  # the budget whose weights are handed out
LONG_BUDGET, EVIDENCE_BUDGET = 2700, 600
_LARGE_BUDGET, _PRETRAINED_BUDGET, TENTH_BUDGET = 600, 120, 400


def choosing(sources: Sequence[str], *, budgets: Sequence[int]) -> Iterator[Spec]:
    """Candidates for the settings of all methods, at the largest budget; every single corpus."""
    for seed in (0, 1):
        yield Spec(name=EQUAL, kind="fixed", budget=max(budgets), seed=seed)
    yield from choices.for_all(budget=max(budgets))
    for target in CHOSEN_ON:
        yield from choices.for_target(target, budget=max(budgets))
    for budget in budgets:
        for source in sources:
            yield Spec(name=SINGLE, kind="fixed", budget=budget, sources=(source,))


def methods(
    records: Records, targets: Sequence[str], *, budgets: Sequence[int], seeds: Sequence[int]
) -> Iterator[Spec]:
    """Every method on every target; of the first seed, what takes ours apart as well."""
    for seed in seeds:
        for budget in budgets:
            yield from _alike(records, budget=budget, seed=seed)
            for target in targets:
                yield from _for_target(records, target, budget=budget, seed=seed)
                if seed == 0:
                    yield from _apart(records, target, budget=budget)


def pairs(records: Records, targets: Sequence[str], *, budgets: Sequence[int]) -> Iterator[Spec]:
    """Pairs of the single corpora that were best on a target's dev text, of the first seed."""
    for budget in budgets:
        for target in targets:
            singles = records.matching(name=SINGLE, budget=budget, seed=0)
            singles.sort(key=lambda record: record["scores"][target]["dev"])
            best = sorted(record["spec"]["sources"][0] for record in singles[:_BEST])
            for pair in combinations(best, 2):
                yield Spec(name=PAIR, kind="fixed", target=target, sources=pair, budget=budget)


def ceilings(
    records: Records, targets: Sequence[str], *, budgets: Sequence[int], seeds: int
) -> Iterator[Spec]:
    """The best single corpus or pair of the first seed, of the other seeds."""
    for budget in budgets:
        for target in targets:
            best = ceiling(records, target, budget=budget)
            for seed in range(1, seeds):
                yield Spec(
                    name=PAIR if len(best) > 1 else SINGLE,
                    kind="fixed",
                    target=target,
                    sources=best,
                    budget=budget,
                    seed=seed,
                )


def ceiling(records: Records, target: str, *, budget: int) -> tuple[str, ...]:
    """The corpora that are best for a target, alone or in a pair, by its dev text."""
    found = [
        record
        for name in (SINGLE, PAIR)
        for record in records.matching(name=name, budget=budget, seed=0)
        if target in record["scores"]
    ]
    best = min(found, key=lambda record: record["scores"][target]["dev"])
    return tuple(best["spec"]["sources"])


def longer(targets: Sequence[str], *, seeds: int) -> Iterator[Spec]:
    """Three times as many steps, in which more is repeated: with the limit on passes, and not."""
    for seed in range(seeds):
        shared: dict[str, Any] = {"budget": LONG_BUDGET, "seed": seed}
        yield Spec(name=EQUAL, kind="fixed", **shared)
        for target in targets:
            yield _ours(12, target=target, **shared)
            yield _ours(None, target=target, **shared)


def tenth(targets: Sequence[str], *, seeds: int) -> Iterator[Spec]:
    """A model of a tenth of the size: small enough for a CPU."""
    watched = {**_FREE, "measure": "training steps"}
    for seed in range(seeds):
        shared: dict[str, Any] = {"budget": TENTH_BUDGET, "seed": seed, "setup": TINY}
        yield Spec(name=EQUAL, kind="fixed", **shared)
        for target in targets:
            ours = _ours(None, target=target, **shared)
            yield ours
            yield ours.of(name=OURS_STEPS, settings=watched)


def evidence(targets: Sequence[str], *, seeds: int) -> Iterator[Spec]:
    """Weights by evidence, and from halves of the target, beside the default for corpora."""
    for seed in range(seeds):
        shared: dict[str, Any] = {"budget": EVIDENCE_BUDGET, "seed": seed, "setup": TINY}
        yield Spec(name=EQUAL, kind="fixed", **shared)
        for target in targets:
            ours = _ours(12, target=target, **shared)
            yield ours
            settings = {**ours.settings, "target_from": "halves in turn"}
            yield ours.of(name=HALVES, settings=settings)
            yield ours.of(name=EVIDENCE, rule={"step": "evidence"}, settings=settings)


def proxies(targets: Sequence[str], *, seeds: int) -> Iterator[Spec]:
    """Weights that a model of a tenth of the size learns."""
    for seed in range(seeds):
        for target in targets:
            yield _ours(None, target=target, budget=_LEARNED_AT, seed=seed, setup=TINY)


def transferred(records: Records, targets: Sequence[str], *, seeds: int) -> Iterator[Spec]:
    """The model itself, with the weights that a tenth of it has learned."""
    for seed in range(seeds):
        for target in targets:
            found = records.matching(name=OURS_FREE, target=target, setup=TINY, budget=_LEARNED_AT)
            weights = handed_out(found)
            yield _given(target, weights, budget=_LEARNED_AT, seed=seed)


def large(records: Records, targets: Sequence[str], *, seeds: int) -> Iterator[Spec]:
    """A model of eleven times the size: equal weights, those of the small one, and its own."""
    for seed in range(seeds):
        shared: dict[str, Any] = {"budget": _LARGE_BUDGET, "seed": seed, "setup": LARGE}
        yield Spec(name=EQUAL, kind="fixed", **shared)
        for target in targets:
            found = records.matching(name=OURS_FREE, target=target, setup=SMALL, budget=_LEARNED_AT)
            yield _given(target, handed_out(found), **shared)
            yield _ours(None, target=target, **shared)
            best = ceiling(records, target, budget=_LEARNED_AT)
            yield Spec(name=SEARCHED, kind="fixed", target=target, sources=best, **shared)


def _ours(most_passes: int | None, **about: Any) -> Spec:
    """By the rule that is the default for corpora, with its limit of 12 passes or another."""
    name = {12: OURS_DEFAULT, 6: OURS_SIX, None: OURS_FREE}[most_passes]
    settings = _FREE if most_passes is None else {**_FREE, "most_passes": float(most_passes)}
    return Spec(name=name, kind="target-aware", rule=_RULE, settings=settings, **about)


def _given(target: str, weights: dict[str, float], **shared: Any) -> Spec:
    return Spec(name=GIVEN, kind="fixed", target=target, weights=weights, **shared)


def handed_out(records: Sequence[Record]) -> dict[str, float]:
    """The weights that `tawt mix` would hand out: of the second half of training, mean of runs."""
    means = [
        late_mean(
            [Point(step=step, weights=weights) for step, weights in record["course"]],
            steps=record["steps"],
        )
        for record in records
    ]
    return {name: float(np.mean([each[name] for each in means])) for name in means[0]}


def pretrained(targets: Sequence[str], *, seeds: int) -> Iterator[Spec]:
    """A pretrained model that goes on: on equal weights, on learned ones, on the target alone."""
    # Its tokenizer makes fewer and longer windows, so an update takes fewer of them.
    settings = {**_FREE, "target_examples": 16}
    yield Spec(name=AS_IT_COMES, kind="fixed", budget=0, setup=PRETRAINED)
    for seed in range(seeds):
        for setup in (PRETRAINED, LORA):
            shared: dict[str, Any] = {"seed": seed, "setup": setup}
            yield Spec(name=EQUAL, kind="fixed", budget=_PRETRAINED_BUDGET, **shared)
            for target in targets:
                yield Spec(
                    name=TARGET_ALONE,
                    kind="fixed",
                    target=target,
                    budget=0,
                    then_target=3,
                    **shared,
                )
                on = {"target": target, "budget": _PRETRAINED_BUDGET, **shared}
                ours = _ours(None, **on).of(settings=settings)
                yield ours
                yield ours.of(name=OURS_FREE_THEN, then_target=3)
                yield Spec(name=EQUAL_THEN, kind="fixed", then_target=3, **on)


def _alike(records: Records, *, budget: int, seed: int) -> Iterator[Spec]:
    """Mixtures that do not depend on the target."""
    shared: dict[str, Any] = {"budget": budget, "seed": seed}
    yield Spec(name=EQUAL, kind="fixed", **shared)
    yield Spec(name=BY_SIZE, kind="by size", **shared)
    yield Spec(name=TEMPERED, kind="tempered", **shared)
    yield chosen(records)[choices.DOREMI].of(name=DOREMI, **shared)
    if seed == 0:
        yield Spec(name=EQUAL_ALONE, kind="fixed", settings=_ONE_CORPUS, **shared)


def _for_target(records: Records, target: str, *, budget: int, seed: int) -> Iterator[Spec]:
    """Methods that are told what the target is."""
    shared: dict[str, Any] = {"target": target, "budget": budget, "seed": seed}
    best = {family: spec.of(**shared) for family, spec in chosen(records).items()}
    fresh = best[choices.FRESH]
    yield fresh.of(name=OURS)
    for most_passes in (12, 6, None):
        yield _ours(most_passes, **shared)
    yield best[choices.STEPS].of(name=OURS_STEPS)
    yield fresh.of(name=OURS_THEN, then_target=3)
    yield best[choices.DOGE].of(name=DOGE)
    yield best[choices.BANDIT].of(name=BANDIT)
    yield best[choices.DSIR].of(name=DSIR)
    yield Spec(name=EQUAL_THEN, kind="fixed", then_target=3, **shared)
    yield Spec(name=AS_SOURCE, kind="fixed", with_target=True, **shared)


def _apart(records: Records, target: str, *, budget: int) -> Iterator[Spec]:
    """Ours with one thing changed, and by the rules of the paper and of `robust` before."""
    fresh = chosen(records)[choices.FRESH].of(target=target, budget=budget)
    yield fresh.of(name=OURS_ALONE, settings={**fresh.settings, **_ONE_CORPUS})
    yield fresh.of(name=SCALE_1, rule={"scale": 1.0}, settings=_RARELY)
    bound = {"scale": 1.0, "ratio_bound": 10.0, "own_alignment": "held-out"}
    yield fresh.of(name=BOUND_10, rule=bound, settings=_RARELY)
