"""An example as it was read, on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.text.reading.examples import TaggedSentence

if TYPE_CHECKING:
    from tawt.text.reading.examples import Example

_LONGEST = 100  # characters


def preview(example: Example) -> str:
    """Words with their tags, or a text (or two) with its label; its end is cut off if it is long.

    Example:
        >>> preview(TaggedSentence(("EU", "rejects"), ("B-ORG", "O"), line=1))
        'EU/B-ORG rejects/O'
    """
    if isinstance(example, TaggedSentence):
        pairs = zip(example.words[:_LONGEST], example.tags[:_LONGEST], strict=True)
        return _cut(" ".join(f"{_cut(word)}/{_cut(tag)}" for word, tag in pairs))
    label = _cut(str(example.label))
    texts = [example.text] if example.second is None else [example.text, example.second]
    most = (_LONGEST - len(label)) // len(texts)
    return f"{' | '.join(_cut(' '.join(text[:1000].split()), most) for text in texts)} → {label}"


def _cut(text: str, most: int = _LONGEST) -> str:
    most = max(most, 20)
    return text if len(text) <= most else f"{text[: most - 1]}…"
