"""What the processes that measure together must agree on, and the one exchange of their numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.ranks import Ranks


@dataclass(frozen=True, kw_only=True)
class Settled:
    """Numbers of an update, on the CPU in float64, the same in every process."""

    target_squared: float
    direction_squared: Tensor
    inner: Tensor
    squared: Tensor
    """Squared norms; NaN where one is not known, and not asked for."""
    losses: Tensor
    """Of each pass."""
    known: tuple[bool, ...]
    """Which squared norms are known."""
    broken: tuple[bool, ...]
    """Which gradients are not finite, of those whose norm is not known."""


@dataclass(frozen=True)
class Product:
    """⟨v, ∇L⟩ and ‖∇L‖², or this process's part of them; and the pass that they are of."""

    inner: Tensor
    squared: Tensor
    number: int | None
    """Of the pass; none where the numbers are whole already."""


@dataclass
class Tally:
    """The passes of an update, and how many examples each had in this process.

    Args:
        ranks: The processes.
    """

    ranks: Ranks
    tasks: list[str] = field(default_factory=list)
    counts: list[float] = field(default_factory=list)
    plain: list[bool] = field(default_factory=list)
    """Whether the number of examples was not given."""
    reached: list[float] = field(default_factory=list)
    """How many parameters the loss reached."""

    def add(self, task: str, count: float | None, *, reached: int) -> float:
        """Note a pass; returns by what it counts."""
        self.tasks.append(task)
        self.counts.append(1.0 if count is None else count)
        self.plain.append(count is None)
        self.reached.append(float(reached))
        return self.counts[-1]

    def exchanged(
        self, numbers: Tensor, targets: Sequence[int], *, since: int = 0
    ) -> tuple[Tensor, Tensor]:
        """Sums over processes, of the numbers and of the examples of each pass.

        Args:
            numbers: Of this process, float64.
            targets: Passes that must reach the representation.
            since: The first pass that is asked about.

        Raises:
            TrainingError: In all processes: one has failed, or they do not fit together.
        """
        about = *self.counts[since:], *map(float, self.plain[since:]), *self.reached[since:]
        passes = len(about) // 3
        failed = float(self.ranks.failure is not None)
        sent = torch.tensor([failed, *about], dtype=torch.float64, device=numbers.device)
        table = self.ranks.table(torch.cat([sent, numbers]))
        self.ranks.raise_failures((table[:, 0] > 0).tolist())
        counts, plain, reached = table[:, 1 : 1 + 3 * passes].reshape(len(table), 3, -1).unbind(1)
        for number, task in enumerate(self.tasks[since:]):
            self._check(task, counts[:, number], plain[:, number])
            if number + since in targets and not bool((reached[:, number] > 0).any()):
                raise unreached(task)
        return _added(table[:, 1 + 3 * passes :]), _added(counts)

    def _check(self, task: str, counts: Tensor, plain: Tensor) -> None:
        if 0 < float(plain.sum()) < len(plain):
            raise TrainingError(
                f"`loss_of({task!r})` returned a number of examples in some processes and none in "
                "others; return `(loss, examples)` in all of them, or the loss alone."
            )
        if float(counts.sum()) == 0:
            raise no_examples(task)

    def settled(
        self,
        shared: tuple[Tensor, Tensor],
        products: Sequence[Product],
        losses: Sequence[Tensor],
        *,
        divides: bool,
        norms: bool,
        targets: Sequence[int],
    ) -> Settled:
        """The numbers of an update, of all processes together, in one exchange.

        Args:
            shared: Parts of ‖∇L_0‖² and ‖v‖².
            products: Parts of those of each task.
            losses: Parts of the loss of each pass.
            divides: Whether parts of products are to be divided by the examples.
            norms: Whether parts of squared norms add up to a squared norm.
            targets: Passes that must reach the representation.
        """
        own = [*shared, *(p.inner for p in products), *(p.squared for p in products), *losses]
        home = own[0].device
        flat = torch.stack([number.detach().to(home, torch.float64) for number in own])
        totals, counts = self.exchanged(flat, targets)
        head, inner, squared, values = torch.split(
            totals, [2, len(products), len(products), len(losses)]
        )
        by = torch.ones_like(inner)
        for place, product in enumerate(products):
            if divides and product.number is not None:
                by[place] = counts[product.number]
        known = torch.tensor([norms or p.number is None for p in products], dtype=torch.bool)
        broken = ~known & ~torch.isfinite(squared)
        return Settled(
            target_squared=float(head[0]),
            direction_squared=head[1],
            inner=inner / by,
            squared=torch.where(known, squared / by.square(), torch.nan),
            losses=values / counts,
            known=tuple(known.tolist()),
            broken=tuple(broken.tolist()),
        )


def unreached(task: str) -> TrainingError:
    """The error where a target's loss does not depend on the representation."""
    return TrainingError(
        f"The loss of the target {task!r} does not reach the representation, so nothing "
        "can be compared with it. Return it with its graph attached (no `.detach()`, no "
        "`torch.no_grad()`), computed through the representation that is passed."
    )


def no_examples(task: str) -> TrainingError:
    """The error where there is nothing to take a task's loss of."""
    return TrainingError(
        f"`loss_of({task!r})` returned the loss of 0 examples; at least one is needed, in one of "
        "the processes."
    )


def _added(table: Tensor) -> Tensor:
    """Rows added in their order, so that every process gets the same sum."""
    total = table[0]
    for row in table[1:]:
        total = total + row
    return total
