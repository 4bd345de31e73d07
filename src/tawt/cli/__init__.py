"""The command line: it parses and prints, and does nothing else."""

from __future__ import annotations

import sys

from tawt.extras import MissingExtraError, need


def main() -> None:
    """Run the command line; what exit statuses mean is in `tawt.cli.failing`."""
    try:
        need("cli", by="The command tawt")
    except MissingExtraError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    from tawt.cli.collecting import collect_rarely

    collect_rarely()
    from tawt.cli.app import main as run

    run()
