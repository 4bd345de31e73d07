"""Where a user's data has the paper's four tasks: one small YAML file, or one of ours."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field, ValidationError

from tawt.config import yaml_file
from tawt.config.explaining import explained
from tawt.errors import ConfigError, DataError, Place, inside
from tawt.modality import Section
from tawt.reproduce.paper import METRICS, TASKS
from tawt.text.building import read_task, split_files
from tawt.text.kinds.making import chosen_metric
from tawt.text.sections import TextTask

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


SECTION: Place = ("tasks",)
"""Where a layout has its tasks."""
_SPLITS = ("train", "dev", "test")


class Layout(Section):
    """Which file is which task."""

    about: Annotated[str, Field(min_length=1), AfterValidator(lambda text: " ".join(text.split()))]
    """What the data is, for the table's caption."""
    tasks: dict[str, TextTask]
    """By the paper's names: pos, chunking, predicate, ner. Fields as in a configuration's
    `data.tasks`; paths are relative to the data folder, and may be patterns."""


def layouts() -> list[str]:
    """Names of those that come with tawt.

    Example:
        >>> layouts()
        ['ontonotes', 'open']
    """
    folder = resources.files("tawt.reproduce").joinpath("layouts")
    return sorted(Path(str(file)).stem for file in folder.iterdir())


def load_layout(name: str) -> Layout:
    """A layout of ours by its name, or one in a YAML file.

    Args:
        name: Of ours, or a path.

    Raises:
        ConfigError: There is none, or it is not one; with the line that is wrong.
    """
    ours = resources.files("tawt.reproduce").joinpath("layouts", f"{name}.yaml")
    path = Path(str(ours)) if name in layouts() else Path(name)
    if not path.is_file():
        raise ConfigError(
            f"There is no layout {name!r}; expected a YAML file, or one of {', '.join(layouts())}."
        )
    values, lines = yaml_file.read(path)
    try:
        layout = Layout.model_validate(values)
    except ValidationError as error:
        raise explained(error, str(path), lines, model=Layout, values=values) from error
    for task in layout.tasks:
        if task not in TASKS:
            where = yaml_file.located(str(path), (*SECTION, task), lines)
            raise ConfigError(
                f"{where}: there is no task {task!r}; the paper's: {', '.join(TASKS)}."
            )
    return layout


def placed(layout: Layout, data: Path) -> dict[str, dict[str, Any]]:
    """The tasks' fields as a configuration has them, every file by its full path.

    Args:
        layout: Which file is which.
        data: The folder that paths are relative to.

    Raises:
        DataError: There is no such folder.
        ConfigError: There is no such file in it.
    """
    if not data.is_dir():
        raise DataError(f"{data} is no folder; --data must be the folder that holds the data.")
    found = {}
    for name, task in layout.tasks.items():
        metric = METRICS[name].lower().replace(" ", "_")
        fields = {"metric": metric, **task.model_dump(mode="json", exclude_defaults=True)}
        for split in _SPLITS:
            if fields.get(split) is not None:
                fields[split] = _files(data, fields[split], name, split)
        if not fields.get("folder", "hub:").startswith("hub:"):
            fields["folder"] = str((data / fields["folder"]).resolve())
        found[name] = fields
    return found


def _files(data: Path, given: str | list[str], task: str, split: str) -> str | list[str]:
    patterns = [given] if isinstance(given, str) else given
    files: list[str] = []
    for pattern in patterns:
        try:
            matched = sorted(str(path.resolve()) for path in data.glob(pattern) if path.is_file())
        except (ValueError, IndexError, NotImplementedError) as error:
            raise ConfigError(
                f"Task {task!r}: `{split}` must be files or patterns relative to {data}; got "
                f"{pattern!r}.",
                place=("data", "tasks", task, split),
            ) from error
        if not matched:
            raise ConfigError(
                f"Task {task!r}: `{split}` names {pattern}; {data} has no such file.",
                place=("data", "tasks", task, split),
            )
        files += matched
    return files[0] if len(files) == 1 and isinstance(given, str) else files


def training_sizes(tasks: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """How many training examples each task has.

    Args:
        tasks: As `placed` gives them.

    Raises:
        TawtError: Naming the task that cannot be read.
    """
    found = {}
    for name, fields in tasks.items():
        with inside("data", "tasks", name, saying=f"Task {name!r}: "):
            found[name] = len(read_task(TextTask.model_validate(fields), held_out=False).train)
    return found


def check_held_out(tasks: Mapping[str, Mapping[str, Any]], targets: Iterable[str]) -> None:
    """Refuse a target without dev examples, by which c is chosen, or without test examples.

    Args:
        tasks: As `placed` gives them.
        targets: Which of them are targets.

    Raises:
        ConfigError: Naming what is missing.
    """
    for name in targets:
        task = TextTask.model_validate(tasks[name])
        there = {*split_files(task).find_files(), *task.held_out}
        for split in ("dev", "test"):
            if split not in there:
                raise ConfigError(
                    f"The target task {name!r} has no {split} examples; name their file in the "
                    f"layout, or hold out a share of train (`held_out: {{{split}: 0.1}}`).",
                    place=("data", "tasks", name),
                )


def check_metrics(tasks: Mapping[str, Mapping[str, Any]], targets: Iterable[str]) -> None:
    """Refuse a target whose metric tagging has not.

    Args:
        tasks: As `placed` gives them.
        targets: Which of them are targets.

    Raises:
        ConfigError: Naming the task.
    """
    for name in targets:
        if tasks[name].get("kind", "tagging") == "tagging":
            chosen_metric(tasks[name]["metric"], kind="tagging", task=name)
