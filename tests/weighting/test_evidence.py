"""Weights that are as far apart as what was measured can tell."""

import json
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tawt import Cosine, CurvatureWeighted, Fixed, Identity, TargetAware, UpdateRule
from tawt.errors import ConfigError, WeightsError
from tawt.units import Units
from tawt.weighting import Bandit
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


def test_without_halves_the_error_is_that_of_one_update():
    """However many there are: all of them may have seen the same examples of the target."""
    for updates in (40, 4000):
        rows = rows_of(0, updates, noise=0.05, spread=0.0)
        found = evidence_of(rows)
        np.testing.assert_allclose(found.leads, (rows - rows.mean(1, keepdims=True)).mean(0))
        assert found.error == pytest.approx(0.05, rel=0.1)


def test_without_halves_the_error_is_never_below_the_leads_themselves():
    """All of them may be what chance put into the examples that every update sees."""
    rows = rows_of(0, 40, noise=0.001, spread=0.2)
    found = evidence_of(rows)
    assert found.error == pytest.approx(found.leads.std(ddof=1))


def test_halves_show_noise_that_shrinks_as_updates_add_up():
    rows = rows_of(0, 4000, noise=0.05)
    found = evidence_of(rows, halves=[0, 1] * 2000)
    assert 0.05 / np.sqrt(4100) < found.error < 0.05 / 5


def test_updates_that_saw_no_half_leave_the_rest_unsure():
    rows = rows_of(0, 41, spread=0.2, noise=0.05)
    mixed = evidence_of(rows, halves=[None, *[0, 1] * 20])
    assert not mixed.is_in_halves
    assert mixed.error >= mixed.leads.std(ddof=1)
    assert evidence_of(rows[1:], halves=[0, 1] * 20).is_in_halves


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


@pytest.mark.parametrize("updates", [4, 6, 12, 40])
def test_scores_are_standard_normal_where_sources_do_not_differ(updates):
    """However few differences the error is known from, nearly: Student's t allows for that."""
    scores = []
    for seed in range(1000):
        rows = by_a_target(np.zeros(4), examples=100, batch=50, updates=updates, seed=seed)
        scores.append(evidence_of(rows, halves=[number % 2 for number in range(updates)]).scores())
    assert 0.01 < (np.abs(scores) > 1.645).mean() < 0.15
    assert np.isfinite(scores).all()


def by_a_target(true, *, examples, batch, updates=24, seed=0, noise=0.1, own=0.5):
    """Alignments of sources with a target of so many examples, a batch of which an update sees.

    Where that is half of them, updates take the two halves of a cut in turn.
    """
    draw = np.random.default_rng(seed)
    mine = true + own * draw.normal(size=(examples, len(true)))  # what each example would say
    rows = []
    for update in range(updates):
        if update % 2 == 0 or batch * 2 != examples:
            order = draw.permutation(examples)
        turn = update % 2 if batch * 2 == examples else 0
        seen = mine[order[turn * batch : (turn + 1) * batch]].mean(0)
        rows.append(seen + noise * draw.normal(size=len(true)))
    return np.array(rows)


TARGETS = [(3, 3), (20, 20), (20, 10), (200, 32), (4000, 32)]
"""Examples of a target, and how many of them an update sees."""


@pytest.mark.parametrize(("examples", "batch"), TARGETS)
@pytest.mark.parametrize("sources", [2, 4, 8])
def test_without_halves_chance_is_not_taken_for_certainty(examples, batch, sources):
    """Also where every update sees the same examples of the target: then all leads are theirs."""
    beyond, apart = [], []
    for seed in range(100):
        rows = by_a_target(np.zeros(sources), examples=examples, batch=batch, seed=seed)
        scores = evidence_of(rows).scores()
        beyond.append(np.abs(scores) > 1.645)
        chances = stats.norm.cdf(scores) + 0.02
        apart.append(chances.max() / chances.min())
    assert np.mean(beyond) < 0.1
    assert np.median(apart) < 15
    if batch < examples / 2:
        assert np.median(apart) < 3  # they stay near where they began


@pytest.mark.parametrize(("examples", "batch"), TARGETS)
def test_without_halves_a_clear_lead_still_wins(examples, batch):
    true = np.array([0.8, 0.8, 0.0, 0.0])
    gained = []
    for seed in range(100):
        rows = by_a_target(true, examples=examples, batch=batch, seed=seed)
        chances = stats.norm.cdf(evidence_of(rows).scores()) + 0.02
        gained.append(chances[:2].sum() / chances.sum())
    assert np.mean(gained) > 0.7
    assert np.mean(np.array(gained) > 0.5) > 0.9


def test_few_differences_make_a_score_smaller():
    """By hand: three leads, two pairs of halves, so that Student's t has two degrees of freedom."""
    rows = np.array([[0.3, 0.0, -0.3]] * 2 + [[0.5, -0.2, -0.3]] * 2)
    found = evidence_of(rows, halves=[0, 1, 0, 1])
    noise = np.square(rows[0] - rows[2]).mean() / 2
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


def test_halves_that_are_all_the_same_leave_no_doubt_and_without_halves_all_may_be_chance():
    rows = [[0.5, 0.1, 0.3]] * 4
    assert evidence_of(rows, halves=[0, 1, 0, 1]).scores().tolist() == [np.inf, -np.inf, 0.0]
    assert np.abs(evidence_of(rows).scores()).max() < 1


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
    weights = updated(weighting(), [[0.8, 0.6, 0.1, 0.1]] * 40, halves=[0, 1] * 20)
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
    """Intervals with every pair that is complete, in few digits: they are most of a line."""
    rows, halves = np.clip(rows_of(3, 6), -0.9, 0.9), [0, 1] * 3
    weights = updated(weighting(), rows, halves=halves)
    assert [bool(u.intervals) for u in weights.history] == [False, False, False, True, False, True]
    assert [u.error is not None for u in weights.history] == [False] * 3 + [True] * 3
    last = weights.history[-1]
    expected = evidence_of(rows, halves=halves)
    assert list(last.leads.values()) == pytest.approx(expected.leads.tolist(), rel=1e-5)
    assert last.error == pytest.approx(expected.error, rel=1e-5)
    for name, finding in weights.findings().items():
        assert last.intervals[name] == pytest.approx(list(finding.weight_interval), rel=1e-5)
    again = type(last).from_json(json.loads(json.dumps(last.to_json())))
    assert again == last


def test_a_line_of_the_history_stays_short():
    """Of twelve sources, with all that is kept of leads: hardly more than without."""
    names = [f"s{number}" for number in range(12)]
    lengths = []
    for rule in (UpdateRule.robust(), UpdateRule.bounded()):
        weights = weighting(sources=names, rule=rule)
        draw = torch.Generator().manual_seed(0)
        x = torch.zeros(9, dtype=torch.float64, requires_grad=True)
        for number in range(160):
            noise = torch.randn(9, dtype=torch.float64, generator=draw)
            ways = {name: noise + at for at, name in enumerate(weights)} | {"goal": noise}
            weights.update([x], loss_of=lambda t, x=x, w=ways: x @ w[t], target_half=number % 2)
        lengths.append(np.mean([len(json.dumps(line.to_json())) for line in weights.history[128:]]))
    assert lengths[0] < 1.3 * lengths[1]


def test_without_halves_the_history_has_no_error_and_no_intervals():
    """What `findings` does not say, no line says and no page draws."""
    rows = np.clip(rows_of(3, 40), -0.9, 0.9)
    weights = updated(weighting(), rows)
    assert weights.findings() == {}
    assert all(line.error is None and not line.intervals for line in weights.history)
    assert list(weights.history[-1].leads.values()) == pytest.approx(
        evidence_of(rows).leads.tolist(), rel=1e-5
    )
    by_mirror = updated(weighting(rule=UpdateRule.bounded()), rows, halves=[0, 1] * 20)
    assert by_mirror.history[-1].error is None


@pytest.mark.parametrize("half", [2, -1, "x", True, 0.0])
@pytest.mark.parametrize("make", [TargetAware, Bandit])
def test_a_half_that_is_none_is_refused(half, make):
    weights = make(sources=SOURCES, target="goal", target_share=None)
    x = torch.zeros(2, requires_grad=True)
    with pytest.raises(WeightsError, match="`target_half` must be 0 or 1"):
        weights.update([x], loss_of=lambda _: x.sum(), target_half=half)
    assert weights.history.updates == 0


@pytest.mark.parametrize("share", [None, 0.3, "learned", (0.1, 0.5)])
@pytest.mark.parametrize("bound", [None, 4.0])
def test_weights_of_many_scores_are_those_of_each(share, bound):
    rule = UpdateRule(step="evidence", ratio_bound=bound, own_alignment="held-out")
    stepping = weighting(target_share=share, rule=rule)._stepping
    draw = torch.Generator().manual_seed(0)
    scores = 3 * torch.randn(50, len(stepping.initial), generator=draw, dtype=torch.float64)
    scores[:, ~stepping.competing] = 0.0
    each = torch.stack([stepping.placed(row).exp() for row in scores])
    torch.testing.assert_close(stepping.placed_rows(scores), each, rtol=1e-12, atol=1e-14)


def test_a_bound_and_many_sources_do_not_make_an_update_slow():
    """Intervals of bounded weights were found by a bisection for each of 256 draws."""
    names = [f"s{number}" for number in range(12)]
    rule = UpdateRule(step="evidence", ratio_bound=10.0)
    weights = weighting(sources=names, rule=rule)
    draw = torch.Generator().manual_seed(0)
    x = torch.zeros(9, dtype=torch.float64, requires_grad=True)
    began = time.process_time()
    for number in range(40):
        ways = {n: torch.randn(9, dtype=torch.float64, generator=draw) for n in [*names, "goal"]}
        weights.update([x], loss_of=lambda t, w=ways: x @ w[t], target_half=number % 2)
    assert weights.history[-1].intervals
    assert time.process_time() - began < 10  # 40 took minutes
