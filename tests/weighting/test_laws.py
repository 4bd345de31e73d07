"""Laws of an update: whatever numbers come, weights stay weights and the history stays JSON."""

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tawt import simplex
from tawt.curvature import Identity
from tawt.errors import ConfigError
from tawt.hypergradient import Cosine, CurvatureWeighted
from tawt.units import Units
from tawt.weighting import TargetAware, UpdateRule

DOUBLE = {"dtype": torch.float64}
SOURCES = ["a", "b", "c"]
HUGE = 1.7e308

sizes = st.one_of(
    st.sampled_from([1e-300, 1e-12, 0.3, 1.0, 1e3, 1e15, 1e17, 1e30, 1e160, 1e300, HUGE]),
    st.floats(min_value=1e-300, max_value=HUGE),
)
entries = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e15, -1e15, 1e150, -1e154, HUGE, -HUGE]),
    st.floats(min_value=-HUGE, max_value=HUGE),
    st.sampled_from([math.inf, -math.inf, math.nan]),
)
shares = st.sampled_from(
    [None, "learned", 0.3, 0.999, 1e-9, 1.0, (0.0, 0.5), (0.2, 1.0), (0.1, 0.8)]
)
bounds = st.sampled_from([None, 1.0, 4.0, 10.0, 1e12, 1e300])


@st.composite
def rules(draw):
    alignment = draw(st.sampled_from(["cosine", "product"]))
    if draw(st.booleans()):
        return UpdateRule(
            alignment=Cosine() if alignment == "cosine" else CurvatureWeighted(Identity()),
            step="evidence",
            own_alignment=draw(st.sampled_from(["itself", "held-out"])),
            ratio_bound=draw(bounds),
        )
    scale = draw(sizes)
    return UpdateRule(
        alignment=Cosine(scale) if alignment == "cosine" else CurvatureWeighted(Identity(), scale),
        step_size=draw(sizes),
        anchor=draw(st.sampled_from([0.0, 1e-9, 0.3, 0.999])),
        ratio_bound=draw(bounds),
    )


def assert_weights(weighting, share):
    """Finite, of sum one, and the target with its share."""
    logs = weighting.weights.logs
    off = 1e-9 if logs.dtype == torch.float64 else 1e-4
    assert not torch.isnan(logs).any()
    assert not (logs == math.inf).any()
    assert float(logs.double().exp().sum()) == pytest.approx(1, abs=off)
    shown = weighting.weights.shares()
    assert math.fsum(shown.values()) == pytest.approx(1, abs=off)
    if share not in (None, "learned"):
        low, high = share if isinstance(share, tuple) else (share, share)
        assert low - off <= shown["goal"] <= high + off


def assert_strict_json(weighting):
    for update in weighting.history:
        json.dumps(update.to_json(), allow_nan=False)
    assert weighting.skipped == sum(update.skipped is not None for update in weighting.history)


def update_by(weighting, gradients, *, half=None):
    """An update in which every task's gradient is given; the first must be one to compare with."""
    point = torch.ones(2, **DOUBLE).requires_grad_()
    given = dict(zip([*SOURCES, "goal"], gradients, strict=True))
    before = weighting.weights.logs.clone()
    update = weighting.update(
        [point],
        loss_of=lambda task: (point * torch.tensor(given[task], **DOUBLE)).sum(),
        target_half=half,
    )
    if update.skipped is not None:
        assert torch.equal(weighting.weights.logs, before)


pairs = st.tuples(entries, entries)


@settings(max_examples=300, deadline=None)
@given(
    rule=rules(),
    share=shares,
    halved=st.booleans(),
    updates=st.lists(st.tuples(pairs, pairs, pairs, pairs), min_size=1, max_size=5),
)
@example(
    rule=UpdateRule(step_size=1e15),
    share=0.3,
    halved=False,
    updates=[((1.0, 0.0), (0.0, 1.0), (-1.0, 0.5), (1.0, 0.1))] * 2,
)
@example(
    rule=UpdateRule(step_size=1e15, ratio_bound=10.0),
    share=0.3,
    halved=False,
    updates=[((-1.0, 0.0), (-1.0, 1.0), (-1.0, 0.5), (1.0, 0.1))] * 2,
)
@example(
    rule=UpdateRule(alignment=CurvatureWeighted(Identity()), step_size=10.0),
    share=None,
    halved=False,
    updates=[((1e308, 0.0), (0.0, 1.0), (-1e308, 0.5), (1.0, 0.1))],
)
@example(
    rule=UpdateRule(step="evidence", ratio_bound=4.0),
    share=(0.1, 0.8),
    halved=True,
    updates=[((1e160, 0.0), (0.0, 1.0), (-1e160, 0.5), (1.0, 0.1))] * 3,
)
@example(
    rule=UpdateRule(step="evidence", alignment=CurvatureWeighted(Identity())),
    share=0.3,
    halved=True,
    updates=[((1e150, 0.0), (0.0, 1.0), (-1e154, 0.5), (1e150, 0.1))] * 3,
)
def test_weights_stay_weights_whatever_comes(rule, share, halved, updates):
    weighting = TargetAware(sources=SOURCES, target="goal", target_share=share, rule=rule)
    assert_weights(weighting, share)
    first = [(1.0, 0.5), (0.3, -1.0), (-2.0, 0.1), (1.0, 0.0)]
    for number, gradients in enumerate([first, *updates]):
        update_by(weighting, gradients, half=number % 2 if halved else None)
        assert_weights(weighting, share)
    assert_strict_json(weighting)


class Single:
    """Examples whose losses are θ · x, so that their gradients are given."""

    def __init__(self):
        self.module = torch.nn.Linear(2, 1, bias=False)

    def losses_of(self, rows):
        def of(source):
            inputs = torch.tensor(rows[source])
            yield np.arange(len(inputs)), lambda: self.module(inputs).squeeze(1)

        return of


narrow = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 1e-30, 1e15, -1e15, 1e18, -3e38, math.inf, math.nan]),
    st.floats(min_value=-(2.0**127), max_value=2.0**127, width=32),
)
rows = st.lists(st.tuples(narrow, narrow), min_size=4, max_size=4)


@settings(max_examples=100, deadline=None)
@given(
    step_size=sizes,
    product=st.booleans(),
    bound=bounds,
    share=shares,
    first=rows,
    second=rows,
    groups=st.booleans(),
)
@example(
    step_size=1e15,
    product=False,
    bound=10.0,
    share=0.3,
    first=[(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 1.0)],
    second=[(-1.0, 0.0), (-1.0, 0.2), (-0.3, 1.0), (-1.0, 1.0)],
    groups=False,
)
def test_weights_on_examples_stay_weights(step_size, product, bound, share, first, second, groups):
    labels = {"a": ["x", "y", "y", "x"], "b": ["x", "x", "x", "z"]}
    units = Units.of_groups(labels) if groups else Units.of_examples({"a": 4, "b": 4})
    rule = UpdateRule(
        alignment=CurvatureWeighted(Identity()) if product else Cosine(),
        step_size=step_size,
        ratio_bound=bound,
        way="forward",
    )
    weighting = TargetAware(
        sources=["a", "b"], target="goal", target_share=share, rule=rule, units=units
    )
    single = Single()
    for given_rows in ({"a": first, "b": second}, {"a": second, "b": first}):
        weighting.update(
            single.module,
            loss_of=lambda task: single.module.weight.sum(),
            losses_of=single.losses_of(given_rows),
        )
        assert_weights(weighting, share)
        for source in ("a", "b"):
            assert torch.isfinite(weighting.weights.relative(source, np.arange(4))).all()
    assert torch.isfinite(weighting.mean_alignments).all()
    assert_strict_json(weighting)


# What large steps lead to


def aligned(cosines, **options):
    """A weighting after one update in which sources have these cosines with the target."""
    share = options.pop("target_share", None)
    initial = options.pop("initial", "uniform")
    rule = UpdateRule(**options)
    weighting = TargetAware(
        sources=SOURCES, target="goal", target_share=share, rule=rule, initial=initial
    )
    point = torch.ones(2, **DOUBLE).requires_grad_()
    ways = {
        name: torch.tensor([cosine, math.sqrt(1 - cosine**2)], **DOUBLE)
        for name, cosine in zip(SOURCES, cosines, strict=True)
    }
    ways["goal"] = torch.tensor([1.0, 0.0], **DOUBLE)
    update = weighting.update([point], loss_of=lambda task: point @ ways[task])
    assert update.skipped is None
    return update.weights


@pytest.mark.parametrize("step_size", [1e6, 1e15, 1e17, 1e40, 1e307])
def test_a_large_step_gives_the_best_source_all_and_the_target_its_share(step_size):
    found = aligned([0.9, 0.5, -0.5], step_size=step_size, target_share=0.3)
    assert found == pytest.approx({"a": 0.7, "b": 0.0, "c": 0.0, "goal": 0.3}, abs=1e-12)


@pytest.mark.parametrize("step_size", [1e6, 1e15, 1e17, 1e40, 1e307])
@pytest.mark.parametrize("share", [None, 0.3])
def test_sources_that_agree_alike_keep_their_ratio_under_a_large_step(step_size, share):
    initial = {"a": 0.6, "b": 0.3, "c": 0.1}
    if share is not None:
        initial = {name: 0.7 * weight for name, weight in initial.items()} | {"goal": 0.3}
    found = aligned([0.5, 0.5, -0.5], step_size=step_size, target_share=share, initial=initial)
    assert found["a"] / found["b"] == pytest.approx(2, rel=1e-9)
    assert found["c"] == 0


@pytest.mark.parametrize("step_size", [1e6, 1e15, 1e17, 1e40, 1e307])
@pytest.mark.parametrize("share", [None, 0.3])
def test_the_ratio_bound_holds_under_a_large_step(step_size, share):
    found = aligned([0.9, -0.9, -0.9], step_size=step_size, target_share=share, ratio_bound=4.0)
    assert found["a"] / found["b"] == pytest.approx(4, rel=1e-9)
    assert found["b"] == pytest.approx(found["c"], rel=1e-9)


def test_a_source_that_a_large_step_took_all_from_can_grow_back():
    logs = simplex.mirror_step(
        torch.zeros(2, **DOUBLE), torch.tensor([-1.0, 1.0], **DOUBLE), step_size=1e307
    )
    assert torch.isfinite(logs).all()
    back = simplex.mirror_step(logs, torch.tensor([1.0, -1.0], **DOUBLE), step_size=1e307)
    assert back.exp().tolist() == [0.0, 1.0]


# Settings


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, True, "1", None, 10**400])
@pytest.mark.parametrize("name", ["step_size", "anchor"])
def test_a_rule_takes_finite_numbers_only(name, value):
    with pytest.raises(ConfigError, match=name):
        UpdateRule(**{name: value})


@pytest.mark.parametrize("value", [math.inf, math.nan, True, "4"])
def test_a_ratio_bound_is_a_finite_number(value):
    with pytest.raises(ConfigError, match="ratio_bound"):
        UpdateRule(ratio_bound=value)


@pytest.mark.parametrize("value", [math.inf, math.nan, True, "1"])
def test_the_scale_of_an_alignment_is_a_finite_number(value):
    for make in (Cosine, lambda scale: CurvatureWeighted(Identity(), scale)):
        with pytest.raises(ConfigError, match="scale"):
            make(value)
