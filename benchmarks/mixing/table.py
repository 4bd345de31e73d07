"""Make the tables of docs/results/mixing.md from the records, and keep the records.

`python -m benchmarks.mixing.table records.jsonl [more.jsonl …]` writes the page and, beside it, all
records in one compressed file. `--check` makes the page from that file and compares.
"""

from __future__ import annotations

import argparse
import gzip
import json
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.mixing import plan
from benchmarks.mixing.aims import aims
from benchmarks.mixing.answers import (
    at_mid_run,
    bits_answer,
    course_answer,
    settings_answer,
    shares_answer,
    verdict,
    without_headroom,
)
from benchmarks.mixing.beside import beside
from benchmarks.mixing.budget import Budget
from benchmarks.mixing.choosing import CHOSEN_ON, FAMILIES, tried
from benchmarks.mixing.pretrained import pretrained
from benchmarks.mixing.records import Records
from benchmarks.mixing.scores import with_interval
from benchmarks.mixing.words import FOOT, HEAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PAGE = Path(__file__).parents[2] / "docs" / "results" / "mixing.md"
KEPT = PAGE.with_suffix(".jsonl.gz")
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
    parts = [HEAD.format(verdict=verdict(whole[0])), "\n".join(aims(whole))]
    for budget in whole:
        parts += ["\n".join(_recovered(budget)), "\n".join(_bits(budget))]
    parts += ["\n".join(_settings(records)), "\n".join(_course(whole[0]))]
    parts += ["\n".join(lines) for lines in chain(beside(records), pretrained(records))]
    return "\n\n".join([*parts, FOOT]) + "\n"


def _recovered(budget: Budget) -> Iterator[str]:
    targets, apart = budget.worthwhile, budget.apart
    count = len(budget.seeds)
    yield f"## {budget.budget} steps: percent of the headroom recovered"
    yield ""
    said = "One seed." if count == 1 else f"Means of {count} seeds, with their 95% interval."
    yield (
        f"**{shares_answer(budget)}** {said} Targets marked * chose the settings of all methods, "
        "at 900 steps; the limit on passes was chosen with all targets in view."
    )
    yield ""
    heads = [f"{target}{'*' * (target in CHOSEN_ON)}" for target in targets]
    yield f"| | {' | '.join(heads)} | all | not used to choose |"
    yield f"|---|{'---:|' * (len(heads) + 2)}"
    rooms = " | ".join(f"{budget.headroom(target):.2f}" for target in targets)
    yield f"| headroom, bits a byte | {rooms} | | |"
    best = " | ".join(" + ".join(budget.best(target)) for target in targets)
    yield f"| the ceiling's corpora | {best} | | |"
    for name in budget.rows:
        each = " | ".join(f"{mean(budget.shares(name, target)):.0f}" for target in targets)
        means = [with_interval(budget.by_seed(name, some), ".0f") for some in (targets, apart)]
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


def _bits(budget: Budget) -> Iterator[str]:
    yield f"## {budget.budget} steps: bits a byte on test text"
    yield ""
    yield f"**{bits_answer(budget)}** Means of {len(budget.seeds)} seeds; lower is better."
    yield ""
    yield f"| | {' | '.join(budget.targets)} |"
    yield f"|---|{'---:|' * len(budget.targets)}"
    for name in (plan.EQUAL, *budget.rows):
        cells = [f"{mean(budget.scores(name, target)):.2f}" for target in budget.targets]
        yield f"| {_titled(budget, name)} | {' | '.join(cells)} |"
    for target in budget.targets:
        if target not in budget.worthwhile:
            yield ""
            yield without_headroom(budget, target)


def _settings(records: Records) -> Iterator[str]:
    yield "## Settings that were tried"
    yield ""
    yield (
        f"**{settings_answer(records)}** On chemistry and galician, dev text. *Lost*: how far a "
        "setting ends above the best of all settings of all methods, in units of what lies "
        "between that and equal weights; the mean of the two targets and, for fresh batches, of "
        "two seeds. Of every other method the setting that loses least is in the tables; the "
        "default has the rule of the second row and a limit of 12 passes, which none of these has."
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
        f"**{course_answer(budget)}** All runs of {budget.budget} steps by the default. Useless: "
        "words shuffled, letters drawn at random. Far: languages that are not near the target's. "
        "Passes: over the corpus that was repeated most; what is drawn of it is held at what the "
        "limit of 12 leaves, whatever its weight."
    )
    yield ""
    yield "| target | seed | weights over 0.03 at the end | useless at mid-run | far | passes |"
    yield "|---|---:|---|---:|---:|---:|"
    for target in budget.targets:
        for seed in budget.seeds:
            record = budget.record(plan.OURS_DEFAULT, target, seed)
            ends = sorted(record["weights"].items(), key=lambda item: -item[1])
            said = ", ".join(f"{name} {value:.2f}" for name, value in ends if value > 0.03)
            most = max(record["passes"].items(), key=lambda item: item[1])
            useless, far = at_mid_run(record)
            yield (
                f"| {target} | {seed} | {said} | {useless:.4f} | {far:.4f} | "
                f"{most[0]} {most[1]:.1f} |"
            )


if __name__ == "__main__":
    main()
