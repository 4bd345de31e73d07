"""Train, dev and test of a task, from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tawt.errors import ConfigError
from tawt.modality.split_names import SPLITS
from tawt.text.reading.drawing import FIXED_SEED, draw, hold_out
from tawt.text.reading.folders import find_splits
from tawt.text.reading.gathering import gather
from tawt.text.reading.options import ReadOptions
from tawt.text.reading.report import ReadReport, report_on

if TYPE_CHECKING:
    from tawt.modality.split_names import Split
    from tawt.text.reading.examples import Example, TaskKind
    from tawt.text.reading.iob import Invalid

_USUAL = ReadOptions()


@dataclass(frozen=True, kw_only=True)
class SplitFiles:
    """Where the examples of a task are, and how many of them are taken.

    Raises:
        ConfigError: If both `folder` and files are given, or neither; or a number is out of range.

    Example:
        >>> SplitFiles(train=Path("ner.train.tsv"), held_out={"dev": 0.1}).limit is None
        True
    """

    folder: Path | None = None
    """A folder whose files are named after their splits: train; dev, valid, validation or val;
    test. Or a dataset of the hub."""
    pattern: str | None = None
    """With `folder`: only files whose names match, for example `ner.*`."""
    train: Path | Sequence[Path] | None = None
    """Or the files themselves, one or several, read in this order."""
    dev: Path | Sequence[Path] | None = None
    """Held out to choose by."""
    test: Path | Sequence[Path] | None = None
    """Held out to report on."""
    held_out: Mapping[str, float] = field(default_factory=dict)
    """Fractions of the training examples that are cut off for `dev`, for `test`, or for both:
    always the same ones, whatever the seed (see `hold_out`)."""
    limit: int | None = None
    """How many training examples are drawn, with the seed; 100 are the first of the 500."""
    limit_dev: int | None = None
    """How many of dev, the same ones for every seed."""
    limit_test: int | None = None
    """How many of test, the same ones for every seed."""

    def __post_init__(self) -> None:
        files = {"train": self.train, "dev": self.dev, "test": self.test}
        if (self.folder is None) == (self.train is None):
            raise ConfigError("Give either `folder` or the `train` files (and `dev`, `test`).")
        if self.folder is not None and (self.dev is not None or self.test is not None):
            raise ConfigError(
                "`dev` and `test` go with `train`; with `folder` they are found.",
                place=("folder",),
            )
        if self.folder is None and self.pattern is not None:
            raise ConfigError(
                "`pattern` chooses among the files of a `folder`; give that too.",
                place=("pattern",),
            )
        for split, files_given in files.items():
            if isinstance(files_given, Sequence) and not files_given:
                raise ConfigError(
                    f"`{split}` names no files; give at least one, or leave it out.", place=(split,)
                )
        _check_fractions(self.held_out, {s for s, given in files.items() if given is not None})
        for name in ("limit", "limit_dev", "limit_test"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise ConfigError(f"`{name}` must be at least 1; got {number}.", place=(name,))

    def find_files(self) -> dict[Split, list[Path]]:
        """The files of each split that there is.

        Raises:
            DataError: If the folder has none, or files of several tasks.
        """
        if self.folder is not None:
            return find_splits(self.folder, pattern=self.pattern)
        given = {"train": self.train, "dev": self.dev, "test": self.test}
        return {split: _listed(given[split]) for split in SPLITS if given[split] is not None}


@dataclass(frozen=True)
class Splits:
    """The examples of a task.

    Example:
        >>> Splits([], None, None, ReadReport(sizes={"train": 0}, duplicates={})).dev is None
        True
    """

    train: list[Example]
    """Learnt from; in the order of the draw where there is a limit, else of the files."""
    dev: list[Example] | None
    """Held out to choose by."""
    test: list[Example] | None
    """Held out to report on."""
    report: ReadReport
    """What was found while reading."""

    def only_train(self) -> Splits:
        """The training examples alone, as a source has them."""
        return Splits(self.train, None, None, self.report)


def load(
    files: SplitFiles,
    *,
    kind: TaskKind,
    options: ReadOptions = _USUAL,
    invalid: Invalid = "repair",
    seed: int,
) -> Splits:
    r"""Read the splits of a task into memory.

    Tags of spans are made IOB2 (see `tawt.text.reading.iob`); empty sentences are left out; both
    are counted. Of `files`, what is held out is cut off first, then limits are drawn.

    Args:
        files: Where they are, and how many are taken.
        kind: The kind of task.
        options: How the files are read.
        invalid: Whether tags that are no IOB2 are repaired or refused.
        seed: Of the draw of `files.limit` training examples, and of nothing else.

    Raises:
        DataError: If anything is wrong with the files, or there are fewer examples than a limit.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     lines = "".join(f"word{i}\tX\n\n" for i in range(10))
        ...     _ = Path(folder, "train.tsv").write_text(lines)
        ...     files = SplitFiles(folder=Path(folder), held_out={"dev": 0.2}, limit=4)
        ...     load(files, kind="tagging", seed=0).report.sizes
        {'train': 4, 'dev': 2}
    """
    found = files.find_files()
    _check_fractions(files.held_out, set(found))
    gathered = gather(found, kind=kind, options=options, invalid=invalid)
    splits: dict[str, list[Example]] = dict(gathered.examples.items())
    if files.held_out:
        splits["train"], cut = hold_out(splits["train"], files.held_out)
        splits |= cut
    limits = {
        "train": (files.limit, seed),
        "dev": (files.limit_dev, FIXED_SEED),
        "test": (files.limit_test, FIXED_SEED),
    }
    for split, examples in splits.items():
        limit, of = limits[split]
        if limit is not None:
            splits[split] = draw(examples, limit=limit, seed=of, what=split)
    splits = {split: splits[split] for split in SPLITS if split in splits}
    report = report_on(splits, counts=gathered.counts, empty=gathered.empty)
    return Splits(splits["train"], splits.get("dev"), splits.get("test"), report)


_HELD_OUT = ("held_out",)


def _check_fractions(fractions: Mapping[str, float], given: set[str]) -> None:
    for split, fraction in fractions.items():
        if split not in {"dev", "test"}:
            raise ConfigError(f"`held_out` cuts off dev and test; got {split!r}.", place=_HELD_OUT)
        if split in given:
            raise ConfigError(
                f"There are {split} files, so none can be held out; drop one of them.",
                place=(*_HELD_OUT, split),
            )
        if not 0 < fraction < 1:
            raise ConfigError(
                f"`held_out` for {split} must be between 0 and 1; got {fraction}.",
                place=(*_HELD_OUT, split),
            )
    if sum(fractions.values()) >= 1:
        raise ConfigError(
            f"`held_out` leaves nothing to train on; got {dict(fractions)}.", place=_HELD_OUT
        )


def _listed(files: Path | Sequence[Path] | None) -> list[Path]:
    return [files] if isinstance(files, Path) else list(files or [])
