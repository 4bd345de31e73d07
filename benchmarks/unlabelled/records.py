"""What is trained already, in a file that is added to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from benchmarks.unlabelled.spec import Spec


class Records:
    """Records by what was trained.

    Args:
        path: A JSON object to a line; there or not.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.all: list[dict[str, Any]] = [json.loads(line) for line in lines]
        self._known = {_key(record) for record in self.all}

    def add(self, record: dict[str, Any]) -> None:
        """Keep a record."""
        self.all.append(record)
        self._known.add(_key(record))
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def lacking(self, specs: Iterable[Spec]) -> list[Spec]:
        """Those of the specs that are yet to be trained."""
        return [spec for spec in specs if spec.key not in self._known]


def _key(record: dict[str, Any]) -> str:
    return json.dumps(record["spec"], sort_keys=True)
