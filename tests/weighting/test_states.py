"""Loading a state: what is wrong with it is named, and nothing has changed then."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from tawt.errors import WeightsError
from tawt.units import Units
from tawt.weighting import Fixed, TargetAware, UpdateRule

DOUBLE = {"dtype": torch.float64}
WAYS = {"a": [1.0, 0.0], "b": [0.0, 1.0], "goal": [1.0, 0.5]}


def updated(**options):
    weighting = TargetAware(
        **{"sources": ["a", "b"], "target": "goal", "target_share": None, **options}
    )
    point = torch.ones(2, **DOUBLE).requires_grad_()
    weighting.update([point], loss_of=lambda task: point @ torch.tensor(WAYS[task], **DOUBLE))
    return weighting


def fine():
    units = Units.of_examples({"a": 2, "b": 2})
    weighting = TargetAware(sources=["a", "b"], target="goal", units=units, target_share=0.3)
    module = nn.Linear(2, 1, bias=False)

    def losses_of(source):
        inputs = torch.tensor([WAYS[source], [0.3, 0.1]])
        yield np.arange(2), lambda: module(inputs).squeeze(1)

    weighting.update(
        module, loss_of=lambda task: module(torch.tensor(WAYS[task])).sum(), losses_of=losses_of
    )
    return weighting


def in_tensors(weighting):
    """A state as older versions made it."""
    state = {**weighting.state_dict(), "logs": weighting.weights.logs.clone()}
    if "measured" in state:
        state["mean_alignments"] = weighting.mean_alignments.clone()
        state["measured"] = weighting._means.times.clone()
    del state["left_out"]
    return state


MAKERS = {"tasks": updated, "examples": fine, "fixed": lambda: Fixed(["a", "b"])}

WRONG = {
    "no mapping": (lambda state: [*state], "must be a dictionary"),
    "none": (lambda state: None, "must be a dictionary"),
    "no names": (lambda state: {k: v for k, v in state.items() if k != "names"}, "no 'names'"),
    "no logs": (lambda state: {k: v for k, v in state.items() if k != "logs"}, "no 'logs'"),
    "no history": (lambda state: {k: v for k, v in state.items() if k != "history"}, "no 'histo"),
    "other order": (lambda state: {**state, "names": state["names"][::-1]}, "same order"),
    "names that are numbers": (lambda state: {**state, "names": [1, 2]}, "list of names"),
    "NaN": (lambda state: {**state, "logs": state["logs"] * math.nan}, "NaN or infinite"),
    "infinite": (lambda state: {**state, "logs": state["logs"] + math.inf}, "NaN or infinite"),
    "zeros": (lambda state: {**state, "logs": torch.zeros_like(state["logs"])}, "sum to 1"),
    "nothing": (lambda state: {**state, "logs": state["logs"] - math.inf}, "sum to 1"),
    "shifted": (lambda state: {**state, "logs": state["logs"] + 0.1}, "sum to 1"),
    "too short": (lambda state: {**state, "logs": state["logs"][1:]}, "of shape"),
    "too long": (lambda state: {**state, "logs": state["logs"].repeat(2)}, "of shape"),
    "a matrix": (lambda state: {**state, "logs": state["logs"][None]}, "of shape"),
    "narrow": (lambda state: {**state, "logs": state["logs"].half()}, "float16"),
    "whole": (lambda state: {**state, "logs": state["logs"].long()}, "int64"),
    "text": (lambda state: {**state, "logs": "logs"}, "must be a tensor"),
    "a list of text": (lambda state: {**state, "logs": ["a", "b"]}, "no numbers"),
    "a history of text": (lambda state: {**state, "history": "history"}, "list of updates"),
    "a history of numbers": (lambda state: {**state, "history": [1]}, "to_json"),
    "a history of nothing": (lambda state: {**state, "history": [{}]}, "to_json"),
    "a history of more": (
        lambda state: {**state, "history": [{"step": 1, "weights": {}, "log_weights": {}, "x": 1}]},
        "to_json",
    ),
    "a history with NaN": (
        lambda state: {
            **state,
            "history": [{"step": 1, "weights": {"a": math.nan, "b": 1.0}, "log_weights": {}}],
        },
        "`weights` of an update",
    ),
    "a history of others": (
        lambda state: {
            **state,
            "history": [{"step": 1, "weights": {"x": 1.0}, "log_weights": {"x": 0.0}}],
        },
        "has an update of x",
    ),
}

FINE = {
    "no units": (lambda state: {k: v for k, v in state.items() if k != "units"}, "no 'units'"),
    "other units": (lambda state: {**state, "units": "00"}, "other groups or examples"),
    "means that are short": (
        lambda state: {**state, "mean_alignments": state["mean_alignments"][1:]},
        "`mean_alignments`",
    ),
    "means that are NaN": (
        lambda state: {**state, "mean_alignments": state["mean_alignments"] * math.nan},
        "must be finite",
    ),
    "counts that are not whole": (
        lambda state: {**state, "measured": state["measured"].double()},
        "`measured`",
    ),
    "counts below zero": (
        lambda state: {**state, "measured": state["measured"] - 9},
        "must be finite",
    ),
}


def snapshot(weighting):
    return (
        weighting.weights.logs.clone(),
        list(weighting.history),
        getattr(weighting, "mean_alignments", torch.zeros(0)).clone(),
    )


def assert_refused(weighting, state, message):
    logs, history, means = snapshot(weighting)
    with pytest.raises(WeightsError, match=message):
        weighting.load_state_dict(state)
    after = snapshot(weighting)
    assert torch.equal(after[0], logs)
    assert after[1] == history
    assert torch.equal(after[2], means)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_with_a_state_is_named(wrong, maker):
    weighting = MAKERS[maker]()
    change, message = WRONG[wrong]
    assert_refused(weighting, change(in_tensors(weighting)), message)


@pytest.mark.parametrize("wrong", FINE)
def test_what_is_wrong_with_the_state_of_examples_is_named(wrong):
    weighting = fine()
    change, message = FINE[wrong]
    assert_refused(weighting, change(in_tensors(weighting)), message)


def test_the_state_of_another_share_is_refused():
    given = updated(target_share=0.5).state_dict()
    assert_refused(updated(target_share=0.3), given, "`target_share` is 0.3")


@pytest.mark.parametrize("maker", MAKERS)
def test_a_state_is_copied(maker):
    weighting, other = MAKERS[maker](), MAKERS[maker]()
    state = in_tensors(weighting)
    other.load_state_dict(state)
    state["logs"].fill_(math.nan)
    for key in ("mean_alignments", "measured"):
        if key in state:
            state[key].zero_().sub_(1)
    for update in state["history"]:
        update["weights"].clear()
    assert torch.equal(other.weights.logs, weighting.weights.logs)
    assert other.history == weighting.history
    if maker == "examples":
        assert torch.equal(other.mean_alignments, weighting.mean_alignments)
        assert torch.equal(other.was_measured, weighting.was_measured)


def test_weights_of_zero_and_rounded_ones_are_a_state():
    for initial in ({"a": 1.0, "b": 0.0}, {"a": 0.3333333, "b": 0.6666667}):
        weighting = Fixed(["a", "b"], initial=initial)
        other = Fixed(["a", "b"])
        other.load_state_dict(weighting.state_dict())
        assert torch.equal(other.weights.logs, weighting.weights.logs)


def test_a_state_of_plain_numbers_is_taken_to_the_last_digit():
    rule = UpdateRule(step_size=0.3)
    weighting = updated(rule=rule)
    state = in_tensors(weighting)
    for logs in (state["logs"].tolist(), state["logs"].numpy()):
        other = TargetAware(sources=["a", "b"], target="goal", target_share=None, rule=rule)
        other.load_state_dict({**state, "logs": logs})
        assert torch.equal(other.weights.logs, weighting.weights.logs)
