"""What the columns of a file look like: numbers that count, words, tags."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.text.reading.iob import is_iob
from tawt.text.reading.problems import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Rows = Sequence[Sequence[str]]

_FEWEST = 3  # rows; two words may happen to be 1 and 2
_MOST = 0.9  # of the sentences; a few may be damaged
_RANGE = re.compile(r"\d+[-.]\d+")  # multiword tokens and empty nodes, between those that count
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class ColumnSample:
    """The first sentences of a column file, as rows of cells.

    Example:
        >>> sample = ColumnSample([[["1", "På", "O"], ["2", "Fyn", "B-LOC"], ["3", ".", "O"]]])
        >>> sample.counts(0), sample.suggested()
        (True, (1, 2))
    """

    sentences: Sequence[Rows]

    @property
    def width(self) -> int:
        """How many columns most rows have."""
        widths = Counter(len(row) for rows in self.sentences for row in rows)
        return max(widths, key=lambda width: (widths[width], width), default=0)

    def counts(self, index: int) -> bool:
        """Whether a column numbers the rows: of each sentence, or of the file.

        Args:
            index: Of the column, from 0, or from -1 backwards.
        """
        numbers = [
            [cell for cell in self._cells(rows, index) if not _RANGE.fullmatch(cell)]
            for rows in self.sentences
        ]
        every = list(itertools.chain.from_iterable(numbers))
        if len(every) < _FEWEST:
            return False
        if _counts(every):
            return True
        counting = [cells for cells in numbers if _counts(cells)]
        enough = len(counting) >= _MOST * len(numbers)
        return enough and max(map(len, counting)) > 1

    def suggested(self) -> tuple[int | None, int | None]:
        """The columns that may be the word and the tag, from 0; `None` where nothing may."""
        values = [set(self._column(index)) for index in range(self.width)]
        plain = [
            index
            for index, of_column in enumerate(values)
            if len(of_column) > 1 and not self.counts(index)
        ]
        wordy = [index for index in plain if self._has_letters(index)]
        if not wordy:
            return None, None
        word = max(wordy, key=lambda index: (len(values[index]), -index))
        others = [index for index in plain if index != word]
        spans = [index for index in others if is_iob(values[index])]
        # Of several layers the last is the usual one; spans are rarely anything else.
        tags = spans or [index for index in others if len(values[index]) < len(values[word])]
        return word, tags[-1] if tags else None

    def described(self, index: int) -> str:
        """Some of what a column holds, to be shown."""
        kinds = dict.fromkeys(self._column(index))
        return ", ".join(shown(cell) for cell in itertools.islice(kinds, 3))

    def _column(self, index: int) -> Iterator[str]:
        return itertools.chain.from_iterable(self._cells(rows, index) for rows in self.sentences)

    def _cells(self, rows: Rows, index: int) -> list[str]:
        return [row[index] for row in rows if -len(row) <= index < len(row)]

    def _has_letters(self, index: int) -> bool:
        cells = list(self._column(index))
        return 2 * sum(bool(_LETTER.search(cell)) for cell in cells) > len(cells)


def _counts(cells: Iterable[str]) -> bool:
    cells = list(cells)
    return bool(cells) and any(
        all(cell == str(number) for number, cell in enumerate(cells, start)) for start in (0, 1)
    )
