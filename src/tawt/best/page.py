"""The page of a search for the best model: what to use, how sure that is, and the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.best.folder import CONFIG
from tawt.best.result import ALONE_MODEL, MODEL
from tawt.best.tables import CANDIDATES, candidate_cells, ranked
from tawt.best.words import gain_in_words, half_in_words, in_words, probability_in_words
from tawt.report import Fact, Figure, Part, Table, build_page
from tawt.report.dots import Dot, dots, scale_for
from tawt.report.parts import Cell
from tawt.report.tones import tone_of
from tawt.report.words import metric_in_words
from tawt.runs.folder import RunFolder
from tawt.runs.mistakes import mistakes_parts
from tawt.runs.reading import record_of

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.best.result import BestResult, CandidateResult, SourceResult

_DRAWN = 24  # candidates


def best_page(found: BestResult, folder: Path) -> str:
    """The page, from the answer and the run whose model is used.

    Args:
        found: The answer.
        folder: Of the search.
    """
    run = RunFolder(folder / MODEL)
    parts = [_candidates_part(found), _sources_part(found), *_halves_parts(found)]
    parts += mistakes_parts(run, record_of(run), found.target)
    return build_page(
        title=f"{found.target}: the best model",
        lead=in_words(found, folder),
        facts=_facts(found),
        cautions=found.remarks,
        parts=parts,
        about={"circumstances": found.circumstances, "seconds": found.seconds},
        config=(folder / CONFIG).read_text(encoding="utf-8", errors="replace"),
    )


def _facts(found: BestResult) -> list[Fact]:
    metric, measure = metric_in_words(found.metric), found.measure
    unit = "%" if measure.title == "%" else ""
    facts = []
    for name, called in ((MODEL, "the model to use"), (ALONE_MODEL, "the target alone")):
        if name in found.test:
            shown = f"{measure.shown(found.test[name])}{unit}"
            facts.append(Fact(value=shown, said=f"test {metric}, {called}"))
    if found.worse is not None:
        facts.append(
            Fact(
                value=probability_in_words(found.worse),
                said="probability that the best use of sources is worse than the target alone",
                verdict="helps" if found.uses_sources else "unclear",
            )
        )
    return facts


def _candidates_part(found: BestResult) -> Part:
    known = [each for each in ranked(found) if each.gain is not None]
    drawn = [each for each in known if each.number != found.alone][:_DRAWN]
    rows = [_dot(each, found) for each in drawn]
    scale = scale_for(rows, holds=[0.0], whole=True)
    figure = Figure(
        drawing=dots(
            rows,
            label="Gains of candidates: " + ", ".join(f"{row.name} {row.said}" for row in rows),
            scale=scale,
            line=0.0,
        ),
        note="By how much each is better than the target alone (the line) in the mean score of an "
        "example that was held out, with its 90% interval.",
    )
    return Part(
        title="What was tried",
        note="Gains are estimated together, so that the best of many is not flattered: a candidate "
        "that stands out by chance is drawn back towards the others.",
        figures=[figure],
        tables=[
            Table(
                headings=CANDIDATES,
                rows=[candidate_cells(each, found) for each in ranked(found)],
            )
        ],
    )


def _dot(each: CandidateResult, found: BestResult) -> Dot:
    assert each.gain is not None
    mean, low, high = (found.measure.factor * end for end in each.gain)
    is_used = each.number == found.chosen
    return Dot(
        name=each.words,
        value=mean,
        interval=(low, high),
        said=gain_in_words(each.gain, found) + (", used" if is_used else ""),
        tone=tone_of("helps") if is_used else "c0",
    )


def _sources_part(found: BestResult) -> Part:
    return Part(
        title="The sources",
        note="Beside the others: what runs that learned weights of all sources say of each. Alone: "
        "this source and then the target, beside the target alone, where that was tried.",
        tables=[
            Table(
                headings=("source", "beside the others", "learned weight", "alone"),
                rows=[_source_cells(source, found) for source in found.sources],
            )
        ],
    )


def _halves_parts(found: BestResult) -> list[Part]:
    """What more examples may be worth, where that was measured."""
    rows = [
        Dot(
            name=half_in_words(each, found),
            value=found.measure.factor * each.gain[0],
            interval=(found.measure.factor * each.gain[1], found.measure.factor * each.gain[2]),
            said=gain_in_words(each.gain, found),
            tone=tone_of("helps") if each.gain[1] > 0 else "c0",
        )
        for each in found.halves
    ]
    if not rows:
        return []
    figure = Figure(
        drawing=dots(
            rows,
            label="Gains over half of the examples: "
            + ", ".join(f"{row.name} {row.said}" for row in rows),
            scale=scale_for(rows, holds=[0.0], whole=True),
            line=0.0,
        ),
        note="By how much training on all of them is better than on half of them (the line), as "
        "many steps, in the mean score of a held-out example; with its 90% interval. The next "
        "doubling is seldom worth more than the last.",
    )
    return [Part(title="What more examples may be worth", figures=[figure])]


def _source_cells(source: SourceResult, found: BestResult) -> list[str | Cell]:
    return [
        source.name,
        Cell(text=source.verdict, verdict=tone_of(source.verdict)),
        "" if source.weight is None else f"{source.weight:.2f}",
        "" if source.gain is None else gain_in_words(source.gain, found),
    ]
