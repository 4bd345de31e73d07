"""What cannot be a mixture is refused in one line."""

import pytest
from torch.utils.data import DataLoader

from tawt import Mixture, MixtureSampler, TargetAware
from tawt.errors import TawtError

DATA = {"pos": [1, 2], "ner": [3]}
EVEN = {"pos": 1.0, "ner": 1.0}

BOTH = [
    ({"pos": 1.0}, {}, "The dataset 'ner' has no weight"),
    ({**EVEN, "chunk": 1.0}, {}, "There is a weight for 'chunk' and no dataset; known: pos, ner"),
    ({"pos": float("nan"), "ner": 1.0}, {}, "The weight of 'pos' must be a number of at least 0"),
    ({"pos": -1.0, "ner": 1.0}, {}, "The weight of 'pos' must be a number of at least 0"),
    ({"pos": 0.0, "ner": 0.0}, {}, r"All weights are zero \(pos, ner\)"),
    (3.0, {}, "`weights` must be a weighting"),
    (EVEN, {"batch_size": 0}, "`batch_size` must be a whole number of at least 1; got 0"),
    (EVEN, {"batch_size": 2.0}, "`batch_size` must be a whole number of at least 1"),
    (EVEN, {"steps": 0}, "`steps` must be a whole number of at least 1; got 0"),
    (EVEN, {"batches": "both"}, '`batches` must be "one task" or "mixed"'),
    (EVEN, {"floor": 0.6}, r"between 0 and 0\.5; got 0\.6"),
    (EVEN, {"processes": 0}, "`processes` must be a whole number of at least 1"),
    (EVEN, {"process": 2, "processes": 2}, "`process` must be a whole number from 0 to 1"),
    (EVEN, {"hold": 0}, "`hold` must be a whole number of at least 1; got 0"),
    (EVEN, {"hold": 2.0}, r"`hold` must be a whole number of at least 1; got 2\.0"),
    (EVEN, {"hold": 2, "batches": "mixed"}, 'got hold=2 and batches="mixed"'),
    (EVEN, {"seed": 0.5}, r"`seed` must be a whole number; got 0\.5"),
]


def refused(message, make):
    with pytest.raises(TawtError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("weights", "settings", "message"), BOTH)
def test_both_refuse_the_same(weights, settings, message):
    given = {"batch_size": 1, **settings}
    refused(message, lambda: Mixture(DATA, weights, **given))
    refused(message, lambda: MixtureSampler({"pos": 2, "ner": 1}, weights, **given))


MIXTURES = [
    ({"pos": [1], "ner": []}, {"batch_size": 1}, "The dataset 'ner' is empty"),
    ({"pos": [1], "ner": iter([1])}, {"batch_size": 1}, "'ner' must be map-style"),
    ({"pos": [1], "ner": 7}, {"batch_size": 1}, "'ner' must be map-style"),
    ([[1], [2]], {"batch_size": 1}, "`datasets` must be datasets by name; got list"),
    ({}, {"batch_size": 1}, "at least one dataset"),
    (DATA, {}, "`batch_size` is missing: 'pos' is a dataset"),
    ({name: DataLoader([1]) for name in DATA}, {"batch_size": 1}, "has no effect on `DataLoader`s"),
    (
        {"pos": [1], "ner": DataLoader([1])},
        {"batch_size": 1, "batches": "mixed"},
        "'ner' is a `DataLoader`",
    ),
]


@pytest.mark.parametrize(("data", "settings", "message"), MIXTURES)
def test_what_no_mixture_can_be_made_of(data, settings, message):
    refused(message, lambda: Mixture(data, EVEN, **settings))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"pos": 2, "ner": 0}, "The dataset 'ner' is empty"),
        ({"pos": 2, "ner": [1]}, "`sizes` must be numbers of examples by name; 'ner' has"),
        ({}, "at least one dataset"),
    ],
)
def test_what_no_sampler_can_be_made_of(sizes, message):
    refused(message, lambda: MixtureSampler(sizes, EVEN, batch_size=1))


def test_weights_that_go_wrong_on_the_way_are_named():
    weights = dict(EVEN)
    steps = iter(Mixture(DATA, weights, batch_size=1, steps=9))
    next(steps)
    weights["ner"] = float("nan")
    refused("The weight of 'ner' must be a number", lambda: next(steps))
    weights = dict(EVEN)
    steps = iter(Mixture(DATA, weights, batch_size=1, steps=9))
    next(steps)
    del weights["ner"]
    refused("The dataset 'ner' has no weight", lambda: next(steps))


def test_a_source_of_a_weighting_needs_a_dataset():
    weights = TargetAware(sources=["pos", "chunk"], target="ner", target_share=None)
    refused("a weight for 'chunk' and no dataset", lambda: Mixture(DATA, weights, batch_size=1))
    refused(
        "'ner' is the target and also a source",
        lambda: TargetAware(sources=["pos", "ner"], target="ner", target_share=None),
    )


@pytest.mark.parametrize("share", [None, 0.3])
def test_the_target_cannot_be_a_source_by_another_name(share):
    weights = TargetAware(sources=["pos", "chunk"], target="ner", target_share=share)
    examples = [1, 2, 3]
    data = {"pos": [1], "chunk": examples, "ner": examples}
    said = "The dataset of the target 'ner' is also that of the source 'chunk'"
    refused(said, lambda: Mixture(data, weights, batch_size=1))
    Mixture({**data, "ner": [1, 2, 3]}, weights, batch_size=1)  # alike, and other examples


def test_two_sources_or_two_targets_may_share_a_dataset():
    both = [1, 2, 3]
    Mixture({"pos": both, "ner": both}, EVEN, batch_size=1)
    weights = TargetAware(sources=["pos"], target={"ner": 0.5, "chunk": 0.5}, target_share=None)
    Mixture({"pos": [1], "ner": both, "chunk": both}, weights, batch_size=1)
