"""Which curvature to choose: how good each one's hypergradient is, and what it costs.

    python -m benchmarks.curvatures

Quality, on the small networks of `benchmarks/bilevel.py` in float64: correlation and sign
agreement of g with the exact one, and with what happens to the target's loss when a weight is
really moved and everything trained again. Cost, on a network of a more usual size. Writes
`benchmarks/reports/curvatures.md` and `.json`, which `docs/curvature.md` cites.
"""

from __future__ import annotations

import json
import logging
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from benchmarks.bilevel import SOURCES, Bilevel
from benchmarks.curvature_cost import cost
from tawt.curvature import AdamDiagonal, ConjugateGradient, Curvature, Dense, Identity
from tawt.hypergradient import Alignment, Cosine, CurvatureWeighted
from tawt.runs.record import circumstances

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

REPORTS = Path(__file__).parent / "reports"
SEEDS = range(16)
SWEPT = 6  # problems on which every damping is tried
EXAMPLES = 64
"""Of each task at a draw, as an update in practice has them."""
DRAWS = 2
DAMPINGS = (0.001, 0.01, 0.1, 1.0)

DAMPED: dict[str, Callable[[float], Curvature]] = {
    "Adam's diagonal": lambda damping: AdamDiagonal(damping=damping),
    "conjugate gradient, 20 iterations": lambda damping: ConjugateGradient(damping=damping),
}
_CHEAPEST = "cosine (no curvature)"
_DENSE = ("dense, not damped", "dense, not damped, heads follow")
_STATES = ("minimum, all examples", "minimum, draws", "mid-training, draws")


def usual(damping: float) -> dict[str, Alignment]:
    """What can be had for networks of any size."""
    return {
        _CHEAPEST: Cosine(),
        "identity": CurvatureWeighted(Identity()),
        **{name: CurvatureWeighted(make(damping)) for name, make in DAMPED.items()},
    }


def rows() -> dict[str, Alignment]:
    """What is compared in the first table."""
    return {
        **usual(0.01),
        "conjugate gradient, heads follow": CurvatureWeighted(ConjugateGradient()),
        **{name: CurvatureWeighted(Dense()) for name in _DENSE},
    }


def costly() -> dict[str, Alignment]:
    """What is compared by its cost.

    With less damping conjugate gradient stops early at negative curvature, and with it soon at its
    tolerance; what it may cost is all its iterations.
    """
    all_iterations = CurvatureWeighted(ConjugateGradient(damping=1.0, tolerance=0.0))
    return {
        name: all_iterations if name.startswith("conjugate") else alignment
        for name, alignment in usual(1.0).items()
    }


@dataclass(frozen=True)
class Solved:
    """A problem with its answers, and the two places at which it is measured."""

    problem: Bilevel
    exact: Tensor
    """g by the paper's formula, heads held, H dense and not damped; at the minimum."""
    retrained: Tensor
    """The derivative of the target's loss, by really moving each weight."""
    places: Mapping[str, tuple[list[Tensor], torch.optim.Optimizer]]

    def measured(self, alignment: Alignment, state: str, *, follows: bool) -> Iterator[Tensor]:
        """The hypergradient in one of the states, once or at each draw."""
        parameters, optimiser = self.places[state.partition(",")[0]]
        self.problem.restore(parameters)
        alignment.curvature.follow(optimiser)
        moved = self.problem.inner if follows else None
        for seed in range(DRAWS if "draws" in state else 1):
            yield self.problem.gradient(
                alignment,
                examples=EXAMPLES if "draws" in state else None,
                seed=seed,
                parameters=moved,
            )


def solved(seed: int) -> Solved:
    """Train a problem for a while, then to the end, and find its answers."""
    problem = Bilevel(seed)
    problem.train(steps=200, rate=0.01)
    midway = problem.state(), problem.train(steps=100, rate=0.0)
    problem.solve()
    minimum = problem.state(), problem.train(steps=100, rate=0.0)
    return Solved(
        problem,
        exact=problem.gradient(CurvatureWeighted(Dense())),
        retrained=problem.retrained(),
        places={"mid-training": midway, "minimum": minimum},
    )


def agreement(found: Tensor, truth: Tensor) -> tuple[float, float]:
    """Correlation, and share of equal signs about the mean: a constant in g moves no weight."""
    left, right = found - found.mean(), truth - truth.mean()
    correlation = float(left @ right / (left.norm() * right.norm()))
    return correlation, float(((left > 0) == (right > 0)).double().mean())


def quality(problems: list[Solved]) -> dict[str, dict[str, list[float]]]:
    """Of every row: agreement with each truth, one number a problem."""
    found: dict[str, dict[str, list[float]]] = {}
    for name, alignment in rows().items():
        found[name] = {}
        for state in _STATES[:1] if name in _DENSE else _STATES:
            for problem in problems:
                values = [*problem.measured(alignment, state, follows="follow" in name)]
                truths = {f"retrained, {state}": problem.retrained}
                if state == _STATES[0]:
                    truths["exact"] = problem.exact
                for truth, answer in truths.items():
                    pairs = np.array([agreement(value, answer) for value in values]).mean(0)
                    for what, number in zip(("correlation", "signs"), pairs, strict=True):
                        found[name].setdefault(f"{truth}: {what}", []).append(float(number))
        print(f"measured {name}", flush=True)
    return found


def sweep(problems: list[Solved]) -> dict[str, dict[str, dict[str, float]]]:
    """Correlation with what retraining does, by curvature, state and damping."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name, make in DAMPED.items():
        for state in _STATES:
            for damping in DAMPINGS:
                alignment = CurvatureWeighted(make(damping))
                correlations = [
                    agreement(value, problem.retrained)[0]
                    for problem in problems
                    for value in problem.measured(alignment, state, follows=False)
                ]
                by_state = found.setdefault(name, {}).setdefault(state, {})
                by_state[f"{damping:g}"] = statistics.fmean(correlations)
        print(f"swept {name}", flush=True)
    return found


def written(
    found: dict[str, dict[str, list[float]]],
    swept: dict[str, dict[str, dict[str, float]]],
    costs: dict[str, dict[str, float]],
) -> str:
    """Three tables in Markdown."""
    lines = [
        "# Curvatures: quality against cost",
        "",
        f"Small networks in float64, {len(SEEDS)} problems of {SOURCES} sources and a target. Each "
        "entry is the correlation of",
        "g with the truth, its mean over the problems ± standard error, and the share of sources "
        "on whose",
        "sign both agree, g less its mean (a constant moves no weight). `exact` is the paper's g "
        "with H dense",
        "and not damped; `retrained` is what happens to the target's loss when a weight is really "
        "moved and",
        "everything trained again. `draws` are of at most "
        f"{EXAMPLES} examples a task, {DRAWS} of them; `mid-training`",
        "is after 200 steps of Adam. Damping is 0.01.",
        "",
        "| | exact | retrained | retrained, draws | retrained, mid-training, draws |",
        "|---|---|---|---|---|",
    ]
    for name, numbers in found.items():
        truths = ["exact", *[f"retrained, {state}" for state in _STATES]]
        cells = [_agreement_text(numbers, truth) for truth in truths]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        "Correlation with what retraining does, less the cosine's on the same problems:",
        "",
        f"| | {' | '.join(_STATES)} |",
        "|---|" + "---|" * len(_STATES),
    ]
    lines += [
        f"| {name} | {' | '.join(_gain_text(found, name, state) for state in _STATES)} |"
        for name in found
        if name != _CHEAPEST
    ]
    lines += [
        "",
        "## Cost of an update",
        "",
        "MLP 3 x 256 on 64 features, three sources, 64 examples a task, float32, one core. Memory "
        "is the peak",
        "beyond what is there, activations included, in copies of the representation. Conjugate "
        "gradient is made",
        "to take all its iterations; at its tolerance, or at negative curvature, it stops before.",
        "",
        "| | ms | times cosine | copies |",
        "|---|---:|---:|---:|",
    ]
    base = next(iter(costs.values()))["milliseconds"]
    lines += [
        f"| {name} | {row['milliseconds']:.1f} | {row['milliseconds'] / base:.1f} | "
        f"{row['copies']:.1f} |"
        for name, row in costs.items()
    ]
    lines += [
        "",
        "## Damping",
        "",
        f"Correlation with what retraining does, by λ, over {SWEPT} of the problems (for Adam's "
        "diagonal λ is a share",
        "of its mean).",
    ]
    for state in _STATES:
        head = " | ".join(f"{damping:g}" for damping in DAMPINGS)
        lines += ["", f"| {state} | {head} |", "|---|" + "---:|" * len(DAMPINGS)]
        lines += [
            f"| {name} | {' | '.join(f'{value:.2f}' for value in by_state[state].values())} |"
            for name, by_state in swept.items()
        ]
    return "\n".join([*lines, "", "Made by `python -m benchmarks.curvatures`.", ""])


def _agreement_text(numbers: Mapping[str, list[float]], truth: str) -> str:
    correlations = numbers.get(f"{truth}: correlation")
    if correlations is None:
        return ""
    signs = statistics.fmean(numbers[f"{truth}: signs"])
    error = statistics.stdev(correlations) / len(correlations) ** 0.5
    return f"{statistics.fmean(correlations):.2f} ± {error:.2f}, {100 * signs:.0f}%"


def _gain_text(found: dict[str, dict[str, list[float]]], name: str, state: str) -> str:
    what = f"retrained, {state}: correlation"
    if what not in found[name]:
        return ""
    gains = np.subtract(found[name][what], found[_CHEAPEST][what])
    return f"{gains.mean():+.2f} ± {gains.std(ddof=1) / len(gains) ** 0.5:.2f}"


def main() -> None:
    """Measure, print, and write the record."""
    torch.set_num_threads(1)
    logging.getLogger("tawt").setLevel(logging.ERROR)  # negative curvature is part of the matter
    start = time.perf_counter()
    problems = []
    for seed in SEEDS:
        problems.append(solved(seed))
        print(f"solved problem {seed + 1} of {len(SEEDS)}", flush=True)
    found, swept, costs = quality(problems), sweep(problems[:SWEPT]), cost(costly())
    text = written(found, swept, costs)
    REPORTS.mkdir(exist_ok=True)
    (REPORTS / "curvatures.md").write_text(text, encoding="utf-8")
    record = {
        "command": "python -m benchmarks.curvatures",
        "seeds": list(SEEDS),
        **circumstances(torch.device("cpu")),
        "seconds": round(time.perf_counter() - start, 1),
        "quality": found,
        "damping": swept,
        "cost": costs,
    }
    (REPORTS / "curvatures.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
