"""Small bilevel problems whose inner problem can be solved again, to see what weights really do.

Six sources and a target are labelled by teacher networks that have the target's features in part.
Their shared representation has two layers and every task a linear head; a ridge in every loss makes
the minimum strict, so that φ(ω) is a function of ω. All in float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import Tensor, nn

from tawt.hypergradient import hypergradient
from tawt.weights import SourceWeights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tawt.hypergradient import Alignment

INPUTS, HIDDEN, WIDTH, CLASSES = 8, 8, 4, 3
SOURCES = 6
SOURCE_EXAMPLES, TARGET_EXAMPLES = 150, 40
RIDGE = 0.005
TARGET = "target"
_SOLVED = 1e-10  # largest entry of the gradient at a minimum
_DELTA = 1e-4  # by which a weight is moved up and down


class Bilevel:
    """One problem, trained for a while.

    Args:
        seed: Of the teachers, the examples, the weights and the start.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._generator = torch.Generator().manual_seed(seed)
        self.names = [f"source {number}" for number in range(1, SOURCES + 1)]
        teacher = self._teacher()
        self.inputs: dict[str, Tensor] = {}
        self.labels: dict[str, Tensor] = {}
        for name in [*self.names, TARGET]:
            shared = 1.0 if name == TARGET else float(self._uniform(1))
            self._label(name, teacher, shared=shared)
        self.encoder = nn.Sequential(
            nn.Linear(INPUTS, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, WIDTH), nn.Tanh()
        ).double()
        self.heads = nn.ModuleDict({name: nn.Linear(WIDTH, CLASSES) for name in self.inputs})
        self.heads.double()
        self._everything = [*self.encoder.parameters(), *self.heads.parameters()]
        with torch.no_grad():
            for parameter in self._everything:
                fan = parameter.shape[-1] if parameter.dim() > 1 else float("inf")
                parameter.copy_(self._normal(*parameter.shape) / fan**0.5)
        raw = self._uniform(SOURCES) + 0.3
        self.weights = raw / raw.sum()
        self.representation: list[Tensor] = list(self.encoder.parameters())
        source_heads = [p for name in self.names for p in self.heads[name].parameters()]
        self.inner: list[Tensor] = [*self.representation, *source_heads]
        """What the inner problem moves: the representation and the sources' heads."""

    def loss(self, name: str, rows: Tensor | None = None) -> Tensor:
        """A task's mean loss on all its examples, or some of them."""
        inputs, labels = self.inputs[name], self.labels[name]
        if rows is not None:
            inputs, labels = inputs[rows], labels[rows]
        head = self.heads[name]
        moved = torch.cat([p.flatten() for p in (*self.representation, *head.parameters())])
        return F.cross_entropy(head(self.encoder(inputs)), labels) + RIDGE * moved @ moved

    def gradient(
        self,
        alignment: Alignment,
        *,
        examples: int | None = None,
        seed: int = 0,
        parameters: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """The hypergradient, on all examples or on that many of each task at every draw."""
        draws = torch.Generator().manual_seed(seed)

        def loss_of(name: str) -> Tensor:
            if examples is None:
                return self.loss(name)
            return self.loss(
                name, torch.randperm(len(self.labels[name]), generator=draws)[:examples]
            )

        shares = dict(zip(self.names, self.weights.tolist(), strict=True))
        return hypergradient(
            parameters or self.representation,
            targets={TARGET: 1.0},
            weights=SourceWeights.of(shares),
            loss_of=loss_of,
            alignment=alignment,
        ).values

    def train(self, *, steps: int, rate: float) -> torch.optim.Optimizer:
        """Steps of Adam on batches of 32; at a rate of zero only its moments are found."""
        optimiser = torch.optim.Adam(self.inner, lr=rate)
        for _ in range(steps):
            optimiser.zero_grad()
            rows = torch.randint(SOURCE_EXAMPLES, (32,), generator=self._generator)
            self._objective(self.weights, rows).backward()
            optimiser.step()
        optimiser.zero_grad()
        self.fit_target()
        return optimiser

    def solve(self) -> None:
        """Go to the minimum of the inner problem, and fit the target's head there."""
        _newton(self.inner, lambda: self._objective(self.weights))
        self.fit_target()

    def fit_target(self) -> None:
        """The target's head, representation frozen."""
        _newton(list(self.heads[TARGET].parameters()), lambda: self.loss(TARGET))

    def retrained(self) -> Tensor:
        """The derivative of the target's loss by each weight, by solving again beside it."""
        here = self.state()
        _, _, hessian = _derivatives(self.inner, lambda: self._objective(self.weights))
        factor = torch.linalg.cholesky(hessian)
        slopes = []
        for place in range(SOURCES):
            ends = []
            for sign in (1, -1):
                self.restore(here)
                moved = self.weights.clone()
                moved[place] += sign * _DELTA
                self._settle(moved, factor)
                self.fit_target()
                ends.append(self.loss(TARGET).item())
            slopes.append((ends[0] - ends[1]) / (2 * _DELTA))
        self.restore(here)
        return torch.tensor(slopes, dtype=torch.float64)

    def state(self) -> list[Tensor]:
        """Every parameter, copied."""
        return [parameter.detach().clone() for parameter in self._everything]

    def restore(self, state: Sequence[Tensor]) -> None:
        """Inverse of `state`."""
        with torch.no_grad():
            for parameter, value in zip(self._everything, state, strict=True):
                parameter.copy_(value)

    def _settle(self, weights: Tensor, factor: Tensor) -> None:
        """To the minimum nearby; the Hessian at the old one is near enough to get there."""
        for _ in range(100):
            loss = self._objective(weights)
            found = torch.autograd.grad(loss, self.inner)
            gradient = torch.cat([entry.flatten() for entry in found])
            if float(gradient.abs().max()) < _SOLVED:
                return
            _move(self.inner, -torch.cholesky_solve(gradient[:, None], factor)[:, 0])
        raise RuntimeError(f"No minimum beside that of seed {self.seed}; leave the seed out.")

    def _objective(self, weights: Tensor, rows: Tensor | None = None) -> Tensor:
        losses = [self.loss(name, rows) for name in self.names]
        return (weights * torch.stack(losses)).sum()

    def _label(self, name: str, teacher: Sequence[Tensor], *, shared: float) -> None:
        """Examples by a teacher that has this share of the target's features."""
        own = self._teacher()
        first, second = (
            shared**0.5 * theirs + (1 - shared) ** 0.5 * ours
            for theirs, ours in zip(teacher, own, strict=True)
        )
        self.inputs[name] = self._normal(
            TARGET_EXAMPLES if name == TARGET else SOURCE_EXAMPLES, INPUTS
        )
        features = torch.tanh(torch.tanh(self.inputs[name] @ first) @ second)
        logits = 3 * features @ self._normal(WIDTH, CLASSES)
        noise = 0.3 * self._normal(*logits.shape)
        self.labels[name] = (logits + noise).argmax(1)

    def _teacher(self) -> tuple[Tensor, Tensor]:
        return (
            1.5 * self._normal(INPUTS, HIDDEN) / INPUTS**0.5,
            1.5 * self._normal(HIDDEN, WIDTH) / HIDDEN**0.5,
        )

    def _normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self._generator, dtype=torch.float64)

    def _uniform(self, *shape: int) -> Tensor:
        return torch.rand(*shape, generator=self._generator, dtype=torch.float64)


def _newton(parameters: Sequence[Tensor], objective: Callable[[], Tensor]) -> None:
    """To a minimum and not a saddle: H is shifted until it is positive and the step goes down."""
    shift = 0.0
    for _ in range(500):
        value, gradient, hessian = _derivatives(parameters, objective)
        if float(gradient.abs().max()) < _SOLVED:
            return
        while True:
            shifted = hessian + shift * torch.eye(len(hessian), dtype=torch.float64)
            factor, failed = torch.linalg.cholesky_ex(shifted)
            if not failed:
                step = torch.cholesky_solve(-gradient[:, None], factor)[:, 0]
                _move(parameters, step)
                if float(objective().detach()) <= value + 1e-13 * abs(value):
                    break
                _move(parameters, -step)
            shift = max(4 * shift, 1e-4)
        shift = shift / 8 if shift > 1e-6 else 0.0
    raise RuntimeError(
        "Newton's method did not reach a minimum; the benchmark's problem is at fault."
    )


def _derivatives(
    parameters: Sequence[Tensor], objective: Callable[[], Tensor]
) -> tuple[float, Tensor, Tensor]:
    loss = objective()
    gradient = torch.cat(
        [entry.flatten() for entry in torch.autograd.grad(loss, parameters, create_graph=True)]
    )
    directions = torch.eye(len(gradient), dtype=torch.float64)
    rows = torch.autograd.grad(gradient, parameters, directions, is_grads_batched=True)
    hessian = torch.cat([row.flatten(1) for row in rows], dim=1)
    return loss.item(), gradient.detach(), (hessian + hessian.T) / 2


def _move(parameters: Sequence[Tensor], step: Tensor) -> None:
    pieces = torch.split(step, [parameter.numel() for parameter in parameters])
    with torch.no_grad():
        for parameter, piece in zip(parameters, pieces, strict=True):
            parameter.add_(piece.view_as(parameter))
