"""The page of one run, or of several beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt import files
from tawt.errors import RunError
from tawt.report import Plot, Section, build_page, figures
from tawt.report.units import how_measured, unit_tables
from tawt.report.words import interval_of, said_of, times
from tawt.runs.folder import PAGE, RunFolder
from tawt.runs.reading import record_of, shown_units_of, updates_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write_page(path: Path) -> None:
    """Leave the page of a finished run in its folder; only its writer may call this."""
    files.write(path / PAGE, runs_page([path]))


def runs_page(paths: Sequence[Path]) -> str:
    """The page of one finished run, or of several beside each other."""
    if not paths:
        raise RunError("There is no run to report on; name at least one run folder.")
    folders = [RunFolder(path) for path in paths]
    records = [record_of(folder) for folder in folders]
    sections = [
        run_section(folder, record, position=position, title=record["name"], is_open=position == 0)
        for position, (folder, record) in enumerate(zip(folders, records, strict=True))
    ]
    names = [record["name"] for record in records]
    return build_page(
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


def run_section(
    folder: RunFolder,
    record: dict[str, Any],
    *,
    position: int | str,
    title: str,
    is_open: bool = False,
) -> Section:
    """What a page shows of one run.

    Args:
        folder: Of the run.
        record: What the run came to.
        position: Tells its plots from those of other runs on the page.
        title: Its heading.
        is_open: Whether it is shown unfolded.
    """
    updates = updates_of(folder)
    plots = time_plots(f"run-{position}", updates) if updates else []
    if any("effective_sample_size" in entry for entry in record["epochs"]):
        figure = figures.sample_size(record["epochs"])
        plots.append(Plot(f"run-{position}-size", "Effective sample size", figure))
    skipped = record["skipped_updates"] + sum(record["skipped_steps"].values())
    notes = [f"{skipped} steps or updates were skipped for numbers not finite."] if skipped else []
    notes += [text[:1].upper() + text[1:] for text in record.get("warnings", [])]
    notes += [how_measured(updates)]
    plots += _unit_plots(f"run-{position}", updates)
    return Section(
        title=title,
        plots=plots,
        tables=unit_tables(shown_units_of(folder)),
        final={
            name: (
                f"{share:.4f}",
                interval_of(record.get("findings", {}).get(name)),
                _multiplier(record["multipliers"].get(name)),
                _passes(record.get("passes", {}).get(name)),
                said_of(record.get("findings", {}).get(name)),
            )
            for name, share in record["weights"].items()
        },
        has_findings=bool(record.get("findings")),
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


def time_plots(name: str, updates: figures.Updates) -> list[Plot]:
    """How weights and alignments went, over training, and what all updates together say."""
    plots = [Plot(f"{name}-weights", "Weights", figures.weights(updates))]
    if any(update.get("leads") for update in updates):
        plots.append(Plot(f"{name}-leads", "Lead over the other sources", figures.leads(updates)))
    return [*plots, Plot(f"{name}-alignments", "Alignments", figures.alignments(updates))]


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


def _passes(value: float | None) -> str:
    return "" if value is None else times(value)
