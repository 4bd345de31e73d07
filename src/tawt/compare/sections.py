"""The evidence on the page of a comparison, from its table and its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.compare.best import ALONE
from tawt.compare.sources import main_row, row_sources
from tawt.compare.tables import HEADINGS, P_VALUES, caption, cells
from tawt.compare.verdict import best_row
from tawt.report import Cell, Part, Table, over_time
from tawt.report.parts import shortened
from tawt.report.sources import ranked, sources_figure
from tawt.report.units import unit_tables
from tawt.report.words import times
from tawt.runs.mistakes import labels_of, mistakes_parts
from tawt.runs.reading import shown_units_of, updates_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.compare.comparison import Comparison
    from tawt.report.mistakes import LabelQuality
    from tawt.runs.folder import RunFolder

    Runs = Mapping[str, Sequence[RunFolder]]
    Records = Mapping[str, Sequence[dict[str, Any]]]

_LABELS, _SOURCES, _RUNS = 40, 400, 100  # rows of a table
_WITH_UNITS = 2  # ways of training of which single examples are shown


def sources_part(comparison: Comparison, records: Records) -> Part | None:
    """What each source counts, in the row whose weights are the answer."""
    row = main_row(comparison)
    if row is None or not row.weights:
        return None
    sources = ranked(row_sources(row, records[row.name], target=comparison.target))
    if not sources:
        return None
    has_findings = bool(row.findings)
    note = f"Shares of the objective at the end of {row.name}, mean over seeds; small dots are "
    note += "single seeds."
    if any(source.interval for source in sources):
        note += " Bars: where a run's share would lie in nine of ten runs with other examples."
    if has_findings:
        note += " Green helps, orange hurts, of grey it cannot be told, as most runs say."
    return Part(
        title="Which sources helped" if has_findings else "What each source counts",
        note=note,
        figures=[sources_figure(sources)],
    )


def final_weights_part(comparison: Comparison) -> Part | None:
    """Final shares in every row that learns them."""
    rows = [row for row in comparison.rows if row.learns and row.weights]
    if not rows:
        return None
    names, left = shortened([*dict.fromkeys(n for row in rows for n in row.weights)], most=_SOURCES)
    return Part(
        title="Where the weights ended",
        note="Shares in percent, mean over seeds."
        + (f" Left out: {left} more tasks, which are in comparison.json." if left else ""),
        tables=[
            Table(
                headings=("task", *(row.name for row in rows)),
                rows=[[name, *(_percent(row.weights.get(name)) for row in rows)] for name in names],
            )
        ],
    )


def labels_parts(comparison: Comparison, runs: Runs, records: Records) -> list[Part]:
    """Scores by label of the best row, beside the target alone; and its errors with one seed."""
    best, alone = best_row(comparison), comparison.row(ALONE)
    target = comparison.target
    first = mistakes_parts(runs[best.name][0], records[best.name][0], target)
    if not first:
        return []
    errors = first[1:]
    ours = _mean_labels(runs[best.name], records[best.name], target)
    if not ours:
        return first
    theirs = (
        _mean_labels(runs[ALONE], records[ALONE], target)
        if alone is not None and alone is not best
        else {}
    )
    names, left = shortened(sorted(ours, key=lambda name: -ours[name][1]), most=_LABELS)
    rows = [[name, *_f1(name, ours, theirs), f"{ours[name][1]:g}"] for name in names]
    beside = ("F1, target alone", "difference") if theirs else ()
    table = Table(
        headings=("label", f"F1, {best.name}", *beside, "number"),
        rows=rows,
        note=f"Of {best.name}, mean over seeds."
        + (f" Left out: the {left} rarest labels." if left else ""),
    )
    return [
        Part(title="Scores by label", tables=[table]),
        *(
            Part(
                title=part.title,
                note=f"{best.name}, seed {comparison.seeds[0]}: {part.note}",
                tables=part.tables,
                quotes=part.quotes,
            )
            for part in errors
        ),
    ]


def weights_parts(comparison: Comparison, runs: Runs) -> list[Part]:
    """How weights moved in every row that learns them, the mean over seeds."""
    main = main_row(comparison)
    found: list[Part] = []
    for row in sorted(comparison.rows, key=lambda row: main is None or row.name != main.name):
        updates = [updates_of(run) for run in runs[row.name]] if row.learns else []
        if not updates or not all(updates):
            continue
        found.append(
            over_time.moved(
                over_time.averaged(updates),
                title=f"How the weights moved: {row.name}",
                note=f"Mean over {len(updates)} seeds." if len(updates) > 1 else "",
                is_folded=len(found) > 0,
            )
        )
    return found


def units_parts(comparison: Comparison, runs: Runs) -> list[Part]:
    """Groups and examples of the first seed, where weights are on those."""
    found: list[Part] = []
    for row in comparison.rows:
        tables = unit_tables(shown_units_of(runs[row.name][0])) if row.learns else []
        if tables and len(found) < _WITH_UNITS:
            title = f"Groups and examples: {row.name}, seed {comparison.seeds[0]}"
            found.append(Part(title=title, tables=tables, is_folded=True))
    return found


def runs_part(comparison: Comparison, records: Records) -> Part:
    """Every run in a line."""
    found = [
        [
            row.name,
            str(seed),
            comparison.measure.shown(score),
            str(record.get("steps", "")),
            _passes(record, comparison.target),
            f"{record.get('seconds', 0.0):.1f}",
        ]
        for row in comparison.rows
        for seed, score, record in zip(
            comparison.seeds, row.scores, records[row.name], strict=False
        )
    ]
    kept, left = shortened(found, most=_RUNS)
    return Part(
        title="Runs one by one",
        note="`tawt report FOLDER/ROW/SEED` makes the page of one of them."
        + (f" Left out: {left} more runs." if left else ""),
        tables=[
            Table(
                headings=("row", "seed", "score", "steps", "passes over the target", "seconds"),
                rows=kept,
            )
        ],
        is_folded=True,
    )


def tests_part(comparison: Comparison) -> Part | None:
    """All p-values, in one place."""
    seeds, measure = len(comparison.seeds), comparison.measure
    places = [0, HEADINGS.index("against"), *P_VALUES]
    tested = [row for row in comparison.rows if row.against is not None]
    if not tested:
        return None
    every = [cells(row, seeds=seeds, measure=measure) for row in tested]
    return Part(
        title="Tests of the differences",
        note=caption(comparison),
        tables=[
            Table(
                headings=[HEADINGS[at] for at in places],
                rows=[[row[at] for at in places] for row in every],
            )
        ],
    )


_Labels = dict[str, tuple[float, float]]


def _mean_labels(
    runs: Sequence[RunFolder], records: Sequence[Mapping[str, Any]], target: str
) -> _Labels:
    """F1 and number of each label, mean over runs."""
    each: list[dict[str, LabelQuality]] = [
        labels_of(run, record, target) for run, record in zip(runs, records, strict=True)
    ]
    names = dict.fromkeys(name for found in each for name in found)
    return {
        name: (
            sum(found[name].f1 if name in found else 0.0 for found in each) / len(each),
            max(found[name].support for found in each if name in found),
        )
        for name in names
    }


def _f1(name: str, ours: _Labels, theirs: _Labels) -> list[str | Cell]:
    mine = ours[name][0]
    cell = Cell(text=f"{100 * mine:.1f}", share=mine)
    if not theirs:
        return [cell]
    other = theirs.get(name, (0.0, 0.0))[0]
    return [cell, f"{100 * other:.1f}", f"{100 * (mine - other):+.1f}"]


def _passes(record: Mapping[str, Any], target: str) -> str:
    count = record.get("passes", {}).get(target)
    return "" if count is None else times(count)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"
