"""Tables beside the main one: other sizes of models, and pretrained ones."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.mixing import plan
from benchmarks.mixing.choosing import CHOSEN_ON
from benchmarks.mixing.setups import LARGE, LORA, PRETRAINED, SMALL, TINY
from tawt.significance import interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.mixing.records import Records

Scores = dict[str, dict[str, dict[int, float]]]
"""Bits a byte on test text, by row, target and seed."""


def beside(records: Records) -> Iterator[list[str]]:
    """Every table that there are records for."""
    if records.matching(name=plan.OURS_STEPS, setup=TINY):
        yield list(_tenth(records))
    if records.matching(name=plan.GIVEN, setup=SMALL):
        yield list(_transferred(records))
    if records.matching(name=plan.GIVEN, setup=LARGE):
        yield list(_large(records))
    for setup in (PRETRAINED, LORA):
        if records.matching(name=plan.OURS_DEFAULT, setup=setup):
            yield list(_pretrained(records, setup))


def _tenth(records: Records) -> Iterator[str]:
    rows = (plan.EQUAL, plan.OURS_DEFAULT, plan.OURS_STEPS)
    found = _scores(records, rows, setup=TINY, budget=plan.TENTH_BUDGET)
    yield "## By training steps: a model of a tenth of the size, 400 steps"
    yield ""
    gain = _gain(found, plan.OURS_STEPS, plan.OURS_DEFAULT, "training steps", "fresh batches")
    yield (
        f"**{gain}** Both by the defaults for corpora, with `measure: training steps` in one of "
        f"them. Bits a byte on test text, {_seeds(found)}, on two cores of a CPU."
    )
    yield from _table(found)


def _transferred(records: Records) -> Iterator[str]:
    rows = (plan.EQUAL, plan.OURS_DEFAULT, plan.GIVEN)
    found = _scores(records, rows, setup=SMALL, budget=900)
    yield "## Weights of a model of a tenth of the size"
    yield ""
    yield (
        f"**{_transfer(found)}** The smaller model's weights are its means over the "
        "second half of 900 steps and over seeds; they are held while the model of ten times its "
        f"size trains for 900 steps. Bits a byte on test text, {_seeds(found)}. What the smaller "
        "model costs, about a tenth, is not counted."
    )
    yield from _table(found)


def _large(records: Records) -> Iterator[str]:
    rows = (plan.EQUAL, plan.GIVEN, plan.OURS_DEFAULT, plan.SEARCHED)
    found = _scores(records, rows, setup=LARGE)
    yield "## A model of eleven times the size"
    yield ""
    yield (
        f"**{_transfer(found)}** 19 million parameters, 600 steps. The weights given "
        "are those that the model of the main table had learned, means over the second half of "
        f"its steps and over seeds. Bits a byte on test text, {_seeds(found)}."
    )
    yield from _table(found)


def _pretrained(records: Records, setup: str) -> Iterator[str]:
    rows = (
        *(plan.TARGET_ALONE, plan.EQUAL, plan.OURS_DEFAULT),
        *(plan.EQUAL_THEN, plan.OURS_THEN),
    )
    found = _scores(records, rows, setup=setup)
    come = _scores(records, (plan.AS_IT_COMES,), setup=PRETRAINED)
    how = "low-rank additions" if setup == LORA else "all of it"
    yield f"## A pretrained language model that goes on: SmolLM2-135M, {how}"
    yield ""
    names = "learned weights", "equal ones"
    yield (
        f"**{_gain(found, plan.OURS_DEFAULT, plan.EQUAL, *names)}** With three passes over the "
        f"target afterwards: {_gain(found, plan.OURS_THEN, plan.EQUAL_THEN, *names)} "
        f"120 steps of 16 windows of 128 tokens. Bits a byte on test text, {_seeds(found)}."
    )
    yield from _table(come | found)


def _scores(records: Records, rows: Iterable[str], **where: Any) -> Scores:
    found: Scores = {}
    for name in rows:
        for record in records.matching(name=name, **where):
            for target, scores in record["scores"].items():
                by_target = found.setdefault(name, {})
                by_target.setdefault(target, {})[record["spec"]["seed"]] = scores["test"]
    return found


def _common(found: Scores) -> tuple[list[str], list[int]]:
    """Targets and seeds that all rows have."""
    targets = set.intersection(*(set(each) for each in found.values()))
    seeds = set.intersection(*(set(s) for each in found.values() for s in each.values()))
    return sorted(targets, key=lambda target: (target not in CHOSEN_ON, target)), sorted(seeds)


def _seeds(found: Scores) -> str:
    _, seeds = _common(found)
    return "one seed" if len(seeds) == 1 else f"means of {len(seeds)} seeds"


def _table(found: Scores) -> Iterator[str]:
    targets, _ = _common(found)
    yield ""
    yield f"| | {' | '.join(targets)} |"
    yield f"|---|{'---:|' * len(targets)}"
    for name, by_target in found.items():
        cells = " | ".join(f"{mean(by_target[target].values()):.3f}" for target in targets)
        yield f"| {name} | {cells} |"


def _gain(found: Scores, row: str, beside: str, name: str, other: str) -> str:
    """By how much a row is below another, as a sentence."""
    targets, seeds = _common(found)
    gains = [
        mean(found[beside][target][seed] - found[row][target][seed] for target in targets)
        for seed in seeds
    ]
    return f"{name.capitalize()} end {_with_interval(gains, '.3f')} bits a byte below {other}."


def _transfer(found: Scores) -> str:
    own = plan.OURS_DEFAULT
    targets, seeds = _common(found)
    shares = []
    for seed in seeds:
        gains = {
            row: mean(found[plan.EQUAL][t][seed] - found[row][t][seed] for t in targets)
            for row in (plan.GIVEN, own)
        }
        shares.append(100 * gains[plan.GIVEN] / gains[own])
    return (
        f"Given weights win {_with_interval(shares, '.0f')} percent of what weights win that the "
        "model learns itself."
    )


def _with_interval(values: Sequence[float], how: str) -> str:
    ends = interval(values) if len(values) > 1 else None
    said = f"{mean(values):{how}}"
    return said if ends is None else f"{said} ({ends[0]:{how}} to {ends[1]:{how}})"
