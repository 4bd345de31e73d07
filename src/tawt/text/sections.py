"""The sections of a configuration that are about text.

Reading one must not take the seconds that transformers needs to import.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from tawt.errors import ConfigError, inside
from tawt.modality import MOST, DataSection, Section
from tawt.text.reading import KINDS as READABLE
from tawt.text.reading.lines import codec_named

Files = Path | list[Path]

FILES_WANTED = "text with labels (columns, CoNLL-U, JSON lines, CSV, TSV) or without (.txt)"
"""What files tasks of text are read from."""
ENDINGS = (
    *(".tsv", ".csv", ".conllu", ".conll", "_conll", ".iob", ".iob2", ".bio"),
    *(".jsonl", ".ndjson", ".json", ".txt"),
)
"""How the names of such files end."""


class TextTask(Section):
    """One task in text files; paths are relative to the configuration."""

    kind: str = "tagging"
    """What is predicted: `tagging`, a tag for each word; `classification`, a label for a text;
    `pair`, a label for two; `regression`, a number; or a kind of your own. `unlabelled` has
    fields of its own, below."""
    folder: Path | None = None
    """Files named after their splits (train; dev or valid; test), or a saved `datasets` folder, or
    `hub:NAME`."""
    pattern: str | None = None
    """With `folder`: only files whose names match, for example `ner.*`."""
    train: Files | None = None
    """Or the files themselves: examples to train on."""
    dev: Files | None = None
    """Examples to choose by."""
    test: Files | None = None
    """Examples to report on."""
    held_out: dict[Literal["dev", "test"], float] = Field({})
    """Fractions of `train` to cut off for dev or test; the same examples whatever the seed."""
    limit: int | None = Field(None, ge=1, le=MOST)
    """How many training examples are drawn, with the run's seed; 100 are the first of 500."""
    limit_dev: int | None = Field(None, ge=1, le=MOST)
    """How many of dev, the same for every seed."""
    limit_test: int | None = Field(None, ge=1, le=MOST)
    """How many of test, the same for every seed."""
    invalid: Literal["repair", "refuse"] = "repair"
    """Tags that break IOB2 (an I- that continues nothing): made B-, or an error."""
    format: str | None = None
    """columns, conllu, ontonotes, jsonl, csv, tsv or hub; guessed from the file by default."""
    separator: str | None = None
    """Between columns; blanks by default."""
    quote: str = '"'
    """In CSV and TSV; empty where the sign means itself."""
    word_column: int = Field(0, ge=-MOST, le=MOST)
    """Columns: where the word is, counted from 0; from the end if negative. A file whose first
    column numbers its rows is refused unless this is given."""
    tag_column: int = Field(-1, ge=-MOST, le=MOST)
    """Columns: where the tag is."""
    tag: str = "upos"
    """CoNLL-U: upos, xpos, or `misc:KEY`."""
    layer: str = "pos"
    """OntoNotes: pos, predicate or ner."""
    split: str | None = None
    """Saved `datasets` folders given as `train`, `dev` or `test`: which of their splits."""
    fields: dict[str, str] = Field({})
    """JSONL, CSV and datasets: the file's names for `tokens`, `tags`, `text`, `second`,
    `label`, and `group`, which weights on groups can be by."""
    encoding: str = "utf-8"
    """Of the files."""
    rename: dict[str, str] = Field({})
    """Labels, or types of spans, by another name than the files have: `{theirs: ours}`. A type that
    becomes `O` is no span any more."""
    labels: list[str] | None = None
    """In the order of the outputs; those of the training examples by default."""
    metric: str | None = None
    """The score that counts. Tagging: span_f1, span_f1_conlleval, token_f1, accuracy, macro_f1;
    classification: accuracy, macro_f1, matthews, positive_f1; regression: pearson, spearman, r2."""
    positive: str | None = None
    """With `positive_f1`: the label it is about."""
    head: str | None = None
    """Tasks that name the same head share their last layer: an output for each label of any."""

    @model_validator(mode="after")
    def _check_rename(self) -> TextTask:
        if self.rename and self.kind == "regression":
            raise ConfigError(
                "Numbers have no names; leave `rename` out, or set another `kind`.",
                place=("rename",),
            )
        return self


class UnlabelledTask(Section):
    """Plain text, of which the encoder predicts hidden words: a source, and never a target."""

    kind: Literal["unlabelled"]
    """That the text has no labels."""
    train: Files
    """The text: a file, several, a pattern such as `papers/*.txt`, a folder (every file in it), a
    folder saved by `datasets`, or `hub:NAME`."""
    without_held_out: bool = True
    """Whether lines that stand in the target's dev or test are left out. Letters and digits alone
    are compared."""
    masked_share: float = Field(0.15, gt=0, lt=1)
    """Share of the pieces that are predicted."""
    format: Literal["text", "jsonl", "parquet", "datasets"] | None = None
    """How the text is stored; guessed from the name by default. Text and JSON lines may be
    compressed (.gz)."""
    documents: Literal["line", "blank line", "file"] = "line"
    """Plain text: what a document is. Documents end with a blank line, or with the file."""
    fields: dict[Literal["text", "group"], str] = Field({})
    """JSON lines, Parquet and datasets: the file's names for `text`, and for `group`, which weights
    on groups can be by."""
    limit: int | None = Field(None, ge=1, le=MOST)
    """How many documents are read, the first ones."""
    split: str = "train"
    """Datasets: which of their splits."""
    streaming: bool = False
    """`hub:NAME`: read as it arrives, instead of being downloaded first."""
    encoding: str = "utf-8"
    """Of text and JSON lines."""
    invalid: Literal["refuse", "replace"] = "refuse"
    """Bytes that are not in this encoding: an error, or replaced by U+FFFD and counted."""

    @field_validator("encoding")
    @classmethod
    def _check_encoding(cls, encoding: str) -> str:
        codec_named(encoding)
        return encoding

    @field_validator("train")
    @classmethod
    def _check_train(cls, train: Files) -> Files:
        if train == []:
            raise ConfigError("`train` names no files; give at least one.")
        return train


def _has_labels(task: Any) -> str:
    """Which of the two kinds of section a task is."""
    said = task.get("kind") if isinstance(task, dict) else None
    has_none = said == "unlabelled" or isinstance(task, UnlabelledTask)
    return "without labels" if has_none else "with labels"


class TextData(DataSection):
    """Tasks from text files."""

    kind: Literal["text"]
    tasks: dict[
        str,
        Annotated[
            Annotated[TextTask, Tag("with labels")]
            | Annotated[UnlabelledTask, Tag("without labels")],
            Discriminator(_has_labels),
        ],
    ]
    """By name: sources and target."""
    cache: Path | None = None
    """Where unlabelled text is kept once it is tokenised; the user's cache folder by default
    (`$XDG_CACHE_HOME/tawt`, or `~/.cache/tawt`)."""

    @property
    def labelled(self) -> dict[str, TextTask]:
        """The tasks that have labels."""
        return {name: task for name, task in self.tasks.items() if isinstance(task, TextTask)}

    @property
    def unlabelled(self) -> dict[str, UnlabelledTask]:
        """The others."""
        tasks = self.tasks.items()
        return {name: task for name, task in tasks if isinstance(task, UnlabelledTask)}

    @model_validator(mode="after")
    def _check_kinds(self) -> TextData:
        for name, task in self.labelled.items():
            if task.kind not in READABLE:  # which are known without seconds of imports
                from tawt.text.kinds import kind_named

                with inside("tasks", name, saying=f"`data.tasks.{name}.kind`: "):
                    kind_named(task.kind)
        return self

    @model_validator(mode="after")
    def _check_heads(self) -> TextData:
        sharing: dict[str, list[str]] = {}
        for name, task in self.labelled.items():
            if task.head is not None:
                sharing.setdefault(task.head, []).append(name)
        for head, (first, *others) in sharing.items():
            place = ("tasks", first, "head")
            if not others:
                raise ConfigError(
                    f"Task {first!r} names the head {head!r}, which no other task does; give the "
                    f"task that it shares one with `head: {head}` too, or leave it out.",
                    place=place,
                )
            kinds = {name: self.labelled[name].kind for name in (first, *others)}
            other = next((name for name in others if kinds[name] != kinds[first]), None)
            if other is not None:
                raise ConfigError(
                    f"Tasks {first!r} and {other!r} name the same head {head!r}, but are of "
                    f"different kinds, {kinds[first]} and {kinds[other]}.",
                    place=place,
                )
        return self


class EncoderConfig(Section):
    """A pre-trained encoder, for text."""

    kind: Literal["encoder"] = "encoder"
    encoder: str
    """A name on the Hugging Face hub, a folder, or `package:NAME`."""
    max_length: int = Field(128, ge=8, le=1_000_000)
    """Most pieces of a text that the encoder sees at once."""
    long: Literal["window", "truncate"] = "window"
    """Tagging: longer sentences become several rows that overlap, or lose their end."""
    overlap: int | None = Field(None, ge=0, le=1_000_000)
    """Pieces that such rows share; a quarter of a row by default."""
