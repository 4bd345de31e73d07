"""Corpora as tasks of text: what `tawt.text` imports by name where a task is unlabelled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tawt.corpora.building import usual_cache
from tawt.corpora.inspecting import measured_corpus
from tawt.corpora.reading import KnownLines
from tawt.corpora.sections import CorpusFiles
from tawt.corpora.shards import tokenised
from tawt.corpora.vocabularies import vocabulary_named
from tawt.corpora.windows.framed import Frame, FramedWindows
from tawt.errors import ConfigError
from tawt.modality.inspecting import Measured
from tawt.tasks import Task
from tawt.text.kinds import MaskedWords
from tawt.text.kinds.masking import UNLABELLED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tawt.text.kinds import Cutting
    from tawt.text.sections import EncoderConfig, UnlabelledTask
    from tawt.text.sources import HeldOutTexts, UnlabelledReader


class CorpusReader:
    """Reads unlabelled text as corpora are read; meets `tawt.text.sources.UnlabelledReader`."""

    def task(
        self,
        name: str,
        section: UnlabelledTask,
        model: EncoderConfig,
        cutting: Cutting,
        *,
        held_out: HeldOutTexts,
        cache: Path | None,
        seed: int,
    ) -> Task:
        """The text in rows for the encoder, tokenised if it was not before."""
        vocabulary = vocabulary_named(model.encoder)
        if vocabulary.mask is None:
            raise ConfigError(
                f"The tokenizer of {model.encoder!r} has no mask token, so nothing can be hidden "
                "from the encoder; choose another encoder, or leave the unlabelled tasks out.",
            )
        removes = section.without_held_out
        known = KnownLines.of(held_out.texts, removes=removes) if held_out.texts else None
        shard = tokenised(_files(section), vocabulary, cache=cache or usual_cache(), known=known)
        windows = FramedWindows(
            shard,
            vocabulary,
            max_length=model.max_length,
            frame=Frame.of(cutting.tokenizer),
            share=section.masked_share,
            seed=seed,
        )
        if found := shard.index.known:
            what = "held_out_lines_left_out" if removes else "held_out_lines"
            windows.notes = {**windows.notes, what: found}
        return Task(name, MaskedWords(vocabulary.size), windows)

    def measured(self, task: Task) -> Measured:
        """What is in the text."""
        found = measured_corpus(task, role="source")
        return Measured(replace(found.facts, kind=UNLABELLED), found.contents)

    def warnings(self, task: Task, held_out: HeldOutTexts) -> Iterator[str]:
        """What a person would want to know before trusting a score."""
        notes = task.train.notes
        targets = " and ".join(map(repr, held_out.targets))
        if left := notes.get("held_out_lines_left_out", 0):
            yield (
                f"task {task.name!r}: lines left out, since they stand in dev or test of the "
                f"target {targets}: {left}"
            )
        if kept := notes.get("held_out_lines", 0):
            yield (
                f"task {task.name!r}: lines trained on although they stand in dev or test of the "
                f"target {targets}: {kept}; scores on those are not scores on unseen text "
                "(`without_held_out: true` leaves them out)"
            )
        if len(task.train) == 1:
            yield f"task {task.name!r}: a single row to train on; give it more text"
        if replaced := notes.get("replaced", 0):
            yield (
                f"task {task.name!r}: bytes that could not be decoded became the sign U+FFFD: "
                f"{replaced}"
            )


def _files(section: UnlabelledTask) -> CorpusFiles:
    return CorpusFiles(
        train=section.train,
        format=section.format,
        documents=section.documents,
        field=section.fields.get("text", "text"),
        group=section.fields.get("group"),
        limit=section.limit,
        split=section.split,
        streaming=section.streaming,
        encoding=section.encoding,
        invalid=section.invalid,
    )


READER: UnlabelledReader = CorpusReader()
