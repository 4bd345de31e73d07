"""The parts of a page that show one run: sources, errors, training, weights over time, units."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tawt.report import Cell, Figure, Part, Table, over_time
from tawt.report.learning import dev_curve, learning_figure, loss_figure
from tawt.report.parts import shortened
from tawt.report.sources import ranked, sources_figure
from tawt.report.units import how_measured, left_out, unit_tables
from tawt.report.words import interval_of, times
from tawt.runs.mistakes import mistakes_parts
from tawt.runs.reading import shown_units_of, updates_of
from tawt.runs.words import headlines, sources_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.runs.folder import RunFolder

_TARGETS = 3  # of which errors are shown
_ROWS = 400  # of the table of final weights


def run_parts(folder: RunFolder, record: dict[str, Any]) -> list[Part]:
    """What a page shows of one run, the most important first.

    Args:
        folder: Of the run.
        record: What the run came to.
    """
    updates = updates_of(folder)
    found: list[Part | None] = [sources_part(record)]
    for target in [*record["scores"]][:_TARGETS]:
        found += mistakes_parts(folder, record, target)
    found += [_training(record), _weights(updates), _units(folder, updates)]
    return [part for part in found if part is not None]


def short_parts(record: dict[str, Any]) -> list[Part]:
    """What a page shows of a run beside many others."""
    found = sources_part(record)
    return [] if found is None else [replace(found, tables=())]


def sources_part(record: Mapping[str, Any]) -> Part | None:
    """What each source counts and whether it helps, drawn and as a table."""
    sources = ranked(sources_of(record))
    if not record["weights"]:
        return None
    has_findings = bool(record.get("findings"))
    known = any(source.interval for source in sources)
    note = (
        "Share of the objective at the end"
        + (", and where it would lie in nine of ten runs with other examples" if known else "")
        + (". Green helps, orange hurts, of grey it cannot be told." if has_findings else ".")
    )
    return Part(
        title="Which sources helped" if has_findings else "What each source counts",
        note=note,
        figures=[sources_figure(sources)] if sources else [],
        tables=[_final_weights(record, has_findings=has_findings)],
    )


def _final_weights(record: Mapping[str, Any], *, has_findings: bool) -> Table:
    effects = {source.name: source.cell for source in sources_of(record)}
    rows: list[list[str | Cell]] = []
    names, left = shortened([*record["weights"]], most=_ROWS)
    if left:
        names = sorted(record["weights"], key=lambda name: -record["weights"][name])[:_ROWS]
    for name in names:
        share = record["weights"][name]
        finding = record.get("findings", {}).get(name)
        found = [name, f"{share:.4f}", _number(record["multipliers"].get(name))]
        passes = record.get("passes", {}).get(name)
        found.append("" if passes is None else times(passes))
        more = [interval_of(finding), effects.get(name, "")] if has_findings else []
        rows.append([*found, *more])
    rest = 1 - sum(record["weights"][name] for name in names)
    return Table(
        note=f"Left out: the {left} smallest, which have {100 * rest:.0f}% together."
        if left
        else "",
        headings=(
            *("task", "share ω", "multiplier of each example", "passes"),
            *(["90% interval of the share", "effect on the target"] if has_findings else []),
        ),
        rows=rows,
    )


def _training(record: dict[str, Any]) -> Part | None:
    curves: list[Figure | None] = []
    for score in headlines(record)[:_TARGETS]:
        curve = dev_curve(
            score.target,
            record["epochs"],
            target=score.target,
            metric=score.metric,
            best=record.get("best_epoch"),
        )
        measure = score.measure
        of_target = "" if len(record["scores"]) == 1 else f" of {score.target}"
        curves.append(
            learning_figure(
                [curve],
                metric=f"{score.what}{of_target}",
                factor=measure.factor,
                suffix="%" if measure.title == "%" else "",
                worse="high" if measure.lower_is_better else "low",
            )
        )
    found = [*curves, loss_figure(record["epochs"]), over_time.sample_size(record["epochs"])]
    figures = [figure for figure in found if figure is not None]
    return Part(title="How training went", figures=figures) if figures else None


def _weights(updates: Sequence[Mapping[str, Any]]) -> Part | None:
    if not updates:
        return None
    return over_time.moved(list(map(dict, updates)), title="How the weights moved")


def _units(folder: RunFolder, updates: Sequence[Mapping[str, Any]]) -> Part | None:
    shown = shown_units_of(folder)
    tables = unit_tables(shown)
    if not tables:
        return None
    said = [note for note in (how_measured(updates), left_out(shown)) if note]
    return Part(title="Groups and examples", note=" ".join(said), tables=tables)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
