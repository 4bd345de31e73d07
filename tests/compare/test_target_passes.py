"""Rows that saw the target more often than others are said to have."""

import pytest

from tawt.compare.target_passes import uneven_passes


@pytest.mark.parametrize(
    ("others", "warned"), [(10.0, False), (11.9, False), (12.1, True), (8.4, False), (8.2, True)]
)
def test_more_than_a_fifth_is_uneven(others, warned):
    found = uneven_passes({"single-task": 10.0, "joint": others}, target="goal")
    assert bool(found) == warned


def test_rows_without_passes_or_that_are_not_known_are_passed_over():
    passes = {"single-task": 40.0, "equal weights": 0.0, "old": None}
    assert uneven_passes(passes, target="goal") == []
    assert uneven_passes({}, target="goal") == []


def test_the_sentence_names_every_row():
    [said] = uneven_passes({"single-task": 40.0, "joint": 0.5, "other": 39.0}, target="goal")
    assert "single-task 40, joint 0.50 and other 39" in said
    assert said.startswith("Passes over goal differ")
