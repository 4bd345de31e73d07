"""The command line: it parses and prints, and does nothing else."""

from __future__ import annotations

import sys

from tawt.extras import missing


def main() -> None:
    """Run the command line; what exit statuses mean is in `tawt.cli.failing`."""
    try:
        from tawt.cli.app import main as run
    except ModuleNotFoundError as error:  # the package was installed without the extra
        if (advice := missing(error)) is None:
            raise
        sys.stderr.write(f"error: {advice}\n")
        sys.exit(2)
    run()
