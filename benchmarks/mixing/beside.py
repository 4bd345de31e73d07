"""Tables beside the main one: more steps, and other sizes of models."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.mixing import plan
from benchmarks.mixing.scores import (
    Scores,
    common,
    gains,
    listed,
    mean_gains,
    scores_of,
    seeds_said,
    table_of,
    with_interval,
)
from benchmarks.mixing.setups import LARGE, SMALL, TINY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.mixing.records import Records


def beside(records: Records) -> Iterator[list[str]]:
    """Every table that there are records for."""
    if records.matching(name=plan.OURS_DEFAULT, budget=plan.LONG_BUDGET):
        yield list(_longer(records))
    if records.matching(name=plan.OURS_STEPS, setup=TINY):
        yield list(_tenth(records))
    if records.matching(name=plan.EVIDENCE, setup=TINY):
        yield list(_evidence(records))
    if records.matching(name=plan.GIVEN, setup=SMALL):
        yield list(_transferred(records))
    if records.matching(name=plan.GIVEN, setup=LARGE):
        yield list(_large(records))


def _longer(records: Records) -> Iterator[str]:
    rows = (plan.EQUAL, plan.OURS_DEFAULT, plan.OURS_FREE)
    found = scores_of(records, rows, setup=SMALL, budget=plan.LONG_BUDGET)
    targets, _ = common(found)
    below = {t: mean(gains(found, plan.OURS_DEFAULT, plan.EQUAL, t)) for t in targets}
    free = {t: mean(gains(found, plan.OURS_FREE, plan.EQUAL, t)) for t in targets}
    worse = [t for t in targets if free[t] < 0]
    limit = with_interval(mean_gains(found, plan.OURS_DEFAULT, plan.OURS_FREE), ".2f")
    yield f"## {plan.LONG_BUDGET} steps: the limit on passes decides"
    yield ""
    yield (
        f"**The default ends {min(below.values()):.2f} to {max(below.values()):.2f} bits a byte "
        f"below equal weights. Without its limit of 12 passes learned weights end above equal ones "
        f"on {listed([f'{t} (by {-free[t]:.2f})' for t in worse])}; the limit is worth {limit}, "
        f"the mean of the targets.** Bits a byte on test text, {seeds_said(found)}. No search was "
        "made at this length, so there is no ceiling and no share of a headroom."
    )
    yield from table_of(found)
    yield ""
    for name in rows[1:]:
        yield f"Most passes over a corpus, {name.removeprefix('tawt, ')}: {_most(records, name)}."


def _most(records: Records, name: str) -> str:
    """The corpus that was passed over most for each target, of any seed."""
    most: dict[str, tuple[float, str]] = {}
    for record in records.matching(name=name, budget=plan.LONG_BUDGET, setup=SMALL):
        each = max((count, corpus) for corpus, count in record["passes"].items())
        target = record["spec"]["target"]
        most[target] = max(each, most.get(target, (0.0, "")))
    return ", ".join(
        f"{target} {count:.0f} ({corpus})" for target, (count, corpus) in sorted(most.items())
    )


def _tenth(records: Records) -> Iterator[str]:
    rows = (plan.EQUAL, plan.OURS_FREE, plan.OURS_STEPS)
    found = scores_of(records, rows, setup=TINY, budget=plan.TENTH_BUDGET)
    below = with_interval(mean_gains(found, plan.OURS_STEPS, plan.OURS_FREE), ".3f")
    yield "## By training steps: a model of a tenth of the size, 400 steps"
    yield ""
    yield (
        f"**Training steps end {below} bits a byte below fresh batches.** Both by the rule that is "
        "the default for corpora, without a limit on passes, with `measure: training steps` in one "
        f"of them. Bits a byte on test text, {seeds_said(found)}, on two cores of a CPU."
    )
    yield from table_of(found)


def _evidence(records: Records) -> Iterator[str]:
    rows = (plan.EQUAL, plan.OURS_DEFAULT, plan.HALVES, plan.EVIDENCE)
    found = scores_of(records, rows, setup=TINY, budget=plan.EVIDENCE_BUDGET)
    above = with_interval(mean_gains(found, plan.OURS_DEFAULT, plan.EVIDENCE), ".3f")
    below = with_interval(mean_gains(found, plan.EVIDENCE, plan.EQUAL), ".3f")
    halved = with_interval(mean_gains(found, plan.HALVES, plan.OURS_DEFAULT), ".3f")
    yield f"## By evidence: a model of a tenth of the size, {plan.EVIDENCE_BUDGET} steps"
    yield ""
    yield (
        f"**Weights by evidence, the rule for all other data, end {below} bits a byte below equal "
        f"ones, and those by the rule for corpora {above} below them. To show updates the halves "
        f"of the target in turn is worth {halved} to that rule.** Bits a byte on test text, "
        f"{seeds_said(found)}."
    )
    yield from table_of(found)


def _transferred(records: Records) -> Iterator[str]:
    rows = (plan.EQUAL, plan.OURS_FREE, plan.GIVEN)
    found = scores_of(records, rows, setup=SMALL, budget=900)
    yield "## Weights of a model of a tenth of the size"
    yield ""
    yield (
        f"**{_transfer(found)}** The smaller model's weights are its means over the "
        "second half of 900 steps and over seeds; they are held while the model of ten times its "
        "size trains for 900 steps. Neither has a limit on passes. Bits a byte on test text, "
        f"{seeds_said(found)}. What the smaller model costs, about a tenth, is not counted."
    )
    yield from table_of(found)


def _large(records: Records) -> Iterator[str]:
    rows = (plan.EQUAL, plan.GIVEN, plan.OURS_FREE, plan.SEARCHED)
    found = scores_of(records, rows, setup=LARGE)
    yield "## A model of eleven times the size"
    yield ""
    yield (
        f"**{_transfer(found)}** 19 million parameters, 600 steps. The weights given "
        "are those that the model of the main table had learned, means over the second half of "
        "its steps and over seeds. Neither has a limit on passes. Bits a byte on test text, "
        f"{seeds_said(found)}."
    )
    yield from table_of(found)


def _transfer(found: Scores) -> str:
    """What given weights win, and where they lose."""
    given = mean_gains(found, plan.GIVEN, plan.EQUAL)
    own = mean_gains(found, plan.OURS_FREE, plan.EQUAL)
    shares = [100 * ours / theirs for ours, theirs in zip(given, own, strict=True)]
    means = {
        target: mean(gains(found, plan.GIVEN, plan.EQUAL, target)) for target in common(found)[0]
    }
    worse = [f"{-gain:.2f} bits a byte on {name}" for name, gain in means.items() if gain < 0]
    lost = f", and end above equal weights by {listed(worse)}" if worse else ""
    return (
        f"Given weights win {with_interval(shares, '.0f')} percent of what weights win that the "
        f"model learns itself, the mean of all targets{lost}."
    )
