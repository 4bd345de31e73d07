"""The folder that comparisons share: of one configuration, and with a table that keeps its rows."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from tawt import files
from tawt.config.rows import ROWS, Row
from tawt.errors import RunError
from tawt.sweeps.claims import Claim
from tawt.sweeps.row_runs import applied, check_data, run_folder

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from tawt.config.schema import RunConfig

CONFIG = "comparison.yaml"
COMPARISON = "comparison.json"
"""By this file the folder of a comparison is told from that of a run."""

_log = logging.getLogger(__name__)


def check(folder: Path, config: RunConfig, *, overwrite: bool) -> None:
    """Say why the folder must not be touched, if it must not; touch nothing.

    Args:
        folder: Of the comparison.
        config: What all runs share.
        overwrite: Whether another configuration is replaced by this one.

    Raises:
        RunError: The folder holds a single run, a comparison of another configuration, or a table
            that is damaged.
    """
    claim_of(folder, config, overwrite=overwrite).check()
    _names(folder)


def claim_of(folder: Path, config: RunConfig, *, overwrite: bool) -> Claim:
    """What a comparison wants of its folder.

    Args:
        folder: Of the comparison.
        config: What all runs share.
        overwrite: Whether another configuration is replaced by this one.
    """
    return Claim(folder, config, CONFIG, "comparison", overwrite)


def with_earlier_rows(
    folder: Path,
    table: Sequence[Row],
    config: RunConfig,
    *,
    seeds: Sequence[int],
    data: Mapping[str, Any],
    left_out: Collection[str] = (),
) -> list[Row]:
    """The rows of a table, and those that the folder's table has already and that still hold.

    A comparison that was made before, or beside this one, keeps its rows. One without a run for
    each seed, or with runs of another configuration or other data, is left out with a warning.

    Args:
        folder: Of the comparison; only its writer may call this.
        table: The rows asked for, whose runs are finished.
        config: What all runs share.
        seeds: Of the table.
        data: Size and fingerprint of every task's examples with the first seed.
        left_out: Names of rows that would only say again what others say.
    """
    rows = {row.name: row for row in table}
    for row in earlier_rows(folder):
        if row.name in rows or row.name in left_out:
            continue
        problem = _problem(folder, row, config, seeds, data)
        if problem is None:
            rows[row.name] = row
        else:
            _log.warning("the row %r is left out of the table: %s", row.name, problem)
    added = [row for name, row in ROWS.items() if name in rows]
    return list(table) if len(rows) == len(table) else added


def _problem(
    folder: Path, row: Row, config: RunConfig, seeds: Sequence[int], data: Mapping[str, Any]
) -> str | None:
    """Why an earlier row cannot stand beside the others, if it cannot."""
    for seed in seeds:
        run = run_folder(folder, row, seed)
        if not run.finished:
            return f"it has no finished run with seed {seed}"
    try:
        for seed in seeds:
            run = run_folder(folder, row, seed)
            run.check(applied(row, config, seed, folder), resume=True, overwrite=False)
        check_data(run_folder(folder, row, seeds[0]), data)
    except RunError as error:
        return str(error)
    return None


def earlier_rows(folder: Path) -> list[Row]:
    """The rows that the folder's table has, if there is one."""
    return [ROWS[name] for name in _names(folder) if name in ROWS]


def _names(folder: Path) -> list[str]:
    """Of the rows in the folder's table, if it has one that can be read."""
    if not (folder / COMPARISON).exists():
        return []
    try:
        rows = files.read_sealed(folder / COMPARISON).get("rows")
    except RunError as error:
        raise RunError(f"{error} Delete it to make the table again.") from error
    if not isinstance(rows, list):
        raise RunError(f"{folder / COMPARISON} is damaged. Delete it to make the table again.")
    return [str(row["name"]) for row in rows if isinstance(row, dict) and "name" in row]
