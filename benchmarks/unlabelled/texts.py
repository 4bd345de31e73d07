"""Which text is of a target's domain, and which is not."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SCIENCE = ("acl_arc", "sci_cite", "scierc", "chemprot")
METRICS = {
    "acl_arc": "macro_f1",
    "sci_cite": "macro_f1",
    "scierc": "macro_f1",
    "chemprot": "accuracy",  # micro F1, where every text has one label
    "tweet_irony": "positive_f1",
}
"""Those of the literature; macro F1 for all others."""
POSITIVE = {"tweet_irony": "irony"}
OTHER_DOMAINS = ("product_reviews", "drama")
_CORPORA = {"chemprot": "genes"}
_MARKS = re.compile(r"\[\[|\]\]|<<|>>")  # around the entities that a label is about


def metric_of(target: str) -> str:
    """The score that counts."""
    return METRICS.get(target, "macro_f1")


def write_domain(target: str, folder: Path, *, data: Path, corpora: Path, own_text: bool) -> Path:
    """Leave the text of a target's domain as a file, a line for each, no line twice.

    Args:
        target: The labelled set.
        folder: Where.
        data: Folder with a folder for each labelled set.
        corpora: Folder whose `sources` are corpora.
        own_text: Whether the target's own training texts are among it.
    """
    lines = list(_domain(target, data=data, corpora=corpora))
    if own_text:
        lines += _training_texts(target, data)
    path = folder / f"{target}{'.own' if own_text else ''}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")
    return path


def _domain(target: str, *, data: Path, corpora: Path) -> Iterator[str]:
    if target in _CORPORA:
        path = corpora / "sources" / f"{_CORPORA[target]}.txt"
        yield from path.read_text(encoding="utf-8").splitlines()
        return
    for name in _others(target, data):
        yield from _training_texts(name, data)


def _others(target: str, data: Path) -> Iterable[str]:
    if target in SCIENCE:
        return [name for name in SCIENCE if name != target]
    kind = target.partition("_")[0]
    names = sorted(path.name for path in data.iterdir() if path.is_dir())
    return [name for name in names if name != target and name.partition("_")[0] == kind]


def _training_texts(name: str, data: Path) -> list[str]:
    lines = (data / name / "train.jsonl").read_text(encoding="utf-8").splitlines()
    texts = (_MARKS.sub(" ", json.loads(line)["text"]) for line in lines)
    return [" ".join(text.split()) for text in texts]
