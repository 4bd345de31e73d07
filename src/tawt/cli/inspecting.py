"""What `tawt data inspect` does and shows."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from tawt.cli import console
from tawt.cli.actions import loaded
from tawt.cli.shortening import MOST, largest, more
from tawt.config.explaining import lines_of
from tawt.errors import ConfigError
from tawt.runs.inspecting import inspect_config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tawt.modality.facts import (
        DataFacts,
        FactTable,
        NumberFacts,
        Overlap,
        SplitFacts,
        TaskFacts,
    )
    from tawt.text.reading import ReadOptions, TaskKind

_SHOWN_LABELS = 10
_NUMBERS: dict[str, Callable[[NumberFacts], float]] = {
    "mean": lambda found: found.mean,
    "deviation": lambda found: found.deviation,
    "smallest": lambda found: found.smallest,
    "largest": lambda found: found.largest,
}
_SHOWN_COLUMNS = 4  # of the matrix of overlaps, in eighty columns of a terminal


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """What is said on the command line of a data file; a configuration says it itself."""

    kind: TaskKind | None
    encoder: str | None
    max_length: int | None
    reading: dict[str, Any]
    """Arguments of `ReadOptions`, `None` where they were not given."""

    @property
    def given(self) -> list[str]:
        """Names of those that were given."""
        known: dict[str, Any] = {
            "kind": self.kind,
            "encoder": self.encoder,
            "max_length": self.max_length,
        }
        return [
            name for name, value in {**known, **self.reading}.items() if value not in (None, [])
        ]

    def read_options(self) -> ReadOptions:
        """How the file is read."""
        from tawt.text.reading import ReadOptions

        given = {name: value for name, value in self.reading.items() if value is not None}
        return ReadOptions(**{**given, "fields": dict(map(_field, given.get("fields") or []))})


def inspect_data(
    path: Path,
    overrides: Sequence[str] | None,
    *,
    options: FileOptions,
    quiet: bool,
    as_json: bool,
) -> None:
    """Look into the data of a configuration, or into a file."""
    if path.suffix.lower() in (".yaml", ".yml"):
        if options.given:
            raise ConfigError(
                f"{path} is a configuration, and says itself how its files are read; "
                f"--{options.given[0].replace('_', '-')} is for a data file. Use -o KEY=VALUE."
            )
        config = loaded(path, overrides)
        with lines_of(path):
            facts = inspect_config(config)
    else:
        from tawt.text.inspecting import inspect_file

        if overrides:
            raise ConfigError(f"-o replaces values of a configuration; {path} is a data file.")
        if path.suffix.lower() in (".npz", ".npy"):
            raise ConfigError(
                f"{path} is a file of arrays, and only files of text are inspected by themselves; "
                "give the configuration that names it."
            )
        facts = inspect_file(
            path,
            kind=options.kind or "tagging",
            options=options.read_options(),
            encoder=options.encoder,
            max_length=options.max_length or 128,
        )
    if as_json:
        console.write(json.dumps(asdict(facts), indent=2, ensure_ascii=False) + "\n")
    elif not quiet:
        _show(facts)


def _field(item: str) -> tuple[str, str]:
    ours, equals, theirs = item.partition("=")
    if not (ours and equals and theirs):
        raise ConfigError(f"--field is OURS=THEIRS, such as text=review; got {item!r}.")
    return ours, theirs


def _show(facts: DataFacts) -> None:
    shown = _most_seen(facts)
    _show_first(shown.tasks)
    if left_out := len(facts.tasks) - len(shown.tasks):
        console.say(f"The largest are shown, {more(left_out)} are not; --json has all of them.\n")
    for title, table, note in (*_tables(shown), *_overlap_tables(facts)):
        console.say(title)
        console.out.print(table)
        if note:
            console.say(f"{note}\n")
    for warning in facts.warnings[:MOST]:
        console.say(f"warning: {warning}")
    if facts.warnings[MOST:]:
        console.say(f"{more(len(facts.warnings) - MOST)} such warnings; --json has all of them.")


def _show_first(tasks: Sequence[TaskFacts]) -> None:
    for task in tasks:
        if task.first:
            console.say(f"First examples of {task.name}, as they were read")
            for line in task.first:
                console.say(f"  {console.plain(line)}")
            console.say("")


def _most_seen(facts: DataFacts) -> DataFacts:
    """Of many tasks the targets and the largest."""
    sizes = {
        task.name: sum(split.examples for split in task.splits.values()) for task in facts.tasks
    }
    names = largest(sizes, always=[task.name for task in facts.tasks if task.role == "target"])
    return replace(facts, tasks=tuple(task for task in facts.tasks if task.name in names))


def _tables(facts: DataFacts) -> Iterator[tuple[str, Table, str]]:
    """Titles, tables, and what is to be said about them."""
    for splits in _alike(facts):
        _, _, first = splits[0]
        yield (
            first.title,
            _sizes(splits),
            f"twice: the same as an earlier {first.noun} of the split; "
            f"in train: as a training {first.noun}.",
        )
    for title, rows in _further(facts).items():
        _, _, first_row = rows[0]
        yield title, _cells(rows), first_row.note
    for task in facts.tasks:
        if any(split.labels or split.numbers for split in task.splits.values()):
            yield f"Labels of {task.name} ({task.role}, {task.kind})", _labels(task), ""


def _overlap_tables(facts: DataFacts) -> Iterator[tuple[str, Table, str]]:
    for table in _overlaps(facts):
        yield (
            "Examples that are also training examples of another task",
            table,
            "A column's examples (and their share of it) that the row's task trains on.",
        )


def _alike(facts: DataFacts) -> list[list[tuple[str, str, SplitFacts]]]:
    """All splits, those together of which a table has the same columns."""
    found: dict[tuple[str, ...], list[tuple[str, str, SplitFacts]]] = {}
    for task, split, each in _splits(facts):
        headings = (each.title, each.noun, *each.columns)
        found.setdefault(headings, []).append((task, split, each))
    return list(found.values())


def _sizes(splits: Sequence[tuple[str, str, SplitFacts]]) -> Table:
    _, _, first = splits[0]
    numbers = (f"{first.noun}s", *first.columns, "twice", "in\ntrain")
    table = _table("task", "split", numbers=numbers)
    for task, split, found in splits:
        in_train = found.also_in.get("train")
        table.add_row(
            Text(task),
            split,
            f"{found.examples:,}",
            *found.columns.values(),
            f"{found.repeated:,}",
            "" if in_train is None else f"{in_train:,}",
        )
    return table


def _further(facts: DataFacts) -> dict[str, list[tuple[str, str, FactTable]]]:
    """By their titles, the rows of the tables that splits have beside that of sizes."""
    found: dict[str, list[tuple[str, str, FactTable]]] = {}
    for task, split, each in _splits(facts):
        for table in each.tables:
            found.setdefault(table.title, []).append((task, split, table))
    return found


def _cells(rows: Sequence[tuple[str, str, FactTable]]) -> Table:
    _, _, first = rows[0]
    table = _table("task", "split", numbers=list(first.columns))
    for task, split, found in rows:
        table.add_row(Text(task), split, *found.columns.values())
    return table


def _labels(task: TaskFacts) -> Table:
    """The most frequent labels of the first split, beside what the others have of them."""
    table = _table("label", numbers=list(task.splits))
    numbers = [split.numbers for split in task.splits.values() if split.numbers is not None]
    if len(numbers) == len(task.splits):
        for name, value in _NUMBERS.items():
            table.add_row(name, *(f"{value(each):.4g}" for each in numbers))
        return table
    by_split = [{each.label: each for each in split.labels} for split in task.splits.values()]
    names = list(dict.fromkeys(name for labels in by_split for name in labels))
    for name in names[:_SHOWN_LABELS]:
        cells = (
            f"{labels[name].count:,} {labels[name].share:6.1%}" if name in labels else "0   0.0%"
            for labels in by_split
        )
        table.add_row(Text(name), *cells)
    rest = names[_SHOWN_LABELS:]
    if rest:
        sums = (
            (
                sum(labels[name].count for name in rest if name in labels),
                sum(labels[name].share for name in rest if name in labels),
            )
            for labels in by_split
        )
        table.add_row(f"{len(rest)} more", *(f"{count:,} {share:6.1%}" for count, share in sums))
    return table


def _overlaps(facts: DataFacts) -> Iterator[Table]:
    """The matrix of what tasks share, a few columns at a time.

    Left out are columns of nothing, and the held-out examples of sources, which no run reads.
    """
    found = {(each.train_of, each.task, each.split): each for each in facts.overlaps}
    filled = {(each.task, each.split) for each in facts.overlaps if each.of_split}
    columns = [
        (task.name, split)
        for task in facts.tasks
        for split in (task.splits if task.role == "target" else ("train",))
        if (task.name, split) in filled
    ]
    counts: Counter[tuple[str, str]] = Counter()
    for each in facts.overlaps:
        counts[each.task, each.split] += each.of_split
    columns = largest({column: counts[column] for column in columns})
    for start in range(0, len(columns), _SHOWN_COLUMNS):
        part = columns[start : start + _SHOWN_COLUMNS]
        table = _table("trained on by", numbers=[f"{task}\n{split}" for task, split in part])
        rows = largest({task.name: _shared_by(task, part, found) for task in facts.tasks})
        for row in rows:
            table.add_row(Text(row), *(_shared(found.get((row, *column))) for column in part))
        if len(rows) < len(facts.tasks):
            table.add_row(more(len(facts.tasks) - len(rows)))
        yield table


def _shared_by(
    task: TaskFacts,
    columns: Sequence[tuple[str, str]],
    found: Mapping[tuple[str, str, str], Overlap],
) -> int:
    """How many examples of these columns a task trains on."""
    overlaps = (found.get((task.name, *column)) for column in columns)
    return sum(overlap.of_split for overlap in overlaps if overlap is not None)


def _shared(overlap: Overlap | None) -> str:
    if overlap is None:
        return ""
    return f"{overlap.of_split:,} {overlap.share:6.1%}" if overlap.of_split else "0"


def _splits(facts: DataFacts) -> Iterator[tuple[str, str, SplitFacts]]:
    for task in facts.tasks:
        for split, found in task.splits.items():
            yield task.name, split, found


def _table(*names: str, numbers: Sequence[str]) -> Table:
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in names:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(Text(name), justify="right", no_wrap=True)
    return table
