"""What the page and each of its sections answer, in a sentence or two."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.mixing.scores import listed, with_interval
from benchmarks.regimes.methods import ALONE, DEFAULT, EQUAL, PICKED, SINGLE
from benchmarks.regimes.regimes import REGIMES
from benchmarks.regimes.scores import CEILING
from tawt.significance import interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.regimes.scores import Table

HOW = "+.1f"
_ORDERED = 0.9  # the area that a regime is to reach
_RIGHT = 85  # percent of what is said


def verdict(found: Sequence[Table]) -> str:
    """The page's first sentences."""
    whole = [table for table in found if DEFAULT in table.rows]
    above = [table for table in whole if _sign(table.over(DEFAULT, EQUAL)) > 0]
    below = [table for table in whole if _sign(table.over(DEFAULT, EQUAL)) < 0]
    beaten = [table for table in whole if _better(table)]
    ordered = [table for table in whole if (table.area(DEFAULT) or 0.0) >= _ORDERED]
    return (
        f"Beyond noise, the default ends above equal weights in {len(above)} of {len(whole)} "
        f"regimes{_named(above)} and below them in {_count(below)}; another method with the same "
        f"information ends above the default in {_count(beaten)}. Its weights put what is useful "
        f"before what is not with an area of at least {_ORDERED} in {_count(ordered)}."
    )


def section_answer(table: Table) -> str:
    """Of a regime's table."""
    others, weighed = _others(table), REGIMES[table.name].weighed
    best = max(others, key=lambda row: others[row]) if others else None
    called = {
        DEFAULT: "the default",
        PICKED: f"{weighed} picked by hand",
        best: f"the best of the other methods, {best}" if len(others) > 1 else best,
        ALONE: "the target alone",
    }
    points = {row: table.over(row, EQUAL) for row in called if row is not None}
    said = [f"{called[row]} {with_interval(each, HOW)}" for row, each in points.items() if each]
    return f"Points beside equal weights: {'; '.join(said)}.{_room(points[PICKED], weighed)}"


def _room(picked: Sequence[float], weighed: str) -> str:
    """What knowing the useful ones is worth, where that is nothing.

    Args:
        picked: Points by which they are above all together.
        weighed: What they are.
    """
    if not picked or _sign(picked) > 0:
        return ""
    if _sign(picked) < 0:
        return f" The useful {weighed} alone are worse than all of them."
    return f" Knowing which {weighed} are useful wins nothing that can be told from chance."


def _others(table: Table) -> dict[str, float]:
    """The mean beside equal weights of every method that is no relative of the default."""
    others = [row for row in table.rivals if not row.startswith(DEFAULT) and row != EQUAL]
    whole = len(table.rows[EQUAL])
    means = {row: table.over(row, EQUAL) for row in others}
    return {row: mean(points) for row, points in means.items() if len(points) == whole}


def _better(table: Table) -> list[str]:
    """Methods that are above the default beyond noise."""
    others = [row for row in table.rivals if not row.startswith(DEFAULT)]
    return [row for row in others if _sign(table.over(row, DEFAULT)) > 0]


def _sign(points: Sequence[float]) -> int:
    """Of a mean, if its interval is without zero."""
    ends = interval(points)
    if ends is None or ends[0] <= 0 <= ends[1]:
        return 0
    return 1 if ends[0] > 0 else -1


def _named(found: Sequence[Table]) -> str:
    return f" ({listed([table.name for table in found])})" if found else ""


def _count(found: Sequence[Table]) -> str:
    return f"{len(found)}{_named(found)}" if found else "none"


def findings_answer(counts: dict[bool, dict[str, int]]) -> str:
    """Of the table of findings.

    Args:
        counts: Of useful and of useless sources, by verdict.
    """
    right = {"helps": counts[True]["helps"], "hurts": counts[False]["hurts"]}
    said = {verdict: counts[True][verdict] + counts[False][verdict] for verdict in right}
    if not sum(said.values()):
        return "The default's runs said of no source that it helps or hurts."
    share = 100 * sum(right.values()) / sum(said.values())
    each = " and ".join(f"{right[v]} of {said[v]} *{v}*" for v in right)
    return (
        f"{share:.0f}% of what the default's runs said was right: {each}. "
        f"{'At least' if share >= _RIGHT else 'That is less than the'} {_RIGHT}% "
        f"{'was' if share >= _RIGHT else 'that was'} the aim."
    )


def left_out(table: Table) -> str:
    """Which methods the regime is without, and why."""
    reasons: dict[str, list[str]] = {}
    for name, why in REGIMES[table.name].left_out.items():
        reasons.setdefault(why, []).append(CEILING if name == SINGLE else name)
    return " ".join(f"Left out: {listed(names)}, since {why}." for why, names in reasons.items())
