"""⟨v, ∇ℓ_i⟩ against one backward pass per example, in float64."""

import logging
import math

import pytest
import torch
from torch import nn

from tawt.errors import TrainingError
from tawt.per_example import ExampleProducts
from tests.per_example.cases import CASES, Case, in_float32, mlp, transformer, written_transformer

TOLERANCES = {"forward": 1e-9, "mixed": 1e-9, "differences": 1e-5}  # autocast leaves float64 alone


def assert_near(found, exact, tolerance):
    """Entry by entry, by the size of the largest."""
    assert found.shape == exact.shape
    assert not found.requires_grad
    gap = (found.double() - exact).abs().max() / exact.abs().max()
    assert gap <= tolerance, f"{gap:.1e} > {tolerance:.1e}"


@pytest.mark.parametrize("way", TOLERANCES)
@pytest.mark.parametrize("name", CASES)
def test_they_are_those_of_one_backward_pass_per_example(name, way):
    case = CASES[name]()
    direction = case.direction()
    products = ExampleProducts(case.module, case.parameters, direction, way=way)
    exact = case.products(direction)
    for _ in range(2):  # differences choose their step on the first batch
        found = products(case.losses)
        assert found.dtype == torch.float64
        assert_near(found, exact, TOLERANCES[way])
    assert products.way == way
    if way == "forward":
        assert products.relative_error is None
    else:
        assert products.relative_error < TOLERANCES[way]


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("way", TOLERANCES)
def test_the_direction_may_be_short_or_long(way, scale):
    case = written_transformer()
    direction = case.direction(scale=scale)
    products = ExampleProducts(case.module, case.parameters, direction, way=way)
    assert_near(products(case.losses), case.products(direction), TOLERANCES[way])


@pytest.mark.parametrize("name", ["mlp", "cnn", "transformer"])
def test_the_error_of_differences_in_float32_is_known(name):
    case = in_float32(CASES[name]())
    direction = case.direction()
    exact = ExampleProducts(case.module, case.parameters, direction, way="forward")(case.losses)
    products = ExampleProducts(case.module, case.parameters, direction, way="differences")
    found = products(case.losses)
    assert found.dtype == torch.float32
    assert (found - exact).norm() / exact.norm() <= products.relative_error <= 1e-2


def test_after_the_first_batch_differences_are_two_forward_passes():
    case = mlp()
    asked = []

    def counting():
        asked.append(torch.is_grad_enabled())
        return case.losses()

    products = ExampleProducts(case.module, case.parameters, case.direction(), way="differences")
    products(counting)
    assert 4 <= len(asked) <= 24
    asked.clear()
    products(counting)
    assert asked == [False, False]


def test_forward_mode_is_one_pass_without_a_graph():
    case = mlp()
    found = []

    def keeping():
        found.append(case.losses())
        return found[-1]

    ExampleProducts(case.module, case.parameters, case.direction(), way="forward")(keeping)
    assert len(found) == 1
    assert not found[0].requires_grad


class Square(torch.autograd.Function):
    """x², differentiated backwards only."""

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient * ctx.saved_tensors[0]


class Squaring(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, inputs):
        return Square.apply(self.layer(inputs)).sum(1)


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingBag(6, 3, mode="max")

    def forward(self, inputs):
        return torch.tanh(self.table(inputs.argsort(1))).sum(1)


@pytest.mark.parametrize("make", [Squaring, Bag])
def test_without_forward_mode_it_is_differences(make, caplog):
    torch.manual_seed(0)
    module, inputs = make().double(), torch.randn(5, 4, dtype=torch.float64)
    case = Case(module, list(module.parameters()), lambda module: module(inputs))
    direction = case.direction()
    products = ExampleProducts(module, case.parameters, direction)
    assert products.way == "auto"
    with caplog.at_level(logging.INFO, "tawt.per_example"):
        for _ in range(3):
            assert_near(products(case.losses), case.products(direction), 1e-5)
    assert products.way == "differences"
    assert products.relative_error < 1e-5
    assert len([r for r in caplog.records if "No forward mode" in r.message]) == 1
    for way in ("forward", "mixed"):
        with pytest.raises(TrainingError, match='way="differences"'):
            ExampleProducts(module, case.parameters, direction, way=way)(case.losses)


def test_noise_in_the_losses_is_warned_of(caplog):
    """What the closure does by itself cannot be undone, but it shows."""
    case, draw = mlp(), torch.Generator().manual_seed(0)

    def noisy():
        losses = case.losses()
        return losses + 1e-3 * torch.randn(len(losses), generator=draw, dtype=losses.dtype)

    products = ExampleProducts(case.module, case.parameters, case.direction(), way="differences")
    with caplog.at_level(logging.WARNING, "tawt.per_example"):
        products(noisy)
    assert products.relative_error > 1e-2
    assert "hardly to be trusted" in caplog.text


def test_global_randomness_is_the_same_on_both_sides():
    case = mlp()

    def noisy():
        losses = case.losses()
        return losses + torch.rand(len(losses), dtype=losses.dtype)

    direction = case.direction()
    products = ExampleProducts(case.module, case.parameters, direction, way="differences")
    assert_near(products(noisy), case.products(direction), 1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # inside torch, on Python 3.12
@pytest.mark.parametrize("way", TOLERANCES)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_model(way, backend):
    case = transformer()
    direction = case.direction()
    exact = case.products(direction)
    compiled = torch.compile(case.module, backend=backend)
    case.losses_of(compiled)
    products = ExampleProducts(compiled, case.parameters, direction, way=way)
    for _ in range(2):
        assert_near(products(lambda: case.losses_of(compiled)), exact, TOLERANCES[way])
    torch._dynamo.reset()


@pytest.mark.parametrize("way", TOLERANCES)
def test_a_model_in_bf16_is_run_in_float32(way):
    case = mlp()
    inputs = torch.randn(7, 5).bfloat16()
    case.losses_of = lambda module: module(inputs.to(module.head.weight.dtype)).square().sum(1)
    case.module.bfloat16()
    direction = [v if v is None else v.float() for v in case.direction()]
    products = ExampleProducts(case.module, case.parameters, direction, way=way)
    found = products(lambda: case.module(inputs).square().sum(1))
    assert all(p.dtype == torch.bfloat16 for p in case.module.parameters())
    assert case.module(inputs).dtype == torch.bfloat16
    case.module.double()
    assert found.dtype == torch.float32
    assert_near(found, case.products(direction), 1e-5 if way == "forward" else 1e-2)


@pytest.mark.parametrize("way", TOLERANCES)
def test_autocast_around_is_switched_off(way):
    case = in_float32(mlp())  # autocast would leave float64 alone
    direction = case.direction()
    seen = []

    def losses():
        seen.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")))
        return case.losses()

    with torch.autocast("cpu", dtype=torch.float16):
        found = ExampleProducts(case.module, case.parameters, direction, way=way)(losses)
    assert_near(found, case.products(direction), 1e-2 if way == "differences" else 1e-5)
    expected = [(False, torch.float16)] * len(seen)  # the type is the caller's, should he switch
    if way == "mixed":
        expected[1] = (True, torch.bfloat16)
    assert seen == expected


def test_entries_that_are_none_are_zero():
    case = mlp()
    nothing = [None] * len(case.parameters)
    found = ExampleProducts(case.module, case.parameters, nothing)(case.losses)
    assert found.tolist() == [0.0] * 7
    zero = [torch.zeros_like(p) for p in case.parameters]
    for way in TOLERANCES:
        products = ExampleProducts(case.module, case.parameters, zero, way=way)
        assert products(case.losses).tolist() == [0.0] * 7


@pytest.mark.parametrize("way", TOLERANCES)
@pytest.mark.parametrize("kept", ["bias", "weight", "feed", "before.weight"])
def test_a_direction_over_some_parameters(kept, way):
    """Layers then have tangents in some of their inputs and not in others."""
    case = written_transformer()
    names = {id(parameter): name for name, parameter in case.module.named_parameters()}
    direction = [
        entry if kept in names[id(parameter)] else None
        for parameter, entry in zip(case.parameters, case.direction(), strict=True)
    ]
    products = ExampleProducts(case.module, case.parameters, direction, way=way)
    assert_near(products(case.losses), case.products(direction), TOLERANCES[way])


@pytest.mark.parametrize("way", TOLERANCES)
def test_parameters_that_the_losses_do_not_reach_count_for_nothing(way):
    case = mlp()
    apart = nn.Linear(2, 2).double()
    module = nn.ModuleList([case.module, apart])
    direction = [*case.direction(), *(torch.ones_like(p) for p in apart.parameters())]
    parameters = [*case.parameters, *apart.parameters()]
    found = ExampleProducts(module, parameters, direction, way=way)(case.losses)
    assert_near(found, case.products(case.direction()), TOLERANCES[way])
    alone = ExampleProducts(module, list(apart.parameters()), direction[-2:], way=way)
    assert alone(case.losses).tolist() == [0.0] * 7


def test_what_does_not_fit_is_refused():
    case = mlp()
    direction = case.direction()
    with pytest.raises(TrainingError, match="not in `module`"):
        ExampleProducts(nn.Linear(2, 2), case.parameters, direction)
    with pytest.raises(TrainingError, match="given twice"):
        ExampleProducts(case.module, case.parameters[:1] * 2, direction[:2])
    with pytest.raises(TrainingError, match="one entry per parameter"):
        ExampleProducts(case.module, case.parameters, direction[:-1])
    with pytest.raises(TrainingError, match="one entry per parameter"):
        ExampleProducts(case.module, case.parameters, direction[::-1])
    with pytest.raises(TrainingError, match="`way` must be"):
        ExampleProducts(case.module, case.parameters, direction, way="backward")
    for way in ("auto", "forward", "mixed", "differences"):
        with pytest.raises(TrainingError, match="one loss per example"):
            ExampleProducts(case.module, case.parameters, direction, way=way)(
                lambda: case.losses().mean()
            )


@pytest.mark.parametrize("way", ["auto", "forward", "mixed", "differences"])
def test_the_callers_own_mistake_stays_his(way):
    case = mlp()
    products = ExampleProducts(case.module, case.parameters, case.direction(), way=way)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        products(lambda: case.module(torch.ones(2, 9, dtype=torch.float64)).sum(1))


def regressing():
    """A network, and two tasks' losses: small ones, and large ones that need another step."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
    inputs = torch.randn(16, 8)
    near, far = torch.randn(16), 100 + torch.randn(16)
    tasks = [lambda aim=aim: (module(inputs).squeeze(1) - aim).square() for aim in (near, far)]
    return module, list(module.parameters()), tasks


def test_another_task_has_a_step_size_and_an_error_of_its_own():
    module, parameters, tasks = regressing()
    direction = [torch.randn_like(parameter) for parameter in parameters]
    exactly = ExampleProducts(module, parameters, direction, way="forward")
    products = ExampleProducts(module, parameters, direction, way="differences")
    errors = []
    for losses in tasks:
        products.look_again()
        found, exact = products(losses), exactly(losses)
        errors.append((found - exact).norm() / exact.norm())
        assert errors[-1] <= products.relative_error
    assert max(errors) <= products.relative_error <= 2e-2


def test_another_task_is_begun_with_the_step_size_of_the_last():
    case = mlp()
    asked = []

    def counting():
        asked.append(1)
        return case.losses()

    products = ExampleProducts(case.module, case.parameters, case.direction(), way="differences")
    products(counting)
    asked.clear()
    products.look_again()
    products(counting)
    assert len(asked) == 4  # at that step size, and at eight times as large a one


def test_a_batch_that_does_not_move_leaves_the_step_size_to_the_next():
    case = mlp()
    direction = case.direction()
    products = ExampleProducts(case.module, case.parameters, direction, way="differences")
    assert not products(lambda: 0 * case.losses()).any()
    assert products.relative_error is None
    assert_near(products(case.losses), case.products(direction), 1e-5)
    assert 0 < products.relative_error < 1e-5


def test_two_steps_too_small_to_move_anything_are_no_agreement():
    """One loss of 6e-6, of which float32 shows a few digits: the error must be told."""
    layer = nn.Linear(4, 3, bias=False)
    with torch.no_grad():
        layer.weight.zero_()[0, 0] = 12.0
    inputs, label = torch.tensor([[1.0, 0.1, -0.2, 0.05]]), torch.zeros(1, dtype=torch.long)
    direction = [torch.linspace(-1, 1, 12).view(3, 4)]
    products = ExampleProducts(layer, [layer.weight], direction, way="differences")
    products(lambda: nn.functional.cross_entropy(layer(inputs), label, reduction="none"))
    assert products.relative_error is None or products.relative_error > 0.1


def test_after_a_search_that_failed_other_batches_are_measured_all_the_same():
    case = mlp()
    direction = case.direction()
    products = ExampleProducts(case.module, case.parameters, direction, way="differences")
    products(lambda: case.losses() * math.nan)
    assert products.relative_error == math.inf
    assert_near(products(case.losses), case.products(direction), 1e-5)
