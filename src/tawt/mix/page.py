"""The page of a mixture: the verdict first, then weights, losses, and how to use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.mix.amounts import short
from tawt.mix.folder import CONFIG
from tawt.mix.tables import CORPORA, LOSSES, corpus_cells, interval_text, loss_cells, percent
from tawt.mix.use import how_to_use
from tawt.mix.words import in_words
from tawt.report import Figure, Part, Table, build_page
from tawt.report.bars import Bar, bars
from tawt.report.lines import Line, lines, thinned
from tawt.report.tones import REST, SERIES, tone

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.mix.result import CorpusShare, MixResult


def mix_page(found: MixResult, folder: Path) -> str:
    """The page, from the answer alone.

    Args:
        found: The answer.
        folder: Where the configuration is.
    """
    return build_page(
        title=f"A mixture for {found.target}",
        lead=in_words(found),
        parts=[_weights(found), _losses(found), _course(found), _use()],
        about={"circumstances": found.circumstances, "seconds": found.seconds},
        config=(folder / CONFIG).read_text(encoding="utf-8", errors="replace"),
    )


def _weights(found: MixResult) -> Part:
    recommended = found.recommended == "learned weights"
    return Part(
        title="Learned weights" if not recommended else "How much of each",
        note="Bars: learned weights, the mean over the second half of the steps and over seeds, "
        "and the 95% interval over seeds. Grey strokes: weights by size. In the table: what to use "
        f"for {short(found.wanted)} {found.unit}, and how often that passes over each source.",
        figures=[
            Figure(
                drawing=bars(
                    [_bar(corpus) for corpus in found.corpora],
                    label=f"Learned weights of the sources for {found.target}",
                )
            )
        ],
        tables=[
            Table(headings=CORPORA, rows=[corpus_cells(corpus) for corpus in found.corpora]),
        ],
    )


def _bar(corpus: CorpusShare) -> Bar:
    ends = interval_text(corpus.interval)
    return Bar(
        name=corpus.name,
        value=corpus.weight,
        interval=corpus.interval,
        mark=corpus.by_size,
        said=percent(corpus.weight) + (f" ({ends})" if ends else ""),
    )


def _losses(found: MixResult) -> Part:
    seeds = len(found.seeds)
    unit = f" ({found.measure.title})" if found.measure.title else ""
    return Part(
        title="What it gains",
        note=f"{found.metric}{unit} on the {found.split} examples of {found.target}, after "
        f"{found.steps:,} steps ({short(found.amount)} {found.unit}) on the sources: mean over "
        f"{seeds} seed{'s' if seeds > 1 else ''}. In brackets the 95% interval of the difference, "
        "paired by seed.",
        tables=[Table(headings=LOSSES, rows=[loss_cells(row, found) for row in found.losses])],
    )


def _course(found: MixResult) -> Part:
    names = [corpus.name for corpus in found.corpora]
    course, every = thinned(found.course)
    series = [
        Line(name=name, points=[(point.step, point.weights[name]) for point in course])
        for name in names
    ]
    shown = len(SERIES)
    legend = [(tone(place), name) for place, name in enumerate(names[:shown])]
    if len(names) > shown:
        legend.append((REST, f"{len(names) - shown} others"))
    return Part(
        title="How the weights moved",
        note="Learned weights after each update, averaged over seeds."
        + (f" Drawn is one of every {every} updates." if every > 1 else ""),
        figures=[
            Figure(
                drawing=lines(series, label="Learned weights over training", across="step"),
                legend=legend,
            )
        ],
    )


def _use() -> Part:
    return Part(
        title="How to use it",
        note="The probabilities are in mixture.json and mixture.yaml, beside this page.",
        code=list(how_to_use().items()),
    )
