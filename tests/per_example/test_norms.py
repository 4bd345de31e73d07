"""‖∇ℓ_i‖² against one backward pass per example, in float64."""

import logging

import pytest
import torch
from torch import nn

from tawt.errors import TrainingError
from tawt.per_example import ExampleNorms, ExampleProducts
from tawt.per_example.ghost import Ghost
from tests.per_example.cases import (
    CASES,
    Case,
    classifying,
    cnn,
    mlp,
    padded_ids,
    tied,
    transformer,
    written_transformer,
)
from tests.per_example.test_products import Squaring, assert_near


@pytest.mark.parametrize("way", ["auto", "each"])
@pytest.mark.parametrize("name", CASES)
def test_they_are_those_of_one_backward_pass_per_example(name, way):
    case = CASES[name]()
    norms = ExampleNorms(case.module, case.parameters, way=way)
    for _ in range(2):  # layers are checked on the first batch
        found = norms(case.losses)
        assert found.dtype == torch.float64
        assert_near(found, case.norms(), 1e-9)


@pytest.mark.parametrize("make", [mlp, cnn, written_transformer])
def test_the_usual_layers_need_one_backward_pass(make):
    case = make()
    norms = ExampleNorms(case.module, case.parameters, way="ghost")
    assert_near(norms(case.losses), case.norms(), 1e-9)


def left_over(case):
    ghost = Ghost(case.module, case.parameters)
    ghost(case.losses)
    covered = {id(parameter) for parameter in ghost.covered}
    return [
        name.removeprefix("representation.")
        for name, parameter in case.module.named_parameters()
        if id(parameter) not in covered and any(parameter is p for p in case.parameters)
    ]


def test_what_is_left_to_one_example_at_a_time():
    assert left_over(tied()) == ["tokens.weight", "layer.weight", "layer.bias"]
    assert all("self_attn" in name for name in left_over(transformer()))
    assert len(left_over(transformer())) == 8
    case = tied()
    norms = ExampleNorms(case.module, case.parameters, way="ghost")
    with pytest.raises(TrainingError, match=r"Norms of representation\.tokens\.weight"):
        norms(case.losses)


def test_several_batches_of_several_sizes_and_lengths():
    """A table of positions is for all examples, even in a batch with as many as positions."""
    torch.manual_seed(0)
    case = written_transformer()
    ghost = ExampleNorms(case.module, case.parameters, way="ghost")
    for rows, length in [(3, 5), (4, 4), (1, 6), (5, 2)]:
        ids = torch.randint(1, 11, (rows, length))
        case.losses_of = lambda module, ids=ids: module(ids).square().sum(1)
        assert_near(ghost(case.losses), case.norms(), 1e-9)


def test_a_first_batch_with_as_many_examples_as_positions():
    case = written_transformer()
    ids = padded_ids()[:, :5]
    case.losses_of = lambda module: module(ids).square().sum(1)
    norms = ExampleNorms(case.module, case.parameters)
    assert_near(norms(case.losses), case.norms(), 1e-9)


class Twisted(nn.Module):
    """Things that identities are wrong for, each in its own way."""

    def __init__(self):
        super().__init__()
        self.beside = nn.Linear(4, 4)
        self.turned = nn.Linear(4, 4)
        self.mixing = nn.Linear(4, 4)
        self.table = nn.Embedding(4, 4)
        self.fine = nn.Linear(4, 4)

    def forward(self, inputs):
        values = self.beside(inputs) + inputs @ self.beside.weight
        values = torch.tanh(self.turned(values.flip(0)).flip(0))
        values = self.mixing(values) - self.mixing(values.roll(1, 0)).mean(0)
        values = values * self.table(torch.arange(4)).sum(0)
        return torch.tanh(self.fine(values))


def test_layers_that_are_not_as_they_must_be_are_given_up(caplog):
    torch.manual_seed(0)
    case = classifying(Twisted(), nn.Linear(4, 3), [torch.randn(6, 4, dtype=torch.float64)])
    norms = ExampleNorms(case.module, case.parameters)
    with caplog.at_level(logging.INFO, "tawt.per_example"):
        for _ in range(2):
            assert_near(norms(case.losses), case.norms(), 1e-9)
    assert left_over(case) == [
        f"{layer}.{name}"
        for layer in ("beside", "turned", "mixing", "table")
        for name in ("weight", "bias")
        if (layer, name) != ("table", "bias")
    ]
    assert len([r for r in caplog.records if "one example at a time" in r.message]) == 1


def test_an_example_in_several_rows():
    """Then no layer has the example as its first dimension."""
    case = mlp()
    inputs = torch.randn(6, 5, dtype=torch.float64)
    case.losses_of = lambda module: module(inputs).square().sum(1).view(3, 2).mean(1)
    norms = ExampleNorms(case.module, case.parameters)
    assert_near(norms(case.losses), case.norms(), 1e-9)


def test_long_inputs_of_a_narrow_layer():
    """Longer than the layer is wide, the gradient itself is made, some examples at a time."""
    torch.manual_seed(0)
    layer, inputs = nn.Linear(3, 2).double(), torch.randn(4, 50, 3, dtype=torch.float64)
    case = Case(layer, list(layer.parameters()), lambda layer: layer(inputs).tanh().sum((1, 2)))
    norms = ExampleNorms(layer, case.parameters, way="ghost")
    assert_near(norms(case.losses), case.norms(), 1e-9)


class NotAtOnce(torch.autograd.Function):
    """Whose backward pass asks for numbers, so that vmap cannot run it."""

    @staticmethod
    def forward(ctx, values):
        ctx.save_for_backward(values)
        return values * values

    @staticmethod
    def backward(ctx, gradient):
        (values,) = ctx.saved_tensors
        return 2 * gradient * values if gradient.abs().sum().item() > 0 else gradient


def test_gradients_one_by_one_where_not_several_at_once(caplog):
    torch.manual_seed(0)
    layer, inputs = nn.Linear(3, 2).double(), torch.randn(4, 3, dtype=torch.float64)
    case = Case(
        layer, list(layer.parameters()), lambda layer: NotAtOnce.apply(layer(inputs)).sum(1)
    )
    norms = ExampleNorms(layer, case.parameters, way="each")
    with caplog.at_level(logging.INFO, "tawt.per_example"):
        assert_near(norms(case.losses), case.norms(), 1e-9)
    assert "Gradients one by one" in caplog.text


def test_a_backward_pass_of_ones_own():
    torch.manual_seed(0)
    module, inputs = Squaring().double(), torch.randn(5, 4, dtype=torch.float64)
    case = Case(module, list(module.parameters()), lambda module: module(inputs))
    for way in ("ghost", "each"):
        assert_near(ExampleNorms(module, case.parameters, way=way)(case.losses), case.norms(), 1e-9)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # inside torch, on Python 3.12
@pytest.mark.parametrize("way", ["auto", "each"])
def test_a_compiled_model(way):
    case = written_transformer()
    compiled = torch.compile(case.module, backend="aot_eager")
    case.losses_of(compiled)
    norms = ExampleNorms(compiled, case.parameters, way=way)
    assert_near(norms(lambda: case.losses_of(compiled)), case.norms(), 1e-9)
    torch._dynamo.reset()


@pytest.mark.parametrize("way", ["ghost", "each"])
@pytest.mark.parametrize("make", [mlp, cnn])
def test_a_model_in_bf16_is_run_in_float32(make, way):
    case = make()
    inputs = case.inputs[0].bfloat16()
    case.losses_of = lambda module: module(inputs.to(module.head.weight.dtype)).square().sum(1)
    case.module.bfloat16()
    found = ExampleNorms(case.module, case.parameters, way=way)(case.losses)
    assert found.dtype == torch.float32
    case.module.double()
    assert_near(found, case.norms(), 1e-4)


def test_frozen_and_unreached_parameters():
    case = mlp()
    for parameter in case.parameters:
        parameter.requires_grad_(False)
    apart = nn.Linear(2, 2)
    module = nn.ModuleList([case.module, apart])
    norms = ExampleNorms(module, [*case.parameters, *apart.parameters()], way="ghost")
    found = norms(case.losses)
    for parameter in case.parameters:
        parameter.requires_grad_()
    assert_near(found, case.norms(), 1e-9)
    for way in ("each", "ghost"):
        nothing = ExampleNorms(module, list(apart.parameters()), way=way)
        assert nothing(case.losses).tolist() == [0.0] * 7


def test_with_the_products_they_make_the_cosine():
    case = written_transformer()
    gradients = case.gradients()
    target = gradients.mean(0)
    parts = target.split([p.numel() for p in case.parameters])
    direction = [part.view_as(p) for part, p in zip(parts, case.parameters, strict=True)]
    products = ExampleProducts(case.module, case.parameters, direction)(case.losses)
    norms = ExampleNorms(case.module, case.parameters)(case.losses)
    cosines = products / (target.norm() * norms.sqrt())
    exact = torch.nn.functional.cosine_similarity(gradients, target[None])
    torch.testing.assert_close(cosines, exact, rtol=1e-9, atol=1e-9)


def test_what_does_not_fit_is_refused():
    case = mlp()
    with pytest.raises(TrainingError, match="not in `module`"):
        ExampleNorms(nn.Linear(2, 2), case.parameters)
    with pytest.raises(TrainingError, match="`way` must be"):
        ExampleNorms(case.module, case.parameters, way="vmap")
    for way in ("auto", "each"):
        with pytest.raises(TrainingError, match="one loss per example"):
            ExampleNorms(case.module, case.parameters, way=way)(lambda: case.losses().mean())


class Sorting(nn.Module):
    """Rows sorted by length inside, as for packed sequences, and put back."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 6)
        self.head = nn.Linear(6, 3)
        self.double()

    def forward(self, inputs, lengths):
        order = lengths.argsort(descending=True, stable=True)
        hidden = torch.tanh(self.layer(inputs[order]))
        return self.head(hidden[order.argsort()])

    def losses(self, lengths):
        inputs = torch.randn(len(lengths), 8, generator=torch.Generator().manual_seed(0))
        labels = torch.arange(len(lengths)) % 3
        return lambda: nn.functional.cross_entropy(
            self(inputs.double(), lengths), labels, reduction="none"
        )


def each_alone(losses, parameters):
    grads = [torch.autograd.grad(loss, parameters, retain_graph=True) for loss in losses()]
    return torch.stack([sum(g.square().sum() for g in found) for found in grads])


@pytest.mark.parametrize("first", [torch.full((12,), 5), torch.tensor([4])])
def test_a_layer_that_reorders_is_found_out_after_a_batch_that_did_not_show_it(first, caplog):
    torch.manual_seed(0)
    model = Sorting()
    parameters = list(model.layer.parameters())
    norms = ExampleNorms(model, parameters)
    norms(model.losses(first))
    mixed = torch.arange(12) * 5 % 12
    with caplog.at_level(logging.WARNING, logger="tawt"):
        found = norms(model.losses(mixed))
    assert_near(found, each_alone(model.losses(mixed), parameters), 1e-9)
    assert norms.one_by_one
    assert "the layer layer are wrong in this batch, and may be in 1 before it" in caplog.text
    # It is remembered, and not said again.
    caplog.clear()
    again = ExampleNorms(model, parameters)
    assert again.one_by_one
    assert_near(again(model.losses(mixed)), found, 1e-9)
    assert not caplog.text


def test_layers_are_checked_on_the_first_batches_and_on_every_fourth(monkeypatch):
    case = mlp()
    ghost, looked_at = Ghost(case.module, case.parameters), []
    check = "tawt.per_example.ghost._is_near"
    monkeypatch.setattr(check, lambda *_: looked_at.append(batch) or True)
    for batch in range(1, 18):  # noqa: B007 - read by what is called
        ghost(case.losses)
    assert sorted(set(looked_at)) == [1, 2, 3, 4, 5, 9, 13, 17]


def test_whether_norms_go_one_by_one_is_known_before_a_batch():
    case = mlp()
    assert not ExampleNorms(case.module, case.parameters).one_by_one
    recurrent = nn.LSTM(3, 4)
    assert ExampleNorms(recurrent, list(recurrent.parameters())).one_by_one
