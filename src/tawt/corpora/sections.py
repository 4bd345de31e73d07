"""The section of a configuration that says where a corpus is.

Reading one must not take the seconds that transformers needs to import.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator

from tawt.errors import ConfigError
from tawt.modality import MOST, Section
from tawt.text.reading.lines import codec_named

Files = Path | list[Path]
Format = Literal["text", "jsonl", "parquet", "datasets"]
"""How a corpus is stored."""
DocumentUnit = Literal["line", "blank line", "file"]
"""What a document is, in plain text."""
HeldOut = Literal["dev", "test"]
"""Splits that can be cut off `train`."""


class CorpusFiles(Section):
    """Where the text of a corpus is; paths are relative to the configuration.

    Example:
        >>> corpus = CorpusFiles(train=Path("books/*.txt"), held_out={"dev": 0.05})
        >>> corpus.splits
        ('train', 'dev')
    """

    train: Files
    """Text to train on: a file, several, a pattern such as `books/*.txt`, a folder (every file in
    it), a folder saved by `datasets`, or `hub:NAME`."""
    dev: Files | None = None
    """Text to choose by."""
    test: Files | None = None
    """Text to report on."""
    held_out: dict[HeldOut, float] = Field({})
    """Fractions of the documents of `train` to cut off for dev or test. A document's own text
    decides, so they are the same ones whatever the seed and the order of the files."""
    format: Format | None = None
    """text, jsonl (a JSON object to a line), parquet or datasets; guessed from the name by
    default. Text and JSON lines may be compressed (.gz)."""
    documents: DocumentUnit = "line"
    """Plain text: what a document is. Documents end with a blank line, or with the file."""
    field: str = "text"
    """JSON lines, Parquet and datasets: the field that holds the text. Dots lead into a field."""
    group: str | None = None
    """The field that names a document's group, which weights on groups can be by."""
    limit: int | None = Field(None, ge=1, le=MOST)
    """How many documents of `train` are read, the first ones that are not empty; those held out are
    among them."""
    split: str = "train"
    """Datasets given as `train`: which of their splits. As `dev` or `test`, the split of that
    name."""
    streaming: bool = False
    """`hub:NAME`: read as it arrives, instead of being downloaded first."""
    encoding: str = "utf-8"
    """Of text and JSON lines."""
    invalid: Literal["refuse", "replace"] = "refuse"
    """Bytes that are not in this encoding: an error, or replaced by U+FFFD and counted."""

    @property
    def splits(self) -> tuple[Literal["train", "dev", "test"], ...]:
        """Those that there are."""
        there = {"train": True, "dev": self.dev is not None, "test": self.test is not None}
        return tuple(
            split for split in ("train", "dev", "test") if there[split] or split in self.held_out
        )

    @field_validator("encoding")
    @classmethod
    def _check_encoding(cls, encoding: str) -> str:
        codec_named(encoding)
        return encoding

    @model_validator(mode="after")
    def _check(self) -> CorpusFiles:
        for split in ("train", "dev", "test"):
            if getattr(self, split) == []:
                raise ConfigError(f"`{split}` names no files; give at least one.", place=(split,))
        for split, fraction in self.held_out.items():
            if not 0 < fraction < 1:
                raise ConfigError(
                    f"`held_out.{split}` is a fraction of the documents, between 0 and 1; got "
                    f"{fraction}.",
                    place=("held_out", split),
                )
            if getattr(self, split) is not None:
                raise ConfigError(
                    f"`{split}` is given, and cut off `train` by `held_out`; leave out one.",
                    place=("held_out", split),
                )
        if sum(self.held_out.values()) >= 1:
            raise ConfigError(
                f"`held_out` leaves nothing to train on: its fractions add up to "
                f"{sum(self.held_out.values()):g}; expected less than 1.",
                place=("held_out",),
            )
        return self
