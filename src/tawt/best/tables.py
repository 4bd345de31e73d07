"""The table of candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.best.words import gain_in_words

if TYPE_CHECKING:
    from tawt.best.result import BestResult, CandidateResult

CANDIDATES = ("candidate", "score", "beside the target alone", "tried on", "")
"""Headings."""


def ranked(found: BestResult) -> list[CandidateResult]:
    """All candidates, the best first, those without a score last.

    Args:
        found: The answer.
    """

    def gain(each: CandidateResult) -> float:
        return float("-inf") if each.gain is None else each.gain[0]

    return sorted(found.candidates, key=lambda each: (-each.parts, -gain(each), each.number))


def candidate_cells(each: CandidateResult, found: BestResult) -> tuple[str, ...]:
    """One row.

    Args:
        each: The candidate.
        found: The answer.
    """
    return (
        each.words,
        "" if each.score is None else found.measure.shown(each.score),
        _gain(each, found),
        f"{each.parts} of {found.parts} parts",
        _role(each, found),
    )


def _gain(each: CandidateResult, found: BestResult) -> str:
    if each.gain is None or each.number == found.alone:
        return ""
    return gain_in_words(each.gain, found)


def _role(each: CandidateResult, found: BestResult) -> str:
    if each.number == found.chosen:
        return "used"
    if each.number == found.alone:
        return "the best alone"
    return {"dropped": "dropped", "failed": "failed"}.get(each.state, "")
