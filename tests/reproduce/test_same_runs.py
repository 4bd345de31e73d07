"""Sizes that the data makes the same: counted once, and told."""

import numpy as np
import pytest

from tawt.reproduce.paper import TASKS
from tawt.reproduce.same_runs import in_words, same_runs
from tawt.reproduce.scores import score_rows
from tawt.reproduce.store import key
from tawt.reproduce.writing import as_json, as_latex
from tests.reproduce.made_up import TABLES, filled, plan, result_of, row, setup

EWT = {"pos": 12_544, "chunking": 8042, "predicate": 12_538, "ner": 12_543}
SEEDS = (0, 1)
PLAIN, WEIGHTED = "normalized joint training", "weighted normalized joint training"


def same(experiment, available):
    given = {"available": available, "cap": True}
    return same_runs(plan(experiment, **given), setup(**given))


def rows_of(experiment, available):
    given = {"available": available, "cap": True}
    planned = plan(experiment, **given)
    store = filled(planned.choices, SEEDS)
    rows = score_rows(experiment, planned, setup(**given), store, SEEDS)
    return {row.name: row.numbers for row in rows}


@pytest.mark.parametrize("experiment", TABLES)
def test_with_enough_data_nothing_is_the_same(experiment):
    assert same_runs(plan(experiment), setup()) == {}
    assert same_runs(plan(experiment, tiny=True), setup(tiny=True)) == {}
    result = result_of(experiment)
    assert "‡" not in result.caption + str(result.rows)


def test_ratios_that_become_the_same():
    assert same("table-source-ratio", EWT) == {
        **{(name, ratio): (name, "32") for name in (PLAIN, WEIGHTED) for ratio in ("64", "128")},
        **{("upper bound", ratio): ("upper bound", "16") for ratio in ("32", "64")},
    }


def test_ratios_of_different_rows_that_become_the_same():
    found = same("table-target-size", EWT)
    for name in (PLAIN, WEIGHTED):
        for size in ("2000", "4000", "8000"):
            assert found.pop((f"{name} (ratio 10)", size)) == (f"{name} (ratio 8)", size)
    first, second = "upper bound (ratio 8)", "upper bound (ratio 10)"
    assert found == {
        (first, "2000"): (first, "1000"),
        (first, "4000"): (first, "1000"),
        (second, "1000"): (first, "1000"),
        (second, "2000"): (second, "1000"),
        (second, "4000"): (second, "1000"),
    }


@pytest.mark.parametrize("experiment", TABLES)
@pytest.mark.parametrize("available", [EWT, dict.fromkeys(TASKS, 3000), dict.fromkeys(TASKS, 90)])
def test_the_same_are_those_of_the_same_runs_and_of_other_sizes_in_the_paper(experiment, available):
    planned = plan(experiment, available=available, cap=True)
    paper = plan(experiment)

    def keys(which, name, column):
        cell = row(which, name).cells[which.columns.index(column)]
        return type(cell), [key(run.config(0)) for run in cell.runs]

    for spot, first in same(experiment, available).items():
        assert spot != first
        assert keys(planned, *spot) == keys(planned, *first)
        assert keys(paper, *spot) != keys(paper, *first)


def test_what_is_one_run_in_the_paper_too_counts_as_there():
    """PoS as the only source, and PoS and chunking, have the same single-task number."""
    small = dict.fromkeys(TASKS, 1500)
    alone = rows_of("table-fewer-sources", small)["single-task"]
    assert alone[0].scores == alone[1].scores
    assert alone[-1].scores == pytest.approx(np.mean([n.scores for n in alone[:3]], axis=0))
    assert same("table-fewer-sources", small) == {}


@pytest.mark.parametrize(
    ("experiment", "available", "name", "different"),
    [
        ("table-source-ratio", EWT, PLAIN, [0, 1, 2, 3, 4, 5]),
        ("table-source-ratio", EWT, WEIGHTED, [0, 1, 2, 3, 4, 5]),
        ("table-source-ratio", EWT, "single-task", range(8)),
        ("table-source-ratio", dict.fromkeys(TASKS, 300), WEIGHTED, [0]),
        ("table-target-size", dict.fromkeys(TASKS, 3000), "single-task", [0, 1, 2, 3]),
        ("table-target-size", dict.fromkeys(TASKS, 3000), f"{WEIGHTED} (ratio 8)", [0, 1, 2, 3]),
        # In another row they stand too, which is no matter to the average of this one.
        ("table-target-size", dict.fromkeys(TASKS, 3000), f"{WEIGHTED} (ratio 10)", [0, 1, 2, 3]),
        ("table-target-size", EWT, f"{WEIGHTED} (ratio 10)", range(5)),
    ],
)
def test_an_average_counts_the_same_runs_once(experiment, available, name, different):
    *numbers, average = rows_of(experiment, available)[name]
    counted = [numbers[at] for at in different]
    assert average.scores == pytest.approx(np.mean([n.scores for n in counted], axis=0))
    if name.startswith("weighted"):
        assert average.gains == pytest.approx(np.mean([n.gains for n in counted], axis=0))


def test_a_gain_on_average_is_the_difference_of_the_averages():
    rows = rows_of("table-source-ratio", EWT)
    plain, weighted = rows[PLAIN][-1], rows[WEIGHTED][-1]
    assert weighted.gain == pytest.approx(weighted.mean - plain.mean)


def test_the_table_says_so():
    result = result_of("table-source-ratio", available=EWT, cap=True)
    plain = next(row for row in result.rows if row[0] == PLAIN)
    assert ["‡" in cell for cell in plain[1:]] == [False] * 6 + [True] * 2 + [False]
    assert all("†‡ (" in cell for cell in plain[7:9])
    assert result.caption.endswith(
        " ‡: the same runs as another number, since the data has too few sentences for others; a "
        f"row's average counts them once. These are: {PLAIN} and {WEIGHTED}: 64 and 128 as 32; "
        "upper bound: 32 and 64 as 16."
    )
    [said] = result.said
    assert " of 6 different columns (the paper: 8 of 8), by " in said
    assert r"$^\dagger$$^\ddagger$ (" in as_latex(result)
    found = next(each for each in as_json(result)["rows"] if each["name"] == PLAIN)["numbers"]
    assert [number["same_as"] for number in found] == [None] * 6 + [(PLAIN, "32")] * 2 + [None]


def test_in_words():
    assert in_words({}) == ""
    assert in_words(same("table-target-size", EWT)) == (
        "upper bound (ratio 8): 2000 and 4000 as 1000; "
        f"{PLAIN} (ratio 10): 2000, 4000 and 8000 as in {PLAIN} (ratio 8); "
        f"{WEIGHTED} (ratio 10): 2000, 4000 and 8000 as in {WEIGHTED} (ratio 8); "
        "upper bound (ratio 10): 1000 as in upper bound (ratio 8), 2000 and 4000 as 1000"
    )
    found = in_words(same("table-target-size", dict.fromkeys(TASKS, 3000)))
    assert "upper bound (ratio 8) and upper bound (ratio 10): 500 as 4000 in single-task, " in found
