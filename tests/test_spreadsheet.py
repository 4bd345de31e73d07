"""Tables that a spreadsheet shows and does not obey."""

import csv
import io
import re

import pytest

from tawt.files.spreadsheet import as_csv
from tests.hostile import FORMULA

SIGNS = "=+-@＝＋－＠"  # noqa: RUF001
BREAKS = "\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def cells_by_any_reading(table):
    """What a spreadsheet might take for cells: any break ends a line, any separator a cell."""
    for line in re.split(f"[{BREAKS}]", table):
        yield from line.split(";")
    yield from (cell for row in csv.reader(io.StringIO(table, newline="")) for cell in row)


def test_numbers_are_numbers_and_texts_no_formulas():
    table = as_csv([{"text": "=1+1", "weight": -0.5, "label": "@x"}])
    assert table.splitlines()[1] == "'=1+1,-0.5,'@x"


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("before", ["", " ", '"', *BREAKS, *(f"a{sign}" for sign in BREAKS), "a;"],
                         ids=ascii)  # fmt: skip
def test_no_text_starts_a_formula(sign, before):
    text = f"{before}{sign}1+cmd|'/C calc'!A0"
    table = as_csv([{"text": text, "label": text}])
    for cell in cells_by_any_reading(table):
        assert cell.lstrip(' "')[:1] not in tuple(SIGNS)


def test_a_text_is_one_cell_of_one_line():
    text = f'one\r{FORMULA}\n"two", three\ttab\u2028end'
    table = as_csv([{"rank": 1, "text": text}])
    assert len(table.splitlines()) == 2
    ((rank, cell),) = list(csv.reader(io.StringIO(table, newline="")))[1:]
    assert rank == "1"
    assert cell == f'one {FORMULA} "two", three tab end'


def test_other_text_is_as_it_is():
    text = 'A fine film, "really" fine; 10 of 10 :-) a-b=c'
    (row,) = csv.DictReader(io.StringIO(as_csv([{"text": text, "number": -1.5, "none": None}])))
    assert row == {"text": text, "number": "-1.5", "none": ""}


def test_nothing_is_a_header():
    assert as_csv([]) == "\n"
