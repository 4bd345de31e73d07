"""What a trained model says of new examples, whatever their kind."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_LINE_BREAKS = re.compile("[\t\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_DIGITS = 6  # of a probability; float32 has no more to say


class Answer(Protocol):
    """What a model says of an example, whatever its kind."""

    def tsv(self, *, probabilities: bool) -> str:
        """The lines of a table that it is."""
        ...

    def record(self, *, probabilities: bool) -> dict[str, Any]:
        """What JSON says of it."""
        ...


class Predictor(ABC):
    """A trained model that is asked about new examples."""

    task_kind: str
    """The kind of task, for messages."""
    has_probabilities: bool = True
    """Whether answers have any."""

    @abstractmethod
    def read(self, handle: BinaryIO, *, path: Path, form: str | None, typed: bool) -> Iterable[Any]:
        """The examples of an open file.

        Args:
            handle: Open for reading; it need not be possible to seek in it.
            path: Its name.
            form: How the file is written, where the user says so.
            typed: Whether a person types it and waits for each answer.

        Raises:
            ConfigError: There is no such form.
            DataError: It holds something else.
        """

    @abstractmethod
    def answers(self, asked: Iterable[Any]) -> Iterator[Answer]:
        """An answer for each example, in order."""


@dataclass(frozen=True, slots=True)
class LabelAnswer:
    r"""A label, or a number, for an example that is known by its position.

    Example:
        >>> answer = LabelAnswer(3, "cat", {"cat": 0.75, "dog": 0.25})
        >>> answer.tsv(probabilities=True)
        '3\tcat\t0.750000\n'
        >>> LabelAnswer(1, 4.25).record(probabilities=False)
        {'example': 1, 'label': 4.25}
    """

    example: int
    """From 1."""
    label: str | float
    probabilities: Mapping[str, float] | None = None
    """Of every label; none for a number."""

    def tsv(self, *, probabilities: bool) -> str:
        """One line: which example, and its label or number."""
        cells = [str(self.example)]
        cells.append(self.label if isinstance(self.label, str) else f"{self.label:.7g}")
        if probabilities and self.probabilities is not None:
            cells.append(shown_share(self.probabilities[str(self.label)]))
        return tsv_row(*cells)

    def record(self, *, probabilities: bool) -> dict[str, Any]:
        """What JSON says of it."""
        found: dict[str, Any] = {"example": self.example, "label": self.label}
        if probabilities and self.probabilities is not None:
            found["probabilities"] = {
                label: rounded(share) for label, share in self.probabilities.items()
            }
        return found


def json_line(answer: Answer, *, probabilities: bool) -> str:
    r"""The answer as a line of JSON.

    Example:
        >>> json_line(LabelAnswer(1, "é"), probabilities=False)
        '{"example": 1, "label": "é"}\n'
    """
    found = answer.record(probabilities=probabilities)
    return json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"


def tsv_row(*cells: str) -> str:
    r"""Cells with tabs between them; tabs and line ends within become blanks.

    Example:
        >>> tsv_row("a\tb", "c")
        'a b\tc\n'
    """
    return "\t".join(_LINE_BREAKS.sub(" ", cell) for cell in cells) + "\n"


def shown_share(share: float) -> str:
    """A probability as a table has it.

    Example:
        >>> shown_share(0.5)
        '0.500000'
    """
    return f"{share:.{_DIGITS}f}"


def rounded(share: float) -> float:
    """A probability as JSON has it.

    Example:
        >>> rounded(2 / 3)
        0.666667
    """
    return round(share, _DIGITS)
