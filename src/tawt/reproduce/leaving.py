"""What an experiment leaves in its folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tawt import files
from tawt.report import Part, Table, build_page
from tawt.reproduce.writing import as_json, as_latex, as_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.reproduce.result import Result

_ABOUT = ("departures", "seeds", "available", "versions", "machine", "commit", "settings")


def write_result(result: Result, folder: Path) -> Path:
    """Write the result as Markdown, JSON, LaTeX and a page.

        FOLDER/EXPERIMENT/table.md
        FOLDER/EXPERIMENT/table.json
        FOLDER/EXPERIMENT/table.tex
        FOLDER/EXPERIMENT/report.html

    Args:
        result: Of the experiment.
        folder: Of all experiments.

    Returns:
        The experiment's folder.
    """
    own = folder / result.experiment
    files.write(own / "table.md", as_markdown(result))
    files.write(own / "table.tex", as_latex(result))
    files.write(
        own / "table.json", json.dumps(as_json(result), ensure_ascii=False, indent=1) + "\n"
    )
    page = build_page(
        title=f"{result.experiment}: {result.title}",
        lead=result.said or [result.title],
        parts=[
            *([Part(title="In a picture", figures=result.figures)] if result.figures else []),
            Part(
                title="In numbers",
                note=result.caption,
                tables=[
                    Table(
                        headings=result.headings,
                        rows=[[cell.replace(" (", "\n(") for cell in row] for row in result.rows],
                    )
                ],
            ),
        ],
        about={key: result.data[key] for key in _ABOUT if key in result.data},
    )
    files.write(own / "report.html", page)
    return own
