"""A page of text, tables and still plots: small, and without any program in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tawt.report.page import rendered

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Part:
    """A heading and what is under it, in this order."""

    title: str
    note: str = ""
    figure: str = ""
    """SVG from `tawt.report.svg`, which has escaped what it was given."""
    legend: Sequence[tuple[str, str]] = ()
    """Colour and name of each series."""
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    code: Sequence[tuple[str, str]] = ()
    """What it does, and its lines."""


def build_plain_page(
    *,
    title: str,
    lead: Sequence[str],
    parts: Sequence[Part],
    about: Any,
    config: str | None = None,
) -> str:
    """A page that gives its answer first, and its evidence after.

    Args:
        title: Its heading.
        lead: The answer, in sentences, the verdict first.
        parts: The evidence.
        about: How it was made.
        config: The configuration, as YAML.

    Example:
        >>> page = build_plain_page(title="<b>", lead=["Yes."], parts=[], about={})
        >>> "&lt;b&gt;" in page, "<script" in page
        (True, False)
    """
    return rendered(
        "plain.html.j2", title=title, lead=lead, parts=parts, about=about, config=config
    )
