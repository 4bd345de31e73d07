"""Unlabelled text as a source of labelled tasks.

Corpora are read by a package above this one, which needs an extra of its own. So it is imported by
its name, and only where there is a corpus to be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from tawt.errors import ConfigError, inside
from tawt.extras import MissingExtraError
from tawt.text.reading import TaggedSentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tawt.modality.inspecting import Measured
    from tawt.tasks import Task
    from tawt.text.kinds import Cutting
    from tawt.text.reading import Example, Splits
    from tawt.text.sections import EncoderConfig, UnlabelledTask

_READER = "tawt.corpora.unlabelled"


class UnlabelledReader(Protocol):
    """What makes tasks of unlabelled text."""

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
        """The text in rows for the encoder, tokenised if it was not before.

        Args:
            name: Of the task.
            section: Says where the text is.
            model: Names the encoder.
            cutting: How texts become pieces.
            held_out: What must not be trained on.
            cache: Where tokenised text is kept.
            seed: Of what is hidden.

        Raises:
            TawtError: It cannot be read.
        """
        ...

    def measured(self, task: Task) -> Measured:
        """What is in the text.

        Args:
            task: One that `task` made.
        """
        ...

    def warnings(self, task: Task, held_out: HeldOutTexts) -> Iterable[str]:
        """What a person would want to know before trusting a score.

        Args:
            task: One that `task` made.
            held_out: As it was given.
        """
        ...


class HeldOutTexts:
    """The targets' dev and test examples as plain texts, which no source may train on.

    Example:
        >>> HeldOutTexts().texts
        []
    """

    def __init__(self) -> None:
        self.targets: list[str] = []
        """Whose texts they are."""
        self.texts: list[str] = []

    def add(self, target: str, splits: Splits) -> None:
        """What a target holds out.

        Args:
            target: Its name.
            splits: Its examples.
        """
        self.targets.append(target)
        for part in (splits.dev, splits.test):
            self.texts.extend(_texts(part or ()))


@dataclass(frozen=True)
class UnlabelledTexts:
    """The tasks of a configuration that are text without labels.

    Args:
        sections: Of the configuration, by the task's name.
        cache: Where tokenised text is kept.

    Example:
        >>> UnlabelledTexts().others(["pos", "ner"])
        ['pos', 'ner']
    """

    sections: Mapping[str, UnlabelledTask] = field(default_factory=dict)
    cache: Path | None = None

    def among(self, names: Iterable[str]) -> list[str]:
        """Those of these tasks that are."""
        return [name for name in names if name in self.sections]

    def others(self, names: Iterable[str]) -> list[str]:
        """Those of these tasks that are not."""
        return [name for name in names if name not in self.sections]

    def read(
        self,
        name: str,
        model: EncoderConfig,
        cutting: Cutting,
        *,
        held_out: HeldOutTexts,
        seed: int,
    ) -> tuple[Task, list[str]]:
        """A task, and what there is to warn of.

        Args:
            name: Of the task.
            model: Names the encoder.
            cutting: How texts become pieces.
            held_out: What must not be trained on.
            seed: Of what is hidden.

        Raises:
            TawtError: Its text cannot be read.
        """
        with inside("data", "tasks", name, saying=f"Task {name!r}: "):
            reader = _reader()
            task = reader.task(
                name,
                self.sections[name],
                model,
                cutting,
                held_out=held_out,
                cache=self.cache,
                seed=seed,
            )
        return task, list(reader.warnings(task, held_out))

    def measure(
        self,
        name: str,
        model: EncoderConfig,
        cutting: Cutting,
        *,
        held_out: HeldOutTexts,
        seed: int,
    ) -> tuple[Measured, list[str]]:
        """What is in a task, and what there is to warn of; arguments as `read`."""
        task, warnings = self.read(name, model, cutting, held_out=held_out, seed=seed)
        return _reader().measured(task), warnings


def _reader() -> UnlabelledReader:
    """What makes tasks of unlabelled text.

    Raises:
        ConfigError: What it needs is not installed.
    """
    try:
        found: UnlabelledReader = vars(import_module(_READER))["READER"]
    except MissingExtraError as error:
        raise ConfigError(f"Unlabelled text cannot be read: {error}") from error
    return found


def _texts(examples: Sequence[Example]) -> Iterator[str]:
    for example in examples:
        if isinstance(example, TaggedSentence):
            yield " ".join(example.words)
        else:
            yield example.text
            if example.second is not None:
                yield example.second
