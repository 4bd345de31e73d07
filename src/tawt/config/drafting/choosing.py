"""Which kind of data files are, and which of their tasks is the target."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tawt.errors import ConfigError, DataError, suggestion
from tawt.modality import known_modalities, modality_named
from tawt.modality.registry import BUILT_IN
from tawt.paths import resolved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.modality import Modality
    from tawt.modality.recognising import FileGroup, Recognised

_LISTED = 12  # names in a message


@dataclass(frozen=True)
class Choice:
    """A kind of data, and the tasks that it takes files for."""

    modality: Modality[Any, Any]
    target: Recognised
    sources: tuple[Recognised, ...]
    left_out: tuple[str, ...] = field(default=())
    """Of files that were found in a folder and are no tasks: why, a sentence each."""


def readers() -> tuple[dict[str, Modality[Any, Any]], list[str]]:
    """Kinds of data that know files, and of others why they cannot be had."""
    found: dict[str, Modality[Any, Any]] = {}
    missing: list[str] = []
    # Those of other packages first: what they know, text in general may know too.
    for name in sorted(known_modalities(), key=lambda name: name in BUILT_IN):
        try:
            modality = modality_named(name)
        except ConfigError as error:
            missing.append(str(error))
            continue
        if modality.files_wanted:
            found[name] = modality
    return found, missing


def target_among(groups: Sequence[FileGroup], target: str | None) -> FileGroup:
    """The group that is meant to be the target.

    Args:
        groups: All of them.
        target: Its name, or one of its files, or its folder; not needed where there is one group.

    Raises:
        ConfigError: It is none of them, or of several groups none was named.
    """
    names = [group.name for group in groups]
    listed = ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")
    if target is None:
        if len(groups) == 1:
            return groups[0]
        raise ConfigError(
            f"Which task is the target? Give --target with one of these names: {listed}."
        )
    by_name = [group for group in groups if group.name == target]
    by_path = [group for group in groups if _is_of(Path(target), group)]
    found = by_name or by_path
    if not found:
        raise ConfigError(
            f"There is no task {target!r} among the files; {suggestion(target, names)}"
        )
    if len(found) > 1:
        several = ", ".join(group.name for group in found[:_LISTED])
        raise ConfigError(f"--target {target} holds several tasks; give one of them: {several}.")
    return found[0]


def choose(groups: Sequence[FileGroup], target: FileGroup) -> Choice:
    """The first kind of data that knows all files, and has a score for the target.

    Args:
        groups: All of them.
        target: One of them.

    Raises:
        DataError: There is no such kind of data, or something is wrong with a file.
    """
    modalities, missing = readers()
    seen: dict[str, dict[str, Recognised]] = {group.name: {} for group in groups}
    left_out: list[str] = []
    for group in groups:
        try:
            seen[group.name] = _recognised(group, modalities)
            if not seen[group.name]:
                raise _unknown(group, modalities, missing)
        except DataError as error:
            if group.by_itself or group is target:
                raise
            left_out.append(str(error))
    kept = [group.name for group in groups if seen[group.name]]
    for name, modality in modalities.items():
        found = {task: seen[task].get(name) for task in kept}
        known = {task: each for task, each in found.items() if each is not None}
        if len(known) == len(kept) and known[target.name].may_be_target:
            sources = tuple(each for task, each in known.items() if task != target.name)
            return Choice(modality, known[target.name], sources, tuple(left_out))
    raise _mixed({task: seen[task] for task in kept}, target.name)


def _recognised(
    group: FileGroup, modalities: Mapping[str, Modality[Any, Any]]
) -> dict[str, Recognised]:
    """What each kind of data takes the files for."""
    found = {name: each.recognise(group) for name, each in modalities.items()}
    return {name: each for name, each in found.items() if each is not None}


def _is_of(path: Path, group: FileGroup) -> bool:
    wanted = resolved(path)
    files = [resolved(each) for paths in group.files.values() for each in paths]
    return wanted in files or (wanted.is_dir() and any(wanted in each.parents for each in files))


def _unknown(
    group: FileGroup, modalities: Mapping[str, Modality[Any, Any]], missing: Sequence[str]
) -> DataError:
    wanted = "; ".join(modality.files_wanted for modality in modalities.values())
    lacking = f" {missing[0]}" if missing else ""
    return DataError(f"{group.first} is nothing that tawt reads. Expected {wanted}.{lacking}")


def _mixed(seen: Mapping[str, Mapping[str, Recognised]], target: str) -> DataError:
    """Of tasks that no kind of data has all of: one that is not of the target's kind."""
    ours = next(iter(seen[target]))
    other = next((name for name in seen if ours not in seen[name]), target)
    theirs = next(iter(seen[other]))
    return DataError(
        f"{target!r} is read as {ours} ({seen[target][ours].task_kind}), and {other!r} as {theirs} "
        f"({seen[other][theirs].task_kind}); one model cannot learn from both. Leave {other!r} out."
    )
