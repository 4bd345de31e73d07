"""Which setting of ours is reported: the best on two targets, the others being kept apart."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.mixing.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.mixing.records import Records

CHOSEN_ON = ("chemistry", "galician")
CANDIDATE = "candidate"
_STEPS = "training steps"


def _settings(every: int, growth: float, sources: int, target: int, **more: Any) -> dict[str, Any]:
    return {
        "update_every": every,
        "update_growth": growth,
        "gradient_examples": sources,
        "target_examples": target,
        **more,
    }


_SETTINGS: tuple[dict[str, Any], ...] = (
    _settings(20, 0.0, 8, 8),
    _settings(5, 0.25, 4, 64),
    _settings(5, 0.25, 2, 32),
    _settings(5, 0.5, 4, 64),
    _settings(5, 0.5, 2, 32),
    _settings(5, 1.0, 4, 64),
    _settings(10, 0.5, 4, 64),
    _settings(5, 0.0, 2, 40, measure=_STEPS),
    _settings(5, 0.0, 2, 20, measure=_STEPS),
    _settings(10, 0.0, 8, 40, measure=_STEPS),
)
_SCALES = (10.0, 30.0)


def candidates(target: str, *, budget: int) -> Iterator[Spec]:
    """All settings that are tried, for one target."""
    for settings in _SETTINGS:
        for scale in _SCALES:
            yield Spec(
                name=CANDIDATE,
                kind="target-aware",
                target=target,
                budget=budget,
                settings=settings,
                rule={"scale": scale},
            )


def chosen(records: Records) -> tuple[Spec, Spec]:
    """The best by fresh batches, and the best by training steps.

    Best is what has the lowest dev score, in units of what lies between equal weights and the
    best of all candidates, on average over targets and budgets.
    """
    tried = records.matching(name=CANDIDATE)
    if not tried:
        raise SystemExit("no setting was tried yet; run the stage `choosing` first")
    cells = sorted({(record["spec"]["target"], record["spec"]["budget"]) for record in tried})
    losses: dict[str, list[float]] = {}
    specs: dict[str, Spec] = {}
    for target, budget in cells:
        here = [r for r in tried if (r["spec"]["target"], r["spec"]["budget"]) == (target, budget)]
        equal = records.score(target, split="dev", name="equal weights", budget=budget, seed=0)
        best = min(record["scores"][target]["dev"] for record in here)
        assert equal is not None
        for record in here:
            spec = record["spec"]
            key = f"{spec['settings']} {spec['rule']}"
            specs[key] = Spec(
                name=CANDIDATE,
                kind="target-aware",
                settings=spec["settings"],
                rule=spec["rule"],
            )
            loss = (record["scores"][target]["dev"] - best) / (equal - best)
            losses.setdefault(key, []).append(loss)
    whole = {key: mean(found) for key, found in losses.items() if len(found) == len(cells)}
    ranked = sorted(whole, key=lambda key: whole[key])
    fresh = next(key for key in ranked if _STEPS not in key)
    steps = next(key for key in ranked if _STEPS in key)
    return specs[fresh], specs[steps]
