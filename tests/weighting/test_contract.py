"""What every weighting must do, whichever it is."""

import copy
import json
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from tawt.errors import TawtError, TrainingError, WeightsError
from tawt.hypergradient import Cosine
from tawt.weighting import Bandit, DoGE, ExcessLoss, Fixed, TargetAware, UpdateRule

SOURCES = ["a", "b", "c"]
REFERENCE = {"a": 0.3, "b": -0.2, "c": 0.1}
GRADIENTS = {"a": [2.0, 1.0], "b": [0.1, 3.0], "c": [-1.0, 0.5], "goal": [1.0, 0.3]}
SHARES = [None, 0.25]


def fixed(sources=SOURCES, share=None):
    if share is None:
        return Fixed(sources)
    return Fixed([*sources, "goal"], initial=dict.fromkeys(sources, 0.25) | {"goal": 0.25})


def target_aware(sources=SOURCES, share=None):
    rule = UpdateRule(alignment=Cosine(scale=2.0), ratio_bound=20.0)
    return TargetAware(sources=sources, target="goal", target_share=share, rule=rule)


def excess_loss(sources=SOURCES, share=None):
    return ExcessLoss(sources=sources, target="goal", target_share=share, reference=REFERENCE)


def doge(sources=SOURCES, share=None):
    return DoGE(sources=sources, target="goal", target_share=share, step_size=0.02)


def bandit(sources=SOURCES, share=None):
    return Bandit(sources=sources, target="goal", target_share=share, seed=3)


def held_bandit(sources=SOURCES, share=None):
    return Bandit(sources=sources, target="goal", target_share=share, exploration=0.3)


EVERY = [fixed, target_aware, excess_loss, doge, bandit, held_bandit]
MOVING = EVERY[1:]
every = pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__)
moving = pytest.mark.parametrize("make", MOVING, ids=lambda make: make.__name__)
shares = pytest.mark.parametrize("share", SHARES)


def updated(weighting, gradients=GRADIENTS, *, times=1):
    """Updates in which tasks have these gradients, and their sums as losses."""
    point = torch.ones(2, dtype=torch.float64).requires_grad_()
    update = None
    for _ in range(times):
        update = weighting.update(
            [point],
            loss_of=lambda task: (point * torch.tensor(gradients[task], dtype=torch.float64)).sum(),
        )
    return update


def assert_on_the_simplex(weighting, share):
    logs = weighting.weights.logs
    assert not torch.isnan(logs).any()
    assert float(logs.exp().sum()) == pytest.approx(1, abs=1e-9)
    if share is not None:
        assert weighting["goal"] == pytest.approx(share, abs=1e-9)


# The simplex

numbers = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e15, -1e15, 1e160, 1.7e308, math.inf, math.nan]),
    st.floats(min_value=-10, max_value=10),
)


@every
@shares
@settings(max_examples=25, deadline=None)
@given(updates=st.lists(st.lists(numbers, min_size=8, max_size=8), min_size=1, max_size=3))
def test_weights_stay_on_the_simplex_whatever_comes(make, share, updates):
    weighting = make(share=share)
    assert_on_the_simplex(weighting, share)
    updated(weighting, times=2)
    for entries in updates:
        before = weighting.weights
        pairs = [entries[place : place + 2] for place in range(0, 8, 2)]
        update = updated(weighting, dict(zip([*SOURCES, "goal"], pairs, strict=True)))
        assert_on_the_simplex(weighting, share)
        assert update is None or update.skipped is None or weighting.weights == before
        json.dumps(weighting.state_dict(), allow_nan=False)


@moving
@shares
def test_weights_move(make, share):
    weighting = make(share=share)
    before = weighting.shares()
    update = updated(weighting, times=4)
    assert weighting.shares() != before
    assert update.skipped is None
    assert update.weights == weighting.shares()
    assert weighting.history.updates == 4


# The order of the sources


@every
@shares
@pytest.mark.parametrize("order", [["c", "b", "a"], ["b", "c", "a"]], ids="".join)
def test_the_order_of_the_sources_makes_no_difference(make, share, order):
    one, other = make(share=share), make(order, share)
    for weighting in (one, other):
        updated(weighting, times=6)
    assert other.shares() == pytest.approx(one.shares(), abs=1e-12)
    for update, wanted in zip(other.history, one.history, strict=True):
        assert update.alignments == pytest.approx(wanted.alignments, abs=1e-12)


# States


@every
@shares
def test_a_state_goes_through_json_and_training_goes_on_to_the_last_bit(make, share):
    whole, half = make(share=share), make(share=share)
    updated(whole, times=7)
    updated(half, times=3)
    state = json.loads(json.dumps(half.state_dict(), allow_nan=False))
    again = make(share=share)
    again.load_state_dict(state)
    assert again.outcome() == half.outcome()
    updated(again, times=4)
    assert torch.equal(again.weights.logs, whole.weights.logs)
    assert again.history == whole.history
    assert again.outcome() == whole.outcome()
    assert json.dumps(again.state_dict()) == json.dumps(whole.state_dict())


def damaged(state):
    """The state with one of its parts gone, or broken."""
    for key in state:
        if key != "left_out":  # which older versions did not write
            yield {name: value for name, value in state.items() if name != key}
    yield {**state, "logs": [0.0] * len(state["logs"])}
    yield {**state, "names": ["x", *state["names"][1:]]}
    for key in ("mean_alignments", "sum_of_weights", "rewards"):
        if key in state:
            yield {**state, key: [math.inf] * len(state[key])}
            yield {**state, key: "none"}
    if "moves" in state:
        yield {**state, "moves": -1}
        yield {**state, "moves": 0.5}


@every
@shares
def test_a_state_that_is_none_is_refused_and_changes_nothing(make, share):
    weighting = make(share=share)
    updated(weighting, times=2)
    state, before = weighting.state_dict(), json.dumps(weighting.state_dict())
    for wrong in [*damaged(state), [], None]:
        with pytest.raises(WeightsError) as error:
            weighting.load_state_dict(wrong)
        assert "\n" not in str(error.value)
        assert json.dumps(weighting.state_dict()) == before


@pytest.mark.parametrize("make", [excess_loss, doge, bandit], ids=lambda make: make.__name__)
def test_a_state_with_another_share_is_refused(make):
    state, other = make(share=0.25).state_dict(), make(share=0.5)
    with pytest.raises(WeightsError, match=r"give the target 0\.25, but `target_share` is 0\.5"):
        other.load_state_dict(state)


# Numbers that are not finite


@moving
@shares
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_is_skipped(make, share, bad):
    weighting = make(share=share)
    updated(weighting, times=2)
    before, outcome = weighting.weights, weighting.outcome()
    update = updated(weighting, {task: [bad, 1.0] for task in GRADIENTS})
    assert "not finite" in update.skipped
    assert "'a'" in update.skipped or len(update.alignments) == 1
    assert weighting.weights == before
    assert weighting.outcome() == outcome
    assert weighting.skipped == 1
    json.dumps(update.to_json(), allow_nan=False)
    updated(weighting, times=2)
    assert weighting.weights != before
    assert weighting.skipped == 1


# What is left as it was


class Model(nn.Module):
    """A representation with dropout and batch norm, and a head for each task."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.encoder = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3))
        self.heads = nn.ModuleDict({task: nn.Linear(8, 1) for task in GRADIENTS})

    def forward(self, task):
        inputs = torch.randn(6, 4)  # of the global stream
        return self.heads[task](self.encoder(inputs)).square().mean()


@every
@shares
def test_parameters_gradients_buffers_modes_and_streams_are_left_as_they_were(make, share):
    model, weighting = Model(), make(share=share)
    model("a").backward()
    model.heads.eval()
    state = copy.deepcopy(model.state_dict())
    gradients = {n: None if p.grad is None else p.grad.clone() for n, p in model.named_parameters()}
    drawn = torch.random.get_rng_state()
    with torch.inference_mode():
        weighting.update(model.encoder, loss_of=model, touching=[model])
    assert torch.equal(torch.random.get_rng_state(), drawn)
    assert model.encoder.training
    assert not model.heads.training
    for name, value in model.state_dict().items():
        assert torch.equal(value, state[name])
    for name, parameter in model.named_parameters():
        if gradients[name] is None:
            assert parameter.grad is None
        else:
            assert torch.equal(parameter.grad, gradients[name])


# What is refused


@moving
def test_an_update_needs_losses(make):
    with pytest.raises(TrainingError, match="`loss_of`"):
        make().update(nn.Linear(1, 1))


@pytest.mark.parametrize("make", [excess_loss, doge, bandit], ids=lambda make: make.__name__)
def test_training_steps_are_not_observed(make):
    with pytest.raises(WeightsError, match="measures on fresh batches"):
        make().observing()
    with pytest.raises(TrainingError, match="measures on fresh batches"):
        make().update()


@pytest.mark.parametrize("make", [excess_loss, doge, bandit], ids=lambda make: make.__name__)
@pytest.mark.parametrize("share", ["learned", (0.1, 0.5), 0, 1, -1, math.nan, True])
def test_the_share_of_the_target_is_held(make, share):
    with pytest.raises(TawtError, match="`target_share` must be a number above 0 and below 1"):
        make(share=share)


@pytest.mark.parametrize("make", [excess_loss, doge, bandit], ids=lambda make: make.__name__)
def test_roles_are_checked(make):
    with pytest.raises(WeightsError, match="also a source"):
        make(["a", "b", "goal"])
    with pytest.raises(WeightsError, match="at least one source"):
        make([])
