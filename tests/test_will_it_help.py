"""The page that says whether tawt will help quotes the results it links to."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "will-it-help.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")][1:]
POINTS = re.compile(r"[+-]?\d+\.\d \([+-]?\d+\.\d to [+-]?\d+\.\d\)")


def linked(row):
    return (DOCS / re.findall(r"\]\(([^)#]+)", row[-1])[0]).read_text(encoding="utf-8")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_gains_stand_on_the_page_they_are_from(row):
    page = linked(row)
    for gain in (gain for cell in row[1:3] for gain in POINTS.findall(cell)):
        assert gain in page, gain


def test_most_rows_quote_a_gain_with_its_interval():
    quoted = [row for row in ROWS if POINTS.search(" ".join(row[1:3]))]
    assert len(quoted) >= 5


def test_no_page_has_a_place_left_to_be_filled():
    for path in DOCS.rglob("*.md"):
        assert not re.search(r"@[A-Z_]+@", path.read_text(encoding="utf-8")), path
