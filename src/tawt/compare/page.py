"""The page of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.compare.figures import curves_figure, scores_figure
from tawt.compare.folder import CONFIG
from tawt.compare.sections import (
    final_weights_part,
    labels_parts,
    runs_part,
    sources_part,
    tests_part,
    units_parts,
    weights_parts,
)
from tawt.compare.tables import HEADINGS, P_VALUES, cells
from tawt.compare.verdict import facts_of, opening_words
from tawt.compare.words import warned
from tawt.paths import slug
from tawt.report import Part, Table, build_page
from tawt.runs.folder import RunFolder
from tawt.runs.reading import record_of

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.compare.comparison import Comparison


def comparison_page(comparison: Comparison, folder: Path) -> str:
    """The page of a comparison, from its table and its run folders."""
    runs = {
        row.name: [RunFolder(folder / slug(row.name) / str(seed)) for seed in comparison.seeds]
        for row in comparison.rows
    }
    records = {name: [record_of(run) for run in found] for name, found in runs.items()}
    parts = [
        _rows_part(comparison),
        sources_part(comparison, records),
        *labels_parts(comparison, runs, records),
        _curves_part(comparison, records),
        *weights_parts(comparison, runs),
        final_weights_part(comparison),
        *units_parts(comparison, runs),
        runs_part(comparison, records),
        tests_part(comparison),
    ]
    return build_page(
        title=f"{comparison.target}: which data helped",
        lead=opening_words(comparison),
        facts=facts_of(comparison),
        cautions=warned(comparison),
        parts=[part for part in parts if part is not None],
        about={"circumstances": comparison.circumstances, "seconds": comparison.seconds},
        config=(folder / CONFIG).read_text(encoding="utf-8", errors="replace"),
    )


def _rows_part(comparison: Comparison) -> Part:
    seeds, measure = len(comparison.seeds), comparison.measure
    places = [at for at in range(len(HEADINGS)) if at not in P_VALUES]
    rows = [cells(row, seeds=seeds, measure=measure) for row in comparison.rows]
    return Part(
        title="Ways of training",
        figures=[scores_figure(comparison)],
        tables=[
            Table(
                headings=[HEADINGS[at] for at in places],
                rows=[[row[at] for at in places] for row in rows],
                note="Difference: to the row that it should beat, with the 95% interval of a "
                "paired bootstrap over test examples.",
            )
        ],
    )


def _curves_part(comparison: Comparison, records: dict[str, list[dict[str, Any]]]) -> Part | None:
    figure = curves_figure(comparison, records)
    if figure is None:
        return None
    return Part(title="How training went", note="Mean over seeds.", figures=[figure])
