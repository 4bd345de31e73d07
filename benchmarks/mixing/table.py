"""Make the tables of docs/results/mixing.md from the records, and keep the records.

`python -m benchmarks.mixing.table records.jsonl [more.jsonl …]` writes the page and, beside it, all
records in one compressed file. `--check` makes the page from that file and compares.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.mixing import plan
from benchmarks.mixing.beside import beside
from benchmarks.mixing.budget import PEERS, Budget
from benchmarks.mixing.choosing import CHOSEN_ON, FAMILIES, tried
from benchmarks.mixing.records import Records
from benchmarks.mixing.setups import SMALL
from benchmarks.mixing.words import FOOT, HEAD
from tawt.significance import interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

PAGE = Path(__file__).parents[2] / "docs" / "results" / "mixing.md"
KEPT = PAGE.with_suffix(".jsonl.gz")
_WORTHWHILE = 0.1  # bits a byte: below it, a share of the headroom is mostly noise
_USELESS = ("shuffled words", "random letters")
_OTHER_LANGUAGES = ("dutch", "french", "german", "italian", "portuguese", "spanish")
_NEAR = {"galician": _OTHER_LANGUAGES, "afrikaans": ("dutch", "german")}
"""Corpora in another language than English that may be near; all others are far."""
_ALONE = ("web", "newspaper", "shuffled words")


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        same = page(kept_records()) == PAGE.read_text(encoding="utf-8")
        raise SystemExit(0 if same else f"{PAGE} is not what its records say")
    lines = [line for path in options.records for line in path.read_text().splitlines()]
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    with gzip.GzipFile(KEPT, "wb", mtime=0) as file:
        file.write("".join(f"{shortened(line)}\n" for line in lines).encode())
    PAGE.write_text(page(kept_records()), encoding="utf-8")


def kept_records() -> Records:
    """The records beside the page."""
    return Records.of(gzip.decompress(KEPT.read_bytes()).decode().splitlines())


def shortened(line: str) -> str:
    """A record in which weights have five digits."""
    record = json.loads(line)
    rounded = [[step, _rounded(weights)] for step, weights in record["course"]]
    record |= {"course": rounded, "weights": _rounded(record["weights"])}
    return json.dumps(record | {"passes": _rounded(record["passes"])})


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.5g}") for name, value in values.items()}


def page(records: Records) -> str:
    """The whole page."""
    budgets = sorted({record["spec"]["budget"] for record in records.matching(name=plan.OURS)})
    whole = [Budget(records, budget) for budget in budgets]
    whole = sorted((b for b in whole if b.targets and b.seeds), key=lambda b: -b.budget)
    parts = [HEAD.format(verdict=_verdict(whole[0]))]
    for budget in whole:
        parts += ["\n".join(_recovered(budget)), "\n".join(_bits(budget))]
    parts += ["\n".join(_settings(records)), "\n".join(_course(whole[0]))]
    parts += ["\n".join(lines) for lines in beside(records)]
    return "\n\n".join([*parts, FOOT]) + "\n"


def _worthwhile(budget: Budget) -> list[str]:
    return [target for target in budget.targets if budget.headroom(target) >= _WORTHWHILE]


def shares(budget: Budget, name: str, target: str) -> list[float]:
    """Percent of a target's headroom that a method recovers, seed by seed."""
    return [100 * gain / budget.headroom(target) for gain in budget.gains(name, target)]


def _by_seed(budget: Budget, name: str, targets: Iterable[str]) -> list[float]:
    """The mean over targets, seed by seed."""
    columns = [shares(budget, name, target) for target in targets]
    return [mean(row) for row in zip(*columns, strict=True)]


def _verdict(budget: Budget) -> str:
    targets = _worthwhile(budget)
    apart = [target for target in targets if target not in CHOSEN_ON]
    ours, then = (_with_interval(_by_seed(budget, n, apart)) for n in (plan.OURS, plan.OURS_THEN))
    every = mean(_by_seed(budget, plan.OURS, targets))
    peers = {name: mean(_by_seed(budget, name, apart)) for name in PEERS}
    best = max(peers, key=lambda name: peers[name])
    listed = " and ".join(apart)
    return (
        f"On {listed}, targets that chose no setting, learned weights recover {ours} percent of "
        "what a search over corpora wins over equal weights, at equal total cost, and "
        f"{then} with three passes over the target at the end; of all targets that have a headroom "
        f"{every:.0f}. The best peer there, {best}, recovers {peers[best]:.0f}"
    )


def _recovered(budget: Budget) -> Iterator[str]:
    targets = _worthwhile(budget)
    apart = [target for target in targets if target not in CHOSEN_ON]
    count = len(budget.seeds)
    yield f"## {budget.budget} steps: percent of the headroom recovered"
    yield ""
    said = "One seed." if count == 1 else f"Means of {count} seeds, with their 95% interval."
    yield f"{said} Targets marked * chose the settings of all methods, at 900 steps."
    yield ""
    heads = [f"{target}{'*' * (target in CHOSEN_ON)}" for target in targets]
    yield f"| | {' | '.join(heads)} | all | not used to choose |"
    yield f"|---|{'---:|' * (len(heads) + 2)}"
    rooms = " | ".join(f"{budget.headroom(target):.2f}" for target in targets)
    yield f"| headroom, bits a byte | {rooms} | | |"
    best = " | ".join(" + ".join(budget.best(target)) for target in targets)
    yield f"| the ceiling's corpora | {best} | | |"
    for name in budget.rows:
        each = " | ".join(f"{mean(shares(budget, name, target)):.0f}" for target in targets)
        means = [_with_interval(_by_seed(budget, name, some)) for some in (targets, apart)]
        yield f"| {_titled(budget, name)} | {each} | {' | '.join(means)} |"
    for source in _ALONE:
        each = " | ".join(f"{_alone(budget, source, target):.0f}" for target in targets)
        yield f"| {source} alone (seed 0) | {each} | | |"


def _titled(budget: Budget, name: str) -> str:
    """A row's name, and which seeds it has, if not all."""
    seeds = budget.seeds_of(name)
    return name if seeds == budget.seeds else f"{name} (seed {', '.join(map(str, seeds))})"


def _alone(budget: Budget, source: str, target: str) -> float:
    """Percent of the headroom that a corpus alone recovers, whatever it is; of one seed."""
    gain = budget.score(plan.EQUAL, target, 0) - budget.score(plan.SINGLE, target, 0, [source])
    return 100 * gain / budget.headroom(target)


def _with_interval(values: Sequence[float]) -> str:
    found = interval(values) if len(values) > 1 else None
    if found is None:
        return f"{mean(values):.0f}"
    return f"{mean(values):.0f} ({found[0]:.0f} to {found[1]:.0f})"


def _bits(budget: Budget) -> Iterator[str]:
    yield f"## {budget.budget} steps: bits a byte on test text"
    yield ""
    yield f"| | {' | '.join(budget.targets)} |"
    yield f"|---|{'---:|' * len(budget.targets)}"
    for name in (plan.EQUAL, *budget.rows):
        cells = [f"{mean(budget.scores(name, target)):.2f}" for target in budget.targets]
        yield f"| {_titled(budget, name)} | {' | '.join(cells)} |"
    for target in budget.targets:
        if target not in _worthwhile(budget):
            yield ""
            yield _without_headroom(budget, target)


def _without_headroom(budget: Budget, target: str) -> str:
    ours, then = (mean(budget.gains(name, target)) for name in (plan.OURS, plan.OURS_THEN))
    found = budget.records.matching(
        name=plan.OURS, budget=budget.budget, target=target, setup=SMALL
    )
    most = max((count, name) for record in found for name, count in record["passes"].items())
    return (
        f"On {target} the headroom is {budget.headroom(target):.2f} bits a byte, too little to "
        "take shares of, so the target is not in the means. Learned weights end "
        f"{abs(ours):.2f} bits {'below' if ours > 0 else 'above'} equal ones, {abs(then):.2f} "
        f"{'below' if then > 0 else 'above'} with the target after them; they pass over {most[1]} "
        f"up to {most[0]:.0f} times."
    )


def _settings(records: Records) -> Iterator[str]:
    yield "## Settings that were tried"
    yield ""
    yield (
        "On chemistry and galician, dev text. *Lost*: how far a setting ends above the best of all "
        "settings of all methods, in units of what lies between that and equal weights; the mean "
        "of the two targets and, for fresh batches, of two seeds. The setting that loses least is "
        "in the tables."
    )
    yield ""
    yield "| | lost | rule | settings |"
    yield "|---|---:|---|---|"
    for family in FAMILIES:
        for lost, spec in tried(records, family):
            said = (
                ", ".join(f"`{key}: {_plain(value)}`" for key, value in values.items() if value)
                for values in (spec.rule, spec.settings)
            )
            yield f"| {family.removeprefix('candidate, ')} | {lost:.2f} | {' | '.join(said)} |"


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _course(budget: Budget) -> Iterator[str]:
    yield "## Where the weights end"
    yield ""
    yield (
        f"Of all runs of {budget.budget} steps by fresh batches. Useless: words shuffled, letters "
        "drawn at random. Far: languages that are not near the target's. Passes: over the corpus "
        "that was repeated most."
    )
    yield ""
    yield "| target | seed | weights over 0.03 at the end | useless at mid-run | far | passes |"
    yield "|---|---:|---|---:|---:|---:|"
    for target in budget.targets:
        for seed in budget.seeds:
            [record] = budget.records.matching(
                name=plan.OURS, budget=budget.budget, target=target, seed=seed, setup=SMALL
            )
            half = [w for step, w in record["course"] if 2 * step <= record["steps"]][-1]
            ends = sorted(record["weights"].items(), key=lambda item: -item[1])
            said = ", ".join(f"{name} {value:.2f}" for name, value in ends if value > 0.03)
            most = max(record["passes"].items(), key=lambda item: item[1])
            useless = sum(half[name] for name in _USELESS)
            near = _NEAR.get(target, ())
            far = sum(half[name] for name in _OTHER_LANGUAGES if name not in near)
            yield (
                f"| {target} | {seed} | {said} | {useless:.4f} | {far:.4f} | "
                f"{most[0]} {most[1]:.1f} |"
            )


if __name__ == "__main__":
    main()
