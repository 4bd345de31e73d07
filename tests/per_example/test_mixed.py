"""Forward mode in mixed precision: how far off, how it is told, and that it narrows at all."""

import logging
import math
from functools import partial
from itertools import permutations

import pytest
import torch
from torch import nn
from torch.nn.functional import linear, multi_head_attention_forward
from torch.profiler import ProfilerActivity, profile

from tawt.errors import TrainingError
from tawt.per_example import ExampleProducts
from tawt.per_example.lean_linear import lean_linear
from tawt.per_example.replacing import Replacing
from tawt.per_example.tidy_attention import tidy_attention
from tests.per_example.cases import CASES, in_float32, mlp


def apart(found, exact):
    return float((found.double() - exact).norm() / exact.norm())


@pytest.mark.parametrize("name", [name for name in CASES if name != "recurrent"])
def test_they_are_near_one_backward_pass_per_example(name):
    direction = CASES[name]().direction()
    exact = CASES[name]().products(direction)
    case = in_float32(CASES[name]())
    direction = [v if v is None else v.float() for v in direction]
    products = ExampleProducts(case.module, case.parameters, direction, way="mixed")
    assert apart(products(case.losses), exact) <= 1e-5  # the first batch is run exactly
    found = products(case.losses)
    assert found.dtype == torch.float32
    assert 1e-5 < apart(found, exact) <= 0.03
    assert apart(found, exact) <= products.relative_error <= 0.05
    assert products.way == "mixed"


def test_it_is_one_pass_and_on_the_first_batch_two():
    case = in_float32(mlp())
    outputs = []
    case.module.register_forward_hook(lambda *given: outputs.append(given[-1].dtype))
    products = ExampleProducts(case.module, case.parameters, case.direction(), way="mixed")
    products(case.losses)
    assert outputs == [torch.float32, torch.bfloat16]
    outputs.clear()
    products(case.losses)
    assert outputs == [torch.bfloat16]
    outputs.clear()
    products.look_again()
    products(case.losses)
    assert outputs == [torch.float32, torch.bfloat16]


def test_the_worst_tasks_error_is_kept():
    case = in_float32(mlp())
    tasks = [case.losses, lambda: case.losses()[:1], lambda: case.losses()[3:5]]
    make = partial(ExampleProducts, case.module, case.parameters, case.direction(), way="mixed")
    alone = []
    for losses in tasks:
        products = make()
        products(losses)
        alone.append(products.relative_error)
    assert len(set(alone)) == 3
    for order in permutations(tasks):
        products = make()
        for losses in order:
            products.look_again()
            products(losses)
        assert products.relative_error == max(alone)


def test_an_error_as_usual_is_told_without_a_warning(caplog):
    case = in_float32(mlp())
    products = ExampleProducts(case.module, case.parameters, case.direction(), way="mixed")
    with caplog.at_level(logging.INFO, "tawt.per_example"):
        products(case.losses)
    [record] = caplog.records
    assert record.levelname == "INFO"
    assert f"relative error about {products.relative_error:.1e}." in record.message


def test_that_nothing_was_narrowed_is_told(caplog):
    case = mlp()  # in float64
    products = ExampleProducts(case.module, case.parameters, case.direction(), way="mixed")
    with caplog.at_level(logging.INFO, "tawt.per_example"):
        products(case.losses)
    assert products.relative_error == 0
    assert "has changed nothing" in caplog.text


def test_losses_that_come_narrow_are_widened():
    case = in_float32(mlp())
    products = ExampleProducts(case.module, case.parameters, case.direction(), way="mixed")
    for _ in range(2):
        assert products(lambda: case.losses().bfloat16()).dtype == torch.float32
    nothing = [torch.zeros_like(parameter) for parameter in case.parameters]
    products = ExampleProducts(case.module, case.parameters, nothing, way="mixed")
    assert products(lambda: case.losses().bfloat16().detach()).dtype == torch.float32


def test_memory_that_runs_out_is_no_matter_of_precision():
    case = in_float32(mlp())
    products = ExampleProducts(case.module, case.parameters, case.direction(), way="mixed")

    def failing():
        if torch.is_autocast_enabled("cpu"):
            raise RuntimeError("can't allocate memory")
        return case.losses()

    with pytest.raises(RuntimeError, match=r"^can't allocate"):
        products(failing)


def test_a_batch_that_does_not_move_shows_nothing():
    case = in_float32(mlp())
    products = ExampleProducts(case.module, case.parameters, case.direction(), way="mixed")
    assert not products(lambda: 0 * case.losses()).any()
    assert products.relative_error is None
    products(case.losses)
    assert products.relative_error > 0


@pytest.mark.parametrize("worth", [math.nan, math.inf])
def test_products_that_are_not_finite_are_no_good_ones(worth, caplog):
    case = in_float32(mlp())
    products = ExampleProducts(case.module, case.parameters, case.direction(), way="mixed")
    with caplog.at_level(logging.WARNING, "tawt.per_example"):
        products(lambda: case.losses() * worth)
    assert products.relative_error == math.inf
    assert 'Take `way="forward"`' in caplog.text


def test_losses_that_cancel_in_bfloat16_are_warned_of(caplog):
    """Outputs near 1000 whose small differences are the loss."""
    torch.manual_seed(0)
    layer = nn.Linear(8, 1)
    inputs, far = torch.randn(16, 8), torch.randn(1, 8)
    with torch.no_grad():
        layer.bias.fill_(1000.0)
    direction = [torch.randn(1, 8), torch.zeros(1)]

    def losses():
        return (layer(inputs) - layer(far)).squeeze(1).square()

    products = ExampleProducts(layer, list(layer.parameters()), direction, way="mixed")
    with caplog.at_level(logging.WARNING, "tawt.per_example"):
        products(losses)
    assert products.relative_error > 0.1
    assert "hardly to be trusted" in caplog.text


def test_what_is_cast_is_not_kept():
    """Autocast would keep it, without a graph, for a training step around this."""
    case = in_float32(mlp())
    kept = []

    def losses():
        kept.append(torch.is_autocast_enabled("cpu") and torch.is_autocast_cache_enabled())
        return case.losses()

    with torch.autocast("cpu", torch.bfloat16):
        ExampleProducts(case.module, case.parameters, case.direction(), way="mixed")(losses)
        assert torch.is_autocast_cache_enabled()
    assert kept == [False, False]


@pytest.mark.parametrize(
    "norm",
    [
        nn.BatchNorm1d(8),
        nn.LayerNorm(8),
        nn.RMSNorm(8),
        nn.GroupNorm(2, 8),
        nn.Sequential(nn.Unflatten(1, (2, 4)), nn.InstanceNorm1d(2, affine=True), nn.Flatten()),
    ],
)
def test_norms_between_linear_layers(norm):
    """Given bfloat16 beside weights in float32, values and tangents would be of two types."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(5, 8), norm, nn.Linear(8, 3)).eval()
    parameters, inputs = list(module.parameters()), torch.randn(6, 5)
    direction = [torch.randn_like(parameter) for parameter in parameters]

    def losses():
        return module(inputs).square().sum(1)

    outputs = []
    norm.register_forward_hook(lambda *given: outputs.append(given[-1].dtype))
    products = ExampleProducts(module, parameters, direction, way="mixed")
    exact = products(losses).double()
    assert 0 < apart(products(losses), exact) <= 0.05
    assert outputs == [torch.float32] * 3


class Picky(nn.Module):
    """Wants the type that it was written for."""

    def forward(self, inputs):
        return inputs @ torch.ones(3, 1) if inputs.dtype == torch.float32 else inputs[None] @ inputs


class Arrays(nn.Module):
    """Asks NumPy, which does not know the type."""

    def forward(self, inputs):
        return inputs.sum(1) + float(inputs.detach().numpy().mean())


@pytest.mark.parametrize("last", [nn.Sequential(Picky(), nn.Flatten(0)), Arrays()])
@pytest.mark.parametrize("batches", [0, 1])
def test_a_model_that_cannot_be_run_so_is_refused_with_what_to_do(last, batches):
    layer = nn.Linear(5, 3)
    module, inputs = nn.ModuleList([layer, last]), torch.randn(6, 5)
    parameters = list(layer.parameters())
    direction = [torch.ones_like(parameter) for parameter in parameters]
    products = ExampleProducts(module, parameters, direction, way="mixed")
    for _ in range(batches):
        products(lambda: layer(inputs).sum(1))
    with pytest.raises(TrainingError, match=r"cannot be run in mixed precision .* `way=.forward"):
        products(lambda: last(layer(inputs)))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        products(lambda: last(layer(inputs[:, :4])))


def test_linear_layers_are_narrowed_as_autocast_does():
    torch.manual_seed(0)
    inputs, weight, bias = torch.randn(3, 2, 4), torch.randn(5, 4), torch.randn(5)
    with torch.autocast("cpu", torch.bfloat16):
        plain = linear(inputs, weight, bias)
        ours = lean_linear(inputs, weight, bias)
        whole = lean_linear(inputs.double(), weight.double(), bias.double())
    assert ours.dtype == plain.dtype == torch.bfloat16
    torch.testing.assert_close(ours, plain)
    assert whole.dtype == torch.float64


def shapes_multiplied(action):
    """Of every matrix product that is run."""
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, acc_events=True) as found:
        action()
    return [
        event.input_shapes
        for event in found.events()
        if event.name in ("aten::mm", "aten::bmm", "aten::addmm", "aten::addmm_")
    ]


@pytest.mark.parametrize("way", ["forward", "mixed"])
def test_a_first_layer_is_two_products(way):
    """Its inputs are data: torch's own formula would multiply their tangent, zeros, as well."""
    layer, inputs = nn.Linear(5, 3), torch.randn(7, 5)
    parameters = list(layer.parameters())
    direction = [torch.ones_like(parameter) for parameter in parameters]
    products = ExampleProducts(layer, parameters, direction, way=way)
    products(lambda: layer(inputs).sum(1))
    assert len(shapes_multiplied(lambda: products(lambda: layer(inputs).sum(1)))) == 2


def test_in_torchs_attention_rows_are_multiplied_all_at_once():
    torch.manual_seed(0)
    layer, inputs = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(3, 5, 8)
    parameters = list(layer.parameters())
    direction = [torch.ones_like(parameter) for parameter in parameters]

    def losses():
        return layer(inputs, inputs, inputs, need_weights=False)[0].sum((1, 2))

    products = ExampleProducts(layer, parameters, direction, way="mixed")
    products(losses)
    found = shapes_multiplied(lambda: products(losses))
    assert any([15, 8] in shapes for shapes in found)
    assert not any([5, 8, 24] in shapes for shapes in found)


@pytest.mark.parametrize("across", [False, True])
def test_torchs_attention_is_given_what_lies_in_one_piece(across):
    """It multiplies by a copy of the weights for every position otherwise."""
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(8, 2, batch_first=True)
    inputs = torch.randn(3, 5, 8)
    other = torch.randn(3, 4, 8) if across else inputs
    given = []

    def noting(query, key, value, *args, **kwargs):
        given.append((query, key, value))
        return tidy_attention(query, key, value, *args, **kwargs)

    def multiplying(*args, **kwargs):
        given.append(args[:3])
        return multi_head_attention_forward(*args, **kwargs)

    attention = multi_head_attention_forward
    with Replacing({attention: multiplying}), Replacing({attention: noting}):
        found, _ = layer(inputs, other, other)
    (query, key, value), tidy = given
    assert not query.is_contiguous()
    assert all(piece.is_contiguous() for piece in tidy)
    assert (tidy[0] is tidy[1]) == (query is key)
    assert (tidy[1] is tidy[2]) == (key is value)
    torch.testing.assert_close(found, layer(inputs, other, other)[0])
