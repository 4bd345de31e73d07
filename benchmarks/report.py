"""A dated report: a page to read, and every number as JSON beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date
    from pathlib import Path

    from benchmarks.finding import Finding


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was found, where, and how to find it again."""

    day: date
    command: str
    machine: dict[str, str | int]
    seconds: dict[str, float]
    """How long each benchmark took."""
    methods: dict[str, str]
    """How each benchmark measures, in words."""
    findings: Sequence[Finding]

    def write(self, folder: Path, name: str) -> Path:
        """Write NAME.md and NAME.json; returns the page."""
        folder.mkdir(parents=True, exist_ok=True)
        page = folder / f"{name}.md"
        page.write_text(self.to_markdown(), encoding="utf-8")
        text = json.dumps(self.to_json(), indent=2) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
        return page

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return {
            "date": self.day.isoformat(),
            "command": self.command,
            "machine": self.machine,
            "seconds": self.seconds,
            "findings": [finding.to_json() for finding in self.findings],
        }

    def to_markdown(self) -> str:
        """The page."""
        machine = ", ".join(f"{name} {value}" for name, value in self.machine.items())
        goals = [finding for finding in self.findings if finding.goal is not None]
        met = sum(finding.verdict == "met" for finding in goals)
        lines = [
            f"# Benchmarks, {self.day.isoformat()}",
            "",
            f"{met} of {len(goals)} goals met. Machine: {machine}.",
            "",
            f"Run it again: `{self.command}`",
        ]
        for name, method in self.methods.items():
            lines += ["", f"## {name}", "", method, "", *self._table(name)]
            lines += ["", f"Took {self.seconds[name]:.0f} s."]
        return "\n".join(lines) + "\n"

    def _table(self, benchmark: str) -> list[str]:
        rows = [
            "| what | measured | over repeats | goal | | detail |",
            "|---|---:|---:|---:|---|---|",
        ]
        rows += [
            f"| {finding.what} | {finding.value_text} | {finding.spread_text} "
            f"| {finding.goal_text} | {finding.verdict} | {finding.note} |"
            for finding in self.findings
            if finding.benchmark == benchmark
        ]
        return rows
