"""What is trained already, in a file that is added to."""

from __future__ import annotations

import json
from statistics import mean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from benchmarks.mixing.spec import Spec

Record = dict[str, Any]


class Records:
    """Records by what was trained.

    Args:
        path: A file of JSON lines, made when the first record comes; none to look into only.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        there = path is not None and path.exists()
        lines = path.read_text(encoding="utf-8").splitlines() if there and path else []
        self._found = {key_of(record["spec"]): record for record in map(json.loads, lines)}

    @classmethod
    def of(cls, lines: Iterable[str]) -> Records:
        """Records of these lines."""
        records = cls(None)
        records._found = {key_of(record["spec"]): record for record in map(json.loads, lines)}
        return records

    def __iter__(self) -> Iterator[Record]:
        return iter(self._found.values())

    def add(self, record: Record) -> None:
        """Keep a record."""
        plain = json.loads(json.dumps(record))
        self._found[key_of(plain["spec"])] = plain
        if self.path is None:
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def lacks(self, spec: Spec) -> bool:
        """Whether a spec is yet to be trained."""
        return key_of(json.loads(json.dumps(spec.to_json()))) not in self._found

    def matching(self, **fields: Any) -> list[Record]:
        """Records whose spec has these values."""
        return [
            record
            for record in self
            if all(record["spec"][name] == value for name, value in fields.items())
        ]

    def score(self, target: str, *, split: str, **fields: Any) -> float | None:
        """Mean bits a byte on a target's text over all matching records, if there are any."""
        scores = [
            record["scores"][target][split]
            for record in self.matching(**fields)
            if target in record["scores"]
        ]
        return mean(scores) if scores else None


def key_of(spec: Record) -> str:
    """What tells a spec from others; weights that are given follow from other records."""
    return json.dumps({name: spec[name] for name in spec if name != "weights"}, sort_keys=True)
