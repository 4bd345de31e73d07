"""The page of one run, or of several beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt import files
from tawt.errors import RunError
from tawt.report import Part, Table, build_page
from tawt.runs.folder import PAGE, RunFolder
from tawt.runs.parts import run_parts, short_parts
from tawt.runs.reading import record_of
from tawt.runs.words import facts_of, opening_words, warnings_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_IN_FULL, _IN_SHORT = 2, 8
"""Runs of which a page has all, and then those of which it has the sources."""


def write_page(path: Path) -> None:
    """Leave the page of a finished run in its folder; only its writer may call this."""
    files.write(path / PAGE, runs_page([path]))


def runs_page(paths: Sequence[Path]) -> str:
    """The page of one finished run, or of several beside each other."""
    if not paths:
        raise RunError("There is no run to report on; name at least one run folder.")
    folders = [RunFolder(path) for path in paths]
    records = [record_of(folder) for folder in folders]
    about = [_circumstances(record) for record in records]
    config = "\n---\n".join((path / "config.yaml").read_text(encoding="utf-8") for path in paths)
    if len(records) == 1:
        [folder], [record] = folders, records
        return build_page(
            title=record["name"],
            lead=opening_words(record),
            facts=facts_of(record),
            cautions=warnings_of(record),
            parts=[*run_parts(folder, record), _scores(records)],
            about=about,
            config=config,
        )
    pairs = list(zip(folders, records, strict=True))
    inside = [
        Part(
            title=record["name"],
            note=" ".join([*opening_words(record), *warnings_of(record)]),
            parts=run_parts(folder, record) if place < _IN_FULL else short_parts(record),
            is_folded=place > 0,
        )
        for place, (folder, record) in enumerate(pairs[: _IN_FULL + _IN_SHORT])
    ]
    left = len(pairs) - len(inside)
    more = f" Of the last {left} there are scores alone." if left else ""
    return build_page(
        title="Runs beside each other",
        lead=[
            f"{len(records)} runs.{more}",
            *(f"{record['name']}: {opening_words(record)[0]}" for record in records),
        ],
        parts=[_scores(records), *inside],
        about=about,
        config=config,
    )


def _scores(records: Sequence[dict[str, Any]]) -> Part:
    several = len(records) > 1
    rows = [
        ([record["name"]] if several else [])
        + [target, split, metric, "" if value is None else f"{value:.4f}"]
        for record in records
        for target, splits in record["scores"].items()
        for split, values in splits.items()
        for metric, value in values.items()
    ]
    headings = (*(["run"] if several else []), "task", "split", "metric", "score")
    return Part(
        title="All scores",
        note="Of the target model, on held-out examples.",
        tables=[Table(headings=headings, rows=rows)],
    )


def _circumstances(record: dict[str, Any]) -> dict[str, Any]:
    kept = ("name", "seed", "versions", "machine", "commit", "began", "seconds", "steps")
    return {key: record.get(key) for key in kept}
