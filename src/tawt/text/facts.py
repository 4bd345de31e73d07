"""What is found in tasks of text, beside what any kind of data has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.modality.facts import FactTable, Lengths, SplitFacts, TaskFacts

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, kw_only=True)
class PieceFacts:
    """What an encoder sees of the examples of a split."""

    max_length: int
    """Most pieces to a row."""
    lengths: Lengths
    """In pieces, special ones included."""
    too_long: int
    """Examples of more pieces than that."""
    too_long_share: float
    cut_words: int | None
    """Words that would be lost if such sentences were truncated; tagging alone."""
    cut_words_share: float | None
    rows: int | None
    """Rows that there would be if they became windows; tagging alone."""

    @property
    def table(self) -> FactTable:
        """All of it, as it is shown."""
        return FactTable(
            title=f"Lengths in pieces, of which the encoder sees {self.max_length} at once",
            columns={
                **self.lengths.columns,
                "too long": f"{self.too_long_share:.1%}",
                "words cut": "" if self.cut_words_share is None else f"{self.cut_words_share:.1%}",
                "rows": "" if self.rows is None else f"{self.rows:,}",
            },
            note="too long: examples with more; words cut: lost, if such sentences are truncated; "
            "rows: if they are windows.",
        )


@dataclass(frozen=True, kw_only=True)
class TextSplitFacts(SplitFacts):
    """The sentences or texts of one split of one task."""

    words: int
    """In all."""
    lengths: Lengths
    """In words."""
    pieces: PieceFacts | None = None
    """Where there is an encoder."""

    @property
    def title(self) -> str:
        """Over the table of sizes."""
        return "Examples, and their lengths in words"

    @property
    def columns(self) -> dict[str, str]:
        """Words, and how many an example has."""
        return {"words": f"{self.words:,}", **self.lengths.columns}

    @property
    def tables(self) -> tuple[FactTable, ...]:
        """What the encoder sees."""
        return () if self.pieces is None else (self.pieces.table,)


@dataclass(frozen=True, kw_only=True)
class TextTaskFacts(TaskFacts):
    """One task of text."""

    repaired: int = 0
    """Sentences whose tags broke IOB2 and were repaired."""
    converted: int = 0
    """Sentences whose tags were BIOES and were converted."""

    def remarks(self) -> Iterator[str]:
        """What is doubtful, and what was repaired."""
        yield from super().remarks()
        if self.repaired:
            yield f"sentences whose tags broke IOB2, repaired: {self.repaired}."
