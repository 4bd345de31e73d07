"""Files of tagged sentences, and sources without worth that are made of them.

They are written into a folder of the user's, with a fixed seed: sentences of the lengths that are
used, as they stand, or with tags shuffled within each, with tags that say how long a word is, or
with tags that were thrown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.streams import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import numpy as np

    Sentence = list[list[str]]
    Maker = Callable[[Sentence, np.random.Generator], Sentence]

SPLITS = ("train", "dev", "test")
FRENCH, GUM_TAGS = "fr_sequoia upos", "gum pos"
LENGTH, THROWN = "word length", "thrown tags"
_SHUFFLED = ", shuffled"
_WORDS = range(4, 31)  # in a sentence


def shuffled(name: str) -> str:
    """What a task is called whose tags are shuffled."""
    return name + _SHUFFLED


def path_of(name: str, split: str, texts: Path) -> Path:
    """The file of a task's split."""
    return texts / f"{name}.{split}.tsv"


def write_tasks(names: Iterable[str], *, data: Path, texts: Path) -> None:
    """Write the sentences of tasks that are not written yet.

    Args:
        names: Corpus and layer, or of sources that are made.
        data: Folder with one for each corpus.
        texts: Where they are written.
    """
    texts.mkdir(parents=True, exist_ok=True)
    for name in names:
        (corpus, layer), make = _origin_of(name)
        for split in SPLITS if make is None else SPLITS[:1]:
            path = path_of(name, split, texts)
            if not path.exists():
                found = sentences(data / corpus / f"{layer}.{split}.tsv")
                draw = stream(0, "regimes", name)
                chosen = [each for each in found if len(each) in _WORDS]
                _write(path, [make(each, draw) for each in chosen] if make else chosen)


def sentences(path: Path) -> list[Sentence]:
    """Words with their tags."""
    blocks = path.read_text(encoding="utf-8").strip("\n").split("\n\n")
    return [[line.split("\t") for line in block.split("\n")] for block in blocks]


def _write(path: Path, found: Iterable[Sentence]) -> None:
    blocks = ("\n".join("\t".join(row) for row in sentence) for sentence in found)
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def _origin_of(name: str) -> tuple[list[str], Maker | None]:
    """Of which corpus and layer a task is made, and how, if it is not as it stands."""
    made = {LENGTH: (GUM_TAGS, _lengths), THROWN: (FRENCH, _thrown)}
    if name in made:
        origin, make = made[name]
        return origin.split(), make
    origin = name.removesuffix(_SHUFFLED)
    return origin.split(), None if origin == name else _with_tags_shuffled


def _with_tags_shuffled(sentence: Sentence, draw: np.random.Generator) -> Sentence:
    """The same words, their tags in another order; what continued a span begins one."""
    tags = [f"B-{tag[2:]}" if tag.startswith("I-") else tag for _, tag in sentence]
    order = draw.permutation(len(tags))
    return [[word, tags[place]] for (word, _), place in zip(sentence, order, strict=True)]


def _lengths(sentence: Sentence, draw: np.random.Generator) -> Sentence:
    del draw
    return [[word, f"L{len(word) % 3}"] for word, _ in sentence]


def _thrown(sentence: Sentence, draw: np.random.Generator) -> Sentence:
    return [[word, "ABCD"[draw.integers(4)]] for word, _ in sentence]
