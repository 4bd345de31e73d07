"""Texts told apart by eight bytes each, whatever their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.tasks.examples import digests_of
from tawt.text.reading.examples import TaggedSentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tawt.text.reading.examples import Example


def text_contents(examples: Sequence[Example]) -> NDArray[np.uint64]:
    """Of words, or texts; blanks count as one, so a sentence and its words are the same.

    Example:
        >>> from tawt.text.reading import LabelledText
        >>> words = TaggedSentence(("Good", "!"), ("ADJ", "PUNCT"), line=1)
        >>> text = LabelledText("Good  !", None, "pos", line=1)
        >>> one, other = text_contents([words, text])
        >>> bool(one == other)
        True
    """
    return digests_of(_text(example).encode("utf-8", "surrogatepass") for example in examples)


def _text(example: Example) -> str:
    if isinstance(example, TaggedSentence):
        return " ".join(" ".join(example.words).split())
    parts = [example.text] if example.second is None else [example.text, example.second]
    return "\x1f".join(" ".join(part.split()) for part in parts)
