"""The record of an attack: a page to read, and every kill as JSON beside it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date
    from pathlib import Path

    from benchmarks.attack.rounds import Kill, Round


@dataclass(frozen=True, kw_only=True)
class Record:
    """What was done, where, and what came of it."""

    day: date
    command: str
    machine: dict[str, str | int]
    seconds: float
    rounds: Sequence[Round]

    @property
    def kills(self) -> list[Kill]:
        """Of all rounds."""
        return [kill for each in self.rounds for kill in each.kills]

    @property
    def failures(self) -> list[str]:
        """Of all rounds, with the command that failed."""
        return [f"{each.case}: {failure}" for each in self.rounds for failure in each.failures]

    def write(self, page: Path) -> None:
        """The page, and the JSON beside it."""
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(self.to_markdown(), encoding="utf-8")
        text = json.dumps(self.to_json(), indent=1) + "\n"
        page.with_suffix(".json").write_text(text, encoding="utf-8")

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return {
            "date": self.day.isoformat(),
            "command": self.command,
            "machine": self.machine,
            "seconds": round(self.seconds),
            "kills": len(self.kills),
            "failures": self.failures,
            "rounds": [asdict(each) for each in self.rounds],
        }

    def to_markdown(self) -> str:
        """The page."""
        kills, rounds = self.kills, self.rounds
        machine = ", ".join(f"{name} {value}" for name, value in self.machine.items())
        damaged = [kill for kill in kills if kill.damage]
        rivals = Counter(kill.rival for kill in kills if kill.rival)
        counts = f"{len(kills)} kills in {len(rounds)} folders, {len(self.failures)} failures"
        lines = [
            "# Killed, and gone on",
            "",
            f"{counts}. {_METHOD}",
            "",
            f"{self.day.isoformat()}, {self.seconds:.0f} seconds. Machine: {machine}.",
            "",
            f"Run it again: `{self.command}`. [Every kill](attack.json).",
            "",
            *_table("command", (kill.case for kill in kills)),
            "",
            *_table("moment", (_MOMENTS[kill.moment] for kill in kills)),
            "",
            *_table("by", (kill.weapon for kill in kills)),
            "",
            f"After {len(damaged)} kills the newest checkpoint was damaged "
            f"({_listed(kill.damage for kill in damaged)}): the run went on from the one before, "
            "and said so.",
            "",
            f"Beside {sum(rivals.values())} of the commands that were killed, the same command was "
            f"started a second time in the same folder: {_listed(rivals.elements())}. A run and "
            "distances refuse the second; comparisons share the work.",
            "",
            f"{sum(each.ended_before for each in rounds)} strikes came too late, or the command "
            "stopped in order before the kill; these are not counted.",
        ]
        if self.failures:
            lines += ["", "## Failures", "", *(f"- {failure}" for failure in self.failures)]
        return "\n".join(lines) + "\n"


_METHOD = (
    "Commands are started, struck by a signal at a random moment, started again and struck again, "
    "one to five times, and then left in peace. What they leave has to be what an undisturbed "
    "command leaves: the same files, with the same bytes of weights, predictions and models and "
    "the same values in records, apart from times; nothing half-written at any time, nothing left "
    "over."
)
_MOMENTS = {
    "any": "at any time of an undisturbed command",
    "writing": "while a file is being written",
    "start": "while the first file is being written",
}


def _table(heading: str, found: Iterable[str]) -> list[str]:
    counted = sorted(Counter(found).items())
    return [
        f"| {heading} | kills |",
        "|---|---:|",
        *(f"| {name} | {count} |" for name, count in counted),
    ]


def _listed(found: Iterable[str | None]) -> str:
    counted = sorted(Counter(str(each) for each in found).items())
    return ", ".join(f"{name} {count}" for name, count in counted) or "none"
