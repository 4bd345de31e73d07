"""One HTML page that opens anywhere, with no network."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jinja2
from plotly.offline import get_plotlyjs

from tawt.errors import RunError
from tawt.report import figures
from tawt.report.reading import record_of, shown_units_of, updates_of
from tawt.report.tables import HEADINGS, caption, cells, p_text
from tawt.report.units import UnitTable, how_measured, unit_tables
from tawt.studies import Comparison, RunFolder
from tawt.studies.comparison_folder import CONFIG
from tawt.studies.rows import slug
from tawt.studies.words import in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import plotly.graph_objects as go


@dataclass(frozen=True)
class Plot:
    """A figure with its heading, by the name under which the page finds it."""

    name: str
    title: str
    figure: go.Figure


@dataclass(frozen=True)
class Section:
    """One run, or the mean of a row's runs."""

    title: str
    plots: list[Plot]
    final: dict[str, tuple[str, str]]
    """Share and multiplier of each task at the end."""
    is_open: bool = False
    note: str = ""
    tables: list[UnitTable] = field(default_factory=list)
    """Of groups and examples, where weights are on those."""


def comparison_page(comparison: Comparison, folder: Path) -> str:
    """The page of a comparison, from its table and its run folders."""
    sections = [
        section
        for row in sorted(comparison.rows, key=lambda row: not row.learns)
        for section in _row_sections(row.name, folder / slug(row.name), comparison.seeds)
    ]
    return _page(
        title=f"{comparison.target}: which data helped",
        lead=in_words(comparison),
        headings=HEADINGS,
        rows=[cells(row, seeds=len(comparison.seeds)) for row in comparison.rows],
        caption=caption(comparison),
        plots=[Plot("scores", "Scores", figures.scores(comparison))],
        sections=sections,
        about={"circumstances": comparison.circumstances, "seconds": comparison.seconds},
        config=(folder / CONFIG).read_text(encoding="utf-8", errors="replace"),
    )


def runs_page(paths: Sequence[Path]) -> str:
    """The page of one finished run, or of several beside each other."""
    if not paths:
        raise RunError("There is no run to report on; name at least one run folder.")
    folders = [RunFolder(path) for path in paths]
    records = [record_of(folder) for folder in folders]
    sections = [
        _section(folder, record, position=position, title=record["name"], is_open=position == 0)
        for position, (folder, record) in enumerate(zip(folders, records, strict=True))
    ]
    names = [record["name"] for record in records]
    return _page(
        title=names[0] if len(names) == 1 else f"{len(names)} runs",
        lead=[_said(record) for record in records],
        headings=("run", "task", "split", "metric", "score"),
        rows=[row for record in records for row in _score_rows(record)],
        caption="Scores of the target model on held-out examples.",
        plots=[],
        sections=sections,
        about=[_circumstances(record) for record in records],
        config="\n---\n".join((path / "config.yaml").read_text(encoding="utf-8") for path in paths),
    )


def result_page(
    *,
    title: str,
    lead: Sequence[str],
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    caption: str,
    plots: Mapping[str, go.Figure],
    about: Any,
) -> str:
    """The page of a table with plots that is no comparison.

    Args:
        title: Its heading.
        lead: Sentences under it.
        headings: Of the table.
        rows: Its cells.
        caption: Under the table.
        plots: By title.
        about: How it was made.
    """
    return _page(
        title=title,
        lead=lead,
        headings=headings,
        rows=rows,
        caption=caption,
        plots=[
            Plot(f"plot-{place}", name, figure)
            for place, (name, figure) in enumerate(plots.items())
        ],
        sections=[],
        about=about,
        config=None,
    )


def _row_sections(name: str, folder: Path, seeds: Sequence[int]) -> list[Section]:
    runs = [RunFolder(folder / str(seed)) for seed in seeds]
    key = slug(name)
    single = [
        _section(run, record_of(run), position=f"{key}-{seed}", title=f"{name}, seed {seed}")
        for run, seed in zip(runs, seeds, strict=True)
    ]
    updates = [updates_of(run) for run in runs]
    if not all(updates):
        return single  # weights that do not move need no plot of how they did
    over_seeds = Section(
        title=name,
        plots=_time_plots(f"{key}-mean", figures.averaged(updates)),
        final={},
        is_open=True,
        note=f"Mean over {len(seeds)} seeds.",
    )
    return [over_seeds, *single]


def _section(
    folder: RunFolder,
    record: dict[str, Any],
    *,
    position: int | str,
    title: str,
    is_open: bool = False,
) -> Section:
    updates = updates_of(folder)
    plots = _time_plots(f"run-{position}", updates) if updates else []
    if any("effective_sample_size" in entry for entry in record["epochs"]):
        figure = figures.sample_size(record["epochs"])
        plots.append(Plot(f"run-{position}-size", "Effective sample size", figure))
    skipped = record["skipped_updates"] + sum(record["skipped_steps"].values())
    notes = [f"{skipped} steps or updates were skipped for numbers not finite."] if skipped else []
    notes += [how_measured(updates)]
    plots += _unit_plots(f"run-{position}", updates)
    return Section(
        title=title,
        plots=plots,
        tables=unit_tables(shown_units_of(folder)),
        final={
            name: (f"{share:.4f}", _multiplier(record["multipliers"].get(name)))
            for name, share in record["weights"].items()
        },
        is_open=is_open,
        note=" ".join(note for note in notes if note),
    )


def _unit_plots(name: str, updates: figures.Updates) -> list[Plot]:
    if not any(update.get("units") for update in updates):
        return []
    return [
        Plot(f"{name}-spread", "What single examples count", figures.spread(updates)),
        Plot(f"{name}-entropy", "Effective number of units", figures.effective(updates)),
    ]


def _time_plots(name: str, updates: figures.Updates) -> list[Plot]:
    return [
        Plot(f"{name}-weights", "Weights", figures.weights(updates)),
        Plot(f"{name}-alignments", "Alignments", figures.alignments(updates)),
    ]


def _score_rows(record: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (record["name"], target, split, metric, "" if value is None else f"{value:.4f}")
        for target, splits in record["scores"].items()
        for split, values in splits.items()
        for metric, value in values.items()
    ]


def _said(record: dict[str, Any]) -> str:
    ranked = sorted(record["weights"].items(), key=lambda item: -item[1])
    shares = ", ".join(f"{name} {100 * share:.1f}%" for name, share in ranked)
    return f"{record['name']}: final shares {shares}."


def _circumstances(record: dict[str, Any]) -> dict[str, Any]:
    kept = ("name", "seed", "versions", "machine", "commit", "began", "seconds", "steps")
    return {key: record.get(key) for key in kept}


def _multiplier(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _page(*, plots: list[Plot], sections: list[Section], **content: Any) -> str:
    every = [*plots, *(plot for section in sections for plot in section.plots)]
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tawt.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("page.html.j2").render(
        plots=plots,
        sections=sections,
        plotly=get_plotlyjs(),
        specs=_script_json({plot.name: plot.figure.to_plotly_json() for plot in every}),
        p_text=p_text,
        **content,
    )


def _script_json(value: Any) -> str:
    """JSON that can stand inside a script element: no tag can close it."""
    text = json.dumps(value, default=_plain, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else list(value)
