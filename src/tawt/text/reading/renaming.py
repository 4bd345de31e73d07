"""Labels by other names than their files have."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from tawt.errors import ConfigError, suggestion
from tawt.text.reading.examples import TaggedSentence

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tawt.text.reading.examples import Example

_OUTSIDE = "O"


def new_names(
    labels: Collection[str], rename: Mapping[str, str], *, are_spans: bool
) -> dict[str, str]:
    """The new name of every label.

    Of tags that mark spans the types are renamed; a type that becomes `O` is no span any more.

    Args:
        labels: All that occur.
        rename: From the file's names to others; what is not in it stays.
        are_spans: Whether these are tags of spans in IOB2.

    Raises:
        ConfigError: A name to be replaced does not occur, or a new one is empty.

    Example:
        >>> tags = ["O", "B-person", "I-person", "B-time"]
        >>> list(new_names(tags, {"person": "PER", "time": "O"}, are_spans=True).values())
        ['O', 'B-PER', 'I-PER', 'O']
        >>> new_names(["good", "bad"], {"good": "positive"}, are_spans=False)
        {'good': 'positive', 'bad': 'bad'}
    """
    what = "type of span" if are_spans else "label"
    known = {tag[2:] for tag in labels if tag != _OUTSIDE} if are_spans else set(labels)
    for theirs, ours in rename.items():
        if theirs not in known:
            raise ConfigError(
                f"`rename` has a new name for {theirs!r}, but no such {what} occurs; "
                f"{suggestion(theirs, sorted(known))}",
                place=("rename", theirs),
            )
        if not ours.strip():
            raise ConfigError(
                f"`rename` has an empty name for {theirs!r}.", place=("rename", theirs)
            )
    if not are_spans:
        return {label: rename.get(label, label) for label in labels}
    types = {name: rename.get(name, name) for name in known}
    return {tag: _tag(tag, types) for tag in labels}


def renamed(example: Example, names: Mapping[str, str]) -> Example:
    """The example with the new names of its labels.

    Example:
        >>> sentence = TaggedSentence(("a", "b"), ("X", "Y"), line=1)
        >>> renamed(sentence, {"X": "Z", "Y": "Y"}).tags
        ('Z', 'Y')
    """
    if isinstance(example, TaggedSentence):
        return replace(example, tags=tuple(sys.intern(names[tag]) for tag in example.tags))
    return replace(example, label=names[str(example.label)])


def _tag(tag: str, types: Mapping[str, str]) -> str:
    if tag == _OUTSIDE or types[tag[2:]] == _OUTSIDE:
        return _OUTSIDE
    return tag[:2] + types[tag[2:]]
