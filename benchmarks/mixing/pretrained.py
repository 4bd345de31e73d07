"""Tables of a pretrained language model that goes on."""

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
    table_of,
    with_interval,
)
from benchmarks.mixing.setups import LORA, PRETRAINED
from tawt.significance import interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.mixing.records import Records

_MIXED = (plan.EQUAL, plan.OURS_FREE, plan.EQUAL_THEN, plan.OURS_FREE_THEN)
_DIFFERENCES = {
    "learned below equal": (plan.OURS_FREE, plan.EQUAL),
    "the same, both then the target": (plan.OURS_FREE_THEN, plan.EQUAL_THEN),
    "then the target, after equal": (plan.EQUAL_THEN, plan.EQUAL),
    "then the target, after learned": (plan.OURS_FREE_THEN, plan.OURS_FREE),
}
"""By how much the first is below the second."""


def pretrained(records: Records) -> Iterator[list[str]]:
    """The section of every way to train it that there are records for."""
    for setup in (PRETRAINED, LORA):
        if records.matching(name=plan.OURS_FREE, setup=setup):
            yield list(_section(records, setup))


def _section(records: Records, setup: str) -> Iterator[str]:
    mixed = scores_of(records, _MIXED, setup=setup)
    come = scores_of(records, [plan.AS_IT_COMES], setup=PRETRAINED)
    alone = scores_of(records, [plan.TARGET_ALONE], setup=setup)
    targets, _ = common(mixed)
    how = "low-rank additions" if setup == LORA else "all of it"
    yield f"## A pretrained language model that goes on: SmolLM2-135M, {how}"
    yield ""
    yield f"**{_answer(mixed, targets)}**"
    yield ""
    yield (
        "120 steps of 16 windows of 128 tokens, without a limit on passes. Learned weights take 90 "
        'of them: the others pay for what is measured. "Then the target" is three passes over '
        'the target\'s 200 lines, which are paid for too. "The target alone" has nothing but '
        f"these. Bits a byte on test text, {_seeds(_titled(mixed | alone))}; as it comes: one seed."
    )
    yield from table_of(_titled(come | alone | mixed), targets=targets)
    yield ""
    yield "Differences, paired by seed, with 95% intervals. Above zero: the first is better."
    yield ""
    yield f"| | {' | '.join(targets)} | mean |"
    yield f"|---|{'---:|' * (len(targets) + 1)}"
    for said, (row, beside) in _DIFFERENCES.items():
        cells = [with_interval(gains(mixed, row, beside, t), ".3f") for t in targets]
        cells.append(with_interval(mean_gains(mixed, row, beside), ".3f"))
        yield f"| {said} | {' | '.join(cells)} |"


def _answer(mixed: Scores, targets: Sequence[str]) -> str:
    """What learned weights, and passes over the target, are worth."""
    row, beside = _DIFFERENCES["learned below equal"]
    by_target = {target: gains(mixed, row, beside, target) for target in targets}
    sure = [target for target, found in by_target.items() if _above_zero(found)]
    named = [f"{with_interval(by_target[t], '.3f')} bits a byte on {t}" for t in sure]
    others = [t for t in targets if t not in sure]
    after = [mean(gains(mixed, plan.EQUAL_THEN, plan.EQUAL, target)) for target in targets]
    then = [mean(gains(mixed, plan.OURS_FREE_THEN, plan.EQUAL_THEN, t)) for t in targets]
    first = (
        f"Learned weights end below equal ones by {listed(named)}; on {listed(others)} the "
        "difference is within chance."
        if sure
        else "Learned weights are within chance of equal ones on every target."
    )
    return (
        f"{first} Three passes over the target's own text after equal weights are worth "
        f"{min(after):.2f} to {max(after):.2f}; learned weights in place of equal ones before "
        f"them, {min(then):.3f} to {max(then):.3f}."
    )


def _above_zero(found: Sequence[float]) -> bool:
    ends = interval(found) if len(found) > 1 else None
    return ends is not None and ends[0] > 0


def _seeds(mixed: Scores) -> str:
    most = max(len(seeds) for each in mixed.values() for seeds in each.values())
    fewer = {
        name: min(len(seeds) for seeds in by_target.values()) for name, by_target in mixed.items()
    }
    said = [f"{name}: {count}" for name, count in fewer.items() if count < most]
    return f"means of {most} seeds" + (f" ({'; '.join(said)})" if said else "")


def _titled(found: Scores) -> Scores:
    """Without what all learned rows have in common."""
    return {
        name.replace("tawt, no limit on passes", "learned weights"): s for name, s in found.items()
    }
