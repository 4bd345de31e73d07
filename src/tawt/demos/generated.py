"""The generated corpus as a kind of data: tagging, from news to web text."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from tawt.demos.grammar import Annotated, generate
from tawt.modality import DataSection
from tawt.streams import derived_seed, stream
from tawt.text.any_text import TextModality
from tawt.text.reading import Splits, TaggedSentence
from tawt.text.reading.report import ReadReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from tawt.text.reading import Example

_HELD_OUT = {"dev": 50, "test": 300}  # sentences
_LAYERS: dict[str, Callable[[Annotated], tuple[str, ...]]] = {
    "pos": lambda sentence: sentence.pos,
    "chunk": lambda sentence: sentence.chunks,
    "predicate": lambda sentence: sentence.predicates,
    "entity": lambda sentence: sentence.entities,
}
GRAMMAR_TASKS = ("pos", "chunk", "predicate", "entity", "shuffled")
"""What the generated corpus is annotated with; the last has parts of speech out of order."""


class GrammarData(DataSection):
    """A generated corpus with parts of speech, chunks, predicates and entities."""

    kind: Literal["grammar"]
    target_size: int = Field(20, ge=5, le=100_000)
    """Labelled sentences of the target, which are web text."""
    source_size: int = Field(160, ge=5, le=100_000)
    """Labelled sentences of each source, which are news."""


class Grammar(TextModality[GrammarData]):
    """The corpus; a source's sentences are news, the target's are web text."""

    name = "grammar"
    data_section = GrammarData
    depends_on_roles = True

    def task_names(self, data: GrammarData) -> list[str]:
        """What the corpus is annotated with."""
        del data
        return list(GRAMMAR_TASKS)

    def read(
        self, data: GrammarData, name: str, *, is_target: bool, held_out: bool, seed: int
    ) -> Splits:
        """Sentences, with those held out if the task is the target."""
        size = data.target_size if is_target else data.source_size
        train = _sentences(name, "train", size, seed=seed, is_target=is_target)
        held = {
            split: _sentences(name, split, count, seed=0, is_target=is_target)
            for split, count in _HELD_OUT.items()
            if held_out and is_target
        }
        sizes = {"train": len(train)} | {split: len(part) for split, part in held.items()}
        report = ReadReport(sizes=sizes, duplicates={})
        return Splits(train, held.get("dev"), held.get("test"), report)


def _sentences(name: str, split: str, count: int, *, seed: int, is_target: bool) -> list[Example]:
    corpus_seed = derived_seed(seed, "grammar", name, split) % 2**31
    made = generate(count, seed=corpus_seed, register="web" if is_target else "news")
    layer = _LAYERS.get(name, _LAYERS["pos"])
    tags = [tag for sentence in made for tag in layer(sentence)]
    if name not in _LAYERS:
        tags = [tags[place] for place in stream(corpus_seed, "shuffled").permutation(len(tags))]
    ends = itertools.accumulate(len(sentence.words) for sentence in made)
    return [
        TaggedSentence(each.words, tuple(tags[end - len(each.words) : end]), number)
        for number, (each, end) in enumerate(zip(made, ends, strict=True), start=1)
    ]


GRAMMAR = Grammar()
