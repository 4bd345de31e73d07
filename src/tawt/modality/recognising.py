"""What a kind of data takes files for, before there is a configuration that says so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tawt.errors import DataError
from tawt.modality.split_names import SPLITS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tawt.modality.split_names import Split


@dataclass(frozen=True, kw_only=True)
class FileGroup:
    """Files that are the splits of one task, as far as their names say.

    Example:
        >>> from pathlib import Path
        >>> FileGroup(name="ner", files={"train": (Path("ner.tsv"),)}).first.name
        'ner.tsv'
    """

    name: str
    """Of the task."""
    files: Mapping[Split, tuple[Path, ...]]
    """Of each split that there is."""
    by_itself: bool = True
    """Whether a person named these files, and not only a folder around them."""

    @property
    def first(self) -> Path:
        """The first file to train on.

        Raises:
            DataError: There is none.
        """
        if "train" not in self.files:
            split, paths = next(iter(self.files.items()))
            raise DataError(
                f"{paths[0]} is {split} data by its name, and there are no training examples that "
                "belong to it; give those too, or rename the file."
            )
        return self.files["train"][0]

    def sections(self) -> dict[str, Any]:
        """The fields `train`, `dev` and `test` of a configuration, as far as there are any."""
        found = {split: self.files[split] for split in SPLITS if split in self.files}
        return {
            split: list(paths) if len(paths) > 1 else paths[0] for split, paths in found.items()
        }


@dataclass(frozen=True, kw_only=True)
class Recognised:
    """A task, as a kind of data takes it from files.

    A kind of data derives from it where it has more to remember for `Modality.draft`.
    """

    name: str
    task_kind: str
    """What is predicted, as the configuration calls it."""
    taken_for: str
    """What the files were taken for, and what is read from them: part of a sentence."""
    noun: str = "example"
    """What an example is called."""
    sizes: Mapping[Split, int]
    """Examples of each split that there is."""
    labels: tuple[str, ...] = ()
    """The most frequent first; none where there is no list of them."""
    first: tuple[str, ...] = ()
    """The first training examples, a line each."""
    section: Mapping[str, Any]
    """The task's section of a configuration: values, some of them `Commented`. Paths are as they
    were given."""
    remarks: tuple[str, ...] = ()
    """What a person should look at, a sentence each."""
    of_held_out: tuple[str, ...] = ()
    """The same of dev and test, which matter where the task is the target."""
    may_be_target: bool = True
    """Whether there is anything to score it by."""

    @property
    def plural(self) -> str:
        """What several examples are called."""
        return f"{self.noun}s"


@dataclass(frozen=True)
class Drafted:
    """Sections and fields of a configuration to begin with, without `name` and `target`."""

    values: Mapping[str, Any]
    """All tasks are under `data`. Values may be `Commented`, and paths are as they were given."""
    remarks: tuple[str, ...] = ()
    """What a person should know of it, a sentence each."""


@dataclass(frozen=True)
class Commented:
    """A value of a configuration, with what is said beside it."""

    value: Any
    comment: str = field(default="")
