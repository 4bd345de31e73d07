"""What `tawt init` does and shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tawt.cli import console
from tawt.cli.shortening import largest, more
from tawt.config.drafting import draft
from tawt.errors import ConfigError
from tawt.files import write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.config.drafting import Draft
    from tawt.modality.recognising import Recognised

_LABELS = 8
_REMARKS = 12


def make_config(
    files: Sequence[Path],
    *,
    target: str | None,
    out: Path | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Look at files, write a configuration, and show both."""
    made = draft(files, target=target, out=out)
    if made.path.exists() and not overwrite:
        raise ConfigError(
            f"{made.path} is there already; give another name with --out, or --overwrite to write "
            "over it."
        )
    write(made.path, made.text)
    if as_json:
        console.write(json.dumps(_record(made), indent=2, ensure_ascii=False) + "\n")
    elif not quiet:
        _show(made)


def _record(made: Draft) -> dict[str, Any]:
    roles = {made.target.name: "target"}
    return {
        "config": str(made.path),
        "kind": made.kind,
        "target": made.target.name,
        "tasks": [
            {
                "name": task.name,
                "role": roles.get(task.name, "source"),
                "kind": task.task_kind,
                "taken_for": task.taken_for,
                "examples": dict(task.sizes),
                "labels": list(task.labels),
                "first": list(task.first),
            }
            for task in (made.target, *made.sources)
        ],
        "remarks": list(made.remarks),
        "next": made.command,
    }


def _show(made: Draft) -> None:
    tasks = [made.target, *made.sources]
    shown = largest({task.name: task.sizes["train"] for task in tasks}, always=[made.target.name])
    for task in tasks:
        if task.name in shown:
            _show_task(task, role="the target" if task is made.target else "a source")
    if len(shown) < len(tasks):
        console.say(f"{more(len(tasks) - len(shown))}; all are in {made.path}.\n")
    for remark in made.remarks[:_REMARKS]:
        console.say(f"note: {remark}")
    if made.remarks[_REMARKS:]:
        console.say(f"{more(len(made.remarks) - _REMARKS)} notes; --json has all of them.")
    if made.remarks:
        console.say("")
    console.say(f"Wrote {made.path}. Where a file was taken for something else, correct it there.")
    console.say(f"Next: {made.command}")


def _show_task(task: Recognised, *, role: str) -> None:
    sizes = ", ".join(f"{size:,} {split}" for split, size in task.sizes.items())
    console.say(f"{task.name}, {role}: {task.task_kind}, {sizes} {task.plural}")
    console.say(f"  {task.taken_for}")
    if task.labels:
        console.say(f"  {_listed(task.labels)}")
    for line in task.first:
        console.say(f"    {console.plain(line)}")
    console.say("")


def _listed(labels: Sequence[str]) -> str:
    listed = ", ".join(labels[:_LABELS])
    rest = f", … ({len(labels)} in all)" if len(labels) > _LABELS else ""
    return f"labels: {console.plain(listed)}{rest}"
