"""What a model says of an example, and how that is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tawt.modality.predicting import rounded, shown_share, tsv_row

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class TaggedAnswer:
    r"""A tag for each word; a sentence without words has none.

    Example:
        >>> answer = TaggedAnswer(("EU", "!"), ("B-ORG", "O"), (0.75, 1.0))
        >>> answer.tsv(probabilities=True)
        'EU\tB-ORG\t0.750000\n!\tO\t1.000000\n\n'
        >>> answer.record(probabilities=False)
        {'tokens': ['EU', '!'], 'tags': ['B-ORG', 'O']}
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]
    """Of each word's tag."""

    def tsv(self, *, probabilities: bool) -> str:
        """A line a word, and a blank line after the sentence."""
        rows = zip(self.words, self.tags, self.probabilities, strict=True)
        lines = [
            tsv_row(word, tag, *([shown_share(share)] if probabilities else []))
            for word, tag, share in rows
        ]
        return "".join(lines) + "\n"

    def record(self, *, probabilities: bool) -> dict[str, Any]:
        """What JSON says of it."""
        found: dict[str, Any] = {"tokens": list(self.words), "tags": list(self.tags)}
        if probabilities:
            found["probabilities"] = [rounded(share) for share in self.probabilities]
        return found


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    r"""A label for a text, or for two; `None` for a blank one.

    Example:
        >>> answer = LabelledAnswer("Good.", None, "pos", {"neg": 0.25, "pos": 0.75})
        >>> answer.tsv(probabilities=True)
        'Good.\tpos\t0.750000\n'
        >>> answer.record(probabilities=True)
        {'text': 'Good.', 'label': 'pos', 'probabilities': {'neg': 0.25, 'pos': 0.75}}
    """

    text: str
    second: str | None
    label: str | None
    probabilities: Mapping[str, float]
    """Of every label."""

    def tsv(self, *, probabilities: bool) -> str:
        """One line: the text (or both), the label; an empty line for a blank text."""
        if self.label is None:
            return "\n"
        shares = [shown_share(self.probabilities[self.label])] if probabilities else []
        return tsv_row(*_texts(self.text, self.second), self.label, *shares)

    def record(self, *, probabilities: bool) -> dict[str, Any]:
        """What JSON says of it."""
        found = {**_text_fields(self.text, self.second), "label": self.label}
        if probabilities:
            found["probabilities"] = {
                label: rounded(share) for label, share in self.probabilities.items()
            }
        return found


@dataclass(frozen=True, slots=True)
class NumberAnswer:
    r"""A number for a text, or for two; `None` for a blank one.

    Example:
        >>> NumberAnswer("Good.", "Fine.", 4.25).tsv(probabilities=False)
        'Good.\tFine.\t4.25\n'
    """

    text: str
    second: str | None
    number: float | None

    def tsv(self, *, probabilities: bool) -> str:
        """One line: the text (or both), the number; an empty line for a blank text."""
        del probabilities  # a number has none
        if self.number is None:
            return "\n"
        return tsv_row(*_texts(self.text, self.second), f"{self.number:.7g}")

    def record(self, *, probabilities: bool) -> dict[str, Any]:
        """What JSON says of it."""
        del probabilities
        return {**_text_fields(self.text, self.second), "label": self.number}


def _texts(text: str, second: str | None) -> list[str]:
    return [text] if second is None else [text, second]


def _text_fields(text: str, second: str | None) -> dict[str, Any]:
    return {"text": text} if second is None else {"text": text, "second": second}
