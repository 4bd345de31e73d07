"""The sections of a configuration that say where examples come from, and what reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tawt.errors import inside
from tawt.text.reading import KINDS as READABLE

MOST = 1_000_000_000
"""Of whatever is counted: no sensible number is beyond it, and what computes with one overflows."""


class Strict(BaseModel):
    """A section: fields that it does not have are refused, and numbers that are none."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )


class DigitsData(Strict):
    """scikit-learn's scanned digits, with sources good and bad."""

    kind: Literal["digits"]
    target_size: int = Field(30, ge=10, le=400)
    """Labelled examples of the target."""


class ArrayTask(Strict):
    """One task in `.npz` files, each with arrays `inputs` and `labels`."""

    kind: Literal["classification", "regression"] = "classification"
    """What is predicted: one of several labels, or a number."""
    train: Path
    """Examples to train on."""
    dev: Path | None = None
    """Examples to choose by."""
    test: Path | None = None
    """Examples to report on."""
    labels: list[str] | None = None
    """Names of the labels; 0, 1, … by default."""


class ArrayData(Strict):
    """Tasks from NumPy files; paths are relative to the configuration."""

    kind: Literal["arrays"]
    tasks: dict[str, ArrayTask]
    """By name: sources and target."""


Files = Path | list[Path]


class TextTask(Strict):
    """One task in text files; paths are relative to the configuration."""

    kind: str = "tagging"
    """What is predicted: `tagging`, a tag for each word; `classification`, a label for a text;
    `pair`, a label for two; `regression`, a number; or a kind of your own."""
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
    held_out: dict[Literal["dev", "test"], float] = {}
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
    fields: dict[str, str] = {}
    """JSONL, CSV and datasets: the file's names for `tokens`, `tags`, `text`, `second`,
    `label`, and `group`, which weights on groups can be by."""
    encoding: str = "utf-8"
    """Of the files."""
    labels: list[str] | None = None
    """In the order of the outputs; those of the training examples by default."""
    metric: str | None = None
    """The score that counts. Tagging: span_f1, span_f1_conlleval, token_f1, accuracy, macro_f1;
    classification: accuracy, macro_f1, matthews, positive_f1; regression: pearson, spearman, r2."""
    positive: str | None = None
    """With `positive_f1`: the label it is about."""


class TextData(Strict):
    """Tasks from text files."""

    kind: Literal["text"]
    tasks: dict[str, TextTask]
    """By name: sources and target."""

    @model_validator(mode="after")
    def _check_kinds(self) -> TextData:
        for name, task in self.tasks.items():
            if task.kind not in READABLE:  # which are known without seconds of imports
                from tawt.text.kinds import kind_named

                with inside("tasks", name, saying=f"`data.tasks.{name}.kind`: "):
                    kind_named(task.kind)
        return self


GRAMMAR_TASKS = ("pos", "chunk", "predicate", "entity", "shuffled")
"""What the generated corpus is annotated with; the last has parts of speech out of order."""


class GrammarData(Strict):
    """A generated corpus with parts of speech, chunks, predicates and entities."""

    kind: Literal["grammar"]
    target_size: int = Field(20, ge=5, le=100_000)
    """Labelled sentences of the target, which are web text."""
    source_size: int = Field(160, ge=5, le=100_000)
    """Labelled sentences of each source, which are news."""


class NetworkConfig(Strict):
    """A small network from scratch, for arrays."""

    kind: Literal["mlp", "cnn"] = "mlp"
    """Fully connected layers, or a small convolutional network for images."""
    widths: list[Annotated[int, Field(ge=1, le=1_000_000)]] = Field(
        [64, 32], min_length=1, max_length=1000
    )
    """Units of each hidden layer; the last is the size of the representation."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """Share of the representation left out in training."""


class EncoderConfig(Strict):
    """A pre-trained encoder, for text."""

    kind: Literal["encoder"]
    encoder: str
    """A name on the Hugging Face hub, a folder, or `package:NAME`."""
    max_length: int = Field(128, ge=8, le=1_000_000)
    """Most pieces of a text that the encoder sees at once."""
    long: Literal["window", "truncate"] = "window"
    """Tagging: longer sentences become several rows that overlap, or lose their end."""
    overlap: int | None = Field(None, ge=0, le=1_000_000)
    """Pieces that such rows share; a quarter of a row by default."""
