"""Weights by excess loss, against numbers worked out by hand."""

import math

import pytest
import torch
from torch import nn

from tawt.errors import ConfigError, WeightsError
from tawt.weighting import ExcessLoss
from tawt.weighting.excess_loss import mixed

MODEL = nn.Linear(1, 1)


def updated(weighting, losses):
    wide = {name: torch.tensor(loss, dtype=torch.float64) for name, loss in losses.items()}
    return weighting.update(MODEL, loss_of=wide.__getitem__)


def test_two_updates_worked_out_by_hand():
    """η = ln 2 doubles the weight of a source whose excess is one; then 30% are spread evenly."""
    weighting = ExcessLoss(
        sources=["a", "b"],
        reference={"b": 2.5, "a": 2.0},
        step_size=math.log(2),
        smoothing=0.3,
    )
    losses = {"a": 3.0, "b": 2.0}  # b is below its reference, which counts as being there
    update = updated(weighting, losses)
    first = [0.7 * 2 / 3 + 0.15, 0.7 * 1 / 3 + 0.15]
    assert [*weighting.shares().values()] == pytest.approx(first, abs=1e-14)
    assert update.alignments == {"a": 1.0, "b": 0.0}
    assert update.losses == losses
    updated(weighting, losses)
    second = [0.7 * 74 / 97 + 0.15, 0.7 * 23 / 97 + 0.15]  # 37/60 and 23/60 before, doubled
    assert [*weighting.shares().values()] == pytest.approx(second, abs=1e-14)
    mean = [(one + two) / 2 for one, two in zip(first, second, strict=True)]
    assert [*weighting.average().values()] == pytest.approx(mean, abs=1e-14)
    assert weighting.outcome().mean_alignments.tolist() == [1.0, 0.0]


def test_updates_are_those_of_the_paper():
    """By the algorithm as it is printed, in plain numbers."""
    draw = torch.Generator().manual_seed(0)
    names = ["a", "b", "c", "d"]
    reference = dict(zip(names, (3 + torch.randn(4, generator=draw)).tolist(), strict=True))
    weighting = ExcessLoss(sources=names, reference=reference)
    alpha, total = [0.25] * 4, [0.0] * 4
    for _ in range(20):
        values = (3 + torch.randn(4, generator=draw).double()).tolist()
        updated(weighting, dict(zip(names, values, strict=True)))
        excess = [max(0.0, v - reference[n]) for n, v in zip(names, values, strict=True)]
        grown = [a * math.exp(1.0 * e) for a, e in zip(alpha, excess, strict=True)]
        alpha = [(1 - 1e-3) * a / sum(grown) + 1e-3 / 4 for a in grown]
        total = [t + a for t, a in zip(total, alpha, strict=True)]
    assert [*weighting.shares().values()] == pytest.approx(alpha, abs=1e-12)
    assert [*weighting.average().values()] == pytest.approx([t / 20 for t in total], abs=1e-12)


def test_the_target_keeps_its_share_and_is_not_asked_for():
    weighting = ExcessLoss(
        sources=["a", "b"],
        reference={"a": 0.0, "b": 0.0},
        target="goal",
        target_share=0.4,
        step_size=math.log(3),
        smoothing=0.0,
    )
    updated(weighting, {"a": 1.0, "b": 0.0})  # a loss of the target would be a KeyError
    assert weighting.shares() == pytest.approx({"a": 0.45, "b": 0.15, "goal": 0.4}, abs=1e-14)
    assert weighting.outcome().mean_alignments.isnan().tolist() == [False, False, True]


def test_before_the_first_update_the_average_is_the_start():
    start = {"a": 0.75, "b": 0.25}
    weighting = ExcessLoss(sources=["a", "b"], reference={"a": 0, "b": 0}, initial=start)
    assert weighting.average() == pytest.approx(start)


def test_a_source_that_was_left_out_stays_out():
    start = {"a": 0.5, "b": 0.0, "c": 0.5}
    weighting = ExcessLoss(
        sources=["a", "b", "c"], reference=dict.fromkeys("abc", 0.0), initial=start, smoothing=0.5
    )
    updated(weighting, {"a": 1.0, "b": 5.0, "c": 1.0})
    assert weighting.shares() == pytest.approx(start)


def test_losses_need_no_graph():
    found = ExcessLoss(sources=["a"], reference={"a": 1.0})
    graphs = []

    def loss_of(task):
        loss = MODEL(torch.ones(1, 1)).sum()
        graphs.append(loss.requires_grad)
        return loss

    found.update(MODEL, loss_of=loss_of)
    assert graphs == [False]


def test_a_little_of_each_is_mixed_in():
    logs = torch.tensor([0.9, 0.1, 0.0], dtype=torch.float64).log()
    found = mixed(logs, share=0.2).exp().tolist()
    assert found == pytest.approx([0.82, 0.18, 0.0], abs=1e-15)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reference": {"a": 1.0}}, "leave out 'b'"),
        ({"reference": {"a": 1.0, "b": 1.0, "x": 1.0}}, "unknown task 'x'"),
        ({"reference": {"a": 1.0, "b": math.nan}}, "reference loss of 'b'"),
        ({"step_size": 0}, "`step_size`"),
        ({"smoothing": 1}, "`smoothing`"),
        ({"target_share": 0.5}, "no `target` that has it"),
    ],
)
def test_settings_are_checked(options, words):
    given = {"sources": ["a", "b"], "reference": {"a": 1.0, "b": 1.0}, **options}
    with pytest.raises((ConfigError, WeightsError), match=words):
        ExcessLoss(**given)
