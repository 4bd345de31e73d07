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
from tawt.weighting.evidence import Evidence, shrunk

SOURCES = ["a", "b", "c", "d"]


def evidence_of(rows, *, halves=None, steps=None):
    """After updates at steps 1, 2, …, or at those."""
    found = Evidence(len(rows[0]))
    for number, row in enumerate(rows):
        half = None if halves is None else halves[number]
        step = number + 1 if steps is None else steps[number]
        found.take(np.asarray(row, float), step=step, half=half)
    return found


def rows_of(seed, updates, *, spread=0.2, noise=0.05, sources=4):
    draw = np.random.default_rng(seed)
    return draw.normal(size=sources) * spread + noise * draw.normal(size=(updates, sources))


def test_the_error_is_that_of_a_mean_of_updates():
    """Without halves: the noise of an update over the root of their number."""
    found = evidence_of(rows_of(0, 4000, noise=0.05), steps=[1] * 4000)
    assert found.error == pytest.approx(0.05 / np.sqrt(4000), rel=0.05)


@pytest.mark.parametrize("steps", [range(1, 401), [round(1.05**k * 100) for k in range(400)]])
def test_an_update_counts_by_how_far_training_was(steps):
    rows = rows_of(0, 400, noise=0.05)
    found = evidence_of(rows, steps=steps)
    factors = np.sqrt(np.array(steps) / steps[-1])
    leads = rows - rows.mean(1, keepdims=True)
    expected = (factors[:, None] * leads).sum(0) / factors.sum()
    np.testing.assert_allclose(found.leads, expected)
    effective = factors.sum() ** 2 / (factors**2).sum()
    assert found.error == pytest.approx(0.05 / np.sqrt(effective), rel=0.25)


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


def test_leads_that_are_no_larger_than_their_error_move_nothing():
    weighed = [np.abs(evidence_of(rows_of(seed, 30, spread=0.0)).scores()) for seed in range(200)]
    assert np.mean([scores.max() < 1 for scores in weighed]) > 0.8


def test_shrinking_is_james_and_steins():
    leads = np.array([0.3, -0.1, -0.2])
    factor = 1 - 2 * 0.1**2 / (leads**2).sum()
    np.testing.assert_allclose(shrunk(leads, 0.1), factor * leads)
    assert shrunk(np.zeros(3), 0.1).tolist() == [0, 0, 0]


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
    assert abs(scores.sum()) < 1e-6 * (1 + np.abs(scores).max())


def test_scores_do_not_depend_on_the_scale_of_what_is_measured():
    """But for the guess of the noise, which many updates outweigh."""
    rows = rows_of(0, 2000, noise=0.3)
    once, tenfold = evidence_of(rows).scores(), evidence_of(10 * rows).scores()
    np.testing.assert_allclose(once, tenfold, rtol=0.01)


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
    chances = stats.norm.cdf(evidence_of(rows).scores())
    expected = dict(zip(SOURCES, chances / chances.sum(), strict=True))
    assert weights.shares() == pytest.approx(expected)


def test_sources_that_surely_lead_count_alike_and_others_nothing():
    weights = updated(weighting(), [[0.8, 0.6, 0.1, 0.1]] * 40)
    assert weights["a"] == pytest.approx(0.5, abs=1e-3)
    assert weights["b"] == pytest.approx(0.5, abs=1e-3)


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


@pytest.mark.parametrize("change", [{"sum": None}, {"sum": [1.0]}, {"pairs": "x"}, None])
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


def test_a_step_that_is_none_is_refused():
    with pytest.raises(ConfigError, match="evidence"):
        UpdateRule(step="hunch")
    assert Fixed(["a"]).history == []


def test_a_weight_has_an_interval():
    """Where it would be, were its lead less or more by what it may be off."""
    rows, halves = np.clip(rows_of(3, 12), -0.9, 0.9), [number % 2 for number in range(12)]
    weights = updated(weighting(), rows, halves=halves)
    scores = evidence_of(rows, halves=halves).scores()
    for place, (name, finding) in enumerate(weights.findings().items()):
        ends = []
        for off in (-1.645, 1.645):
            moved = scores.copy()
            moved[place] += off
            chances = stats.norm.cdf(moved)
            ends.append(float(chances[place] / chances.sum()))
        assert finding.weight_interval == pytest.approx(tuple(ends))
        assert ends[0] <= weights[name] <= ends[1]
    bounded = updated(weighting(rule=UpdateRule.bounded()), rows)
    assert {found.weight_interval for found in bounded.findings().values()} == {None}


def test_the_history_keeps_the_error():
    rows = np.clip(rows_of(3, 4), -0.9, 0.9)
    weights = updated(weighting(), rows)
    assert weights.history[-1].error == pytest.approx(evidence_of(rows).error)
    assert updated(weighting(rule=UpdateRule.bounded()), rows).history[-1].error is None
