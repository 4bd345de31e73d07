"""From the sections of a configuration to corpora in windows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tawt.corpora.kinds import LanguageModelling
from tawt.corpora.loading import check_language_model
from tawt.corpora.reading import sources_of
from tawt.corpora.shards import tokenised
from tawt.corpora.vocabularies import vocabulary_named
from tawt.corpora.windows import MaskedWindows, Windows
from tawt.corpora.windows.base import windows_of
from tawt.errors import ConfigError, inside
from tawt.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from contextlib import AbstractContextManager

    from tawt.corpora.data_sections import CorporaData
    from tawt.corpora.model_sections import LanguageModelConfig, Objective
    from tawt.corpora.shards import Shard
    from tawt.corpora.vocabularies import Vocabulary
    from tawt.tasks import Examples, SplitName

BYTES = "bytes"
"""The vocabulary that needs no tokenizer."""


def corpus_tasks(
    data: CorporaData,
    model: LanguageModelConfig,
    *,
    names: Sequence[str],
    held_out: Collection[str],
    seed: int,
) -> list[Task]:
    """The corpora of these names, in this order, tokenised if they were not before.

    Args:
        data: The section `data`.
        model: The section `model`.
        names: Of the corpora.
        held_out: Of those whose dev and test are wanted too.
        seed: Of what is masked in training.

    Raises:
        TawtError: One of them cannot be read, the tokenizer cannot be had, or the window is longer
            than any of them.
    """
    check_language_model(model, window=data.window)
    name = tokenizer_name(data, model)
    place = ("data", "tokenizer") if name == data.tokenizer else ("model", "checkpoint")
    with inside(*place):
        vocabulary = vocabulary_named(name)
        check_mask(vocabulary, model.objective)
    wanted: dict[str, list[SplitName]] = {
        name: [split for split in data.corpora[name].splits if split == "train" or name in held_out]
        for name in names
    }
    # All of them before any is tokenised: that may take an hour.
    for name, splits in wanted.items():
        with _of_corpus(name):
            for split in splits:
                sources_of(data.corpora[name], split=split)
    kind = LanguageModelling(vocabulary, data.window)
    cache, found = cache_folder(data), []
    for name, splits in wanted.items():
        windows: dict[str, Examples] = {}
        with _of_corpus(name):
            for split in splits:
                shard = tokenised(data.corpora[name], vocabulary, cache=cache, split=split)
                windows[split] = _windows(shard, kind, model, seed=seed, fixed=split != "train")
        train, dev, test = (windows.get(split) for split in ("train", "dev", "test"))
        assert train is not None
        found.append(Task(name, kind, train, dev, test))
    _check_window(found, data.window)
    return found


def _check_window(tasks: Sequence[Task], window: int) -> None:
    """Refuse windows that are longer than any text that is trained on."""
    # One token begins a text, and is not asked about.
    tokens = {task.name: windows_of(task)["train"].shard.index.tokens - 1 for task in tasks}
    longest = max(tokens, key=tokens.__getitem__)
    if tokens[longest] < window:
        raise ConfigError(
            f"`data.window` ({window:,}) is more than any corpus has to train on; the largest, "
            f"{longest!r}, has {tokens[longest]:,} tokens. Lower `data.window`, or give more text.",
            place=("data", "window"),
        )


def _of_corpus(name: str) -> AbstractContextManager[None]:
    return inside("data", "corpora", name, saying=f"Corpus {name!r}: ")


def check_mask(vocabulary: Vocabulary, objective: Objective) -> None:
    """Refuse a vocabulary in which nothing can be masked, where that is to be done.

    Raises:
        ConfigError: It has no token for what is asked.
    """
    if objective == "masked" and vocabulary.mask is None:
        raise ConfigError(
            "`model.objective: masked` needs a tokenizer with a mask token, and this one has "
            "none; choose another `data.tokenizer` (bytes has one), or `objective: causal`."
        )


def tokenizer_name(data: CorporaData, model: LanguageModelConfig) -> str:
    """Whose tokenizer is used: that of the section, or of the checkpoint, or bytes."""
    return data.tokenizer or model.checkpoint or BYTES


def cache_folder(data: CorporaData) -> Path:
    """Where tokenised corpora are kept.

    Args:
        data: The section `data`.
    """
    return usual_cache() if data.cache is None else data.cache


def usual_cache() -> Path:
    """Where tokenised corpora are kept unless a configuration says otherwise."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    # As the standard of that variable wants it, a relative path counts as none.
    base = Path(home) if home.startswith("/") else Path.home() / ".cache"
    return base / "tawt" / "corpora"


def _windows(
    shard: Shard, kind: LanguageModelling, model: LanguageModelConfig, *, seed: int, fixed: bool
) -> Examples:
    if model.objective == "causal":
        return Windows(shard, kind.vocabulary, width=kind.window)
    return MaskedWindows(
        shard,
        kind.vocabulary,
        width=kind.window,
        share=model.masked_share,
        seed=0 if fixed else seed,  # scores of all seeds are of the same questions
        fixed=fixed,
    )
