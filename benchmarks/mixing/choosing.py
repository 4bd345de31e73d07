"""Which setting of a method is reported: the best on two targets, the others being kept apart."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.mixing.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.mixing.records import Records

CHOSEN_ON = ("chemistry", "galician")
FRESH, STEPS = "candidate, fresh batches", "candidate, training steps"
DOGE, BANDIT = "candidate, DoGE", "candidate, bandit"
DSIR, DOREMI = "candidate, DSIR", "candidate, DoReMi"
FAMILIES = (FRESH, STEPS, DOGE, BANDIT, DSIR, DOREMI)


def _settings(every: int, growth: float, sources: int, target: int, **more: Any) -> dict[str, Any]:
    return {
        "update_every": every,
        "update_growth": growth,
        "gradient_examples": sources,
        "target_examples": target,
        **more,
    }


_OFTEN, _SELDOM = _settings(5, 0.25, 2, 32), _settings(20, 0.0, 8, 8)
_MEASURED: tuple[dict[str, Any], ...] = (
    _SELDOM,
    _settings(5, 0.25, 4, 64),
    _OFTEN,
    _settings(5, 0.5, 4, 64),
    _settings(5, 0.5, 2, 32),
    _settings(5, 1.0, 4, 64),
    _settings(10, 0.5, 4, 64),
)
_WATCHED = (
    _settings(5, 0.0, 2, 40, measure="training steps"),
    _settings(5, 0.0, 2, 20, measure="training steps"),
    _settings(10, 0.0, 8, 40, measure="training steps"),
)
_SCALES = (10.0, 30.0, 100.0)


def for_target(target: str, *, budget: int) -> Iterator[Spec]:
    """All settings that are tried of methods that are told the target."""
    shared: dict[str, Any] = {"target": target, "budget": budget}
    ours: dict[str, Any] = {"kind": "target-aware", **shared}
    for scale in _SCALES:
        for settings in _MEASURED:
            yield Spec(name=FRESH, settings=settings, rule={"scale": scale}, **ours)
        for settings in _WATCHED:
            yield Spec(name=STEPS, settings=settings, rule={"scale": scale}, **ours)
    yield from _peers(shared)


def _peers(shared: dict[str, Any]) -> Iterator[Spec]:
    for settings in (_OFTEN, _SELDOM):
        for size in (0.03, 0.1, 0.3, 1.0):
            rule = {"step_size": size}
            yield Spec(name=DOGE, kind="doge", settings=settings, rule=rule, **shared)
    for every, examples in ((1, 2), (2, 4), (5, 8)):
        often = {"update_every": every, "gradient_examples": examples}
        for exploration in (None, 0.1):
            explores = {"exploration": exploration}
            yield Spec(name=BANDIT, kind="bandit", settings=often, rule=explores, **shared)
    for passes in (1.0, 4.0, 16.0):
        yield Spec(name=DSIR, kind="dsir", rule={"passes": passes}, **shared)


def for_all(*, budget: int) -> Iterator[Spec]:
    """All settings that are tried of methods that are not told the target."""
    for settings in (_OFTEN, _SELDOM):
        for size in (1.0, 10.0):
            rule = {"step_size": size}
            yield Spec(name=DOREMI, kind="excess-loss", budget=budget, settings=settings, rule=rule)


def chosen(records: Records) -> dict[str, Spec]:
    """The best setting of each family.

    Best is what has the lowest dev score, in units of what lies between equal weights and the
    best of all candidates, on average over the two targets and all budgets.
    """
    found = {family: _best(records, family) for family in FAMILIES if records.matching(name=family)}
    if FRESH not in found:
        raise SystemExit("no setting was tried yet; run the stage `choosing` first")
    return found


def _best(records: Records, family: str) -> Spec:
    tried = records.matching(name=family)
    cells = sorted({(t, r["spec"]["budget"]) for r in tried for t in r["scores"] if t in CHOSEN_ON})
    losses: dict[str, list[float]] = {}
    specs: dict[str, Spec] = {}
    for target, budget in cells:
        equal = records.score(target, split="dev", name="equal weights", budget=budget, seed=0)
        best = _lowest(records, target, budget)
        assert equal is not None
        for record in tried:
            spec = record["spec"]
            if spec["budget"] != budget or target not in record["scores"]:
                continue
            key = f"{spec['settings']} {spec['rule']}"
            specs[key] = Spec(
                name=family, kind=spec["kind"], settings=spec["settings"], rule=spec["rule"]
            )
            loss = (record["scores"][target]["dev"] - best) / (equal - best)
            losses.setdefault(key, []).append(loss)
    whole = {key: mean(found) for key, found in losses.items() if len(found) == len(cells)}
    return specs[min(whole, key=lambda key: whole[key])]


def _lowest(records: Records, target: str, budget: int) -> float:
    """Of all candidates of all families, on dev text."""
    return min(
        record["scores"][target]["dev"]
        for record in records
        if record["spec"]["name"] in FAMILIES
        and record["spec"]["budget"] == budget
        and target in record["scores"]
    )
