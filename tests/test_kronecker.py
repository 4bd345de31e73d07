"""Kronecker factors against slow, obvious ones, in float64; `test_kronecker_oracle.py` has more."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import nn

from tawt.curvature import Dense, KroneckerFactored, WeightedHessian
from tawt.curvature.labels import OwnLabels
from tawt.curvature.layers import Watch
from tawt.errors import ConfigError, TrainingError

DOUBLE = {"dtype": torch.float64}
INPUTS = torch.randn(20, 4, generator=torch.Generator().manual_seed(0), **DOUBLE)
LABELS = torch.randint(3, (20,), generator=torch.Generator().manual_seed(1))


def encoder_and_head():
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3, bias=False))
    return encoder.double(), nn.Linear(3, 3).double()


def solved(curvature, parameters, loss_of, *, weights=None):
    generator = torch.Generator().manual_seed(5)
    gradient = [torch.randn(p.shape, generator=generator, **DOUBLE) for p in parameters]
    hessian = WeightedHessian(parameters, weights or {"a": 1.0}, loss_of)
    return gradient, curvature.solve([entry.clone() for entry in gradient], hessian)


def per_example(layer, head_loss):
    """Input with a one for the bias, and gradient at the output, of each example by itself."""
    rows = []
    for x, y in zip(INPUTS, LABELS, strict=True):
        output = layer(x[None]).detach().requires_grad_()
        (gradient,) = torch.autograd.grad(head_loss(output, y[None]), output)
        rows.append((torch.cat([x, torch.ones(1, **DOUBLE)]), gradient[0]))
    return rows


@pytest.mark.parametrize("eigenvalues", ["products", "corrected"])
def test_one_layer_against_the_definition(eigenvalues):
    layer, head = nn.Linear(4, 3).double(), nn.Linear(3, 3).double()

    def head_loss(output, labels):
        return F.cross_entropy(head(torch.tanh(output)), labels)

    rows = per_example(layer, head_loss)
    a = sum(torch.outer(x, x) for x, _ in rows) / len(rows)
    b = sum(torch.outer(g, g) for _, g in rows) / len(rows)
    curvature = torch.kron(b, a)
    if eigenvalues == "corrected":
        basis = torch.kron(torch.linalg.eigh(b)[1], torch.linalg.eigh(a)[1])
        whole = [torch.outer(g, x).flatten() for x, g in rows]
        diagonal = sum((basis.T @ gradient).square() for gradient in whole) / len(rows)
        curvature = basis @ torch.diag(diagonal) @ basis.T
    gradient, found = solved(
        KroneckerFactored(damping=0.1, eigenvalues=eigenvalues, labels="given"),
        [layer.weight, layer.bias],
        lambda task: head_loss(layer(INPUTS), LABELS),
    )
    joined = torch.cat([gradient[0], gradient[1][:, None]], dim=1)
    expected = torch.linalg.solve(curvature + 0.1 * torch.eye(15, **DOUBLE), joined.flatten())
    ours = torch.cat([found[0], found[1][:, None]], dim=1)
    torch.testing.assert_close(ours.flatten(), expected)


def of_words(out, *, reduction):
    """Sentences of one to four words with the mean over its words for each, or over all words."""
    examples, most, _ = out.shape
    tags = torch.zeros(examples, most, dtype=torch.long)
    words = 1 + torch.arange(examples) % most
    tags[torch.arange(most) >= words[:, None]] = -100
    if reduction == "mean":
        return F.cross_entropy(out.flatten(0, 1), tags.flatten())
    each = F.cross_entropy(out.flatten(0, 1), tags.flatten(), reduction=reduction)
    return (each.view_as(tags).sum(1) / words).mean()


def of_classes(out, **options):
    """Four of five examples have the first class."""
    return F.cross_entropy(out, (torch.arange(len(out)) % 5 == 4).long(), **options)


def of_shares(out):
    return F.cross_entropy(out, torch.full_like(out, 0.7))  # of each class: 1.4 in all


def of_yes_or_no(out, **options):
    labels = (torch.arange(out.numel()).view_as(out) % 5 == 4).to(out)
    return F.binary_cross_entropy_with_logits(out, labels, **options)


UNEQUAL = torch.tensor([3.0, 0.5], **DOUBLE)
LOSSES = {
    "cross-entropy": lambda out: F.cross_entropy(out, torch.zeros(len(out), dtype=torch.long)),
    "scaled": lambda out: 3 * F.cross_entropy(out, torch.zeros(len(out), dtype=torch.long)),
    "by class": lambda out: of_classes(out, weight=UNEQUAL),
    "by class, summed": lambda out: of_classes(out, weight=UNEQUAL, reduction="sum") / len(out),
    "smoothed": lambda out: of_classes(out, label_smoothing=0.3),
    "shares": of_shares,
    "by number": lambda out: F.mse_loss(out, torch.zeros_like(out), weight=UNEQUAL.expand_as(out)),
    "yes counts more": lambda out: of_yes_or_no(out, pos_weight=UNEQUAL),
    "yes or no, weighed": lambda out: of_yes_or_no(out, weight=UNEQUAL),
    "squared error": lambda out: F.mse_loss(out, torch.zeros_like(out)),
    "yes or no": lambda out: F.binary_cross_entropy_with_logits(out, torch.zeros_like(out)),
    "a sum": lambda out: F.mse_loss(out, torch.zeros_like(out), reduction="sum") / len(out),
    "words of sentences": lambda out: of_words(out.view(-1, 4, 2), reduction="none"),
    "words of all": lambda out: of_words(out.view(-1, 4, 2), reduction="mean"),
}


@pytest.mark.parametrize("eigenvalues", ["products", "corrected"])
@pytest.mark.parametrize("kind", LOSSES)
def test_sampled_labels_approach_the_hessian(kind, eigenvalues):
    """With one input only, and a loss right on the layer, K-FAC is the Hessian itself."""
    layer = nn.Linear(3, 2).double()
    inputs = torch.tensor([[0.5, -1.0, 2.0]], **DOUBLE).expand(40_000, -1)
    if kind.startswith("words"):
        inputs = inputs.view(-1, 4, 3)

    def loss_of(task):
        return LOSSES[kind](layer(inputs))

    parameters = list(layer.parameters())
    curvature = KroneckerFactored(damping=0.1, eigenvalues=eigenvalues)
    _, sampled = solved(curvature, parameters, loss_of)
    _, exact = solved(Dense(damping=0.1), parameters, loss_of)
    torch.testing.assert_close(sampled, exact, rtol=0.03, atol=0.03)


def test_sources_count_by_their_weights():
    """Two sources of the same examples are that source; and ω scales H."""
    encoder, head = encoder_and_head()
    parameters = list(encoder.parameters())

    def loss_of(task):
        return F.cross_entropy(head(encoder(INPUTS)), LABELS)

    curvature = KroneckerFactored(damping=0.1, labels="given")
    _, one = solved(curvature, parameters, loss_of)
    _, two = solved(curvature, parameters, loss_of, weights={"a": 0.3, "b": 0.7})
    torch.testing.assert_close(one, two)
    _, twice = solved(curvature, parameters, loss_of, weights={"a": 2.0})
    _, half = solved(KroneckerFactored(damping=0.05, labels="given"), parameters, loss_of)
    torch.testing.assert_close(twice, [entry / 2 for entry in half])


@pytest.mark.parametrize("eigenvalues", ["products", "corrected"])
def test_a_source_in_parts_is_the_same_source(eigenvalues):
    encoder, head = encoder_and_head()

    def whole(task):
        return F.cross_entropy(head(encoder(INPUTS)), LABELS)

    def in_parts(task):
        parts = zip(INPUTS.split([5, 15]), LABELS.split([5, 15]), strict=True)
        return sum(F.cross_entropy(head(encoder(x)), y, reduction="sum") for x, y in parts) / 20

    curvature = KroneckerFactored(eigenvalues=eigenvalues, labels="given")
    _, one = solved(curvature, list(encoder.parameters()), whole)
    _, other = solved(curvature, list(encoder.parameters()), in_parts)
    torch.testing.assert_close(one, other)


@pytest.mark.parametrize("eigenvalues", ["products", "corrected"])
def test_padding_changes_nothing(eigenvalues):
    torch.manual_seed(0)
    layer, head = nn.Linear(4, 3).double(), nn.Linear(3, 3).double()
    tokens = torch.randn(6, 5, 4, **DOUBLE)

    def loss_of(padding):
        padded = torch.cat([tokens, torch.full((6, padding, 4), 9.0, **DOUBLE)], dim=1)
        return F.cross_entropy(head(layer(padded)[:, :5].mean(1)), LABELS[:6])

    curvature = KroneckerFactored(eigenvalues=eigenvalues, labels="given")
    parameters = list(layer.parameters())
    _, short = solved(curvature, parameters, lambda task: loss_of(0))
    _, long = solved(curvature, parameters, lambda task: loss_of(7))
    torch.testing.assert_close(short, long)


@pytest.mark.parametrize("frozen", ["weight", "bias"])
def test_frozen_parameters_have_no_factor(frozen):
    torch.manual_seed(0)
    layer, head = nn.Linear(4, 3).double(), nn.Linear(3, 3).double()
    getattr(layer, frozen).requires_grad_(False)
    (trained,) = (p for p in layer.parameters() if p.requires_grad)
    _, (found,) = solved(
        KroneckerFactored(), [trained], lambda task: F.cross_entropy(head(layer(INPUTS)), LABELS)
    )
    assert found.shape == trained.shape


def test_a_weight_under_two_biases():
    torch.manual_seed(0)
    first, second, head = (nn.Linear(3, 3).double() for _ in range(3))
    second.weight = first.weight
    parameters = [first.weight, first.bias, second.bias]

    def loss_of(task):
        return F.cross_entropy(head(torch.tanh(second(torch.tanh(first(INPUTS[:, :3]))))), LABELS)

    _, found = solved(KroneckerFactored(), parameters, loss_of)
    assert all(torch.isfinite(entry).all() for entry in found)


def test_other_parameters_have_the_mean_curvature():
    torch.manual_seed(0)
    layer, head = nn.Linear(4, 3, bias=False).double(), nn.Linear(3, 3).double()
    scale = nn.Parameter(torch.ones(3, **DOUBLE))

    def loss_of(task):
        return F.cross_entropy(head(layer(INPUTS) * scale), LABELS)

    gradient, found = solved(KroneckerFactored(damping=0.1), [layer.weight, scale], loss_of)
    ratio = gradient[1] / found[1]
    torch.testing.assert_close(ratio, ratio[:1].expand(3))
    assert ratio[0] > 0.1


def test_a_representation_without_layers_is_refused():
    point = torch.ones(3, requires_grad=True, **DOUBLE)
    with pytest.raises(TrainingError, match="saw no linear layer"):
        solved(KroneckerFactored(), [point], lambda task: point.square().sum())


def test_grouped_convolutions_are_passed_over():
    torch.manual_seed(0)
    images, layer = torch.randn(6, 2, 4, 4, **DOUBLE), nn.Conv2d(2, 2, 3, groups=2).double()
    with Watch(list(layer.parameters()), labels=None) as watch:
        layer(images)
    assert not watch.uses


def test_nothing_is_watched_afterwards():
    encoder, _ = encoder_and_head()
    with Watch(list(encoder.parameters()), labels=None) as watch:
        encoder(INPUTS)
    assert len(watch.uses) == 2
    encoder(INPUTS)
    assert len(watch.uses) == 2


def test_a_loss_that_is_only_looked_at_changes_nothing():
    encoder, head = encoder_and_head()

    def loss_of(task, *, look):
        out = head(encoder(INPUTS))
        if look:
            F.cross_entropy(out, LABELS)
            with torch.no_grad():
                F.cross_entropy(out, LABELS)
        return F.smooth_l1_loss(out, torch.zeros_like(out))

    parameters = list(encoder.parameters())
    found = [
        solved(KroneckerFactored(), parameters, partial(loss_of, look=look))[1]
        for look in (False, True)
    ]
    torch.testing.assert_close(*found)


class TestOwnLabels:
    def drawn(self, func, predictions, labels, **options):
        return OwnLabels(seed=0).drawn(func, predictions, labels, options)

    def test_classes_come_by_their_probability(self):
        shares = torch.tensor([0.7, 0.2, 0.1])
        logits = shares.log().expand(20_000, 3).requires_grad_()
        drawn = self.drawn(F.cross_entropy, logits, torch.zeros(20_000, dtype=torch.long))
        found = torch.bincount(drawn, minlength=3) / len(drawn)
        torch.testing.assert_close(found, shares, atol=0.02, rtol=0)

    def test_places_that_are_ignored_stay_so(self):
        logits = torch.zeros(2, 3, 5, requires_grad=True)
        labels = torch.tensor([[0, 1, 2, -1, -1], [0, -1, -1, -1, -1]])
        drawn = self.drawn(F.cross_entropy, logits, labels, ignore_index=-1)
        assert torch.equal(drawn == -1, labels == -1)

    def test_shares_of_classes_become_one_class(self):
        logits = torch.zeros(4, 3, requires_grad=True)
        drawn = self.drawn(F.cross_entropy, logits, torch.full((4, 3), 1 / 3))
        assert drawn.shape == (4, 3)
        assert torch.equal(drawn.sum(1), torch.ones(4))

    def test_what_is_no_prediction_keeps_its_labels(self):
        fixed, labels = torch.zeros(4, 3), torch.zeros(4, dtype=torch.long)
        own = OwnLabels(seed=0)
        assert own.loss(F.cross_entropy, (fixed, labels), {}) is None
        assert own.loss(F.l1_loss, (fixed.clone().requires_grad_(), fixed), {}) is None
        old = {"size_average": False}
        assert own.loss(F.mse_loss, (fixed.clone().requires_grad_(), fixed), old) is None


@pytest.mark.parametrize(
    "settings", [{"damping": 0.0}, {"eigenvalues": "exact"}, {"labels": "drawn"}]
)
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(ConfigError, match=r"needs damping|must be"):
        KroneckerFactored(**settings)
