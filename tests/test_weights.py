"""Weights by name: how they start, how they are read, and what is refused."""

import json
import math

import pytest
import torch

from tawt.errors import WeightsError, suggestion
from tawt.weights import SourceWeights, WeightUpdate, known_names

SIZES = {"pos": 100, "chunk": 300, "srl": 600}
NAMES = list(SIZES)


def test_uniform():
    weights = SourceWeights.uniform(NAMES)
    assert weights.shares() == pytest.approx(dict.fromkeys(NAMES, 1 / 3), abs=1e-15)
    assert weights.logs.dtype == torch.float64
    assert len(weights) == 3


def test_proportional():
    weights = SourceWeights.proportional(SIZES)
    assert weights.shares() == pytest.approx({"pos": 0.1, "chunk": 0.3, "srl": 0.6}, abs=1e-15)


def test_a_mapping_keeps_the_order_of_the_tasks():
    weights = SourceWeights.initial({"srl": 0.7, "pos": 0.1, "chunk": 0.2}, NAMES)
    assert weights.names == ("pos", "chunk", "srl")
    assert [weights[name] for name in NAMES] == pytest.approx([0.1, 0.2, 0.7])


@pytest.mark.parametrize(
    ("initial", "expected"),
    [("uniform", [1 / 3] * 3), ("proportional", [0.1, 0.3, 0.6])],
)
def test_initial_by_name(initial, expected):
    weights = SourceWeights.initial(initial, NAMES, sizes=SIZES)
    assert list(weights.shares().values()) == pytest.approx(expected)


def test_sizes_in_another_order_go_to_the_right_names():
    shuffled = dict(reversed(SIZES.items()))
    weights = SourceWeights.initial("proportional", NAMES, sizes=shuffled)
    assert weights.shares() == pytest.approx({"pos": 0.1, "chunk": 0.3, "srl": 0.6})


def test_sizes_one_to_a_hundred_thousand():
    weights = SourceWeights.proportional({"small": 1, "large": 100_000})
    assert weights["small"] == pytest.approx(1 / 100_001, rel=1e-12)
    assert math.fsum(weights.shares().values()) == pytest.approx(1, abs=1e-15)


def test_a_weight_of_zero_is_a_weight():
    weights = SourceWeights.of({"a": 1.0, "b": 0.0})
    assert weights.shares() == {"a": 1.0, "b": 0.0}


def test_weights_rounded_in_a_file_are_accepted():
    weights = SourceWeights.of({"a": 0.3333333, "b": 0.3333333, "c": 0.3333333})
    assert weights["a"] == pytest.approx(1 / 3, rel=1e-6)


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"a": 1.2, "b": -0.2}, r"weight of 'b' must be a number of at least 0; got -0\.2"),
        ({"a": 1.0, "b": math.nan}, "weight of 'b' must be a number of at least 0; got nan"),
        ({"a": 1.0, "b": math.inf}, "weight of 'b' must be a number of at least 0; got inf"),
        ({"a": 0.5, "b": 0.6}, r"must sum to 1; a, b sum to 1\.1\. Divide each by 1\.1"),
        ({"a": 0.0, "b": 0.0}, "must sum to 1"),
        ({}, "at least one source"),
    ],
    ids=["negative", "nan", "infinite", "too much", "nothing", "empty"],
)
def test_what_is_not_weights_is_refused(shares, message):
    with pytest.raises(WeightsError, match=message):
        SourceWeights.of(shares)


@pytest.mark.parametrize("initial", ["uniform", "proportional", {"pos": 0.5, "chunk": 0.5}])
def test_names_given_twice_are_refused(initial):
    with pytest.raises(WeightsError, match="different names; 'pos' is given twice"):
        SourceWeights.initial(initial, ["pos", "chunk", "pos"], sizes={"pos": 1, "chunk": 1})


@pytest.mark.parametrize(("initial", "sizes"), [("uniform", None), ("proportional", {}), ({}, {})])
def test_nothing_to_weigh_is_refused(initial, sizes):
    with pytest.raises(WeightsError, match="at least one source"):
        SourceWeights.initial(initial, [], sizes=sizes)


def test_an_unknown_name_is_refused_with_the_nearest_known_one():
    with pytest.raises(WeightsError, match=r"unknown task 'chnk'; did you mean 'chunk'\?"):
        SourceWeights.initial({"pos": 0.4, "chnk": 0.6}, ["pos", "chunk"])
    with pytest.raises(WeightsError, match=r"sizes name the unknown task 'chnk'; did you mean"):
        SourceWeights.initial("proportional", ["pos", "chunk"], sizes={"pos": 1, "chnk": 2})


def test_an_unknown_name_like_no_other_lists_the_known_ones():
    assert suggestion("weather", ["pos", "chunk"]) == "known: pos, chunk."
    with pytest.raises(WeightsError, match="unknown task 'weather'; known: pos, chunk"):
        known_names(["weather", "pos", "chunk"], ["pos", "chunk"], what="weights")


def test_a_missing_name_is_refused():
    with pytest.raises(WeightsError, match="initial weights leave out 'chunk', 'srl'"):
        SourceWeights.initial({"pos": 1.0}, NAMES)
    with pytest.raises(WeightsError, match="sizes leave out 'srl'"):
        SourceWeights.initial("proportional", NAMES, sizes={"pos": 1, "chunk": 1})


def test_proportional_needs_sizes():
    with pytest.raises(WeightsError, match="needs the number of examples"):
        SourceWeights.initial("proportional", NAMES)


@pytest.mark.parametrize("size", [0, -5])
def test_a_size_below_one_is_refused(size):
    with pytest.raises(WeightsError, match=f"'chunk' has size {size}; sizes must be at least 1"):
        SourceWeights.proportional({"pos": 10, "chunk": size})


def test_a_misspelt_start_is_refused():
    with pytest.raises(WeightsError, match='must be "uniform", "proportional" or a mapping'):
        SourceWeights.initial("unifrom", NAMES)


def test_multipliers_of_proportional_weights_are_one():
    multipliers = SourceWeights.proportional(SIZES).multipliers(SIZES)
    assert multipliers == pytest.approx(dict.fromkeys(NAMES, 1.0), abs=1e-12)


def test_multipliers_by_hand():
    weights = SourceWeights.of({"pos": 0.5, "chunk": 0.3, "srl": 0.2})
    expected = {"pos": 0.5 * 1000 / 100, "chunk": 0.3 * 1000 / 300, "srl": 0.2 * 1000 / 600}
    assert weights.multipliers({**SIZES, "not weighed": 7}) == pytest.approx(expected)


def test_the_average_example_counts_one():
    """Σ n_t · multiplier_t = Σ n_t, so that multipliers move weight and make none."""
    weights = SourceWeights.of({"pos": 0.9, "chunk": 0.07, "srl": 0.03})
    multipliers = weights.multipliers(SIZES)
    assert sum(SIZES[name] * multipliers[name] for name in NAMES) == pytest.approx(1000)


def test_effective_sample_size_by_hand():
    assert SourceWeights.proportional(SIZES).effective_sample_size(SIZES) == pytest.approx(1000)
    alone = SourceWeights.of({"pos": 0.0, "chunk": 1.0, "srl": 0.0})
    assert alone.effective_sample_size(SIZES) == pytest.approx(300)
    mixed = SourceWeights.of({"pos": 0.5, "chunk": 0.3, "srl": 0.2})
    by_hand = 1 / (0.25 / 100 + 0.09 / 300 + 0.04 / 600)
    assert mixed.effective_sample_size(SIZES) == pytest.approx(by_hand)


def test_moved_weights_are_new_ones():
    weights = SourceWeights.uniform(["a", "b"])
    moved = weights.moved(torch.tensor([0.25, 0.75], dtype=torch.float64).log())
    assert moved.shares() == pytest.approx({"a": 0.25, "b": 0.75})
    assert weights.shares() == {"a": 0.5, "b": 0.5}


UPDATES = {
    "moved": WeightUpdate(
        step=3,
        weights={"a": 1 / 3, "b": 2 / 3},
        log_weights={"a": math.log(1 / 3), "b": math.log(2 / 3)},
        alignments={"a": -0.1234567890123456789, "b": 1e-300},
        norms={"a": 1e10, "b": 0.1},
        target_norm=0.3,
    ),
    "skipped": WeightUpdate(
        step=4,
        weights={"a": 1.0, "b": 0.0},
        log_weights={"a": 0.0, "b": None},
        alignments={"a": None, "b": 0.5},
        norms={"a": None, "b": 1.0},
        target_norm=None,
        skipped="the gradient is not finite for a",
    ),
}


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_comes_back_from_json_exactly(name):
    text = json.dumps(UPDATES[name].to_json(), allow_nan=False)
    assert WeightUpdate.from_json(json.loads(text)) == UPDATES[name]


def test_the_part_of_the_target_that_an_older_version_wrote_is_left_out():
    """It was no half of a cut, so nothing can be made of it."""
    update = next(iter(UPDATES.values()))
    assert WeightUpdate.from_json({**update.to_json(), "target_part": 1}) == update


def test_an_update_in_json_is_a_copy():
    values = UPDATES["moved"].to_json()
    values["weights"]["a"] = 7.0
    assert UPDATES["moved"].weights["a"] == 1 / 3
