"""What each section of the page answers, in a sentence or two."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.mixing import plan
from benchmarks.mixing.budget import PEERS
from benchmarks.mixing.choosing import DOGE, FRESH, tried
from benchmarks.mixing.scores import listed, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.mixing.budget import Budget
    from benchmarks.mixing.records import Record, Records

_USELESS = ("shuffled words", "random letters")
_OTHER_LANGUAGES = ("dutch", "french", "german", "italian", "portuguese", "spanish")
_NEAR = {"galician": _OTHER_LANGUAGES, "afrikaans": ("dutch", "german")}
"""Corpora in another language than English that may be near; all others are far."""
FLOORS = 0.05
"""Of the weight: what useless and far corpora may have together."""


def verdict(budget: Budget) -> str:
    """The page's first sentence."""
    apart = budget.apart
    peer, its = best_peer(budget, apart)
    free = _share(budget, plan.OURS_FREE, apart).replace(" (", ", ").removesuffix(")")
    return (
        f"On {listed(apart)}, targets that chose no setting but the limit on passes, the default "
        f"recovers {_share(budget, plan.OURS_DEFAULT, apart)} percent of what a search over "
        f"corpora wins over equal weights, at equal total cost ({free}, without that limit); on "
        "all targets that have such a headroom "
        f"{_share(budget, plan.OURS_DEFAULT, budget.worthwhile)}. The best peer on "
        f"{listed(apart)}, {peer}, recovers {its:.0f}"
    )


def shares_answer(budget: Budget) -> str:
    """Of the table of shares."""
    targets = budget.worthwhile
    peer, its = best_peer(budget, targets)
    return (
        f"The default recovers {_share(budget, plan.OURS_DEFAULT, targets)} percent of the "
        f"headroom, the mean of {listed(targets)}; the best peer, {peer}, {its:.0f}; equal weights "
        f"and then the target's text {_share(budget, plan.EQUAL_THEN, targets)}."
    )


def bits_answer(budget: Budget) -> str:
    """Of the table of bits."""
    below = {t: mean(budget.gains(plan.OURS_DEFAULT, t)) for t in budget.targets}
    free = with_interval(_over(budget, plan.OURS_FREE), ".3f")
    return (
        f"The default ends {min(below.values()):.2f} to {max(below.values()):.2f} bits a byte "
        f"below equal weights, and {free} below learned weights without a limit on passes, the "
        "mean of all targets."
    )


def without_headroom(budget: Budget, target: str) -> str:
    """What there is to say of a target whose search found nothing."""
    ours, free, then = (
        mean(budget.gains(name, target))
        for name in (plan.OURS_DEFAULT, plan.OURS_FREE, plan.OURS_THEN)
    )
    most = max(
        (count, name)
        for seed in budget.seeds
        for name, count in budget.record(plan.OURS_FREE, target, seed)["passes"].items()
    )
    return (
        f"On {target} the headroom is {budget.headroom(target):.2f} bits a byte, too little to "
        "take shares of, so the target is not in the means. There the default ends "
        f"{_beside(ours)} equal weights; without a limit on passes {_beside(free)}, having passed "
        f"over {most[1]} up to {most[0]:.0f} times; with c = 10 and then the target "
        f"{_beside(then)}."
    )


def settings_answer(records: Records) -> str:
    """Of the table of settings."""
    (best, spec), (second, other), *_ = tried(records, FRESH)
    peer = tried(records, DOGE)[0][0]
    return (
        f"Two rules of ours lose least: c = {spec.rule['scale']:g} without an anchor, "
        f"{best:.2f}, and c = {other.rule['scale']:g} with one, {second:.2f}; DoGE, the best peer, "
        f"loses {peer:.2f}."
    )


def course_answer(budget: Budget) -> str:
    """Of the table of weights."""
    found = mid_run_floors(budget)
    few = sum(each <= FLOORS for each in found)
    return (
        f"By mid-run useless and far corpora have {100 * FLOORS:.0f}% of the weight or less "
        f"together in {few} of {len(found)} runs, and {100 * max(found):.0f}% in the worst."
    )


def mid_run_floors(budget: Budget) -> list[float]:
    """What useless and far corpora have together after half of the steps, of every run."""
    return [
        sum(at_mid_run(budget.record(plan.OURS_DEFAULT, target, seed)))
        for target in budget.targets
        for seed in budget.seeds
    ]


def at_mid_run(record: Record) -> tuple[float, float]:
    """Weights of the useless and of the far corpora after half of the steps."""
    half = [weights for step, weights in record["course"] if 2 * step <= record["steps"]][-1]
    near = _NEAR.get(record["spec"]["target"], ())
    far = [name for name in _OTHER_LANGUAGES if name not in near]
    return sum(half[name] for name in _USELESS), sum(half[name] for name in far)


def best_peer(budget: Budget, targets: Iterable[str]) -> tuple[str, float]:
    """The peer that recovers most, the mean over targets, and how much that is."""
    peers = {name: mean(budget.by_seed(name, targets)) for name in PEERS}
    best = max(peers, key=lambda name: peers[name])
    return best, peers[best]


def _share(budget: Budget, name: str, targets: Iterable[str]) -> str:
    return with_interval(budget.by_seed(name, targets), ".0f")


def _over(budget: Budget, name: str) -> list[float]:
    """The default's bits below another row, the mean over targets, seed by seed."""
    pairs = [
        [
            ours - theirs
            for ours, theirs in zip(
                budget.gains(plan.OURS_DEFAULT, target), budget.gains(name, target), strict=True
            )
        ]
        for target in budget.targets
    ]
    return [mean(each) for each in zip(*pairs, strict=True)]


def _beside(gain: float) -> str:
    return f"{abs(gain):.2f} {'below' if gain > 0 else 'above'}"
