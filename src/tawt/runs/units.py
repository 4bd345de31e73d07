"""What a run leaves behind about units finer than a task, and how a person reads it.

Two files: `unit_weights.safetensors`, eight bytes a unit; and `units.json`, the few examples that
agree most and least with the target among those of their label, with their text, and how well every
label agrees.
"""

from __future__ import annotations

import base64
import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from tawt import files
from tawt.errors import RunError
from tawt.runs.agreement import by_label, deviations
from tawt.units import EachExample, Groups, TaskUnits, Units, Whole
from tawt.weighting import Outcome
from tawt.weights import SourceWeights

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tawt.tasks import Task

VECTORS, SHOWN = "unit_weights.safetensors", "units.json"
_FEW = 20
_LABELS = 50


def write(folder: Path, outcome: Outcome, tasks: Sequence[Task]) -> None:
    """Leave weights and mean alignments of all units, and a page's worth to read."""
    weights = outcome.weights
    arrays = {
        "log_weights": weights.logs.numpy(),
        "mean_alignments": outcome.mean_alignments.float().numpy(),
    }
    units = weights.units
    about = {
        "sizes": json.dumps(units.sizes),
        "names": json.dumps(weights.names),
        "groups": json.dumps({source: list(found) for source, found in units.groups.items()}),
    }
    for source in units.groups:
        arrays[f"members.{source}"] = units.members(source)
    files.write(folder / VECTORS, save(arrays, metadata=about))
    files.write_json(folder / SHOWN, shown(outcome, tasks))


def read(folder: Path) -> Outcome:
    """What `write` left.

    Raises:
        RunError: There is none, or it is damaged.
    """
    path = folder / VECTORS
    if not path.exists():
        raise RunError(
            f"{folder} weighed whole tasks, not groups or examples; set `weighting.unit` to "
            "`example` (or `group`) and train again."
        )
    try:
        with safe_open(path, "np") as file:
            about = file.metadata()
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        weights = SourceWeights(
            Units(_parts(about, arrays)), torch.from_numpy(arrays["log_weights"])
        )
        outcome = Outcome(weights, torch.from_numpy(arrays["mean_alignments"]))
        _check_sizes(outcome)
    except (OSError, SafetensorError, LookupError, ValueError, TypeError, AttributeError) as error:
        raise RunError(f"The run folder {folder} is damaged: {VECTORS}: {error}.") from error
    return outcome


def _check_sizes(outcome: Outcome) -> None:
    """Refuse numbers of other units than the file says it has."""
    count = outcome.weights.units.count
    if any(len(found) != count for found in (outcome.weights.logs, outcome.mean_alignments)):
        raise ValueError(f"it has no weight and alignment for each of {count} units")


def _parts(
    about: Mapping[str, str], arrays: Mapping[str, np.ndarray[Any, Any]]
) -> dict[str, TaskUnits]:
    """The units of each task; in the file, groups are numbered through all tasks."""
    sizes, groups = json.loads(about["sizes"]), json.loads(about["groups"])
    found: dict[str, TaskUnits] = {}
    before = 0
    for name in json.loads(about["names"]):
        if name in groups:
            members = arrays[f"members.{name}"] - np.int32(before)
            known = members.shape == (sizes[name],) and members.dtype == np.int32
            if not known or members.min() < 0 or members.max() >= len(groups[name]):
                raise ValueError(f"the groups of {name!r} are not those of its examples")
            found[name] = Groups(tuple(groups[name]), members)
        else:
            found[name] = EachExample(sizes[name]) if name in sizes else Whole()
        before += found[name].count
    return found


def ranked(
    outcome: Outcome, tasks: Sequence[Task], *, most: int, trusted: bool = False
) -> Iterator[dict[str, Any]]:
    """The examples that agree least with the target, or most, among those of their label; as rows.

    By how far their mean alignment is from that of their label (see `deviations`), those of equal
    deviation by their weight. Examples that were never measured come last.

    Args:
        outcome: Of a run.
        tasks: Its tasks.
        most: How many.
        trusted: Those that agree most instead.
    """
    by_name = {task.name: task for task in tasks}
    sign = -1.0 if trusted else 1.0
    sources = [source for source in outcome.weights.units.finer if source in by_name]
    each = [_of_examples(outcome, source) for source in sources]
    factors, alignments = (np.concatenate(found) for found in zip(*each, strict=True))
    apart = np.concatenate(
        [deviations(by_name[source], found[1]) for source, found in zip(sources, each, strict=True)]
    )
    starts = np.cumsum([0, *(len(found[0]) for found in each)])
    # NaN is last, whatever the sign.
    order = np.lexsort((sign * factors, np.round(sign * apart, 4)))[:most]
    # Rounded as they are shown, or 1.678 could stand before 1.677.
    shown = [_known(apart[place]) for place in order]
    order = order[np.argsort([math.nan if x is None else sign * x for x in shown], kind="stable")]
    for rank, place in enumerate(order.tolist(), start=1):
        number = int(np.searchsorted(starts, place, side="right")) - 1
        task, index = by_name[sources[number]], int(place - starts[number])
        seen = task.train.show(index)
        yield {
            "rank": rank,
            "source": task.name,
            "example": index + 1,
            **({} if seen.line is None else {"line": seen.line}),
            "weight": round(float(factors[place]), 4),
            "alignment": _known(alignments[place]),
            "deviation": _known(apart[place]),
            "label": _plain(task.train.label(index)),
            "text": seen.text,
        }


def labels_that_agree_less(outcome: Outcome, tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Labels whose examples agree less with the target than their source's others, as rows.

    Args:
        outcome: Of a run.
        tasks: Its tasks.
    """
    by_name = {task.name: task for task in tasks}
    return [
        {"source": source, **row}
        for source in outcome.weights.units.finer
        if source in by_name
        for row in _by_label(by_name[source], outcome)
        if row["agrees_less"]
    ]


def shown(outcome: Outcome, tasks: Sequence[Task]) -> dict[str, Any]:
    """What the report shows: a few examples, and how well every label agrees."""
    by_name = {task.name: task for task in tasks}
    units = outcome.weights.units
    found: dict[str, Any] = {
        "count": sum(units.parts[source].count for source in units.finer),
        "are_examples": not units.groups,
        "least": list(ranked(outcome, tasks, most=_FEW)),
        "most": list(ranked(outcome, tasks, most=_FEW, trusted=True)),
        "agree_less": labels_that_agree_less(outcome, tasks),
        "labels": {},
        "groups": {},
    }
    for side in ("least", "most"):
        for row in found[side]:
            image = by_name[row["source"]].train.show(row["example"] - 1).image
            if image is not None:
                row["image"] = base64.b64encode(image).decode()
    for source, groups in units.groups.items():
        span = units.spans[source]
        counts = units.parts[source].counts(units.sizes[source])
        each = outcome.weights.per_example(source).exp().tolist()
        alignments = outcome.mean_alignments[span].tolist()
        found["groups"][source] = [
            {
                "group": name,
                "examples": int(count),
                "weight": weight,
                "alignment": _known(alignment),
            }
            for name, count, weight, alignment in zip(groups, counts, each, alignments, strict=True)
        ]
    for source in units.finer:
        found["labels"][source] = _by_label(by_name[source], outcome)[:_LABELS]
    return found


def _of_examples(
    outcome: Outcome, source: str
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """What each example counts beside the average one of its source, and its mean alignment."""
    units = outcome.weights.units
    indices = np.arange(units.sizes[source])
    factors = outcome.weights.relative(source, indices)
    assert factors is not None
    return factors.numpy(), outcome.mean_alignments.numpy()[units.at(source, indices)]


def _by_label(task: Task, outcome: Outcome) -> list[dict[str, Any]]:
    """Mean weight and alignment of the examples that have a label, commonest labels first."""
    are_examples = not outcome.weights.units.groups
    found = by_label(task, *_of_examples(outcome, task.name), are_examples=are_examples)
    return [asdict(row) for row in found]


def _known(alignment: float) -> float | None:
    """To four digits; nothing where none was measured."""
    return None if math.isnan(alignment) else float(f"{alignment:.4g}")


def _plain(label: Any) -> Any:
    return " ".join(label) if isinstance(label, tuple | list) else label
