"""The application: its commands, and what happens when one fails."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

import tawt
from tawt.cli import commands, distance_commands, research_commands
from tawt.cli.plain import PlainFormatter, plain
from tawt.errors import Interrupted, TawtError, is_out_of_memory

app = typer.Typer(
    name="tawt",
    help="Learn how much each of your other datasets should count for the task you care about.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(commands.demo)
app.command()(commands.train)
app.command()(commands.compare)
app.command()(commands.report)
app.command()(commands.predict)
app.command()(commands.audit)
app.command()(distance_commands.distance)
app.command()(research_commands.reproduce)
data = typer.Typer(help="Look into data.", no_args_is_help=True, rich_markup_mode=None)
data.command()(commands.inspect)
app.add_typer(data, name="data")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tawt {tawt.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show it and exit."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; exit 2 on a user's mistake, 130 when interrupted."""
    log = logging.StreamHandler()
    log.setFormatter(PlainFormatter("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[log])
    try:
        app()
    except (Interrupted, KeyboardInterrupt) as stop:
        _complain(str(stop) or "interrupted")
        sys.exit(130)
    except TawtError as error:
        _complain(str(error))
        sys.exit(2)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        _complain("Out of memory. Lower --batch-size, or use --device cpu.")
        sys.exit(2)
    except OSError as error:  # a file or folder that cannot be had, wherever it turned up
        _complain(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
        sys.exit(2)


def _complain(message: str) -> None:
    """One line, whatever the message has in it."""
    typer.secho("error: ", fg="red", bold=True, nl=False, err=True)
    typer.echo(plain(" ".join(message.split())), err=True)
