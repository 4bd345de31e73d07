"""What the paper printed: the numbers agree with each other, and with its text where that is."""

import json
import re
from pathlib import Path

import pytest

from tawt.reproduce import EXPERIMENTS
from tawt.reproduce.paper import METRICS, SCALES, SETTINGS, TASKS, is_significant, paper, printed
from tawt.reproduce.plan import AGAINST
from tests.reproduce.made_up import TABLES

SHARED = Path(__file__).parents[3] / "shared" / "paper"
AVERAGED = [name for name in TABLES if paper()[name]["columns"][-1] == "avg"]
ROWS = [(name, row) for name in AVERAGED for row in paper()[name]["rows"]]
NOT_THE_MEAN = {}
"""Averages that the paper printed wrong, with the difference: none."""
NO_GAIN = {
    ("table-main", "weighted normalized joint training", "predicate"): -0.35,
    ("table-target-size", "weighted normalized joint training (ratio 8)", 4000): 0.0,
    ("table-target-size", "weighted normalized joint training (ratio 10)", 8000): -0.4,
}
"""Where the paper's weighted row is not the better one."""


@pytest.mark.parametrize(("experiment", "row"), ROWS)
def test_an_average_is_the_mean_of_its_columns(experiment, row):
    *numbers, average = printed(experiment, row)
    assert len(numbers) + 1 == len(paper()[experiment]["columns"])
    if None in numbers:
        assert average is None
        return
    wrong_by = NOT_THE_MEAN.get((experiment, row), 0.0)
    assert average == pytest.approx(sum(numbers) / len(numbers) + wrong_by, abs=0.00501)


def plain_of(row):
    kind = row.partition(" (")[0]
    return AGAINST[kind] + row.removeprefix(kind) if kind in AGAINST else None


def test_weighted_rows_beat_plain_ones_but_in_three_places():
    without = {}
    for experiment, row in ROWS:
        if (plain := plain_of(row)) is not None:
            pairs = zip(printed(experiment, row), printed(experiment, plain), strict=True)
            for column, (ours, theirs) in zip(paper()[experiment]["columns"], pairs, strict=True):
                if ours <= theirs:
                    without[experiment, row, column] = round(ours - theirs, 2)
    assert without == NO_GAIN


def test_what_is_marked_as_significant_is_a_gain():
    marked = 0
    for experiment, row in ROWS:
        for at, column in enumerate(paper()[experiment]["columns"]):
            if is_significant(experiment, row, str(column)):
                marked += 1
                assert printed(experiment, row)[at] > printed(experiment, plain_of(row))[at]
    assert marked == 10 + 6  # of the main table, and with more target data


def test_marks_are_of_rows_and_columns_that_are_there():
    for experiment in TABLES:
        for row, columns in paper()[experiment].get("p_below_0.001", {}).items():
            assert row in paper()[experiment]["rows"]
            assert set(columns) <= set(paper()[experiment]["columns"]) - {"avg"}


def test_only_weighted_rows_are_marked():
    assert not is_significant("table-main", "pre-training", "pos")
    assert not is_significant("table-main", "weighted pre-training", "chunking")
    assert not is_significant("table-main", "weighted pre-training", "avg")
    assert not is_significant("table-source-ratio", "weighted normalized joint training", "1")


def test_final_weights_sum_to_one_to_rounding():
    rows = paper()["table-final-weights"]["rows"]
    for row in AGAINST:
        targets = rows.get(f"{row}, target", [0.0] * 4)
        for sources, target in zip(rows[row], targets, strict=True):
            assert len(sources) == 3
            assert sum(sources) + target == pytest.approx(1, abs=0.0101)


def test_tables_that_share_runs_share_numbers():
    main, dynamic = (paper()[name]["rows"] for name in ("table-main", "table-dynamic-weights"))
    for row in ("weighted pre-training", "weighted normalized joint training"):
        assert dynamic[f"{row}, dynamic weights"] == main[row]
    ratio, size = (paper()[name]["rows"] for name in ("table-source-ratio", "table-target-size"))
    at_8 = paper()["table-source-ratio"]["columns"].index(8)
    for row in ("normalized joint training", "weighted normalized joint training", "upper bound"):
        assert size[f"{row} (ratio 8)"][0] == ratio[row][at_8]
    assert size["single-task"][0] == ratio["single-task"][at_8]


def test_every_experiment_is_one_of_the_papers_and_the_reverse():
    assert set(EXPERIMENTS) == {name for name in paper() if name.startswith(("table", "figure"))}
    assert len(EXPERIMENTS) == 9


def test_settings_are_those_of_the_text():
    assert SETTINGS == {
        "encoder": "bert-base-cased",
        "seeds": 1,
        "epochs": 4,
        "batch_size": 32,
        "max_length": 128,
        "learning_rate": 5e-5,
        "gradient_examples": 64,
        "step_size": 1.0,
        "precision": "fp32",
        "sampling": "size",
        "guard": False,
    }
    assert SCALES == (0.3, 1, 10, 30, 100)
    assert tuple(METRICS) == TASKS


def test_the_package_has_the_numbers_that_were_copied_out():
    copied = SHARED / "results.json"
    if not copied.exists():
        pytest.skip("the numbers as they were copied out are not here")
    ours, theirs = dict(paper()), json.loads(copied.read_text())
    # That copy left out the stars of one table; the next test has them from the text.
    more = dict(ours.pop("table-more-target-data"))
    more.pop("p_below_0.001")
    assert more == theirs.pop("table-more-target-data")
    assert ours == theirs


def test_every_number_and_star_stands_in_the_papers_text():
    files = sorted(SHARED.glob("*.tex"))
    if not files:
        pytest.skip("the paper's text is not here")
    text = files[0].read_text(encoding="utf-8")
    for experiment in AVERAGED:
        table = paper()[experiment]
        source = text[: text.index(rf"\label{{{table['label']}}}")].rpartition(r"\begin{tabular}")[
            2
        ]
        lines = [line for line in source.splitlines() if "&" in line and line.strip()[0] != "%"]
        rows = [_cells(line) for line in lines[1:]]
        wanted = [
            [(number, is_significant(experiment, row, str(column))) for column, number in pairs]
            for row, numbers in table["rows"].items()
            for pairs in [zip(table["columns"], numbers, strict=True)]
        ]
        assert rows == wanted


def _cells(line):
    """Numbers of a table's line, and whether they are starred."""
    _, *cells = re.sub(r"\\bf|[{}]|\\\\.*", "", line).split("&")
    found = [(cell.replace("*", "").strip(), "***" in cell) for cell in cells]
    return [(None if cell == "-" else float(cell), star) for cell, star in found]
