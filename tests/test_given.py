"""What callers give by mistake: each an error that says what to do."""

import json
import math

import numpy as np
import pytest
import torch
from torch import nn

from tawt.errors import ConfigError, TawtError, TrainingError, WeightsError
from tawt.gradients import trainable
from tawt.units import Units
from tawt.weighting import Fixed, TargetAware, UpdateRule
from tawt.weights import SourceWeights


def weighting(**options):
    return TargetAware(**{"sources": ["a", "b"], "target": "goal", "target_share": None, **options})


class Setting:
    """A small model with a head for each task."""

    def __init__(self):
        torch.manual_seed(0)
        self.encoder = nn.Linear(3, 4)
        self.heads = nn.ModuleDict({name: nn.Linear(4, 1) for name in ("a", "b", "goal")})
        self.inputs = torch.randn(5, 3)

    def losses(self, task):
        return self.heads[task](self.encoder(self.inputs)).square().squeeze(1)

    def loss_of(self, task):
        return self.losses(task).mean()


# Losses


WRONG_LOSSES = {
    "a dictionary": (lambda loss: {"loss": loss}, "got dict"),
    "a float": (lambda loss: loss.item(), "got float"),
    "nothing": (lambda loss: None, "got NoneType"),
    "three of them": (lambda loss: (loss, loss, loss), "got tuple"),
    "an array": (lambda loss: loss.detach().numpy(), "got ndarray"),
    "a vector": (lambda loss: loss.repeat(3), r"shape \(3,\)"),
    "a vector of one": (lambda loss: loss[None], r"shape \(1,\)"),
    "a whole number": (lambda loss: torch.tensor(1), "int64"),
    "a complex number": (lambda loss: loss * 1j, "complex64"),
}


@pytest.mark.parametrize("wrong", WRONG_LOSSES)
@pytest.mark.parametrize("whose", ["a", "goal"])
def test_a_loss_that_is_no_scalar_is_refused_by_update_and_by_combine(wrong, whose):
    setting, weights = Setting(), weighting(target_share=0.3)
    change, message = WRONG_LOSSES[wrong]

    def loss_of(task):
        loss = setting.loss_of(task)
        return change(loss) if task == whose else loss

    with pytest.raises(TrainingError, match=f"{whose}.*{message}"):
        weights.update(setting.encoder, loss_of=loss_of)
    with pytest.raises(TrainingError, match=f"{whose}.*{message}"):
        weights.combine({name: loss_of(name) for name in ("a", "b", "goal")})
    assert weights.history == []


def test_losses_without_names_are_refused():
    with pytest.raises(WeightsError, match="by name; got list"):
        weighting().combine([torch.tensor(1.0)])


def test_a_loss_that_is_not_finite_is_combined_as_autograd_would():
    found = Fixed(["a", "b"]).combine({"a": torch.tensor(math.nan), "b": torch.tensor(1.0)})
    assert torch.isnan(found)


CONSTANT = {
    "detached": lambda setting: setting.loss_of("goal").detach(),
    "a constant": lambda setting: torch.tensor(0.0),
    "of another module": lambda setting: setting.heads["goal"](torch.ones(4)).sum(),
    "zero": lambda setting: 0.0 * setting.loss_of("goal"),
    "clipped to zero": lambda setting: setting.loss_of("goal").clamp(max=0.0),
}


def with_target(setting, name):
    return lambda task: CONSTANT[name](setting) if task == "goal" else setting.loss_of(task)


@pytest.mark.parametrize("share", [None, 0.3, "learned"])
@pytest.mark.parametrize("name", CONSTANT)
def test_a_target_without_a_gradient_is_refused(name, share):
    setting, weights = Setting(), weighting(target_share=share)
    with pytest.raises(TrainingError, match=r"target 'goal'.*nothing can be compared with it"):
        weights.update(setting.encoder, loss_of=with_target(setting, name))
    assert weights.history == []


def test_a_target_whose_gradient_becomes_zero_skips_the_update():
    setting, weights = Setting(), weighting(rule=UpdateRule(anchor=0.5))
    weights.update(setting.encoder, loss_of=setting.loss_of)
    before = weights.weights.logs.clone()
    update = weights.update(setting.encoder, loss_of=with_target(setting, "zero"))
    assert torch.equal(weights.weights.logs, before)
    assert "gradient of the target 'goal' is zero" in update.skipped
    assert (weights.skipped, weights.failures) == (1, [])
    json.dumps(update.to_json(), allow_nan=False)
    assert weights.update(setting.encoder, loss_of=setting.loss_of).skipped is None


# Modules and parameters


@pytest.mark.parametrize(
    "touching", [nn.Linear(1, 1), nn.ModuleDict({"a": nn.Linear(1, 1)}), "heads", 3, [None]]
)
def test_touching_that_is_no_list_of_modules_is_refused(touching):
    setting, weights = Setting(), weighting()
    with pytest.raises(TrainingError, match=r"`touching` must be a list.*touching=\[heads\]"):
        weights.update(setting.encoder, loss_of=setting.loss_of, touching=touching)


def test_modules_that_are_a_list_can_be_touched():
    setting, weights = Setting(), weighting()
    for touching in ([setting.heads], iter([setting.heads]), nn.ModuleList([nn.Linear(1, 1)])):
        weights.update(setting.encoder, loss_of=setting.loss_of, touching=touching)


WRONG_REPRESENTATIONS = {
    "named parameters": lambda encoder: encoder.named_parameters(),
    "a dictionary": lambda encoder: dict(encoder.named_parameters()),
    "a list of modules": lambda encoder: [encoder],
    "nothing": lambda encoder: None,
    "a number": lambda encoder: 3,
}


@pytest.mark.parametrize("wrong", WRONG_REPRESENTATIONS)
def test_a_representation_that_is_none_is_refused(wrong):
    setting = Setting()
    given = WRONG_REPRESENTATIONS[wrong](setting.encoder)
    with pytest.raises(TrainingError, match=r"module\.parameters\(\)"):
        weighting().update(given, loss_of=setting.loss_of)


def test_complex_parameters_are_refused():
    parameter = nn.Parameter(torch.ones(2, dtype=torch.complex64))
    with pytest.raises(TrainingError, match=r"complex.*view_as_real"):
        trainable([parameter])


# Names


WRONG_NAMES = {
    "a string": ("pos", r'write \["pos"\]'),
    "a generator": ((name for name in ["a", "b"]), r"got generator.*list\(names\)"),
    "a set": ({"a", "b"}, r"order changes.*sorted\(names\)"),
    "a frozen set": (frozenset({"a", "b"}), r"sorted\(names\)"),
    "numbers": ([1, 2], r"as text; got 1"),
    "a number": (3, "got int"),
    "nothing": (None, "got NoneType"),
}


@pytest.mark.parametrize("wrong", WRONG_NAMES)
@pytest.mark.parametrize("share", [None, 0.3])
def test_sources_that_are_no_list_of_names_are_refused(wrong, share):
    if wrong == "a generator":
        sources, message = (name for name in ["a", "b"]), WRONG_NAMES[wrong][1]
    else:
        sources, message = WRONG_NAMES[wrong]
    with pytest.raises(WeightsError, match=message):
        weighting(sources=sources, target_share=share)


@pytest.mark.parametrize("wrong", [name for name in WRONG_NAMES if name != "a generator"])
def test_fixed_weights_are_of_a_list_of_names(wrong):
    names, message = WRONG_NAMES[wrong]
    with pytest.raises(WeightsError, match=message):
        Fixed(names)


def test_names_with_an_order_are_taken():
    names = {"a": 1, "b": 2}
    for given in (names, names.keys(), tuple(names), np.array(["a", "b"])):
        assert weighting(sources=given).weights.names == ("a", "b")


@pytest.mark.parametrize("target", [3, None, ["goal"], {1: 1.0}, {"goal": True}, {"goal": "1"}])
def test_a_target_that_is_none_is_refused(target):
    with pytest.raises(WeightsError):
        weighting(target=target)


# Numbers


@pytest.mark.parametrize(
    "share",
    [True, False, math.inf, -math.inf, "0.3", (0.1,), (0.1, 0.2, 0.3), (0.1, None), object()],
)
def test_a_target_share_that_is_none_is_refused(share):
    with pytest.raises(ConfigError, match="target_share"):
        weighting(target_share=share)


@pytest.mark.parametrize("share", [np.float32(0.25), np.float64(0.25), [0.25, 0.25]])
def test_a_target_share_in_numpys_numbers_is_the_same(share):
    setting = Setting()
    plain, weights = weighting(target_share=0.25), weighting(target_share=share)
    if not isinstance(share, list):
        assert weights.asked_twice == plain.asked_twice == frozenset()
    for one in (plain, weights):
        one.update(setting.encoder, loss_of=setting.loss_of)
    assert weights.weights.shares() == pytest.approx(plain.weights.shares(), rel=1e-12)


@pytest.mark.parametrize("value", [math.inf, math.nan, True, "0.5", None])
def test_weights_that_are_no_numbers_are_refused(value):
    with pytest.raises(WeightsError, match="must be a number"):
        SourceWeights.of({"a": 0.5, "b": value})
    with pytest.raises(WeightsError, match="must be a number"):
        weighting(initial={"a": 0.5, "b": value})


@pytest.mark.parametrize("initial", [0.5, None, [0.5, 0.5], "even"])
def test_initial_weights_that_are_none_are_refused(initial):
    with pytest.raises(WeightsError, match="`initial` must be"):
        Fixed(["a", "b"], initial=initial)


@pytest.mark.parametrize("size", [math.inf, math.nan, "3", None, 0, -1])
def test_sizes_that_are_none_are_refused(size):
    sizes = {"a": 3, "b": size}
    with pytest.raises(WeightsError, match="sizes must be"):
        SourceWeights.proportional(sizes)
    with pytest.raises(WeightsError, match="sizes must be"):
        SourceWeights.uniform(["a", "b"]).multipliers(sizes)
    with pytest.raises(WeightsError, match="sizes must be"):
        Units.of_examples(sizes)


# Single examples


def test_positions_that_are_none_are_refused():
    setting = Setting()
    units = Units.of_examples({"a": 5, "b": 5})
    model = nn.ModuleList([setting.encoder, setting.heads])
    for positions in ([5, 0, 1, 2, 3], [-1, 0, 1, 2, 3], [0.5] * 5, [[0, 1, 2, 3, 4]], "all"):

        def losses_of(source, positions=positions):
            yield positions, lambda: setting.losses(source)

        with pytest.raises(TrainingError, match="`losses_of` must give pairs"):
            weighting(units=units).update(model, loss_of=setting.loss_of, losses_of=losses_of)


@pytest.mark.parametrize("wrong", [None, 0.5, {"loss": 1}, torch.tensor(1.0)])
def test_single_losses_that_are_none_are_refused(wrong):
    setting = Setting()
    model = nn.ModuleList([setting.encoder, setting.heads])
    weights = weighting(units=Units.of_examples({"a": 5, "b": 5}))
    with pytest.raises(TawtError, match="one loss per example"):
        weights.update(
            model,
            loss_of=setting.loss_of,
            losses_of=lambda source: [(np.arange(5), lambda: wrong)],
        )
