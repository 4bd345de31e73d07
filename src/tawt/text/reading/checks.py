"""What every reader asks of a word, a tag, a text and a label."""

from __future__ import annotations

import math
import re
import sys
from typing import TYPE_CHECKING

from tawt.text.reading.examples import LabelledText, TaggedSentence
from tawt.text.reading.problems import problem, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.text.reading.examples import TaskKind

_BROKEN = re.compile("[\0\ud800-\udfff]")


def checked_word(value: object, *, path: Path, line: int, what: str = "word") -> str:
    """A word (or a tag), interned.

    Raises:
        DataError: If it is no string, is empty or blank, or has a NUL or a lone surrogate in it.

    Example:
        >>> from pathlib import Path
        >>> checked_word("EU", path=Path("train.tsv"), line=1)
        'EU'
    """
    text = checked_text(value, path=path, line=line, what=what)
    if not text or text.isspace():
        raise problem(path, line, f"a {what} is empty or blank: {shown(text)}. Fill it in.")
    return sys.intern(text)


def checked_text(value: object, *, path: Path, line: int, what: str = "text") -> str:
    """A text, which may be empty.

    Raises:
        DataError: If it is no string, or has a NUL or a lone surrogate in it.

    Example:
        >>> from pathlib import Path
        >>> checked_text(" as it is ", path=Path("train.csv"), line=2)
        ' as it is '
    """
    if not isinstance(value, str):
        raise problem(path, line, f"a {what} must be a string; got {shown(value)}.")
    if _BROKEN.search(value):
        raise problem(
            path,
            line,
            f"the {what} {shown(value)} has a NUL or half of a surrogate pair in it, which no "
            "tokenizer can read; remove it.",
        )
    return value


def checked_name(value: object, *, path: Path, line: int, what: str = "label") -> str:
    """A name, interned; numbers become names, 1.0 (as pandas writes a 1) the same one as 1.

    Raises:
        DataError: If it is neither a string nor a finite number, or is no word.

    Example:
        >>> from pathlib import Path
        >>> [checked_name(each, path=Path("a.jsonl"), line=1) for each in (" pos ", 1.0, True)]
        ['pos', '1', 'true']
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return sys.intern(str(value))
    if isinstance(value, float) and math.isfinite(value):
        return sys.intern(str(int(value) if value.is_integer() else value))
    if not isinstance(value, str):
        raise problem(path, line, f"a {what} must be a string or a number; got {shown(value)}.")
    return checked_word(value.strip(), path=path, line=line, what=what)


def tagged(
    words: Sequence[object],
    tags: Sequence[object],
    *,
    path: Path,
    line: int,
    group: str | None = None,
) -> TaggedSentence:
    """A sentence whose words and tags all stand at one line.

    Raises:
        DataError: If their numbers differ, or one of them is no word.

    Example:
        >>> from pathlib import Path
        >>> tagged(["EU"], ["B-ORG"], path=Path("train.jsonl"), line=1).words
        ('EU',)
    """
    if len(words) != len(tags):
        raise problem(
            path,
            line,
            f"expected one tag for each word; got {len(words)} words and {len(tags)} tags.",
        )
    return TaggedSentence(
        tuple(checked_word(word, path=path, line=line) for word in words),
        tuple(checked_word(tag, path=path, line=line, what="tag") for tag in tags),
        line,
        group,
    )


def labelled(
    text: object,
    second: object,
    label: object,
    *,
    kind: TaskKind,
    path: Path,
    line: int,
    group: str | None = None,
) -> LabelledText:
    """A text (or two) with its label; `second` is `None` where there is none.

    Raises:
        DataError: If a text is no string, or the label no label of this kind.

    Example:
        >>> from pathlib import Path
        >>> labelled("good", None, 1, kind="classification", path=Path("a.jsonl"), line=1).label
        '1'
        >>> labelled("good", None, "4.5", kind="regression", path=Path("a.csv"), line=2).label
        4.5
    """
    return LabelledText(
        checked_text(text, path=path, line=line),
        None if second is None else checked_text(second, path=path, line=line, what="second text"),
        (_number if kind == "regression" else checked_name)(label, path=path, line=line),
        line,
        group,
    )


def _number(label: object, *, path: Path, line: int) -> float:
    number = math.nan
    if isinstance(label, str | int | float) and not isinstance(label, bool):
        try:
            # Python would take 1_000, which in a file is a slip.
            number = math.nan if isinstance(label, str) and "_" in label else float(label)
        except (ValueError, OverflowError):
            number = math.nan
    if not math.isfinite(number):
        raise problem(
            path, line, f"a label of a regression must be a finite number; got {shown(label)}."
        )
    return number
