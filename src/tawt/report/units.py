"""Tables of the report about groups and single examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.report.parts import Cell, Table, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LONGEST = 300
_SOURCES, _ROWS = 8, 30  # that are shown
_MEASURED = {
    "forward": "exactly, by forward mode",
    "mixed": "by forward mode in mixed precision",
    "differences": "by differences of two forward passes",
}


def how_measured(updates: Sequence[Mapping[str, Any]]) -> str:
    """By which way single examples were measured, and how far off; nothing for whole tasks.

    Example:
        >>> how_measured([{"units": {"way": "mixed", "relative_error": 0.004}}])
        'Examples were measured by forward mode in mixed precision, with an error of about 0.4%.'
    """
    known = [update["units"] for update in updates if update.get("units")]
    ways = [_MEASURED[way] for way in _MEASURED if any(unit.get("way") == way for unit in known)]
    if not ways:
        return ""
    said = f"Examples were measured {' and '.join(ways)}"
    errors = [unit["relative_error"] for unit in known if unit.get("relative_error") is not None]
    return f"{said}, with an error of about {100 * max(errors):.2g}%." if errors else f"{said}."


def unit_tables(shown: Mapping[str, Any] | None) -> list[Table]:
    """What a run left in `units.json`, as tables."""
    if shown is None:
        return []
    groups, _ = shortened([*shown["groups"].items()], most=_SOURCES)
    labels, _ = shortened([pair for pair in shown["labels"].items() if pair[1]], most=_SOURCES)
    examples = _of_examples(shown) if shown["are_examples"] else []
    return [
        *(_groups(source, rows) for source, rows in groups),
        *examples,
        *(_labels(source, rows) for source, rows in labels),
    ]


def left_out(shown: Mapping[str, Any] | None) -> str:
    """Of how many sources there are no tables; nothing where there are of all."""
    if shown is None:
        return ""
    of_each = ([*shown["groups"]], [name for name, rows in shown["labels"].items() if rows])
    left = max(shortened(names, most=_SOURCES)[1] for names in of_each)
    return f"Of {left} more sources the groups and labels are in units.json alone." if left else ""


def _groups(source: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    ordered = sorted(rows, key=lambda row: -row["weight"])
    kept, left = shortened(ordered, most=_ROWS)
    if left:
        kept = [*ordered[: _ROWS // 2], *ordered[-_ROWS // 2 :]]
    return Table(
        title=f"{source}: groups",
        note="Weight is what an example of the group counts beside the average one of the source."
        + (f" Left out: {left} groups in between." if left else ""),
        headings=("group", "examples", "weight", "alignment"),
        rows=[
            [
                row["group"],
                str(row["examples"]),
                f"{row['weight']:.3f}",
                _known(row["alignment"]),
            ]
            for row in kept
        ],
    )


def _of_examples(shown: Mapping[str, Any]) -> list[Table]:
    """Runs of earlier versions ranked examples by their weight, whatever their label."""
    beside = "Weight is what an example counts beside the average one of its source."
    if "agree_less" not in shown:
        note = f"Among all labels: one that has low weights as a whole comes first. {beside}"
        return [
            _examples("Weighted least", note, shown["least"]),
            _examples("Weighted most", beside, shown["most"]),
        ]
    note = (
        "Examples whose gradient agrees least with the target's, among those of the same label: "
        "worth a look first. A wrong label is one reason, rarity and difficulty are others. "
        "Deviation is the distance from the mean alignment of its label, in standard deviations. "
    )
    return [
        *([_agree_less(shown["agree_less"])] if shown["agree_less"] else []),
        _examples("Agree least, among their label", note + beside, shown["least"]),
        _examples("Agree most, among their label", beside, shown["most"]),
    ]


def _agree_less(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        title="Labels that agree less as a whole",
        note="Their examples' mean alignment is below that of the source's others by more than "
        "chance. That is about the label, and what the target has to do with it: it says nothing "
        "against single examples.",
        headings=("label", "source", "examples", "mean alignment", "of the others"),
        rows=[
            [
                row["label"],
                row["source"],
                str(row["examples"]),
                _with_error(row),
                _known(row["others"]),
            ]
            for row in rows
        ],
    )


def _labels(source: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    aligned = all("alignment" in row for row in rows)  # not in runs of earlier versions
    kept, left = shortened(rows, most=_ROWS)
    return Table(
        title=f"{source}: means by label",
        note="Over the examples that have the label. A weight of 1 is the average of the source"
        + ("; after ±, the standard error." if aligned else ".")
        + (f" Left out: {left} rarer labels." if left else ""),
        headings=("label", "examples", "weight", *(["alignment"] if aligned else [])),
        rows=[
            [
                row["label"],
                str(row["examples"]),
                f"{row['weight']:.3f}",
                *([_with_error(row)] if aligned else []),
            ]
            for row in kept
        ],
    )


def _with_error(row: Mapping[str, Any]) -> str:
    mean = _known(row["alignment"])
    error = row.get("error")
    return mean if error is None else f"{mean} ± {error:.2g}"


def _examples(title: str, note: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    compared = all("deviation" in row for row in rows)
    return Table(
        title=title,
        note=note,
        is_prose=True,
        headings=(
            *("example", "label", "weight", "alignment"),
            *(["deviation"] if compared else []),
            *("source", "number"),
        ),
        rows=[
            [
                Cell(text=_short(row["text"]), image=row.get("image", "")),
                _short(str(row["label"])),
                f"{row['weight']:.3f}",
                _known(row["alignment"]),
                *([_known(row["deviation"])] if compared else []),
                row["source"],
                str(row["example"]),
            ]
            for row in rows
        ],
    )


def _known(alignment: float | None) -> str:
    return "not measured" if alignment is None else f"{alignment:.3g}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
