"""The application: its commands."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from tawt.cli import (
    best_commands,
    commands,
    distance_commands,
    init_commands,
    mix_commands,
    predict_commands,
    research_commands,
    streams,
    together,
)
from tawt.cli.failing import exit_status
from tawt.cli.help_examples import add_examples
from tawt.cli.plain import PlainFormatter
from tawt.version import __version__

app = typer.Typer(
    name="tawt",
    help="Learn how much each of your other datasets should count for the task you care about.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(commands.demo)
app.command()(init_commands.init)
app.command()(commands.train)
app.command()(commands.compare)
app.command()(best_commands.best)
app.command()(mix_commands.mix)
app.command()(commands.report)
app.command()(predict_commands.predict)
app.command()(commands.audit)
app.command()(distance_commands.distance)
app.command()(research_commands.reproduce)
data = typer.Typer(help="Look into data.", no_args_is_help=True, rich_markup_mode=None)
data.command()(commands.inspect)
app.add_typer(data, name="data")
add_examples(app, data)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tawt {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    together.refuse(context.invoked_subcommand or "")


def main() -> None:
    """Run the command line; what exit statuses mean is in `tawt.cli.failing`."""
    streams.occupy_closed()
    log = logging.StreamHandler()
    log.setFormatter(PlainFormatter("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[log])
    together.listen_only()
    together.end_process(exit_status(_run))


def _run() -> int:
    streams.check_open()
    streams.check_arguments(sys.argv)
    status = app(standalone_mode=False)  # raises what is wrong with options and arguments
    streams.flush()
    return status if isinstance(status, int) else 0
