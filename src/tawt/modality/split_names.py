"""Which split the name of a file speaks of, and which task."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from tawt.errors import DataError

Split: TypeAlias = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
_PART = re.compile(r"\d+-of-\d+")

_WORDS: dict[Split, re.Pattern[str]] = {
    "train": re.compile(r"(?<![a-z])(train|training)(?![a-z])", re.IGNORECASE),
    "dev": re.compile(r"(?<![a-z])(dev|development|valid|validation|val)(?![a-z])", re.IGNORECASE),
    "test": re.compile(r"(?<![a-z])(test|testing)(?![a-z])", re.IGNORECASE),
}


def split_of(name: str) -> Split | None:
    """The split whose word is in a name, `None` if there is none.

    Words end where letters end: `ner.train.tsv` and `train-00000` speak of train, `trains.tsv` and
    `contest.tsv` of nothing.

    Raises:
        DataError: If the name has words of two splits.

    Example:
        >>> split_of("en_ewt-ud-dev.conllu"), split_of("validation_matched"), split_of("contest")
        ('dev', 'dev', None)
    """
    found = [split for split, word in _WORDS.items() if word.search(name.lower())]
    if len(found) > 1:
        raise DataError(
            f"{name!r} speaks of {' and '.join(found)}; rename it, or name the files of each split."
        )
    return found[0] if found else None


def without_split(name: str) -> str:
    """A name without its word for a split, and without digits and signs.

    Example:
        >>> without_split("ner.train-00001.tsv") == without_split("NER.dev.tsv")
        True
    """
    name = name.lower()
    for word in _WORDS.values():
        name = word.sub("", name)
    return re.sub(r"[\W\d_]+", "", name)


def task_in(name: str) -> str:
    """What is left of a file's name without its word for a split; empty where it is that alone.

    Example:
        >>> task_in("ner.train"), task_in("en_ewt-ud-dev"), task_in("train-00001-of-00002")
        ('ner', 'en_ewt-ud', '')
    """
    for word in _WORDS.values():
        name = word.sub("", name)
    name = _PART.sub("", name)
    return re.sub(r"([._\- ])[._\- ]+", r"\1", name).strip("._- ")
