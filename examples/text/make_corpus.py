"""Writes the files of `data/`: a generated corpus in the formats that such data usually has.

    python examples/text/make_corpus.py [FOLDER]

The target tasks have few sentences, typed in haste; the sources have more, most of them news.
"""

import sys
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from tawt.demos.grammar import Annotated, Register, generate
from tawt.text.reading import (
    LabelledText,
    TaggedSentence,
    write_columns,
    write_csv,
    write_jsonl,
)

SPLITS = {"train": 40, "dev": 80, "test": 160}
SOURCE = 150


def write_corpus(folder: Path) -> None:
    write_entities(folder / "entity")
    (folder / "pos.conllu").write_text(conllu(generate(SOURCE, seed=1)), encoding="utf-8")
    (folder / "chunk.txt").write_text(conll2000(generate(SOURCE, seed=2)), encoding="utf-8")
    predicates = [TaggedSentence(s.words, s.predicates, 0) for s in generate(SOURCE, seed=3)]
    write_jsonl(folder / "predicate.jsonl", predicates)

    questions = asked_or_not("web", seed=20)
    (folder / "question").mkdir(exist_ok=True)
    for split, size in SPLITS.items():
        write_jsonl(folder / "question" / f"{split}.jsonl", islice(questions, size))
    write_jsonl(folder / "news-question.jsonl", islice(asked_or_not("news", seed=21), SOURCE))
    write_csv(folder / "register.csv", registers())


def write_entities(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (split, size) in enumerate(SPLITS.items(), start=10):
        sentences = generate(size, seed=seed, register="web")
        tagged = [TaggedSentence(s.words, s.entities, 0) for s in sentences]
        write_columns(folder / f"{split}.tsv", tagged)


def conllu(sentences: list[Annotated]) -> str:
    """The part of speech is in the fifth column, XPOS."""
    blocks = (
        "".join(
            f"{number}\t{word}\t_\t_\t{tag}\t_\t_\t_\t_\t_\n"
            for number, (word, tag) in enumerate(zip(s.words, s.pos, strict=True), start=1)
        )
        for s in sentences
    )
    return "".join(f"{block}\n" for block in blocks)


def conll2000(sentences: list[Annotated]) -> str:
    """Word, part of speech and chunk, with blanks between."""
    blocks = (
        "".join(f"{word} {pos} {tag}\n" for word, pos, tag in zip(*columns, strict=True))
        for columns in ((s.words, s.pos, s.chunks) for s in sentences)
    )
    return "".join(f"{block}\n" for block in blocks)


def asked_or_not(register: Register, *, seed: int) -> Iterator[LabelledText]:
    """Sentences without their last mark, a question and none by turns."""
    endless = (generate(1, seed=10_000 * seed + n, register=register)[0].words for n in count())
    waiting: dict[str, list[str]] = {"?": [], ".": []}
    for *words, mark in endless:
        if mark in waiting:
            waiting[mark].append(" ".join(words))
        if all(waiting.values()):
            yield LabelledText(waiting["?"].pop(0), None, "question", 0)
            yield LabelledText(waiting["."].pop(0), None, "other", 0)


def registers() -> Iterator[LabelledText]:
    """Edited news, or typed in haste?"""
    news, web = generate(SOURCE, seed=30), generate(SOURCE, seed=31, register="web")
    for edited, typed in islice(zip(news, web, strict=True), SOURCE // 2):
        yield LabelledText(" ".join(edited.words), None, "news", 0)
        yield LabelledText(" ".join(typed.words), None, "web", 0)


if __name__ == "__main__":
    given = sys.argv[1:]
    write_corpus(Path(given[0]) if given else Path(__file__).parent / "data")
