"""Make docs/results/regimes.md from the records, and keep the records.

`python -m benchmarks.regimes.table records.jsonl [more.jsonl …]` writes the page and, beside it,
all records in one compressed file. `--check` makes the page from that file and compares.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.mixing.records import Records
from benchmarks.mixing.scores import with_interval
from benchmarks.regimes.answers import HOW, findings_answer, left_out, section_answer, verdict
from benchmarks.regimes.methods import DEFAULT, EQUAL
from benchmarks.regimes.regimes import REGIMES
from benchmarks.regimes.scores import CHOSEN_ON, tables
from benchmarks.regimes.words import FOOT, HEAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.regimes.scores import Table

PAGE = Path(__file__).parents[2] / "docs" / "results" / "regimes.md"
KEPT = PAGE.with_suffix(".jsonl.gz")
_VERDICTS = ("helps", "cannot tell", "hurts")


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
    with gzip.GzipFile(KEPT, "wb", mtime=0) as file:
        file.write("".join(f"{shortened(line)}\n" for line in lines).encode())
    PAGE.write_text(page(kept_records()), encoding="utf-8")


def kept_records() -> Records:
    """The records beside the page."""
    return Records.of(gzip.decompress(KEPT.read_bytes()).decode().splitlines())


def shortened(line: str) -> str:
    """A record in which weights and passes have five digits."""
    record = json.loads(line)
    return json.dumps(record | {key: _rounded(record[key]) for key in ("weights", "passes")})


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.5g}") for name, value in values.items()}


def page(records: Records) -> str:
    """The whole page."""
    found = list(tables(records))
    parts = [HEAD.format(verdict=verdict(found))]
    parts += ["\n".join(_section(table)) for table in found]
    parts.append("\n".join(_findings(records, found)))
    return "\n\n".join([*parts, FOOT]) + "\n"


def _section(table: Table) -> Iterator[str]:
    regime, targets = REGIMES[table.name], table.targets
    encoder = "" if table.encoder is None else f" Encoder: {table.encoder}."
    yield f"## {regime.title}"
    yield ""
    yield f"**{section_answer(table)}**"
    yield ""
    yield " ".join(filter(None, [f"{regime.about}{encoder}", _seeds(table), left_out(table)]))
    yield ""
    several = len(table.apart) < len(targets)
    columns = [f"{target}{'*' * (target in CHOSEN_ON)}" for target in targets]
    columns += ["beside equal weights", *["targets without *"] * several, "area", "cost"]
    yield f"| | {' | '.join(columns)} |"
    yield f"|---|{'---:|' * len(columns)}"
    for row in table.rows:
        cells = [_number(table.score(row, target), ".1f") for target in targets]
        cells += [_beside(table, row, targets)]
        cells += [_beside(table, row, table.apart)] * several
        cells += [_number(table.area(row), ".2f"), f"{table.cost(row):.1f}"]
        yield f"| {row} | {' | '.join(cells)} |"


def _seeds(table: Table) -> str:
    return f"Means of {table.seeds} seeds." if table.seeds > 1 else "One seed."


def _beside(table: Table, row: str, targets: list[str]) -> str:
    """Points beside equal weights; and of how many cases, if not of all."""
    points = table.over(row, EQUAL, targets=targets)
    if row == EQUAL or not points:
        return ""
    whole = sum(target in targets for target, _ in table.rows[EQUAL])
    of = "" if len(points) == whole else f", {len(points)} of {whole}"
    return with_interval(points, HOW) + of


def _number(value: float | None, how: str) -> str:
    return "" if value is None else f"{value:{how}}"


def _findings(records: Records, found: list[Table]) -> Iterator[str]:
    rows, total = [], _no_counts()
    for table in found:
        counts = _counts(records, table)
        for useful, by_verdict in counts.items():
            for said, count in by_verdict.items():
                total[useful][said] += count
        if not any(count for by_verdict in counts.values() for count in by_verdict.values()):
            continue
        cells = [str(counts[useful][said]) for useful in (True, False) for said in _VERDICTS]
        rows.append(f"| {table.name} | {' | '.join(cells)} |")
    yield "## What was said of sources"
    yield ""
    yield f"**{findings_answer(total)}**"
    yield ""
    yield (
        "By all runs of the default together, at its end. A source *helps* or *hurts* beside the "
        "others, as they are weighed; useful are those that have any worth. Where updates are "
        "too few, nothing is said."
    )
    yield ""
    heads = [f"{kind}: {said}" for kind in ("useful", "useless") for said in _VERDICTS]
    yield f"| | {' | '.join(heads)} |"
    yield f"|---|{'---:|' * len(heads)}"
    yield from rows


def _counts(records: Records, table: Table) -> dict[bool, dict[str, int]]:
    counts = _no_counts()
    named = {"regime": table.name, "encoder": table.encoder, "method": DEFAULT}
    for record in records.matching(**named):
        for name, finding in record["findings"].items():
            counts[record["worth"][name] > 0][finding["verdict"]] += 1
    return counts


def _no_counts() -> dict[bool, dict[str, int]]:
    return {useful: dict.fromkeys(_VERDICTS, 0) for useful in (True, False)}


if __name__ == "__main__":
    main()
