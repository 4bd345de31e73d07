"""What a search for the best model came to, in sentences that follow from its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.best.result import ALONE_MODEL, MODEL
from tawt.report.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tawt.best.result import BestResult, Gain, HalfResult, SourceResult

_SURELY = 0.99  # above which a probability is not shown as a hundred percent


def in_words(found: BestResult, folder: Path) -> list[str]:
    """The verdict first, and what else there is to know.

    Args:
        found: The answer.
        folder: That it is in.
    """
    return [
        _verdict(found, folder),
        _why(found),
        *_of_unseen(found),
        *_of_sources(found.sources, found),
        *_what_next(found),
        *_failed(found),
    ]


def gain_in_words(gain: Gain, found: BestResult) -> str:
    """A gain, with its interval.

    Args:
        gain: The mean and the ends.
        found: Says how scores are read.
    """
    mean, low, high = (found.measure.shown_gain(each) for each in gain)
    return f"{mean} ({low} to {high})"


def _verdict(found: BestResult, folder: Path) -> str:
    model = folder / MODEL / "model"
    chosen = found.candidate(found.chosen)
    if not found.test:
        score = _shown(chosen.score, found)
        how = f"{score} on examples that were held out in turn" if score else "no score is known"
        return f"Use {model}: {how}; {_beside(found)}."
    return f"Use {model}: {_shown(found.test[MODEL], found)} on test; {_beside(found)}."


def _beside(found: BestResult) -> str:
    """How that is beside the target alone."""
    if not found.uses_sources:
        return "it is trained on the target alone"
    if found.test_gain is None:
        held_out = found.candidate(found.chosen).gain
        assert held_out is not None
        return f"{gain_in_words(held_out, found)} beside the target alone"
    gain = found.measure.gain(found.test[MODEL], over=found.test[ALONE_MODEL])
    way = "better" if gain >= 0 else "worse"
    return f"{found.measure.in_words(gain)} {way} than the target alone"


def _why(found: BestResult) -> str:
    """What was chosen by, and how sure it is."""
    if found.rival is None:
        return "No candidate that uses sources could be trained."
    rival = found.candidate(found.rival)
    assert found.worse is not None
    chance = probability_in_words(found.worse)
    sure = f"the probability that it is worse than the target alone is {chance}"
    if rival.gain is not None:
        sure = f"it gains {gain_in_words(rival.gain, found)}; {sure}"
    tried = (
        f"Chosen among {len(found.candidates)} candidates by {found.examples} examples, each held "
        f"out once"
    )
    if found.uses_sources:
        return f"{tried}: {rival.words}. {sure[0].upper()}{sure[1:]}."
    return (
        f"{tried}. The best that uses sources, {rival.words}, is not used: {sure}, and at "
        "most 10% is allowed."
    )


def _of_unseen(found: BestResult) -> list[str]:
    """How well it does on test examples that are new to it, where some are not."""
    ours, alone = found.unseen.get(MODEL), found.unseen.get(ALONE_MODEL)
    if ours is None:
        return []
    said = (
        f"{ours.seen} of the {ours.of} test examples stand, or nearly stand, in what this model "
        "was trained on"
    )
    if ours.score is None:
        return [f"{said}, which leaves too few that are new to it for a score."]
    beside = ""
    if alone is not None and alone.score is not None:
        on = "" if alone.seen == ours.seen else " on those that are new to it"
        beside = f", the target alone {_shown(alone.score, found)}{on}"
    return [f"{said}; without those: {_shown(ours.score, found)}{beside}."]


def _of_sources(sources: Iterable[SourceResult], found: BestResult) -> list[str]:
    by_verdict: dict[str, list[str]] = {}
    for source in sources:
        alone = "" if source.gain is None else f" (alone {gain_in_words(source.gain, found)})"
        by_verdict.setdefault(source.verdict, []).append(f"{source.name}{alone}")
    said = []
    for verdict, words in (("helps", "help"), ("hurts", "hurt")):
        if names := by_verdict.get(verdict):
            said.append(f"{listed(names)} {verdict if len(names) == 1 else words}")
    if names := by_verdict.get("cannot tell"):
        said.append(f"of {listed(names)} it cannot be told")
    if len(found.sources) == 1:
        return []  # beside which there is nothing; what it gains has been said
    return [f"Beside the other sources, {'; '.join(said)}."] if said else []


def _what_next(found: BestResult) -> list[str]:
    """Which examples to get more of, by what half of them cost."""
    if not found.halves:
        return []
    sure = [each for each in found.halves if each.gain[1] > 0]
    sure.sort(key=lambda each: -each.gain[0])
    advice = ", then ".join(_MORE[each.whose] for each in sure)
    first = f"What to do next: {advice}." if sure else "Whether more data would help is not clear."
    said = [
        f"{half_in_words(each, found)} gain {gain_in_words(each.gain, found)}"
        for each in found.halves
    ]
    return [f"{first} At the same number of steps, {listed(said)} over half of them."]


def half_in_words(half: HalfResult, found: BestResult) -> str:
    """What is halved.

    Args:
        half: Of whose examples.
        found: The answer.
    """
    whose = found.target if half.whose == "target" else "the sources"
    return f"all {half.examples:,} examples of {whose}"


_MORE = {"target": "label more examples", "sources": "get more data for the sources that are used"}


def _failed(found: BestResult) -> list[str]:
    failed = [each for each in found.candidates if each.state == "failed"]
    if not failed:
        return []
    first = failed[0]
    return [
        f"{len(failed)} candidates could not be trained; the first: {first.words}: {first.error}"
    ]


def _shown(score: float | None, found: BestResult) -> str:
    if score is None:
        return ""
    return f"{found.metric} {found.measure.shown(score)}{found.measure.title}"


def probability_in_words(probability: float) -> str:
    """In percent, never as certain.

    Example:
        >>> probability_in_words(0.0), probability_in_words(0.034)
        ('below 1%', '3%')
    """
    if probability < 1 - _SURELY:
        return "below 1%"
    return "above 99%" if probability > _SURELY else f"{probability:.0%}"
