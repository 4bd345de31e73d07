"""Weights that are as far apart as what was measured can tell."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tawt import Cosine, CurvatureWeighted, Fixed, Identity, TargetAware, UpdateRule
from tawt.errors import ConfigError, WeightsError
from tawt.units import Units
from tawt.weighting.evidence import Evidence

SOURCES = ["a", "b", "c", "d"]


def evidence_of(rows, *, halves=None):
    found = Evidence(len(rows[0]))
    for number, row in enumerate(rows):
        found.take(np.asarray(row, float), half=None if halves is None else halves[number])
    return found


def rows_of(seed, updates, *, spread=0.2, noise=0.05, sources=4):
    draw = np.random.default_rng(seed)
    return draw.normal(size=sources) * spread + noise * draw.normal(size=(updates, sources))


def test_the_error_is_that_of_a_mean_of_updates():
    """Without halves: the noise of an update over the root of their number."""
    rows = rows_of(0, 4000, noise=0.05)
    found = evidence_of(rows)
    np.testing.assert_allclose(found.leads, (rows - rows.mean(1, keepdims=True)).mean(0))
    assert found.error == pytest.approx(0.05 / np.sqrt(4000), rel=0.05)


@pytest.mark.parametrize(("halved", "needed"), [(False, 2), (True, 4)])
def test_nothing_moves_before_the_error_is_known(halved, needed):
    rows = rows_of(0, 6)
    for updates in range(1, 7):
        turns = [number % 2 for number in range(updates)] if halved else None
        found = evidence_of(rows[:updates], halves=turns)
        assert np.isfinite(found.error) == (updates >= needed)
        assert np.any(found.scores()) == (updates >= needed)


@pytest.mark.parametrize(("examples", "noise"), [(20, 0.01), (20, 0.2), (200, 0.05)])
def test_halves_show_what_other_examples_of_the_target_would(examples, noise):
    """The standard error is the standard deviation over targets of as many examples."""
    draw = np.random.default_rng(0)
    leads, errors = [], []
    for _ in range(300):
        mine = draw.normal(size=(examples, 4))  # what each example would say of each source
        rows, halves = [], []
        for update in range(40):
            if update % 2 == 0:
                order = draw.permutation(examples)
            half = mine[order[update % 2 :: 2]].mean(0)
            rows.append(half + noise * draw.normal(size=4))
            halves.append(update % 2)
        found = evidence_of(rows, halves=halves)
        leads.append(found.leads)
        errors.append(found.error)
    truth = np.sqrt(np.square(leads).mean() * 4 / 3)
    assert np.sqrt(np.square(errors).mean()) == pytest.approx(truth, rel=0.1)


@pytest.mark.parametrize("updates", [2, 3, 6, 40])
def test_scores_are_standard_normal_where_sources_do_not_differ(updates):
    """However few differences the error is known from: Student's t allows for that."""
    scores = [evidence_of(rows_of(seed, updates, spread=0.0)).scores() for seed in range(2000)]
    beyond = (np.abs(scores) > 1.645).mean()
    assert 0.05 < beyond < 0.13
    assert np.isfinite(scores).all()


def test_few_differences_make_a_score_smaller():
    """By hand: three leads, two updates, so that Student's t has two degrees of freedom."""
    rows = np.array([[0.3, 0.0, -0.3], [0.5, -0.2, -0.3]])
    found = evidence_of(rows)
    noise = np.square(rows[0] - rows[1]).mean() / 2
    error = np.sqrt(noise / 2 * 3 / 2)
    assert found.error == pytest.approx(error)
    expected = stats.norm.ppf(stats.t.cdf(0.4 / error, df=2))
    assert found.scores()[0] == pytest.approx(expected, abs=0.05)
    assert found.scores()[0] < 0.4 / error


@given(st.integers(0, 1000), st.integers(1, 30), st.booleans())
def test_laws(seed, updates, in_halves):
    """Permuted sources have permuted scores, and what all have in common changes nothing."""
    rows = rows_of(seed, updates)
    halves = [number % 2 for number in range(updates)] if in_halves else None
    scores = evidence_of(rows, halves=halves).scores()
    order = np.random.default_rng(seed).permutation(4)
    mixed = evidence_of(rows[:, order], halves=halves).scores()
    np.testing.assert_allclose(mixed, scores[order], atol=1e-9)
    level = np.random.default_rng(seed + 1).normal(size=(updates, 1))
    np.testing.assert_allclose(evidence_of(rows + level, halves=halves).scores(), scores, atol=1e-6)
    assert (scores.max() > 0) == (scores.min() < 0)


@pytest.mark.parametrize("scale", [1e-9, 0.01, 100.0])
@pytest.mark.parametrize("updates", [4, 10, 20])
def test_scores_do_not_depend_on_the_scale_of_what_is_measured(scale, updates):
    rows = rows_of(0, updates, noise=0.3)
    turns = [number % 2 for number in range(updates)]
    for halves in (None, turns):
        once, scaled = (evidence_of(by * rows, halves=halves).scores() for by in (1.0, scale))
        np.testing.assert_allclose(once, scaled, rtol=1e-6)


def test_updates_that_are_all_the_same_leave_no_doubt():
    scores = evidence_of([[0.5, 0.1, 0.3]] * 3).scores()
    assert scores.tolist() == [np.inf, -np.inf, 0.0]


def weighting(**options):
    rule = UpdateRule(step="evidence")
    given = {"sources": SOURCES, "target": "goal", "target_share": None, "rule": rule}
    return TargetAware(**given | options)


def updated(weights, rows, *, halves=None, size=1.0):
    """Updates that measure these cosines."""
    x = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    for number, row in enumerate(rows):
        ways = {
            name: torch.tensor([cosine, np.sqrt(1 - cosine**2)], dtype=torch.float64)
            for name, cosine in zip(SOURCES, row, strict=True)
        }
        ways["goal"] = torch.tensor([size, 0.0], dtype=torch.float64)
        half = None if halves is None else halves[number]
        weights.update([x], loss_of=lambda task, w=ways: x @ w[task], target_half=half)
    return weights


def test_weights_are_in_proportion_to_the_probability_that_a_source_leads():
    rows = np.clip(rows_of(3, 12), -0.9, 0.9)
    weights = updated(weighting(), rows)
    chances = stats.norm.cdf(evidence_of(rows).scores()) + 0.02
    expected = dict(zip(SOURCES, chances / chances.sum(), strict=True))
    assert weights.shares() == pytest.approx(expected)


def test_sources_that_surely_lead_count_alike_and_others_hardly():
    """A little is left to every source, so that it can be measured through a head that learns."""
    weights = updated(weighting(), [[0.8, 0.6, 0.1, 0.1]] * 40)
    assert weights["a"] == weights["b"] == pytest.approx(1.02 / 2.08)
    assert weights["c"] == weights["d"] == pytest.approx(0.02 / 2.08)


@pytest.mark.parametrize("given", [{"step_size": 2.0}, {"anchor": 0.1}, {"alignment": Cosine(3.0)}])
def test_sizes_that_nothing_asks_for_are_refused(given):
    with pytest.raises(ConfigError, match="has no effect where `step` is evidence"):
        UpdateRule(step="evidence", **given)
    UpdateRule(step="mirror", **given)


def test_products_are_weighed_as_the_same_ones_in_other_units():
    """They have no size of their own, as cosines have."""
    shares = []
    for size in (1e-6, 1.0, 1e6):
        rule = UpdateRule(step="evidence", alignment=CurvatureWeighted(Identity()))
        weights = weighting(rule=rule)
        updated(weights, np.clip(rows_of(3, 5), -0.9, 0.9), size=size)
        shares.append([weights[name] for name in SOURCES])
    np.testing.assert_allclose(shares[0], shares[1], rtol=1e-6)
    np.testing.assert_allclose(shares[2], shares[1], rtol=1e-6)
    assert shares[1][0] != pytest.approx(0.25, abs=0.01)


def test_they_start_from_the_initial_weights_and_a_share_is_held():
    initial = {"a": 0.4, "b": 0.1, "c": 0.1, "d": 0.1, "goal": 0.3}
    rows = [[0.2, 0.2, 0.2, 0.2]] * 4
    weights = updated(weighting(initial=initial, target_share=0.3), rows)
    assert weights.shares() == pytest.approx(initial)


def test_a_state_goes_on_exactly():
    rows, halves = np.clip(rows_of(5, 13), -0.9, 0.9), [number % 2 for number in range(13)]
    whole = updated(weighting(), rows, halves=halves)
    first = updated(weighting(), rows[:7], halves=halves[:7])
    second = weighting()
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert updated(second, rows[7:], halves=halves[7:]).shares() == whole.shares()


@pytest.mark.parametrize("change", [{"sum": None}, {"sum": [1.0]}, {"noise": "x"}, None])
def test_a_state_that_is_none_is_refused_and_changes_nothing(change):
    first = updated(weighting(), [[0.5, 0.1, 0.1, 0.1]] * 3)
    state = first.state_dict()
    if change is None:
        del state["evidence"]
    else:
        state["evidence"] |= change
    other = weighting()
    with pytest.raises(WeightsError):
        other.load_state_dict(state)
    assert other.history.updates == 0
    assert set(other.shares().values()) == {0.25}


def test_an_update_that_is_skipped_is_no_evidence():
    weights = updated(weighting(), [[0.5, 0.1, 0.1, 0.1]] * 3)
    before = weights.state_dict()["evidence"]
    x = torch.zeros(2, requires_grad=True)
    weights.update([x], loss_of=lambda _: x.sum() * torch.nan)
    assert weights.state_dict()["evidence"] == before


def test_finer_units_have_another_rule():
    units = Units.of_examples({"a": 3, "b": 3})
    given = {"sources": ["a", "b"], "target": "goal", "target_share": None, "units": units}
    assert TargetAware(**given).rule == UpdateRule.bounded()
    with pytest.raises(WeightsError, match="bounded"):
        TargetAware(**given, rule=UpdateRule.robust())


def test_without_halves_nothing_is_said_of_sources():
    rows = [[0.8, 0.6, 0.1, 0.1]] * 12
    assert updated(weighting(), rows).findings() == {}
    assert len(updated(weighting(), rows, halves=[0, 1] * 6).findings()) == 4


def test_a_step_that_is_none_is_refused():
    with pytest.raises(ConfigError, match="evidence"):
        UpdateRule(step="hunch")
    assert Fixed(["a"]).history == []


def intervals_of(seed, *, spread, updates=16, examples=24):
    """Of a run, and the weights of another with other examples of the same target and sources."""
    draw = np.random.default_rng(seed)
    true = np.clip(draw.normal(0.2, spread, len(SOURCES)), -0.7, 0.8)
    runs = []
    for _ in range(2):
        target = true + 0.2 * draw.normal(size=(examples, len(SOURCES)))
        rows, halves = [], [number % 2 for number in range(updates)]
        for half in halves:
            if half == 0:
                order = draw.permutation(examples)
            rows.append(target[order[half::2]].mean(0) + 0.05 * draw.normal(size=len(SOURCES)))
        runs.append(updated(weighting(), np.clip(rows, -0.95, 0.95), halves=halves))
    return runs


@pytest.mark.parametrize("spread", [0.01, 0.05, 0.2])
def test_a_weight_of_another_run_lies_in_its_interval_nine_times_of_ten(spread):
    inside = []
    for seed in range(60):
        one, other = intervals_of(seed, spread=spread)
        for name, finding in one.findings().items():
            low, high = finding.weight_interval
            assert 0 <= low <= high <= 1
            inside.append(low - 1e-3 <= other[name] <= high + 1e-3)
    assert np.mean(inside) > 0.82


def test_only_weights_by_evidence_have_intervals():
    rows = np.clip(rows_of(3, 12), -0.9, 0.9)
    halves = [number % 2 for number in range(12)]
    bounded = updated(weighting(rule=UpdateRule.bounded()), rows, halves=halves)
    assert {found.weight_interval for found in bounded.findings().values()} == {None}
    assert not any(update.intervals or update.leads for update in bounded.history)


def test_the_history_keeps_leads_and_intervals_once_they_are_known():
    rows, halves = np.clip(rows_of(3, 6), -0.9, 0.9), [0, 1] * 3
    weights = updated(weighting(), rows, halves=halves)
    known = [False] * 3 + [True] * 3
    assert [bool(update.intervals) for update in weights.history] == known
    assert [update.error is not None for update in weights.history] == known
    last = weights.history[-1]
    expected = evidence_of(rows, halves=halves)
    assert list(last.leads.values()) == pytest.approx(expected.leads.tolist())
    assert last.error == pytest.approx(expected.error)
    for name, finding in weights.findings().items():
        assert last.intervals[name] == list(finding.weight_interval)
    again = type(last).from_json(json.loads(json.dumps(last.to_json())))
    assert again == last


def test_the_history_keeps_the_error():
    rows = np.clip(rows_of(3, 4), -0.9, 0.9)
    weights = updated(weighting(), rows)
    assert weights.history[-1].error == pytest.approx(evidence_of(rows).error)
    assert updated(weighting(rule=UpdateRule.bounded()), rows).history[-1].error is None
