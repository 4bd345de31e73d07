"""Which trainings the table needs, stage by stage."""

from __future__ import annotations

from itertools import combinations
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.mixing.choosing import CHOSEN_ON, candidates, chosen
from benchmarks.mixing.setups import LARGE, LORA, PRETRAINED, SMALL, TINY
from benchmarks.mixing.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.mixing.records import Record, Records

EQUAL, BY_SIZE, TEMPERED = "equal weights", "by size", "square root of the size"
MIXED = "equal weights, sixteen corpora a step"
SINGLE, PAIR = "single corpus", "pair of corpora"
OURS, OURS_STEPS = "tawt, fresh batches", "tawt, training steps"
OURS_THEN, OURS_CAPPED = "tawt, then the target", "tawt, at most 4 passes"
PAPER, ROBUST = "tawt, preset paper", "tawt, preset robust"
EQUAL_THEN, AS_SOURCE = "equal, then the target", "the target as one more source"
DOREMI, DOGE, BANDIT, DSIR = "DoReMi", "DoGE", "bandit (EXP3)", "DSIR"
GIVEN = "weights of a smaller model"
_BEST = 4  # single corpora whose pairs are tried
_MEASURED: dict[str, Any] = {"update_every": 20, "gradient_examples": 8}
_PROXY_BUDGET, _LARGE_BUDGET, _PRETRAINED_BUDGET = 300, 600, 120


def choosing(sources: Sequence[str], budgets: Sequence[int]) -> Iterator[Spec]:
    """Candidates for our settings, and what they are compared with."""
    for budget in budgets:
        yield from _alike(sources, budget=budget, seed=0)
        for target in CHOSEN_ON:
            yield from candidates(target, budget=budget)


def methods(
    records: Records,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    budgets: Sequence[int],
    seeds: int,
) -> Iterator[Spec]:
    """Every method on every target; and of the first seed, every single corpus."""
    for seed in range(seeds):
        for budget in budgets:
            yield from _alike(sources if seed == 0 else [], budget=budget, seed=seed)
            for target in targets:
                yield from _for_target(records, target, budget=budget, seed=seed)


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


def proxies(records: Records, targets: Sequence[str], *, seeds: int) -> Iterator[Spec]:
    """Weights that a model of a tenth of the size learns."""
    fresh, _ = chosen(records)
    for seed in range(seeds):
        for target in targets:
            yield fresh.of(name=OURS, target=target, budget=_PROXY_BUDGET, seed=seed, setup=TINY)


def transferred(records: Records, targets: Sequence[str], *, seeds: int) -> Iterator[Spec]:
    """The model itself, with the weights that a tenth of it has learned."""
    for seed in range(seeds):
        for target in targets:
            learned = records.matching(name=OURS, target=target, setup=TINY)
            yield Spec(
                name=GIVEN,
                kind="fixed",
                target=target,
                weights=handed_out(learned),
                budget=_PROXY_BUDGET,
                seed=seed,
            )


def large(records: Records, targets: Sequence[str], *, seeds: int) -> Iterator[Spec]:
    """A model of eleven times the size: equal weights, those of the small one, and its own."""
    fresh, _ = chosen(records)
    for seed in range(seeds):
        shared: dict[str, Any] = {"budget": _LARGE_BUDGET, "seed": seed, "setup": LARGE}
        yield Spec(name=EQUAL, kind="fixed", **shared)
        for target in targets:
            learned = records.matching(name=OURS, target=target, setup=SMALL)
            weights = handed_out(learned)
            yield Spec(name=GIVEN, kind="fixed", target=target, weights=weights, **shared)
            yield fresh.of(name=OURS, target=target, **shared)


def handed_out(records: Sequence[Record]) -> dict[str, float]:
    """The weights of the second half of training, their mean over runs."""
    halves = [
        [weights for step, weights in record["course"] if 2 * step >= record["steps"]]
        for record in records
    ]
    means = [
        {name: mean(weights[name] for weights in half) for name in half[0]}
        for half in halves
        if half
    ]
    return {name: mean(each[name] for each in means) for name in means[0]} if means else {}


def pretrained(records: Records, targets: Sequence[str], *, seeds: int) -> Iterator[Spec]:
    """A pretrained model that goes on: equal weights, learned ones, and the target alone."""
    fresh, _ = chosen(records)
    # Its tokenizer makes fewer and longer windows, and it knows what to look for from the start.
    settings = {"update_every": 5, "update_growth": 0.5, "gradient_examples": 4}
    for seed in range(seeds):
        for setup in (PRETRAINED, LORA):
            shared: dict[str, Any] = {"budget": _PRETRAINED_BUDGET, "seed": seed, "setup": setup}
            yield Spec(name=EQUAL, kind="fixed", **shared)
            for target in targets:
                yield fresh.of(
                    name=OURS,
                    target=target,
                    settings={**settings, "target_examples": 32},
                    **shared,
                )
    yield Spec(name="as it comes", kind="fixed", budget=0, setup=PRETRAINED)


def mixed(*, budgets: Sequence[int], seeds: int) -> Iterator[Spec]:
    """Equal weights where each of a step's sixteen windows is drawn by itself."""
    settings = {"batch_size": 1, "accumulation": 16}
    for budget in budgets:
        for seed in range(seeds):
            yield Spec(name=MIXED, kind="fixed", budget=16 * budget, seed=seed, settings=settings)


def _alike(sources: Sequence[str], *, budget: int, seed: int) -> Iterator[Spec]:
    """Mixtures that do not depend on the target, and the corpora one by one."""
    shared: dict[str, Any] = {"budget": budget, "seed": seed}
    yield Spec(name=EQUAL, kind="fixed", **shared)
    yield Spec(name=BY_SIZE, kind="by size", **shared)
    yield Spec(name=TEMPERED, kind="tempered", **shared)
    yield Spec(name=DOREMI, kind="excess-loss", settings=_MEASURED, **shared)
    for source in sources:
        yield Spec(name=SINGLE, kind="fixed", sources=(source,), **shared)


def _for_target(records: Records, target: str, *, budget: int, seed: int) -> Iterator[Spec]:
    """Methods that are told what the target is."""
    shared: dict[str, Any] = {"target": target, "budget": budget, "seed": seed}
    fresh, steps = (spec.of(**shared) for spec in chosen(records))
    yield fresh.of(name=OURS)
    yield steps.of(name=OURS_STEPS)
    yield fresh.of(name=OURS_THEN, then_target=3)
    yield fresh.of(name=OURS_CAPPED, settings={**fresh.settings, "most_passes": 4.0})
    yield fresh.of(name=PAPER, rule={"scale": 1.0})
    robust = {"scale": 1.0, "ratio_bound": 10.0, "own_alignment": "held-out"}
    yield fresh.of(name=ROBUST, rule=robust)
    # Ten times the paper's step, times the steps between two updates: the best that was tried.
    doge = {"step_size": 0.1}
    yield Spec(name=DOGE, kind="doge", settings=_MEASURED, rule=doge, **shared)
    bandit = {"update_every": 2, "gradient_examples": 4}
    yield Spec(name=BANDIT, kind="bandit", settings=bandit, **shared)
    yield Spec(name=DSIR, kind="dsir", **shared)
    yield Spec(name=EQUAL_THEN, kind="fixed", then_target=3, **shared)
    yield Spec(name=AS_SOURCE, kind="fixed", with_target=True, **shared)
