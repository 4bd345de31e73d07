"""Which trainings there are, in the order in which they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.regimes.arrays import REPLACED, TEACHERS
from benchmarks.regimes.methods import SINGLE
from benchmarks.regimes.regimes import REGIMES
from benchmarks.regimes.spec import Spec
from benchmarks.regimes.tagging import TARGETS
from tawt.demos.digits import DIGITS_TASKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SOURCES: dict[str, Sequence[str]] = {
    "digits": DIGITS_TASKS[1:],
    "noisy labels": tuple(REPLACED),
    "teachers": tuple(TEACHERS),
    "groups": tuple(REPLACED),
}


def planned(
    regimes: Iterable[str],
    *,
    methods: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    seeds: int,
    encoder: str | None = None,
) -> Iterator[Spec]:
    """Whole seeds first, so that what is there at any time can be compared.

    Args:
        regimes: In this order.
        methods: Of those that a regime has; all by default.
        targets: In this order, of those that a regime has; all by default.
        seeds: How many there are.
        encoder: What it is called; regimes of text need one.
    """
    names = list(regimes)
    for seed in range(seeds):
        for name in names:
            regime = REGIMES[name]
            for target in targets or regime.targets:
                if target in regime.targets:
                    yield from _of_target(name, target, methods, seed=seed, encoder=encoder)


def sources_of(regime: str, target: str) -> Sequence[str]:
    """Names of a target's sources, or of the groups in the one there is, to be tried alone."""
    problem = REGIMES[regime].problem
    return TARGETS[target].names if problem == "tagging" else _SOURCES[problem]


def _of_target(
    name: str, target: str, methods: Sequence[str] | None, *, seed: int, encoder: str | None
) -> Iterator[Spec]:
    regime = REGIMES[name]
    for method in methods or regime.methods:
        if method in regime.methods:
            for source in sources_of(name, target) if method == SINGLE else (None,):
                yield Spec(
                    regime=name,
                    target=target,
                    examples=regime.targets[target],
                    method=method,
                    seed=seed,
                    source=source,
                    encoder=encoder if regime.kind == "text" else None,
                )
