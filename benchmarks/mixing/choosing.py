"""Which setting of a method is reported: the best on two targets, the others being kept apart."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.mixing.setups import SMALL
from benchmarks.mixing.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.mixing.records import Record, Records

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


_OFTEN, _SELDOM = _settings(5, 0.25, 2, 32), _settings(10, 0.1, 2, 32)
_ADDING = _settings(5, 1.0, 4, 64)
"""Suits weights that only add up: ever fewer updates, and larger ones."""
_ANCHOR = 0.1
_OURS: tuple[tuple[dict[str, Any], dict[str, float]], ...] = (
    *((_OFTEN, {"scale": scale, "anchor": _ANCHOR}) for scale in (3.0, 6.0, 12.0)),
    *((_SELDOM, {"scale": scale, "anchor": _ANCHOR}) for scale in (6.0, 12.0)),
    *((_ADDING, {"scale": scale}) for scale in (10.0, 30.0)),
)
_WATCHED = {"measure": "training steps"}
_STEPS: tuple[tuple[dict[str, Any], dict[str, float]], ...] = (
    *((_OFTEN | _WATCHED, {"scale": scale, "anchor": _ANCHOR}) for scale in (3.0, 6.0, 12.0)),
    (_settings(10, 0.0, 8, 40) | _WATCHED, {"scale": 10.0}),
)


def for_target(target: str, *, budget: int) -> Iterator[Spec]:
    """All settings that are tried of methods that are told the target."""
    shared: dict[str, Any] = {"target": target, "budget": budget}
    ours: dict[str, Any] = {"kind": "target-aware", **shared}
    for settings, rule in _OURS:
        for seed in (0, 1):
            yield Spec(name=FRESH, settings=settings, rule=rule, **ours, seed=seed)
    for settings, rule in _STEPS:
        yield Spec(name=STEPS, settings=settings, rule=rule, **ours)
    yield from _peers(shared)


def _peers(shared: dict[str, Any]) -> Iterator[Spec]:
    for size in (0.03, 0.1, 0.3, 1.0):
        rule = {"step_size": size}
        yield Spec(name=DOGE, kind="doge", settings=_OFTEN, rule=rule, **shared)
    for every, examples, exploration in ((1, 2, None), (1, 2, 0.1), (2, 4, 0.1)):
        often = {"update_every": every, "gradient_examples": examples}
        explores = {"exploration": exploration}
        yield Spec(name=BANDIT, kind="bandit", settings=often, rule=explores, **shared)
    for passes in (1.0, 4.0, 16.0):
        yield Spec(name=DSIR, kind="dsir", rule={"passes": passes}, **shared)


def for_all(*, budget: int) -> Iterator[Spec]:
    """All settings that are tried of methods that are not told the target."""
    for size in (1.0, 10.0):
        rule = {"step_size": size}
        yield Spec(name=DOREMI, kind="excess-loss", budget=budget, settings=_OFTEN, rule=rule)


def chosen(records: Records) -> dict[str, Spec]:
    """The best setting of each family.

    Best is what has the lowest dev score, in units of what lies between equal weights and the
    best of all candidates of a seed, on average over the two targets and the seeds.
    """
    found = {family: tried(records, family) for family in FAMILIES}
    if not found[FRESH]:
        raise SystemExit("no setting was tried yet; run the stage `choosing` first")
    return {family: each[0][1] for family, each in found.items() if each}


def tried(records: Records, family: str) -> list[tuple[float, Spec]]:
    """The settings of a family that all cells have, and what each loses; the best first."""
    losses: dict[str, dict[str, list[float]]] = {}
    specs: dict[str, Spec] = {}
    for record in records.matching(name=family):
        spec = record["spec"]
        key = f"{spec['settings']} {spec['rule']}"
        specs[key] = Spec(
            name=family, kind=spec["kind"], settings=spec["settings"], rule=spec["rule"]
        )
        for target in CHOSEN_ON:
            if target in record["scores"]:
                loss = _loss(records, target, spec["budget"], spec["seed"], record)
                losses.setdefault(key, {}).setdefault(target, []).append(loss)
    found = [
        (mean(map(mean, cells.values())), specs[key])
        for key, cells in losses.items()
        if len(cells) == len(CHOSEN_ON)
    ]
    return sorted(found, key=lambda each: each[0])


def _loss(records: Records, target: str, budget: int, seed: int, record: Record) -> float:
    """What a candidate loses, in units of what lies between equal weights and the best of all."""
    where: dict[str, Any] = {"budget": budget, "seed": seed, "setup": SMALL}
    equal = records.score(target, split="dev", name="equal weights", **where)
    assert equal is not None
    best = min(
        other["scores"][target]["dev"]
        for family in FAMILIES
        for other in records.matching(name=family, **where)
        if target in other["scores"]
    )
    found: float = record["scores"][target]["dev"]
    return (found - best) / (equal - best)
