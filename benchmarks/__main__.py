"""Run the benchmarks, print a table, write a dated report.

`python -m benchmarks` runs all of them on the CPU, `python -m benchmarks memory --device cuda` one
of them on the GPU, `python -m benchmarks --quick --out DIR` a smoke test with tiny models, whose
numbers mean nothing and are held to no goal.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.finding import Finding

_BENCHMARKS = (
    "overhead",
    "memory",
    "authors_way",
    "per_example",
    "observing",
    "observing_ranks",
    "text_speed",
    "text_loading",
    "text_observing",
    "tokenising",
    "starting",
    "many_corpora",
)
_WIDTH = 150
_REPORTS = Path(__file__).parent / "reports"


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse, run, print, write."""
    options = _parser().parse_args(arguments)
    names: list[str] = options.names or list(_BENCHMARKS)
    device = torch.device(options.device)
    if device.type == "cpu":
        torch.set_num_threads(options.threads)
    console = Console()
    console.width = max(console.width, _WIDTH)  # the table is wide; a pipe has no width
    modules = {name: importlib.import_module(f"benchmarks.{name}") for name in names}
    findings: list[Finding] = []
    seconds: dict[str, float] = {}
    for name in names:
        console.print(f"running {name} …")
        start = time.perf_counter()
        found = modules[name].run(device=device, quick=options.quick, **_about(name, options))
        seconds[name] = time.perf_counter() - start
        if options.quick:
            found = [replace(finding, goal=None) for finding in found]
        findings += found
        console.print(_table(found))
    report = Report(
        day=datetime.now(tz=UTC).date(),
        command=_command(names, options),
        machine=machine.description(device),
        seconds=seconds,
        methods={name: inspect.getdoc(modules[name]) or "" for name in names},
        findings=findings,
    )
    parts = [report.day.isoformat(), machine.kind(device)]
    parts += [f"{options.threads}-threads"] if device.type == "cpu" and options.threads > 1 else []
    parts += names if options.names else []
    parts += ["quick"] if options.quick else []
    page = report.write(options.out, "-".join(parts))
    console.print(f"report: {page.name} and .json")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(_BENCHMARKS)}")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--threads", type=int, default=1, help="on the CPU; one measures work, more the wall clock"
    )
    parser.add_argument("--text-data", type=Path, metavar="DIR", help="holds ewt/pos.train.tsv")
    parser.add_argument("--encoder", help="for text; MiniLM in a package by default")
    parser.add_argument("--large", action="store_true", help="tokenise 1 GB of text as well")
    parser.add_argument(
        "--only", metavar="WAYS", help="of language_speed: these; of many_corpora: process"
    )
    parser.add_argument("--quick", action="store_true", help="tiny models; a smoke test")
    parser.add_argument("--out", type=Path, default=_REPORTS, metavar="DIR")
    return parser


def _about(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """What the benchmarks on text are told beside."""
    if name in ("language_speed", "many_corpora"):
        return {"only": options.only}
    if name == "tokenising":
        return {"large": options.large, **({"encoder": options.encoder} if options.encoder else {})}
    if not name.startswith("text"):
        return {}
    given = {"data": options.text_data, "encoder": options.encoder}
    return {key: value for key, value in given.items() if value is not None}


def _command(names: list[str], options: argparse.Namespace) -> str:
    words = ["python -m benchmarks", *(names if len(names) < len(_BENCHMARKS) else [])]
    words += ["--device", options.device]
    words += ["--threads", str(options.threads)] if options.device == "cpu" else []
    words += ["--text-data DATA"] if options.text_data else []
    words += ["--large"] if options.large else []
    words += [f"--only '{options.only}'"] if options.only else []
    return " ".join([*words, *(["--quick"] if options.quick else [])])


def _table(findings: Sequence[Finding]) -> Table:
    table = Table(show_edge=False)
    for title in ("what", "measured", "over repeats", "goal", "", "detail"):
        table.add_column(title, justify="left" if title in ("what", "", "detail") else "right")
    for finding in findings:
        colour = "red" if finding.verdict == "MISSED" else "green"
        table.add_row(
            finding.what,
            finding.value_text,
            finding.spread_text,
            finding.goal_text,
            f"[{colour}]{finding.verdict}[/]" if finding.verdict else "",
            finding.note,
        )
    return table


if __name__ == "__main__":
    main()
