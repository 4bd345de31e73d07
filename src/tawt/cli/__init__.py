"""The command line: it parses and prints, and does nothing else."""

from tawt.cli.app import main

__all__ = ["main"]
