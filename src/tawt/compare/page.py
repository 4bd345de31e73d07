"""The page of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.compare.figures import scores
from tawt.compare.folder import CONFIG
from tawt.compare.tables import HEADINGS, caption, cells
from tawt.compare.words import in_words
from tawt.paths import slug
from tawt.report import Plot, Section, build_page, figures
from tawt.runs.folder import RunFolder
from tawt.runs.page import run_section, time_plots
from tawt.runs.reading import record_of, updates_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.compare.comparison import Comparison


def comparison_page(comparison: Comparison, folder: Path) -> str:
    """The page of a comparison, from its table and its run folders."""
    sections = [
        section
        for row in sorted(comparison.rows, key=lambda row: not row.learns)
        for section in _row_sections(row.name, folder / slug(row.name), comparison.seeds)
    ]
    return build_page(
        title=f"{comparison.target}: which data helped",
        lead=in_words(comparison),
        headings=HEADINGS,
        rows=[
            cells(row, seeds=len(comparison.seeds), measure=comparison.measure)
            for row in comparison.rows
        ],
        caption=caption(comparison),
        plots=[Plot("scores", "Scores", scores(comparison))],
        sections=sections,
        about={"circumstances": comparison.circumstances, "seconds": comparison.seconds},
        config=(folder / CONFIG).read_text(encoding="utf-8", errors="replace"),
    )


def _row_sections(name: str, folder: Path, seeds: Sequence[int]) -> list[Section]:
    runs = [RunFolder(folder / str(seed)) for seed in seeds]
    key = slug(name)
    single = [
        run_section(run, record_of(run), position=f"{key}-{seed}", title=f"{name}, seed {seed}")
        for run, seed in zip(runs, seeds, strict=True)
    ]
    updates = [updates_of(run) for run in runs]
    if not all(updates):
        return single  # weights that do not move need no plot of how they did
    over_seeds = Section(
        title=name,
        plots=time_plots(f"{key}-mean", figures.averaged(updates)),
        final={},
        is_open=True,
        note=f"Mean over {len(seeds)} seeds.",
    )
    return [over_seeds, *single]
