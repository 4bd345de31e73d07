"""Weights on groups and single examples: which is which, what they add up to, and how many fit."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from tawt import simplex
from tawt.errors import WeightsError
from tawt.units import Coded, Units
from tawt.weighting import Outcome
from tawt.weights import SourceWeights
from tawt.weights.summary import summary_of

LABELS = {"pos": ["n", "v", "n", "n", "a"], "chunk": ["n", "x"]}
GROUPS = Units.of_groups(LABELS)
EXAMPLES = Units.of_examples({"pos": 5, "chunk": 2})
TASKS = SourceWeights.of({"pos": 0.5, "chunk": 0.2, "ner": 0.3})


def test_groups_are_of_one_source_each():
    assert [GROUPS.place(unit) for unit in range(GROUPS.count)] == [
        ("pos", "a"),
        ("pos", "n"),
        ("pos", "v"),
        ("chunk", "n"),
        ("chunk", "x"),
    ]
    assert GROUPS.counts({}).tolist() == [1, 3, 1, 1, 1]


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(1, 9), min_size=1), st.data())
def test_every_example_is_found_again(sizes, data):
    units = Units.of_examples(sizes)
    source = data.draw(st.sampled_from(list(sizes)))
    index = data.draw(st.integers(0, sizes[source] - 1))
    assert units.place(int(units.at(source, np.array([index]))[0])) == (source, index)


@pytest.mark.parametrize("sizes", [{}, {"a": 0}])
def test_no_units_are_refused(sizes):
    with pytest.raises(WeightsError):
        Units.of_examples(sizes)
    with pytest.raises(WeightsError):
        Units.of_groups({name: [] for name in sizes})


def test_a_long_label_costs_no_more_than_itself():
    labels = ["a" * 2000, *(["b"] * 1000)]
    units = Units.of_groups({"x": labels})
    assert units.members("x").nbytes == units.parts["x"].members.nbytes == 4 * len(labels)
    assert units.members("x")[:2].tolist() == [0, 1]
    assert units.fingerprint() != Units.of_groups({"x": labels[::-1]}).fingerprint()


class Unlisted(np.ndarray):
    """An array whose entries must not be made objects one by one."""

    def __iter__(self):
        raise AssertionError("iterated")

    def tolist(self):
        raise AssertionError("made a list")


@pytest.mark.parametrize(
    "labels",
    [
        np.arange(100_000) * 7 % 12,  # more than are sorted at once
        np.array([10, 9, 2, 10]),
        np.array([0.1, 2.0, 0.1], np.float32),
        np.array(["verb", "noun", "verb"]),
        np.array([True, False]),
    ],
    ids=["many", "integers", "numbers", "names", "booleans"],
)
def test_an_array_is_grouped_as_a_list_is_and_never_made_one(labels):
    found = Units.of_groups({"pos": labels.view(Unlisted), "chunk": labels})
    listed = Units.of_groups({"pos": list(labels), "chunk": list(labels)})
    assert found.fingerprint() == listed.fingerprint()
    assert type(found.parts["pos"].members) is np.ndarray
    assert found.parts["pos"].members.dtype == np.int32


def test_labels_of_any_sort_can_be_in_an_array():
    mixed = np.array([3, "x", None, 3], object)
    assert Units.of_groups({"a": mixed}).groups == {"a": ("3", "None", "x")}
    with pytest.raises(WeightsError, match=r"'a' needs one label per example; .* \(2, 2\)"):
        Units.of_groups({"a": np.eye(2)})


def test_names_that_nothing_has_are_no_groups():
    coded = Coded(("z", "unused", "a", "z"), np.array([0, 2, 3], np.int32))
    units = Units.of_groups({"x": ["k"], "y": coded})
    assert units.groups["y"] == ("a", "z")
    assert units.members("y").tolist() == [2, 1, 2]


def test_saved_weights_stay_those_of_the_same_units():
    """Fingerprints are in checkpoints: one that changed would refuse them all."""
    assert GROUPS.fingerprint().startswith("f3c2ce1bddba5869")
    assert EXAMPLES.fingerprint().startswith("b194bf6cd1b50d4f")


def test_units_that_differ_have_different_fingerprints():
    whole = Units.of_tasks(["pos", "chunk"])
    different = [
        GROUPS,
        EXAMPLES,
        whole,
        Units.of_tasks(["chunk", "pos"]),
        EXAMPLES.with_whole(["ner"]),
        Units({"ner": whole.parts["pos"], **EXAMPLES.parts}),
        Units({"pos": GROUPS.parts["pos"], "chunk": EXAMPLES.parts["chunk"]}),
        Units({"pos": GROUPS.parts["pos"], "chunk": whole.parts["chunk"]}),
    ]
    assert len({units.fingerprint() for units in different}) == len(different)


def test_a_whole_task_is_one_unit_of_all_its_examples():
    units = GROUPS.with_whole(["ner"])
    assert units.names == ("pos", "chunk", "ner")
    assert units.counts({"ner": 40}).tolist() == [1, 3, 1, 1, 1, 40]
    assert units.at("ner", np.array([7, 0])).tolist() == [5, 5]
    assert units.sizes == {"pos": 5, "chunk": 2}
    with pytest.raises(WeightsError, match="'pos' is given twice"):
        GROUPS.with_whole(["pos"])


def test_weights_are_spread_over_units_of_the_same_tasks():
    with pytest.raises(WeightsError, match="units leave out 'ner'"):
        TASKS.spread(EXAMPLES)
    assert torch.equal(TASKS.spread(Units.of_tasks(TASKS.names)).logs, TASKS.logs)


def test_weights_are_equal_if_their_numbers_and_units_are():
    weights = TASKS.spread(GROUPS.with_whole(["ner"]))
    again = TASKS.spread(Units.of_groups(LABELS).with_whole(["ner"]))
    assert weights == again
    assert weights != again.moved(again.logs + torch.arange(6.0))
    assert SourceWeights.uniform(["a", "b"]) != SourceWeights.uniform(["a", "c"])
    assert GROUPS != EXAMPLES
    nothing = Outcome(weights, torch.full((6,), torch.nan))
    assert nothing == Outcome(again, torch.full((6,), torch.nan))
    assert nothing != Outcome(again, torch.zeros(6))


def test_a_unit_that_is_not_there():
    with pytest.raises(WeightsError, match="no unit 7"):
        EXAMPLES.place(7)


@pytest.mark.parametrize("units", [EXAMPLES, GROUPS])
def test_spread_weights_are_those_of_the_tasks(units):
    weights = TASKS.spread(units.with_whole(["ner"]))
    assert weights.shares() == pytest.approx(TASKS.shares(), rel=1e-6)
    assert float(weights.logs.exp().sum()) == pytest.approx(1, abs=1e-6)
    for source, size in units.sizes.items():
        assert weights.relative(source, np.arange(size)).tolist() == pytest.approx([1.0] * size)
    assert weights.relative("ner", np.arange(3)) is None


def moved(units, seed=0):
    start = TASKS.spread(units.with_whole(["ner"]))
    noise = torch.from_numpy(np.random.default_rng(seed).normal(size=len(start)))
    return start.moved(torch.log_softmax(start.logs + noise, 0))


@pytest.mark.parametrize("units", [EXAMPLES, GROUPS])
def test_what_examples_count_adds_up_to_the_objective(units):
    """Σ_u ω_u L_u, L_u the mean over the unit's examples, both ways."""
    weights, draw = moved(units), np.random.default_rng(1)
    shares = weights.shares()
    objective, steps = 0.0, 0.0
    for source, size in units.sizes.items():
        losses = torch.from_numpy(draw.normal(size=size))
        numbers = units.at(source, np.arange(size))
        for unit in np.unique(numbers):
            objective += float(weights.logs[int(unit)].exp()) * float(
                losses[numbers == unit].mean()
            )
        factors = weights.relative(source, np.arange(size)).double()
        assert float(factors.mean()) == pytest.approx(1, abs=1e-6)
        steps += shares[source] * float((factors * losses).mean())
    assert steps == pytest.approx(objective, rel=1e-6)


def test_effective_sample_size_counts_units_by_their_examples():
    weights, sizes = moved(GROUPS), {"pos": 5, "chunk": 2, "ner": 40}
    counts = [1, 3, 1, 1, 1, 40]
    expected = 1 / sum(
        math.exp(log) ** 2 / n for log, n in zip(weights.logs.tolist(), counts, strict=True)
    )
    assert weights.effective_sample_size(sizes) == pytest.approx(expected, rel=1e-5)


def test_equal_example_weights_have_the_sample_size_of_all_examples():
    weights = SourceWeights.proportional({"pos": 5, "chunk": 2}).spread(EXAMPLES)
    assert weights.effective_sample_size({"pos": 5, "chunk": 2}) == pytest.approx(7, rel=1e-5)


def test_a_summary_names_the_most_and_the_least():
    start = SourceWeights.uniform(["pos", "chunk"]).spread(EXAMPLES)
    logs = start.logs.clone()
    logs[3] += 2.0
    logs[5] -= 2.0
    found = summary_of(start.moved(torch.log_softmax(logs, 0)))
    assert found["most"][0][:2] == ["chunk", 1] or found["most"][0][:2] == ["pos", 3]
    assert found["least"][0][:2] == ["chunk", 0]
    assert found["count"] == 7
    assert list(found["quantiles"]) == ["0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99"]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("beta", [1.5, 4.0])
def test_bounds_from_a_base_are_the_nearest_in_relative_entropy(seed, beta):
    """Against a general solver: min KL(ω ‖ p) with ω_u/b_u ≤ β ω_v/b_v for all u, v."""
    draw = np.random.default_rng(seed)
    p, base = (draw.dirichlet(np.ones(4)) for _ in range(2))
    found = simplex.bounded(torch.tensor(p).log(), beta=beta, base=torch.tensor(base).log()).exp()
    pairs = [(u, v) for u in range(4) for v in range(4) if u != v]
    solved = optimize.minimize(
        lambda w: float((w * np.log(w / p)).sum()),
        base,
        jac=lambda w: np.log(w / p) + 1,
        bounds=[(1e-9, 1)] * 4,
        constraints=[
            {"type": "eq", "fun": lambda w: w.sum() - 1},
            *(
                {"type": "ineq", "fun": lambda w, u=u, v=v: beta * w[v] / base[v] - w[u] / base[u]}
                for u, v in pairs
            ),
        ],
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    np.testing.assert_allclose(found.numpy(), solved.x, atol=1e-5)
    distance = float((found.numpy() * np.log(found.numpy() / p)).sum())
    assert distance <= solved.fun + 1e-9
    ratios = found.numpy() / base
    assert ratios.max() / ratios.min() <= beta * (1 + 1e-9)


def test_ten_million_examples_fit_and_move():
    size = 10_000_000
    units = Units.of_examples({"web": size})
    start = SourceWeights.of({"web": 0.7, "goal": 0.3}).spread(units.with_whole(["goal"]))
    assert start.logs.element_size() * len(start.logs) <= 4 * (size + 1)  # and nothing else
    assert vars(units.parts["web"]) == {"size": size}
    gradient = torch.randn(size + 1, generator=torch.Generator().manual_seed(0))
    logs = simplex.mirror_step(start.logs, gradient, step_size=1.0)
    logs = simplex.bounded(logs, beta=10.0, base=start.logs)
    weights = start.moved(logs)
    assert sum(weights.shares().values()) == pytest.approx(1, abs=1e-4)
    factors = weights.relative("web", np.array([0, size - 1]))
    expected = gradient[0] - gradient[size - 1]
    assert float((factors[1] / factors[0]).log()) == pytest.approx(float(expected), abs=1e-2)
    found = summary_of(weights)
    assert found["quantiles"]["0.01"] < 0.5 < found["quantiles"]["0.5"]
    assert len(found["least"]) == 20
