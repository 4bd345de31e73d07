"""What `tawt audit` does: a table of examples, for a spreadsheet or a person."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from tawt.cli import console
from tawt.errors import ConfigError
from tawt.studies import files
from tawt.studies.auditing import audit
from tawt.studies.units import as_csv

if TYPE_CHECKING:
    from pathlib import Path


def audit_run(
    run: Path, *, most: int, trusted: bool, output: Path | None, quiet: bool, as_json: bool
) -> None:
    """Write the examples that the target trusts least."""
    if output is not None and output.is_dir():
        raise ConfigError(f"--out must be a file; {output} is a folder.")
    rows = audit(run, most=most, trusted=trusted)
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return
    table = as_csv(rows)
    if output is None:
        sys.stdout.write(table)
        return
    files.write(output, table)
    if not quiet:
        console.say(f"{len(rows)} examples: {output}")
