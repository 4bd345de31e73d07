"""One HTML page that opens anywhere, with no network."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jinja2
from plotly.offline import get_plotlyjs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import plotly.graph_objects as go

    from tawt.report.units import UnitTable


@dataclass(frozen=True)
class Plot:
    """A figure with its heading, by the name under which the page finds it."""

    name: str
    title: str
    figure: go.Figure


@dataclass(frozen=True)
class Section:
    """One run, or the mean of a row's runs."""

    title: str
    plots: list[Plot]
    final: dict[str, tuple[str, str, str, str, str]]
    """Share of each task at the end, its interval, its multiplier, how often it was passed over,
    and whether it helped."""
    has_findings: bool = False
    """Whether that is known of any."""
    is_open: bool = False
    note: str = ""
    tables: list[UnitTable] = field(default_factory=list)
    """Of groups and examples, where weights are on those."""


def titled(figures: Mapping[str, go.Figure]) -> list[Plot]:
    """Figures by their titles, as plots."""
    pairs = enumerate(figures.items())
    return [Plot(f"plot-{place}", title, figure) for place, (title, figure) in pairs]


def build_page(
    *,
    title: str,
    lead: Sequence[str],
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    caption: str,
    plots: Sequence[Plot],
    about: Any,
    sections: Sequence[Section] = (),
    config: str | None = None,
) -> str:
    """A page that gives its answer first, and its evidence after.

    Args:
        title: Its heading.
        lead: The answer, in sentences.
        headings: Of the table.
        rows: Its cells.
        caption: Under the table.
        plots: Under that.
        about: How it was made.
        sections: More to open, such as runs one by one.
        config: The configuration, as YAML.
    """
    every = [*plots, *(plot for section in sections for plot in section.plots)]
    return rendered(
        "page.html.j2",
        title=title,
        lead=lead,
        headings=headings,
        rows=rows,
        caption=caption,
        plots=plots,
        about=about,
        sections=sections,
        config=config,
        plotly=get_plotlyjs(),
        specs=_script_json({plot.name: plot.figure.to_plotly_json() for plot in every}),
    )


def rendered(template: str, **values: Any) -> str:
    """A template of this package, every value escaped.

    Args:
        template: Its name.
        values: What it shows, all of it.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tawt.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(template).render(**values)


def _script_json(value: Any) -> str:
    """JSON that can stand inside a script element: no tag can close it."""
    text = json.dumps(value, default=_plain, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else list(value)
