"""Task distances as a person reads them: sentences, a table, heat maps, estimates against truth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tawt.distance.estimates import NEARER_IF_LARGER, as_distance
from tawt.distance.figures import (
    against_truth,
    distance_map,
    gains_figure,
    measures_map,
    trained_figure,
)
from tawt.report import Fact, Part, Table, build_page

if TYPE_CHECKING:
    from collections.abc import Mapping

Values = dict[str, Any]
"""Of `distance.json`."""

HEADINGS = ("source", "distance\nwrong answers", "distance\nclipped loss", "estimate", "gain",
            "verdict", "recommendation")  # fmt: skip
_ABOUT = ("seeds", "seconds", "versions", "machine", "commit")
NOT_GAINS = (
    "Where it was measured, no estimate ordered sources by what they gain the target; it says "
    "which are likely to have the smaller trained distance."
)


def distance_page(values: Values) -> str:
    """The page."""
    order = names(values)
    far = Part(
        title="How far is each source",
        note=caption(values),
        figures=[*gains_figure(values, order), *trained_figure(values, order)],
        tables=[
            Table(
                headings=[heading.replace("\n", ", ") for heading in HEADINGS], rows=table(values)
            )
        ],
    )
    measures = Part(
        title="By every measure",
        note="The stronger the colour of a cell, the farther the source by that measure.",
        tables=[measures_map(values, order)],
    )
    parts = [far, measures]
    if len(values["trained"]) > 1:
        parts.append(
            Part(
                title="From every task to every other",
                note="Trained distances; the stronger the colour, the farther.",
                tables=[distance_map(values)],
            )
        )
    if values["trained"]:
        parts.append(
            Part(
                title="Estimates against the trained distance",
                note="Every dot is a source of a target. From bottom to top, the estimate, from "
                "the nearest source of a target to the farthest; ρ is Spearman's.",
                figures=against_truth(values),
            )
        )
    return build_page(
        title=f"{values['target']}: how far is each source",
        lead=sentences(values),
        facts=_facts(values),
        parts=parts,
        about={
            **{name: values[name] for name in _ABOUT if name in values},
            "rates": values["rates"],
            "open constants": values["open_constants"],
        },
    )


def _facts(values: Values) -> list[Fact]:
    """How many sources are worth using, as far as it was tried."""
    counts = {
        word: sum(gain["recommendation"] == word for gain in values["gains"].values())
        for word in ("use", "skip", "not enough evidence")
    }
    tones = {"use": "helps", "skip": "hurts", "not enough evidence": "unclear"}
    return [
        Fact(value=f"{count}", said=f"to {word}" if word != "not enough evidence" else word,
             verdict=tones[word])
        for word, count in counts.items()
        if values["gains"]
    ]  # fmt: skip


def names(values: Values) -> list[str]:
    """Sources and mixtures, nearest first where that is known."""
    target = values["target"]
    trained, estimates = values["trained"].get(target, {}), values["estimates"][target]
    order = [*values["sources"], *values["mixtures"]]
    if trained:
        return sorted(
            order,
            key=lambda name: trained[name]["clipped"]["mean"] if name in trained else math.inf,
        )

    def place(name: str) -> tuple[bool, float]:
        told = estimates.get(name, {}).get(values["telling"])  # in a file, NaN is none
        far = math.inf if told is None else as_distance(values["telling"], told)
        return name in values["mixtures"], far

    return sorted(order, key=place)


def table(values: Values) -> list[list[str]]:
    """A row for each source and mixture, cells as text."""
    target = values["target"]
    trained, estimates = values["trained"].get(target, {}), values["estimates"][target]
    rows = []
    for name in names(values):
        distance, estimate = trained.get(name, {}), estimates.get(name, {})
        gain = values["gains"].get(name)
        rows.append(
            [
                f"{name} mixture" if name in values["mixtures"] else name,
                _with_interval(distance.get("zero_one"), scale=100, digits=1),
                _with_interval(distance.get("clipped"), scale=1, digits=3),
                _number(estimate.get(values["telling"])),
                _with_interval(gain, scale=100, digits=1, sign="+"),
                gain["verdict"] if gain else "",
                gain["recommendation"] if gain else "",
            ]
        )
    return rows


def caption(values: Values) -> str:
    """What the table's numbers are."""
    nearer = "larger" if values["telling"] in NEARER_IF_LARGER else "smaller"
    said = (
        "Distance: the target's held-out risk on a frozen encoder that learned from the source, "
        "over that on one that learned from the target: in points of wrong answers, and in "
        "log-loss cut at twice that of a guess (for numbers, squared error cut at four variances); "
        "brackets are 95% over seeds. "
        if any(values["trained"].values())
        else ""
    )
    said += (
        f"Estimate: {values['telling']}, from the encoder as it is, without training; {nearer} is "
        "nearer. "
    )
    if any(values["trained"].values()):  # else it leads the sentences
        said += f"{NOT_GAINS} "
    if values["gains"]:
        said += (
            f"Gain: what the source adds to the target's {values['metric']} (points) when both are "
            "trained on, for as many steps on the target; brackets are 95% over seeds and held-out "
            "examples."
        )
    return said.strip()


def sentences(values: Values) -> list[str]:
    """What to do."""
    said = []
    for recommendation in ("use", "skip", "not enough evidence"):
        found = [n for n, g in values["gains"].items() if g["recommendation"] == recommendation]
        if found:
            said.append(f"{recommendation[0].upper()}{recommendation[1:]}: {', '.join(found)}.")
    if not values["trained"]:
        nearest = [name for name in names(values) if name in values["sources"]]
        said.append(
            f"{NOT_GAINS} Nearest by {values['telling']}: {', '.join(nearest[:3])}. Nothing was "
            "trained, so there is no verdict."
        )
    terms = values["terms"]
    if terms:
        said.append(
            "What stands between the target and its best when all sources count the same, by "
            f"halving the data: {terms['head']:.3f} for too few target examples, "
            f"{terms['sources']:.3f} for too few source examples, {terms['mismatch']:.3f} for "
            "sources that do not match. "
            + (
                f"So what would help most: {terms['advice']}."
                if terms["advice"]
                else "None of these stands out."
            )
        )
    for name, rate in values["rates"].items():
        beta = (
            "without limit" if rate["ratio"] is None else f"{rate['ratio']:.3g} times its smallest"
        )
        what = f"The {name} mixture" if name in values["mixtures"] else name
        said.append(
            f"{what} is worth {rate['effective_size']:.0f} source examples (N_ω); its largest "
            f"weight is {beta} (β)."
        )
    return said


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _with_interval(
    found: Mapping[str, Any] | None, *, scale: float, digits: int, sign: str = ""
) -> str:
    if not found:
        return ""
    mean = f"{scale * found['mean']:{sign}.{digits}f}"
    ends = found.get("interval")
    if not ends or None in ends:  # in a file, an end that is infinite is none
        return mean
    low, high = (f"{scale * end:{sign}.{digits}f}" for end in ends)
    return f"{mean}\n[{low}, {high}]"
