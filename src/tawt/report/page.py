"""One HTML page that opens anywhere: small, with no network, and without any program in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jinja2

from tawt.report import tones

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.report.parts import Fact, Part


def build_page(
    *,
    title: str,
    lead: Sequence[str],
    parts: Sequence[Part],
    about: Any,
    facts: Sequence[Fact] = (),
    cautions: Sequence[str] = (),
    config: str | None = None,
) -> str:
    """A page that gives its answer first, and its evidence after.

    Args:
        title: Its heading.
        lead: The answer, in sentences, the verdict first.
        parts: The evidence.
        about: How it was made.
        facts: The answer in numbers, a few.
        cautions: What a reader should know before they believe it.
        config: The configuration, as YAML.

    Example:
        >>> page = build_page(title="<b>", lead=["Yes."], parts=[], about={})
        >>> "&lt;b&gt;" in page, "<script" in page
        (True, False)
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tawt.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        title=title,
        lead=lead,
        facts=facts,
        cautions=cautions,
        parts=parts,
        about=about,
        config=config,
        paper=tones.PAPER,
        tones=tones.style(),
    )
