"""Activation checkpointing: measured rightly, or refused, and never passed over."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from tawt.curvature import ConjugateGradient, Dense, Identity
from tawt.errors import TrainingError
from tawt.gradients import gradient_of, trainable
from tawt.hypergradient import Cosine, CurvatureWeighted
from tawt.per_example import ExampleNorms, ExampleProducts
from tawt.weighting import TargetAware, UpdateRule

TASKS = ("near", "far", "goal")
IDS = torch.randint(0, 9, (6, 5), generator=torch.Generator().manual_seed(0))

pytestmark = pytest.mark.filterwarnings(
    "ignore:None of the inputs have requires_grad=True:UserWarning"  # under no_grad there is none
)


class Encoder(nn.Module):
    """Two transformer layers; the way they are checkpointed makes no difference to the numbers."""

    def __init__(self, how, *, trained=True):
        super().__init__()
        self.how = how
        self.words = nn.Embedding(9, 8).requires_grad_(trained)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True) for _ in range(2)
        )
        self.last = nn.Linear(8, 8)

    def forward(self, ids):
        hidden = self.words(ids)
        if not self.words.weight.requires_grad:
            hidden.requires_grad_()  # as Transformers does, or nothing would be trained
        for layer in self.layers:
            if self.how is None:
                hidden = layer(hidden)
            else:
                hidden = checkpoint(layer, hidden, use_reentrant=self.how)
        return self.last(hidden).tanh().mean(1)


class Model(nn.Module):
    def __init__(self, how, *, trained=True, dtype=torch.float64):
        super().__init__()
        torch.manual_seed(0)
        self.encoder = Encoder(how, trained=trained)
        self.heads = nn.ModuleDict({name: nn.Linear(8, 1) for name in TASKS})
        self.to(dtype)

    def losses(self, task, ids=IDS):
        return (self.heads[task](self.encoder(ids)).squeeze(1) - 1).square()

    def loss_of(self, task):
        return self.losses(task).mean()


def alignments(how, alignment, *, trained=True):
    model = Model(how, trained=trained)
    weights = TargetAware(
        sources=["near", "far"],
        target="goal",
        target_share=None,
        rule=UpdateRule(alignment=alignment),
    )
    return weights.update(model.encoder, loss_of=model.loss_of).alignments


ALIGNMENTS = {
    "cosine": Cosine(),
    "identity": CurvatureWeighted(Identity()),
    "conjugate gradient": CurvatureWeighted(ConjugateGradient(damping=1.0, iterations=3)),
}


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("name", ALIGNMENTS)
def test_what_is_not_reentrant_is_measured_rightly(name, trained):
    plain = alignments(None, ALIGNMENTS[name], trained=trained)
    assert min(map(abs, plain.values())) > 1e-6
    assert alignments(False, ALIGNMENTS[name], trained=trained) == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("name", ALIGNMENTS)
def test_what_is_reentrant_is_refused(name, trained):
    with pytest.raises(TrainingError, match="use_reentrant=False"):
        alignments(True, ALIGNMENTS[name], trained=trained)


def test_a_layer_that_is_checkpointed_once_and_used_twice_is_refused():
    """Every parameter has a gradient then, but a part of it."""
    layer = nn.Linear(3, 3)
    inputs = torch.ones(2, 3, requires_grad=True)
    hidden = checkpoint(layer, inputs, use_reentrant=True)
    with pytest.raises(TrainingError, match="use_reentrant=False"):
        gradient_of(layer(hidden).sum(), [*layer.parameters()])


def test_a_refused_update_leaves_no_trace():
    model = Model(True)
    weights = TargetAware(sources=["near", "far"], target="goal", target_share=None)
    with pytest.raises(TrainingError):
        weights.update(model.encoder, loss_of=model.loss_of)
    assert weights.history == []
    assert all(parameter.grad is None for parameter in model.parameters())


# Single examples


def measured(how, way, *, trained=True, dtype=torch.float64):
    model = Model(how, trained=trained, dtype=dtype)
    plain = Model(None, trained=trained, dtype=dtype)
    direction = gradient_of(plain.loss_of("goal"), trainable(plain.encoder))
    found = ExampleProducts(model, trainable(model.encoder), direction, way=way)
    return found(lambda: model.losses("near")), found.way


def _has_forward_mode():
    """Whether torch can differentiate forwards through its checkpoints; older ones cannot."""
    try:
        measured(False, "forward")
    except TrainingError as error:
        return "no forward mode" not in str(error)
    return True


HAS_FORWARD_MODE = _has_forward_mode()


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize("way", ["auto", "forward", "mixed", "differences"])
def test_products_through_what_is_not_reentrant(way, dtype, trained):
    if way != "differences" and not HAS_FORWARD_MODE:
        pytest.skip("checkpointing of this torch has no forward mode")
    plain, used = measured(None, way, dtype=dtype, trained=trained)
    found, as_used = measured(False, way, dtype=dtype, trained=trained)
    torch.testing.assert_close(found, plain)
    assert as_used == used


@pytest.mark.skipif(HAS_FORWARD_MODE, reason="checkpointing of this torch has a forward mode")
def test_what_has_no_forward_mode_is_measured_by_differences_or_refused():
    plain, _ = measured(None, "forward")
    found, used = measured(False, "auto")
    assert used == "differences"
    torch.testing.assert_close(found, plain, rtol=1e-4, atol=1e-8)
    with pytest.raises(TrainingError, match="no forward mode"):
        measured(False, "forward")


@pytest.mark.parametrize("trained", [True, False])
def test_products_through_what_is_reentrant_are_by_differences(trained):
    plain, _ = measured(None, "forward", trained=trained)
    for way in ("auto", "differences"):
        found, used = measured(True, way, trained=trained)
        assert used == "differences"
        torch.testing.assert_close(found, plain, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("way", ["forward", "mixed"])
def test_forward_mode_through_what_is_reentrant_is_refused(way, trained):
    with pytest.raises(TrainingError, match=r"CheckpointFunction uses parameters.*differences"):
        measured(True, way, trained=trained)


def test_a_function_with_a_forward_mode_of_its_own_is_not_refused():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, inputs, weight):
            ctx.save_for_forward(inputs)
            return inputs @ (weight * 2)

        @staticmethod
        def jvp(ctx, _, tangent):
            (inputs,) = ctx.saved_tensors
            return inputs @ (tangent * 2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2))

        def forward(self, inputs):
            return Doubled.apply(inputs, self.weight)

    net = Net()
    found = ExampleProducts(net, [net.weight], [torch.tensor([1.0, -1.0])], way="forward")
    assert found(lambda: net(torch.tensor([[5.0, 2.0], [0.0, 1.0]]))).tolist() == [6.0, -2.0]


def norms(how, way, *, trained=True, dtype=torch.float64):
    model = Model(how, trained=trained, dtype=dtype)
    return ExampleNorms(model, trainable(model.encoder), way=way)(lambda: model.losses("near"))


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize("way", ["auto", "each"])
def test_norms_through_checkpoints(way, dtype, trained):
    plain = norms(None, way, dtype=dtype, trained=trained)
    assert plain.min() > 0
    found = norms(False, way, dtype=dtype, trained=trained)
    torch.testing.assert_close(found, plain, rtol=1e-5, atol=1e-9)
    with pytest.raises(TrainingError, match="use_reentrant=False"):
        norms(True, way, dtype=dtype, trained=trained)


def test_dense_curvature_through_checkpoints():
    def direction(how):
        torch.manual_seed(0)
        first, last = nn.Linear(2, 3).double(), nn.Linear(3, 1).double()
        inputs = torch.randn(4, 2, dtype=torch.float64).requires_grad_()

        def loss_of(task):
            hidden = first(inputs) if how is None else checkpoint(first, inputs, use_reentrant=how)
            return last(hidden.tanh()).square().mean()

        weights = TargetAware(
            sources=["a"],
            target="goal",
            target_share=None,
            rule=UpdateRule(alignment=CurvatureWeighted(Dense(damping=1.0))),
        )
        return weights.update(first, loss_of=loss_of).alignments["a"]

    assert direction(False) == pytest.approx(direction(None), rel=1e-9)
    with pytest.raises(TrainingError, match="use_reentrant=False"):
        direction(True)
