"""What `tawt audit` does: a table of examples, for a spreadsheet or a person."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tawt import files
from tawt.cli import console
from tawt.errors import ConfigError
from tawt.files.spreadsheet import as_csv
from tawt.runs.agreement import in_words
from tawt.runs.auditing import examine

if TYPE_CHECKING:
    from pathlib import Path


def audit_run(
    run: Path, *, most: int, trusted: bool, output: Path | None, quiet: bool, as_json: bool
) -> None:
    """Write the examples that agree least with the target; say which labels do as a whole."""
    if output is not None and output.is_dir():
        raise ConfigError(f"--out must be a file; {output} is a folder.")
    found = examine(run, most=most, trusted=trusted)
    if as_json:
        console.write(json.dumps(found.examples, indent=2, ensure_ascii=False) + "\n")
    elif output is None:
        console.write(as_csv(found.examples))
    else:
        files.write(output, as_csv(found.examples))
    if quiet:
        return
    if output is not None and not as_json:
        console.say(f"{len(found.examples)} examples: {output}")
    for row in found.labels:  # beside the table, which may be on its way to another program
        console.note(in_words(row))
