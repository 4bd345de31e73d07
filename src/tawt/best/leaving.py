"""The answer as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt import files
from tawt.best.folder import MARKDOWN
from tawt.best.page import best_page
from tawt.best.result import BEST
from tawt.best.tables import CANDIDATES, candidate_cells, ranked
from tawt.best.words import in_words
from tawt.files.markdown import escaped, prose
from tawt.runs.folder import PAGE

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.best.result import BestResult


def write_answer(found: BestResult, folder: Path) -> None:
    """Write everything that follows from the answer, `best.json` last but for its page.

    Args:
        found: The answer.
        folder: Of the search; only its writer may call this.
    """
    files.write(folder / MARKDOWN, markdown(found, folder))
    files.write_sealed(folder / BEST, found.to_json())
    files.write(folder / PAGE, best_page(found, folder))


def markdown(found: BestResult, folder: Path) -> str:
    """The verdict, and every candidate."""
    verdict, *others = in_words(found, folder)
    lines = [f"**{prose(verdict)}**", "", *(f"{prose(each)}\n" for each in others)]
    lines += [f"{prose(each)}\n" for each in found.remarks]
    lines.append("| " + " | ".join(CANDIDATES) + " |")
    lines.append("|" + "---|" * len(CANDIDATES))
    rows = (candidate_cells(each, found) for each in ranked(found))
    lines += ["| " + " | ".join(map(escaped, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"
