"""Examples beside those of their label, and labels beside the rest."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tawt.arrays import classification, regression
from tawt.report.units import unit_tables
from tawt.runs import units
from tawt.runs.agreement import by_label, deviations
from tawt.text.reading import TaggedSentence
from tawt.text.tokens import TaggedSentences
from tawt.units import Units
from tawt.weighting import Outcome
from tawt.weights import SourceWeights

NAMES = ["bad", "good"]


def reviews(alignments, given):
    """A task with these labels, and what a run came to that measured these alignments."""
    size = len(given)
    task = classification("web", train=(np.zeros((size, 1)), given), labels=NAMES)
    weights = SourceWeights.of({"web": 1.0}).spread(Units.of_examples({"web": size}))
    moved = weights.moved(weights.logs + torch.from_numpy(np.nan_to_num(alignments)).float())
    return task, Outcome(moved, torch.from_numpy(alignments).float())


def one_label_apart(size=600, *, seed=0):
    """Labels are right; the target, of few examples, agrees with one of them only."""
    draw = np.random.default_rng(seed)
    given = np.arange(size) % 2
    return draw.normal(np.where(given == 0, -0.3, 0.2), 0.15), given


def test_a_label_that_agrees_less_does_not_fill_the_list():
    alignments, given = one_label_apart()
    task, outcome = reviews(alignments, given)
    least = list(units.ranked(outcome, [task], most=60))
    assert 15 <= sum(row["label"] == "bad" for row in least) <= 45
    most = list(units.ranked(outcome, [task], most=60, trusted=True))
    assert 15 <= sum(row["label"] == "bad" for row in most) <= 45


def test_that_it_agrees_less_is_a_finding_of_its_own():
    alignments, given = one_label_apart()
    task, outcome = reviews(alignments, given)
    (row,) = units.labels_that_agree_less(outcome, [task])
    assert (row["source"], row["label"], row["examples"]) == ("web", "bad", 300)
    assert row["alignment"] == pytest.approx(alignments[given == 0].mean(), rel=1e-5)
    assert row["others"] == pytest.approx(alignments[given == 1].mean(), rel=1e-5)
    spread = alignments[given == 0].std(ddof=1)
    assert row["error"] == pytest.approx(spread / 300**0.5, rel=1e-4)
    titles = [table.title for table in unit_tables(units.shown(outcome, [task]))]
    assert titles[0] == "Labels that agree less as a whole"


def test_wrong_labels_come_first_within_their_label():
    alignments, given = one_label_apart()
    wrong = np.zeros(len(given), bool)
    wrong[np.random.default_rng(1).choice(len(given), 40, replace=False)] = True
    alignments[wrong] -= 0.6
    task, outcome = reviews(alignments, given)
    rows = list(units.ranked(outcome, [task], most=len(given)))
    for label in NAMES:
        order = [wrong[row["example"] - 1] for row in rows if row["label"] == label]
        assert np.mean(order[: sum(order)]) > 0.7
        assert np.mean(order[sum(order) :]) < 0.05
    assert np.mean([wrong[row["example"] - 1] for row in rows[:30]]) > 0.8


@pytest.mark.parametrize("seed", range(20))
def test_chance_is_no_finding(seed):
    draw = np.random.default_rng(seed)
    given, alignments = draw.integers(0, 30, 600), draw.normal(size=600)
    task = classification("web", train=(np.zeros((600, 1)), given))
    found = by_label(task, np.ones(600), alignments, are_examples=True)
    assert len(found) == 30
    assert not any(row.agrees_less for row in found)


def test_groups_have_no_error_and_no_finding():
    alignments, given = one_label_apart()
    task, _ = reviews(alignments, given)
    of_groups = np.where(given == 0, -0.3, 0.2)
    found = by_label(task, np.ones(600), of_groups, are_examples=False)
    assert [(row.label, row.error, row.agrees_less) for row in found] == [
        ("bad", None, False),
        ("good", None, False),
    ]
    assert not deviations(task, of_groups).any()


def test_labels_of_one_example_or_none_measured():
    given = np.array([0, 1, 1, 1])
    task = classification("web", train=(np.zeros((4, 1)), given), labels=NAMES)
    bad, good = by_label(task, np.ones(4), np.array([-9.0, 1, np.nan, np.nan]), are_examples=True)[
        ::-1
    ]
    assert (bad.alignment, bad.error, bad.agrees_less) == (-9, None, False)
    assert (good.alignment, good.error) == (1, None)
    apart = deviations(task, np.array([-9.0, 1, 2, np.nan]))
    assert apart[0] == 0
    assert apart[1] == -apart[2] < 0
    assert np.isnan(apart[3])
    nothing = np.full(4, np.nan)
    assert np.isnan(deviations(task, nothing)).all()
    assert [row.alignment for row in by_label(task, np.ones(4), nothing, are_examples=True)] == [
        None,
        None,
    ]


def test_numbers_are_beside_all_of_the_source():
    task = regression("stars", train=(np.zeros((4, 1)), [1.0, 2.0, 3.0, 4.0]))
    alignments = np.array([1.0, 2.0, 3.0, 6.0])
    expected = (alignments - 3) / alignments.std()
    np.testing.assert_allclose(deviations(task, alignments), expected, rtol=1e-6)
    assert by_label(task, np.ones(4), alignments, are_examples=True) == []


class Sentences(TaggedSentences):
    """Without the pieces that a tokenizer would make of them."""

    def __init__(self, sentences):
        self.sentences = sentences


def test_a_sentence_is_beside_the_mean_of_its_tags():
    tags = ("OB", "OO", "BB", "OB")
    sentences = [TaggedSentence(("a", "b"), tuple(each), 1) for each in tags]
    task = SimpleNamespace(train=Sentences(sentences))
    alignments = np.array([1.0, 4.0, 0.0, 3.0])
    means = {"O": (1 + 4 + 3) / 3, "B": (1 + 0 + 3) / 3}
    apart = alignments - [sum(means.values()) / 2, means["O"], means["B"], sum(means.values()) / 2]
    expected = apart / apart.std()
    np.testing.assert_allclose(deviations(task, alignments), expected, rtol=1e-5)


def test_sources_of_other_scales_do_not_fill_the_list():
    """Inner products have the scale of a source's gradients."""
    draw = np.random.default_rng(0)
    alignments = np.concatenate([draw.normal(size=100), 50 * draw.normal(size=100)])
    tasks = [classification(name, train=(np.zeros((100, 1)), np.arange(100) % 2)) for name in "ab"]
    start = SourceWeights.uniform(["a", "b"]).spread(Units.of_examples({"a": 100, "b": 100}))
    rows = units.ranked(Outcome(start, torch.from_numpy(alignments)), tasks, most=20)
    assert 5 <= sum(row["source"] == "a" for row in rows) <= 15


def test_what_earlier_versions_left_is_still_shown():
    alignments, given = one_label_apart(40)
    task, outcome = reviews(alignments, given)
    shown = json.loads(json.dumps(units.shown(outcome, [task])))
    del shown["agree_less"]
    for row in (*shown["least"], *shown["most"]):
        del row["deviation"]
    for row in shown["labels"]["web"]:
        for key in ("alignment", "error", "others", "agrees_less"):
            del row[key]
    least, most, labels = unit_tables(shown)
    assert least.title == "Weighted least"
    assert "deviation" not in least.headings
    assert {len(row) for row in (*least.rows, *most.rows)} == {6}
    assert labels.headings == ("label", "examples", "weight")
