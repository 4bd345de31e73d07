"""Our Kronecker factors against those of curvlinops, where `tawt[curvature]` is installed."""

import warnings

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import nn

from tawt.curvature import KroneckerFactored, WeightedHessian

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # one of its dependencies uses torch.jit
    curvlinops = pytest.importorskip("curvlinops", reason="pip install tawt[curvature]")

DOUBLE = {"dtype": torch.float64}


class Tokens(nn.Module):
    """A layer on every token, their mean, and a layer on that: weights shared over places."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 5), nn.Linear(5, 3)

    def forward(self, inputs):
        return torch.tanh(self.second(torch.tanh(self.first(inputs)).mean(1)))


ENCODERS = {
    "rows": (lambda: nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)), (30, 4)),
    "tokens": (Tokens, (30, 7, 4)),
    "images": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 3, 3, padding=1, stride=2), nn.Tanh(), nn.Flatten(), nn.Linear(12, 3)
        ),
        (30, 2, 4, 4),
    ),
}
LINEAR_OPERATORS = {
    "products": curvlinops.KFACLinearOperator,
    "corrected": curvlinops.EKFACLinearOperator,
}


def problem(encoder, *, classes):
    torch.manual_seed(0)
    make, shape = ENCODERS[encoder]
    representation = make().double()
    inputs = torch.randn(*shape, **DOUBLE)
    head = nn.Linear(3, classes or 1).double()
    labels = torch.randint(classes, (30,)) if classes else torch.randn(30, 1, **DOUBLE)
    return representation, head, inputs, labels


@pytest.mark.parametrize("eigenvalues", LINEAR_OPERATORS)
@pytest.mark.parametrize("classes", [3, None], ids=["cross-entropy", "squared error"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_given_labels_give_the_same_damped_inverse(encoder, classes, eigenvalues):
    representation, head, inputs, labels = problem(encoder, classes=classes)
    parameters = list(representation.parameters())
    loss = F.cross_entropy if classes else F.mse_loss
    hessian = WeightedHessian(
        parameters, {"a": 1.0}, lambda task: loss(head(representation(inputs)), labels)
    )
    gradient = [torch.randn_like(parameter) for parameter in parameters]
    ours = KroneckerFactored(damping=0.05, eigenvalues=eigenvalues, labels="given").solve(
        [entry.clone() for entry in gradient], hessian
    )
    factored = LINEAR_OPERATORS[eigenvalues](
        nn.Sequential(representation, head),
        nn.CrossEntropyLoss() if classes else nn.MSELoss(),
        parameters,
        [(inputs, labels)],
        fisher_type="empirical",
        separate_weight_and_bias=False,
    )
    inverse = curvlinops.KFACInverseLinearOperator(factored, damping=0.05, use_exact_damping=True)
    torch.testing.assert_close(list(ours), list(inverse @ gradient), rtol=1e-8, atol=1e-10)
