"""A configuration to begin with, from data files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tawt.config.drafting.choosing import choose, readers, target_among
from tawt.config.drafting.grouping import beside, grouped
from tawt.config.drafting.writing import commented_yaml
from tawt.config.schema import parsed
from tawt.config.yaml_file import read_value
from tawt.modality.recognising import Commented

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tawt.modality.recognising import FileGroup, Recognised

_ENOUGH = 20  # labelled examples to choose among models by
_LONGEST_NAME = 100


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A configuration, and what it was made from."""

    kind: str
    """Of the data."""
    path: Path
    """Where it is meant to lie, which paths in it are relative to."""
    target: Recognised
    sources: tuple[Recognised, ...]
    text: str
    """The configuration, as YAML with comments."""
    remarks: tuple[str, ...]
    """What a person should look at, a sentence each."""
    command: str
    """What to type next."""


def draft(files: Sequence[Path], *, target: str | None = None, out: Path | None = None) -> Draft:
    r"""Look at data files, and describe a run with them. Nothing is written.

    Args:
        files: Files, and folders with files in them.
        target: The task that counts, by its name or one of its files, which need not be among
            `files`. It may be left out where there is one task.
        out: Where the configuration will lie; TARGET.yaml here by default.

    Raises:
        TawtError: A file is missing, empty or damaged, or what it is cannot be seen; files do not
            fit together; or the target is not among them.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "reviews.csv")
        ...     rows = [f"film {n} was {('good', 'bad')[n % 2]},{n % 2}" for n in range(20)]
        ...     _ = path.write_text("review,stars\n" + "\n".join(rows))
        ...     made = draft([path])
        >>> made.kind, made.target.name, made.target.task_kind
        ('text', 'reviews', 'classification')
    """
    given = list(files)
    if target is not None and Path(target).exists() and not _is_among(target, given):
        given.append(Path(target))
    modalities, _ = readers()
    endings = {ending for modality in modalities.values() for ending in modality.endings}
    groups = grouped(given, endings=sorted(endings))
    return drafted(groups, target_among(groups, target), out=out)


def drafted(groups: Sequence[FileGroup], meant: FileGroup, *, out: Path | None = None) -> Draft:
    """The same for tasks of which it is known which files they are.

    Args:
        groups: The files of every task.
        meant: Those of the target.
        out: Where the configuration will lie; TARGET.yaml here by default.

    Raises:
        TawtError: As for `draft`.
    """
    chosen = choose(groups, meant)
    path = out or Path(f"{chosen.target.name}.yaml")
    made = chosen.modality.draft(chosen.target, chosen.sources)
    text = _yaml(made.values, name=chosen.target.name, path=path)
    config = parsed(read_value(text), source=str(path))  # what is written can be read
    tasks = (chosen.target, *chosen.sources)
    return Draft(
        kind=chosen.modality.name,
        path=path,
        target=chosen.target,
        sources=chosen.sources,
        text=text,
        remarks=(
            *(f"{task.name}: {remark}" for task in tasks for remark in task.remarks),
            *(f"{chosen.target.name}: {remark}" for remark in chosen.target.of_held_out),
            *made.remarks,
            *_beside(meant),
            *(f"Left out: {why}" for why in chosen.left_out),
        ),
        command=f"tawt {_question(config.paradigm, chosen.target, chosen.sources)} {path}",
    )


def _question(paradigm: str, target: Recognised, sources: Sequence[Recognised]) -> str:
    """The command that answers what a person with this data would ask."""
    if paradigm == "sources only":
        return "mix" if len(sources) > 1 else "train"
    labelled = target.sizes["train"] + target.sizes.get("dev", 0)
    return "best" if sources and labelled >= _ENOUGH else "train"


def _is_among(target: str, given: Sequence[Path]) -> bool:
    """Whether it is among the files already, or inside one of the folders."""
    path = Path(target).resolve()
    return any(path == each.resolve() or each.resolve() in path.parents for each in given)


def _beside(target: FileGroup) -> Iterator[str]:
    if names := " and ".join(path.name for path in beside(target)):
        yield f"{target.name}: {names} beside {target.first.name}: not used; give that to init too."


def _yaml(values: Mapping[str, Any], *, name: str, path: Path) -> str:
    counts = Commented(name, "the task that counts; all others are sources")
    folder = Commented(_run_name(name), f"the run goes to runs/{_run_name(name)}")
    sections = {
        "name": folder,
        "seed": Commented(0, "of every random choice"),
        "data": values["data"],
        "target": counts,
        **{field: value for field, value in values.items() if field != "data"},
    }
    head = (
        f"# Made by tawt init. One run of it: tawt train {path.name}\n"
        "# Every field: docs/configuration.md\n\n"
    )
    return head + commented_yaml(sections, folder=path.parent)


def _run_name(name: str) -> str:
    return re.sub(r"[^\w.-]", "-", name)[:_LONGEST_NAME].lstrip(".") or "run"
