"""A result as files: Markdown, JSON, LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.files.markdown import prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.reproduce.result import Result

_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"${sign}$" for sign in "<>|"},  # other signs in LaTeX's usual text fonts
    "±": r"$\pm$",
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
    "×": r"$\times$",
    "ω": r"$\omega$",
    "η": r"$\eta$",
    "–": "--",
    "−": "--",
}


def as_markdown(result: Result) -> str:
    """The table with its caption, under a heading."""
    lines = [
        f"# {prose(result.experiment)}: {prose(result.title)}",
        "",
        *(f"- {prose(sentence)}" for sentence in result.said),
        *([""] if result.said else []),
        _bar(result.headings),
        "| --- |" + " ---: |" * (len(result.headings) - 1),
        *(_bar(row) for row in result.rows),
        "",
        prose(result.caption),
        "",
    ]
    return "\n".join(lines)


def as_latex(result: Result) -> str:
    """A `table` environment; it needs no package."""
    columns = "l" + "r" * (len(result.headings) - 1)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\hline",
        _ampersands(result.headings),
        r"\hline",
        *(_ampersands(row) for row in result.rows),
        r"\hline",
        r"\end{tabular}",
        rf"\caption{{{latex(result.caption)}}}",
        rf"\label{{{result.experiment}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def as_json(result: Result) -> dict[str, Any]:
    """All of it, but for the plots."""
    return {
        **result.data,
        "title": result.title,
        "said": result.said,
        "table": {"headings": result.headings, "rows": result.rows},
        "caption": result.caption,
    }


def latex(text: str) -> str:
    r"""Text as LaTeX shows it.

    Example:
        >>> latex("50% ± 1_2")
        '50\\% $\\pm$ 1\\_2'
    """
    return "".join(_LATEX.get(sign, sign) for sign in text)


def _bar(cells: Sequence[str]) -> str:
    shown = (prose(cell).replace("|", "\\|").replace("*", "\\*") for cell in cells)
    return f"| {' | '.join(shown)} |"


def _ampersands(cells: Sequence[str]) -> str:
    return " & ".join(latex(cell) for cell in cells) + r" \\"
