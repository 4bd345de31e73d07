"""The sources of a target: what each counts, and whether it helps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.report.dots import Dot, dots, scale_for
from tawt.report.parts import Cell, Figure, shortened
from tawt.report.tones import tone_of
from tawt.report.words import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

_DRAWN = 24
_NAMED = 4
_ORDER = ("helps", "cannot tell", "", "hurts")


@dataclass(frozen=True, kw_only=True)
class SourceShare:
    """What is known of a source."""

    name: str
    share: float
    """Of the objective, at the end."""
    interval: tuple[float, float] | None = None
    """Of the share."""
    singles: Sequence[float] = ()
    """Shares of single runs."""
    verdict: str = ""
    """`helps`, `hurts` or `cannot tell`; empty where nothing was measured."""
    sure: str = ""
    """How surely."""

    @property
    def said(self) -> str:
        """The verdict, and how surely."""
        return " ".join(part for part in (self.verdict, self.sure) if part)

    @property
    def cell(self) -> Cell:
        """The verdict, as a table has it."""
        return Cell(text=self.said, verdict=tone_of(self.verdict) if self.verdict else "")


def ranked(sources: Sequence[SourceShare]) -> list[SourceShare]:
    """Those that help first, those that hurt last, and the larger before the smaller."""
    return sorted(sources, key=lambda source: (_ORDER.index(source.verdict), -source.share))


def sources_figure(sources: Sequence[SourceShare], *, title: str = "", note: str = "") -> Figure:
    """A chart of shares with their intervals, coloured by what is known.

    Args:
        sources: From the top; of very many, the first and the last are drawn, which are those that
            help and hurt.
        title: Over it.
        note: Under it.

    Example:
        >>> source = SourceShare(name="pos", share=0.4, verdict="helps", sure="(97%)")
        >>> found = sources_figure([source])
        >>> "40%, helps (97%)" in found.drawing
        True
    """
    drawn, left = shortened(sources, most=_DRAWN)
    if left:
        half = _DRAWN // 2
        drawn = [*sources[:half], *sources[-half:]]
        hidden = sources[half:-half]
        together = 100 * sum(source.share for source in hidden)
        note = f"{note} Not drawn: {left} in between, which have {together:.0f}% together.".strip()
    rows = [
        Dot(
            name=source.name,
            value=100 * source.share,
            interval=_percent(source.interval),
            singles=[100 * share for share in source.singles],
            said=", ".join(part for part in (_share(source.share), source.said) if part),
            tone=tone_of(source.verdict) if source.verdict else "c0",
        )
        for source in drawn
    ]
    scale = scale_for(rows, holds=[0.0], whole=True)
    label = f"{title or 'Shares'} of {len(drawn)} sources: " + ", ".join(
        f"{row.name} {row.said}" for row in rows[:_NAMED]
    )
    return Figure(title=title, drawing=dots(rows, label=label, scale=scale, suffix="%"), note=note)


def verdict_on(sources: Sequence[SourceShare]) -> str:
    """Which sources help, which hurt, and of how many nothing can be said.

    Example:
        >>> known = [("pos", "helps"), ("shuffled", "hurts"), ("chunk", "cannot tell")]
        >>> verdict_on([SourceShare(name=name, share=0.3, verdict=each) for name, each in known])
        'pos helps, shuffled hurts; of chunk it cannot be told.'
        >>> verdict_on([SourceShare(name="pos", share=0.3, verdict="cannot tell")])
        'No source can be told from chance to help, or to hurt.'
    """
    by_verdict = {
        verdict: [source.name for source in sources if source.verdict == verdict]
        for verdict in ("helps", "hurts", "cannot tell")
    }
    if not any(by_verdict.values()):
        return ""
    said = [
        f"{_some(names)} {verdict if len(names) == 1 else verdict.removesuffix('s')}"
        for verdict, names in by_verdict.items()
        if names and verdict != "cannot tell"
    ]
    unclear = by_verdict["cannot tell"]
    if not said:
        return "No source can be told from chance to help, or to hurt."
    rest = f"; of {_some(unclear)} it cannot be told" if unclear else ""
    return f"{', '.join(said)}{rest}."


def _some(names: Sequence[str]) -> str:
    if len(names) <= _NAMED + 1:
        return listed(names)
    return listed([*names[:_NAMED], f"{len(names) - _NAMED} others"])


def _percent(ends: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if ends is None else (100 * ends[0], 100 * ends[1])


def _share(share: float) -> str:
    return f"{100 * share:.1f}%" if 0 < share < 0.1 else f"{100 * share:.0f}%"
