"""Texts told apart by eight bytes each, whatever their labels."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from tawt.tasks.examples import digests_of
from tawt.text.reading.examples import TaggedSentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tawt.text.reading.examples import Example

_NO_LETTERS = re.compile(r"[\W_]+")


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


def text_likenesses(examples: Sequence[Example]) -> NDArray[np.uint64]:
    """Of their letters and digits alone; of texts without any, as `text_contents`.

    Example:
        >>> from tawt.text.reading import LabelledText
        >>> texts = [LabelledText(text, None, "x", line=1) for text in ("A b.", "[a] B", ":)")]
        >>> len(set(text_likenesses(texts).tolist()))
        2
    """
    texts = map(_text, examples)
    return digests_of((letters_of(text) or text).encode("utf-8", "surrogatepass") for text in texts)


def letters_of(text: str) -> str:
    """Letters and digits alone, in lower case.

    Example:
        >>> letters_of("[[ Résumé ]] of <<ﬁve>> papers, 1999.")
        'résuméoffivepapers1999'
    """
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKC", text).casefold())


def _text(example: Example) -> str:
    if isinstance(example, TaggedSentence):
        return " ".join(" ".join(example.words).split())
    parts = [example.text] if example.second is None else [example.text, example.second]
    return "\x1f".join(" ".join(part.split()) for part in parts)
