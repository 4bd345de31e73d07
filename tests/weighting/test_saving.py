"""A weighting in anyone's checkpoint: JSON, pickle, Accelerate, torch.distributed.checkpoint."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
import torch
import torch.distributed.checkpoint as dcp
from accelerate import Accelerator
from torch import nn
from torch.distributed.checkpoint.stateful import Stateful

from tawt import AdamDiagonal, CurvatureWeighted, Fixed, TargetAware, Units, UpdateRule
from tawt.errors import WeightsError
from tawt.weights import History, WeightUpdate

WAYS = {"a": [1.0, 0.3], "b": [0.1, 1.0], "goal": [1.0, 0.5]}


def on_tasks():
    return TargetAware(sources=["a", "b"], target="goal", target_share="learned")


def with_a_zero():
    """A weight of zero, whose logarithm JSON has no number for."""
    rule = UpdateRule(alignment=CurvatureWeighted(AdamDiagonal()))
    return TargetAware(
        sources=["a", "b"], target="goal", target_share=None, initial={"a": 1, "b": 0}, rule=rule
    )


def on_examples():
    units = Units.of_examples({"a": 3, "b": 4})
    return TargetAware(sources=["a", "b"], target="goal", target_share=0.3, units=units)


def fixed():
    return Fixed(["a", "b"], initial={"a": 0.3, "b": 0.7})


MAKERS = {maker.__name__: maker for maker in (on_tasks, with_a_zero, on_examples, fixed)}


def moved(weighting, *, times=3):
    """The same after some updates; those of one made alike are the same."""
    module = nn.Linear(2, 1, bias=False)
    nn.init.constant_(module.weight, 0.7)
    optimiser = torch.optim.Adam(module.parameters(), lr=0.0)
    module.weight.grad = torch.tensor([[0.5, 2.0]])
    optimiser.step()
    weighting.follow(optimiser)

    def loss_of(task):
        return module(torch.tensor([WAYS[task]])).square().mean()

    def losses_of(task):
        inputs = torch.tensor([WAYS[task], [0.3, 0.1]])
        yield np.array([0, 2]), lambda: module(inputs).square().squeeze(1)

    for _ in range(times):
        weighting.update(module, loss_of=loss_of, losses_of=losses_of)
    return weighting


def through_json(weighting, make, folder):
    text = json.dumps(weighting.state_dict(), allow_nan=False)
    again = make()
    again.load_state_dict(json.loads(text))
    return again


def through_torch(weighting, make, folder):
    torch.save(weighting.state_dict(), folder / "state.pt")
    again = make()
    again.load_state_dict(torch.load(folder / "state.pt", weights_only=True))
    return again


def through_pickle(weighting, make, folder):
    return pickle.loads(pickle.dumps(weighting))


def through_deepcopy(weighting, make, folder):
    return copy.deepcopy(weighting)


def through_distributed_checkpoint(weighting, make, folder):
    assert isinstance(weighting, Stateful)
    dcp.save({"weights": weighting}, checkpoint_id=folder / "dcp", no_dist=True)
    again = make()  # with no history yet
    dcp.load({"weights": again}, checkpoint_id=folder / "dcp", no_dist=True)
    return again


def through_accelerate(weighting, make, folder):
    accelerator = Accelerator(cpu=True)
    accelerator.register_for_checkpointing(weighting)
    accelerator.save_state(folder / "accelerate")
    other, again = Accelerator(cpu=True), make()
    other.register_for_checkpointing(again)
    other.load_state(folder / "accelerate")
    return again


THROUGH = [
    through_json,
    through_torch,
    through_pickle,
    through_deepcopy,
    through_distributed_checkpoint,
    through_accelerate,
]


@pytest.mark.filterwarnings("ignore")  # those libraries' own
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("through", THROUGH, ids=lambda through: through.__name__)
def test_a_weighting_goes_on_from_any_checkpoint_to_the_last_bit(through, maker, tmp_path):
    make = MAKERS[maker]
    weighting = moved(make())
    again = through(weighting, make, tmp_path)
    assert torch.equal(again.weights.logs, weighting.weights.logs)
    assert again.weights.logs.dtype == weighting.weights.logs.dtype
    assert again.history == weighting.history
    for each in (weighting, again):
        moved(each, times=2)
    assert torch.equal(again.weights.logs, weighting.weights.logs)
    assert again.history == weighting.history
    assert again.outcome() == weighting.outcome()
    if maker != "fixed":
        assert again.history.updates == 5


@pytest.mark.parametrize("maker", ["on_tasks", "on_examples"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"float32": "!"},
        {"float32": "AAAA"},
        {"no such type": "AAAAPw=="},
        {"float16": "AAAAPw=="},
        [None, "a", 0.0],
        {},
    ],
    ids=str,
)
def test_text_that_is_no_vector_is_refused(wrong, maker):
    weighting = moved(MAKERS[maker]())
    before = weighting.weights.logs.clone()
    with pytest.raises(WeightsError, match="`logs` of the saved state"):
        weighting.load_state_dict({**weighting.state_dict(), "logs": wrong})
    assert torch.equal(weighting.weights.logs, before)


# A history that is bounded


def update(step, *, skipped=None, norm=1.0):
    return WeightUpdate(step, {"a": 1.0}, {"a": 0.0}, target_norm=norm, skipped=skipped)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 16, 17, 100, 1000])
def test_a_long_history_is_thinned_and_counts_stay_exact(count):
    history = History(most=8)
    for step in range(count):
        why = "NaN" if step % 3 == 0 else "fitted" if step % 5 == 0 else None
        history.append(update(step, skipped=why, norm=0.0 if why == "fitted" else 1.0))
    steps = [entry.step for entry in history]
    assert len(history) <= 8
    assert history.updates == count
    pairs = [step for step in range(count) if step // 2 % history._every == 0]
    assert steps == (sorted({*pairs, count - 1}) if count else [])
    assert history.skipped == sum(s % 3 == 0 or s % 5 == 0 for s in range(count))
    assert history.failures == ["NaN"] * len(range(0, count, 3))
    if count <= 8:
        assert steps == list(range(count))


def test_a_thinned_history_goes_on_from_its_state():
    whole, broken = History(most=8), History(most=8)
    for step in range(40):
        whole.append(update(step, skipped="NaN" if step % 7 == 0 else None))
    for step in range(23):
        broken.append(update(step, skipped="NaN" if step % 7 == 0 else None))
    state = json.loads(json.dumps([[u.to_json() for u in broken], broken.left_out()]))
    again = History.restored([WeightUpdate.from_json(u) for u in state[0]], state[1])
    again._most = 8
    for step in range(23, 40):
        again.append(update(step, skipped="NaN" if step % 7 == 0 else None))
    assert again == whole


def test_the_state_does_not_grow_with_the_run():
    weighting = on_tasks()
    weighting.history = History(most=16)
    moved(weighting, times=20)
    size = len(json.dumps(weighting.state_dict()))
    moved(weighting, times=40)
    assert len(json.dumps(weighting.state_dict())) < 1.7 * size
    assert weighting.history.updates == 60
    assert "updates=60" in repr(weighting)
    assert weighting.history[-1].step == 60


@pytest.mark.parametrize(
    "wrong",
    [
        "text",
        {},
        {"updates": 0, "every": 1, "skipped": 0, "failures": []},
        {"updates": 3, "every": 0, "skipped": 0, "failures": []},
        {"updates": 3, "every": 1, "skipped": -1, "failures": []},
        {"updates": 3, "every": 1, "skipped": 0.5, "failures": []},
        {"updates": 3, "every": 1, "skipped": 0, "failures": [1]},
        {"updates": math.inf, "every": 1, "skipped": 0, "failures": []},
    ],
    ids=str,
)
def test_counts_that_are_none_are_refused(wrong):
    weighting = moved(on_tasks())
    with pytest.raises(WeightsError, match="`left_out` of the saved state"):
        weighting.load_state_dict({**weighting.state_dict(), "left_out": wrong})
    assert weighting.history.updates == 3
