"""Where a user's data has the paper's four tasks: one small YAML file, or one of ours."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from tawt.errors import ConfigError, DataError
from tawt.reproduce.paper import TASKS
from tawt.studies import yaml_lines
from tawt.studies.data_sections import Strict, TextTask
from tawt.studies.text_building import read_options
from tawt.text.kinds import kind_named
from tawt.text.reading import SplitFiles, load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.text.reading import Splits

_SPLITS = ("train", "dev", "test")


class Layout(Strict):
    """Which file is which task."""

    about: str = Field(min_length=1)
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
        ConfigError: There is none, or it is not one.
    """
    ours = resources.files("tawt.reproduce").joinpath("layouts", f"{name}.yaml")
    path = Path(str(ours)) if name in layouts() else Path(name)
    if not path.is_file():
        raise ConfigError(
            f"There is no layout {name!r}; expected a YAML file, or one of {', '.join(layouts())}."
        )
    values, _ = yaml_lines.read(path)
    try:
        layout = Layout.model_validate(values)
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(map(str, problem["loc"]))
        raise ConfigError(f"{path}: `{field}`: {problem['msg']}.") from error
    for task in layout.tasks:
        if task not in TASKS:
            raise ConfigError(
                f"{path}: there is no task {task!r}; the paper's: {', '.join(TASKS)}."
            )
    return layout


def placed(layout: Layout, data: Path) -> dict[str, dict[str, Any]]:
    """The tasks' fields as a configuration has them, every file by its full path.

    Args:
        layout: Which file is which.
        data: The folder that paths are relative to.

    Raises:
        DataError: A file is missing.
    """
    if not data.is_dir():
        raise DataError(f"{data} is no folder; --data must be the folder that holds the data.")
    found = {}
    for name, task in layout.tasks.items():
        fields = task.model_dump(mode="json", exclude_defaults=True)
        for split in _SPLITS:
            if fields.get(split) is not None:
                fields[split] = _files(data, fields[split], f"{name}, {split}")
        if fields.get("folder") is not None:
            fields["folder"] = str((data / fields["folder"]).resolve())
        found[name] = fields
    return found


def _files(data: Path, given: str | list[str], what: str) -> str | list[str]:
    patterns = [given] if isinstance(given, str) else given
    files: list[str] = []
    for pattern in patterns:
        matched = sorted(str(path.resolve()) for path in data.glob(pattern) if path.is_file())
        if not matched:
            raise DataError(f"There is no {pattern} in {data} (task {what}).")
        files += matched
    return files[0] if len(files) == 1 and isinstance(given, str) else files


def training_sizes(tasks: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """How many training examples each task has.

    Args:
        tasks: As `placed` gives them.
    """
    return {name: len(read_task(fields, held_out=False).train) for name, fields in tasks.items()}


def read_task(fields: Mapping[str, Any], *, held_out: bool = True) -> Splits:
    """The examples of a task.

    Args:
        fields: As `placed` gives them.
        held_out: Whether dev and test are read too.
    """
    task = TextTask.model_validate(fields)
    files = SplitFiles(
        folder=task.folder,
        pattern=task.pattern,
        train=task.train,
        dev=task.dev if held_out else None,
        test=task.test if held_out else None,
        held_out={str(split): share for split, share in task.held_out.items()},
    )
    return load(
        files,
        kind=kind_named(task.kind).reads,
        options=read_options(task),
        invalid=task.invalid,
        seed=0,
    )
