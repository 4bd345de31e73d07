"""Each score against its definition written out in loops, and the laws they keep."""

import math

import numpy as np
import pytest
import torch
from scipy import optimize, stats
from sklearn.covariance import LedoitWolf

from tawt.distance.transferability import (
    h_score,
    leep,
    log_evidence,
    logme,
    nce,
    plain_h_score,
    transrate,
)
from tawt.distance.transferability.linear_model import NOISE
from tawt.errors import ConfigError, DataError


def by_class_means(features, labels):
    return transrate(features, labels, centre="class means")


def leep_of_softmax(features, labels):
    return leep(torch.as_tensor(features).softmax(dim=-1), labels)


def nce_of_argmax(features, labels):
    return nce(torch.as_tensor(features).argmax(dim=-1), labels)


OF_FEATURES = {
    "logme": logme,
    "h_score": h_score,
    "plain_h_score": plain_h_score,
    "transrate": transrate,
    "by_class_means": by_class_means,
}
ALL = {**OF_FEATURES, "leep": leep_of_softmax, "nce": nce_of_argmax}
SHAPES = {"tall": (40, 5), "wide": (12, 30), "square": (10, 10)}


def drawn(examples=40, width=5, *, classes=3, seed=0, spread=1.0):
    """Features around class means, and labels of which all classes occur."""
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.arange(examples) % classes)
    means = generator.normal(size=(classes, width)) * spread
    scales = np.linspace(0.3, 2.0, width)
    return means[labels] + generator.normal(size=(examples, width)) * scales, labels


def one_hot(labels):
    return (np.asarray(labels)[:, None] == np.unique(labels)).astype(float)


# The definitions, slowly


def leep_by_hand(probabilities, labels):
    examples, sources = probabilities.shape
    joint = {(y, z): 0.0 for y in set(labels) for z in range(sources)}
    for row, y in zip(probabilities, labels, strict=True):
        for z in range(sources):
            joint[y, z] += row[z] / examples
    total = 0.0
    for row, y in zip(probabilities, labels, strict=True):
        expected = 0.0
        for z in range(sources):
            marginal = sum(joint[other, z] for other in set(labels))
            expected += joint[y, z] / marginal * row[z] if marginal else 0.0
        total += math.log(expected)
    return total / examples


def nce_by_hand(sources, labels):
    entropy = 0.0
    for z in set(sources):
        given = [y for s, y in zip(sources, labels, strict=True) if s == z]
        for y in set(given):
            share = given.count(y) / len(given)
            entropy -= len(given) / len(labels) * share * math.log(share)
    return -entropy


def class_means(features, labels):
    return np.stack([features[labels == label].mean(axis=0) for label in labels])


def coding_rate_by_columns(rows, epsilon):
    gram = rows.T @ rows / (len(rows) * epsilon)
    return np.linalg.slogdet(np.eye(len(gram)) + gram)[1] / 2


def coding_rate_by_rows(rows, epsilon):
    gram = rows @ rows.T / (len(rows) * epsilon)
    return np.linalg.slogdet(np.eye(len(gram)) + gram)[1] / 2


def evidence_by_hand(features, target, alpha, beta):
    covariance = np.eye(len(target)) / beta + features @ features.T / alpha
    normal = stats.multivariate_normal(np.zeros(len(target)), covariance)
    return normal.logpdf(target) / len(target)


def largest_evidence_by_search(features, target):
    def minus_evidence(logs):
        return -evidence_by_hand(features, target, *np.exp(logs))

    starts = [(a, b) for a in (-2.0, 2.0, 8.0) for b in (0.0, 3.0)]
    bounds = [(-12.0, 25.0), (-12.0, 18.0)]
    found = [
        optimize.minimize(
            minus_evidence,
            start,
            method="Nelder-Mead",
            bounds=bounds,
            options={"xatol": 1e-7, "fatol": 1e-12, "maxiter": 4000},
        )
        for start in starts
    ]
    return -min(result.fun for result in found)


def logme_by_iterating(features, target, *, steps=20_000):
    """The papers' fixed point, from α = β = 1, with no guard and as many steps as it takes."""
    examples, width = features.shape
    alpha = beta = 1.0
    gram = features.T @ features
    for _ in range(steps):
        posterior = np.linalg.inv(alpha * np.eye(width) + beta * gram)
        mean = beta * posterior @ features.T @ target
        effective = width - alpha * np.trace(posterior)
        alpha = effective / (mean @ mean)
        beta = (examples - effective) / ((target - features @ mean) ** 2).sum()
    return evidence_by_hand(features, target, alpha, beta)


# LogME


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.02, 7.0), (30.0, 0.4)])
def test_evidence_is_that_of_a_bayesian_linear_regression(shape, alpha, beta):
    features, _ = drawn(*shape, seed=1)
    targets = np.random.default_rng(2).normal(size=(len(features), 2)) * [3.0, 0.2] + 1.0
    expected = [evidence_by_hand(features, target, alpha, beta) for target in targets.T]
    ours = log_evidence(features, targets, alpha=alpha, beta=beta)
    assert ours == pytest.approx(np.mean(expected), rel=1e-10)


def test_logme_of_classes_is_the_largest_evidence():
    features, labels = drawn(24, 4, spread=0.7)
    expected = [largest_evidence_by_search(features, target) for target in one_hot(labels).T]
    assert logme(features, labels) == pytest.approx(np.mean(expected), abs=1e-6)


@pytest.mark.parametrize("signal", [2.0, 0.3, 0.0])
def test_logme_of_numbers_is_the_largest_evidence(signal):
    generator = np.random.default_rng(3)
    features = generator.normal(size=(20, 3))
    targets = signal * features @ [1.0, -2.0, 0.5] + generator.normal(size=20)
    expected = largest_evidence_by_search(features, targets)
    assert logme(features, targets) == pytest.approx(expected, abs=1e-6)


def test_logme_with_fewer_examples_than_width_is_the_largest_evidence():
    features, labels = drawn(10, 16, classes=2, spread=0.5, seed=5)
    expected = [largest_evidence_by_search(features, target) for target in one_hot(labels).T]
    assert logme(features, labels) == pytest.approx(np.mean(expected), abs=1e-6)


def test_logme_is_where_the_papers_iteration_ends():
    features, labels = drawn(60, 6, spread=1.5, seed=7)
    expected = [logme_by_iterating(features, target, steps=500) for target in one_hot(labels).T]
    assert logme(features, labels) == pytest.approx(np.mean(expected), abs=1e-10)


def test_logme_is_no_less_than_any_evidence():
    features, labels = drawn(30, 8, spread=0.2, seed=8)
    score = logme(features, one_hot(labels))
    assert score == pytest.approx(logme(features, labels), abs=1e-12)
    for alpha in np.logspace(-3, 6, 10):
        for beta in np.logspace(-2, 3, 10):
            evidence = log_evidence(features, one_hot(labels), alpha=alpha, beta=beta)
            assert evidence <= score + 1e-12


def test_logme_without_signal_is_that_of_noise_alone():
    targets = np.array([1.0, -1.0, 1.0, -1.0])
    features = np.array([[1.0], [1.0], [-1.0], [-1.0]])  # orthogonal to the targets
    expected = stats.norm(0, 1).logpdf(targets).mean()
    assert logme(features, targets) == pytest.approx(expected, abs=1e-9)
    assert logme(np.zeros((4, 3)), targets) == pytest.approx(expected, abs=1e-9)


def test_logme_of_labels_that_features_give_exactly_stops_at_the_smallest_noise():
    labels = np.arange(60) % 3
    exact = logme(one_hot(labels), labels)
    noisy = logme(one_hot(labels) + 1e-3 * np.random.default_rng(0).normal(size=(60, 3)), labels)
    per_example = -math.log(math.sqrt(NOISE * 2 * math.pi / 3))  # of noise that is not there
    assert noisy < exact < per_example


def test_numbers_are_scored_in_their_own_units():
    features, _ = drawn(seed=9)
    targets = features @ np.arange(5.0) + np.random.default_rng(0).normal(size=40)
    expected = logme(features, targets)
    assert logme(features, targets / 1000) == pytest.approx(expected + math.log(1000), abs=1e-10)
    assert logme(features, torch.tensor(targets)[:, None]) == pytest.approx(expected, abs=1e-12)


# H-score


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_plain_h_score_is_the_trace_of_its_definition(shape):
    features, labels = drawn(*shape)
    inverse = np.linalg.pinv(np.cov(features, rowvar=False), rcond=1e-12)
    expected = np.trace(inverse @ np.cov(class_means(features, labels), rowvar=False))
    assert plain_h_score(features, labels) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shape", [*SHAPES.values(), (40, 1)], ids=[*SHAPES, "one column"])
def test_h_score_is_the_trace_with_the_covariance_of_ledoit_and_wolf(shape):
    features, labels = drawn(*shape)
    estimate = LedoitWolf().fit(features)
    between = np.cov(class_means(features, labels), rowvar=False, bias=True).reshape(shape[1], -1)
    shrunk = (1 - estimate.shrinkage_) * np.linalg.solve(estimate.covariance_, between)
    assert h_score(features, labels) == pytest.approx(np.trace(shrunk), rel=1e-10)


def test_plain_h_score_is_bounded_and_reaches_its_bound_with_few_examples():
    features, labels = drawn(classes=4, spread=100.0)
    assert 0 <= plain_h_score(features, labels) <= 3
    wide, labels = drawn(20, 30, classes=4, spread=0.0)
    assert plain_h_score(wide, labels) == pytest.approx(3, abs=1e-9)
    assert h_score(wide, labels) < 2


@pytest.mark.parametrize("value", [0.1, 0.0, 1e6 + 0.1])
@pytest.mark.parametrize("name", ["h_score", "plain_h_score"])
def test_constant_features_tell_nothing(name, value):
    features = np.full((999, 4), value)
    assert ALL[name](features, np.arange(999) % 3) == 0
    features[:, 2] = np.arange(999) % 3 == 1  # and do not hide one that varies
    assert ALL["plain_h_score"](features, np.arange(999) % 3) == pytest.approx(1)


# TransRate


@pytest.mark.parametrize("epsilon", [1e-4, 1.0])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("rate", [coding_rate_by_columns, coding_rate_by_rows])
def test_transrate_is_the_difference_of_log_determinants(rate, shape, epsilon):
    features, labels = drawn(*shape)
    labels[0] = 7  # unequal classes, one of them a single example
    centred = features - features.mean(axis=0)
    parts = [centred[labels == label] for label in set(labels)]
    for centre in ("mean", "class means"):
        if centre == "class means":
            parts = [part - part.mean(axis=0) for part in parts]
        within = sum(len(part) * rate(part, epsilon) for part in parts) / len(features)
        expected = rate(centred, epsilon) - within
        score = transrate(features, labels, epsilon=epsilon, centre=centre)
        assert score == pytest.approx(expected, rel=1e-9)


def test_transrate_of_equal_classes_is_that_of_the_published_lines():
    features, labels = drawn(30, 4)
    centred = features - features.mean(axis=0)
    rates = [coding_rate_by_columns(centred[labels == label], 1e-4) for label in range(3)]
    expected = coding_rate_by_columns(centred, 1e-4) - np.mean(rates)
    assert transrate(features, labels) == pytest.approx(expected, rel=1e-10)


def test_transrate_is_never_negative():
    for seed in range(20):
        features, labels = drawn(15, 6, seed=seed, spread=0.0)
        labels[labels == 2] = labels[0]
        assert 0 <= transrate(features, labels) <= by_class_means(features, labels)


def test_published_transrate_does_not_see_two_opposite_classes():
    labels = np.arange(40) % 2
    noise = np.random.default_rng(0).normal(size=(20, 3)).repeat(2, axis=0)
    features = np.where(labels == 1, 1.0, -1.0)[:, None] * (10.0 + noise)
    assert transrate(features, labels) == pytest.approx(0, abs=1e-9)
    assert by_class_means(features, labels) > 1


# LEEP and NCE


@pytest.mark.parametrize("sources", [1, 2, 6])
def test_leep_is_its_definition(sources):
    features, labels = drawn(25, sources)
    probabilities = torch.tensor(features).softmax(dim=-1).numpy()
    expected = leep_by_hand(probabilities, labels.tolist())
    assert leep(probabilities, labels) == pytest.approx(expected, rel=1e-12)


def test_leep_with_a_source_class_that_never_occurs():
    probabilities = np.array([[0.2, 0.8, 0.0], [0.9, 0.1, 0.0], [0.5, 0.5, 0.0]])
    expected = leep_by_hand(probabilities, [4, 2, 4])
    assert leep(probabilities, [4, 2, 4]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("sources", [1, 2, 6])
def test_nce_is_its_definition_and_leep_of_certain_predictions(sources):
    generator = np.random.default_rng(0)
    found, labels = generator.integers(sources, size=30), np.arange(30) % 4
    expected = nce_by_hand(found.tolist(), labels.tolist())
    assert nce(found, labels) == pytest.approx(expected, rel=1e-12)
    assert leep(np.eye(sources)[found], labels) == pytest.approx(expected, rel=1e-12)


def test_leep_does_not_see_half_precision():
    features, labels = drawn(500, 50, seed=4)
    exact = torch.tensor(features).softmax(dim=-1)
    rounded = exact.to(torch.bfloat16)
    assert leep(rounded, labels) == pytest.approx(leep(exact, labels), abs=1e-3)


# Laws


@pytest.mark.parametrize("name", ALL)
def test_order_of_examples_and_names_of_labels_do_not_matter(name):
    features, labels = drawn(seed=11)
    expected = ALL[name](features, labels)
    order = np.random.default_rng(0).permutation(len(labels))
    assert ALL[name](features[order], labels[order]) == pytest.approx(expected, rel=1e-9)
    names = np.array(["verb", "noun", "a"])[labels]
    assert ALL[name](features, names) == pytest.approx(expected, rel=1e-9)
    assert ALL[name](features, names.tolist()) == pytest.approx(expected, rel=1e-9)
    numbers = torch.tensor([-7, 10**6, 3])[torch.tensor(labels)]
    assert ALL[name](features, numbers) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("name", OF_FEATURES)
def test_rotating_the_features_does_not_matter(name, shape):
    features, labels = drawn(*shape, seed=12)
    rotation = stats.ortho_group.rvs(shape[1], random_state=0)
    expected = ALL[name](features, labels)
    assert ALL[name](features @ rotation, labels) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", [name for name in OF_FEATURES if name != "logme"])
def test_shifting_the_features_does_not_matter(name):
    features, labels = drawn(seed=13)
    expected = ALL[name](features, labels)
    assert ALL[name](features + 100.0, labels) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("scale", [1e-180, 1e-3, 1e180])
@pytest.mark.parametrize("name", ["logme", "h_score", "plain_h_score"])
def test_scaling_the_features_does_not_matter(name, scale):
    features, labels = drawn(seed=14)
    expected = ALL[name](features, labels)
    assert ALL[name](features * scale, labels) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", ALL)
def test_features_of_the_classes_score_above_shuffled_labels(name):
    features, labels = drawn(120, 6, seed=15, spread=3.0)
    good = ALL[name](features, labels)
    for seed in range(10):
        shuffled = np.random.default_rng(seed).permutation(labels)
        assert good > ALL[name](features, shuffled)


@pytest.mark.parametrize("name", ALL)
def test_features_of_low_rank_and_labels_that_occur_once_give_numbers(name):
    features, _ = drawn(30, 2, seed=16)
    features = np.hstack([features, features @ np.ones((2, 6)), np.zeros((30, 1))])
    for labels in (np.arange(30), np.arange(30) // 29, np.minimum(np.arange(30), 4)):
        assert math.isfinite(ALL[name](features, labels))
    assert math.isfinite(ALL[name](features[:5], [0, 0, 0, 1, 2]))


@pytest.mark.parametrize("name", ALL)
def test_two_examples_give_a_number(name):
    assert math.isfinite(ALL[name](torch.tensor([[1.0, 2.0], [0.0, 0.5]]), [0, 1]))


@pytest.mark.parametrize("name", OF_FEATURES)
def test_everything_is_computed_in_float64(name):
    features, labels = drawn(seed=17)
    single = torch.tensor(features, dtype=torch.float32, requires_grad=True)
    expected = ALL[name](single.detach().double().numpy(), labels)
    assert ALL[name](single, labels) == pytest.approx(expected, rel=1e-12)
    frozen = features[:, ::-1]  # a view with a negative stride, which may not be written
    frozen.flags.writeable = False
    assert ALL[name](frozen, labels) == pytest.approx(ALL[name](features, labels), rel=1e-9)
    assert math.isfinite(ALL[name](single.bfloat16(), labels))


# What is refused


def refused(score, *arguments, match):
    with pytest.raises(DataError, match=match) as caught:
        score(*arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", OF_FEATURES)
def test_bad_features_and_labels_are_refused(name):
    score, (features, labels) = ALL[name], drawn(6, 2)
    refused(score, np.empty((0, 2)), [], match="`features` must have a row")
    refused(score, features[:, 0], labels, match=r"`features` must have a row.*\(6,\)")
    refused(score, [[1.0], [1.0, 2.0]], [0, 1], match="`features` must be numbers")
    refused(score, [["a"], ["b"]], [0, 1], match="`features` must be numbers")
    refused(score, features, labels[:5], match="each of the 6 examples; got 5")
    refused(score, features, np.zeros(6, dtype=int), match="at least two classes")
    refused(score, features, labels[:, None], match=r"`labels` must have one label.*\(6, 1\)")
    refused(score, features, [0, "a", None, 1, 2, 3], match="mixture")
    for bad in (math.nan, math.inf):
        spoilt = features.copy()
        spoilt[3, 1] = bad
        refused(score, spoilt, labels, match="`features` must be finite")


@pytest.mark.parametrize("name", [name for name in ALL if name != "logme"])
def test_labels_that_are_no_classes_are_refused(name):
    features, labels = drawn(6, 3)
    expected = ALL[name](features, labels)
    assert ALL[name](features, labels.astype(float)) == expected
    for bad in (0.5, math.nan, math.inf):
        refused(ALL[name], features, [0.0, 1.0, bad, 1.0, 0.0, 1.0], match="must be classes")


def test_bad_regression_targets_are_refused():
    features, _ = drawn(6, 2)
    refused(logme, features, np.arange(5.0), match="each of the 6 examples; got 5")
    refused(logme, features, np.ones(6), match="`targets` must vary")
    refused(logme, features, [0.0, 1.0, math.nan, 1.0, 2.0, 1.0], match="`targets` must be finite")
    refused(logme, features, np.zeros((6, 1, 1)), match="`targets` must have a row")


def test_bad_predictions_are_refused():
    refused(leep, [[2.0, -1.0], [0.0, 1.0]], [0, 1], match="softmax")
    refused(leep, [[0.7, 0.7], [0.0, 1.0]], [0, 1], match="softmax")
    refused(leep, [[0.5, math.nan], [0.0, 1.0]], [0, 1], match="must be finite")
    refused(leep, [[0.5, 0.5], [0.0, 1.0]], [1, 1], match="at least two classes")
    refused(nce, [], [], match="`source_labels` must have one label")
    refused(nce, [1, 2], [1, 2, 3], match="each of the 2 examples; got 3")
    refused(nce, [1, 2], [1, 1], match="at least two classes")


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_settings_out_of_range_are_refused(bad):
    features, labels = drawn(6, 2)
    with pytest.raises(ConfigError, match="`epsilon` must be positive"):
        transrate(features, labels, epsilon=bad)
    with pytest.raises(ConfigError, match="`beta` must be positive"):
        log_evidence(features, labels, alpha=1.0, beta=bad)
    with pytest.raises(ConfigError, match="`centre` must be"):
        transrate(features, labels, centre="median")
