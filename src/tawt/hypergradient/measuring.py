"""The one measurement: how well every unit agrees with the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.errors import WeightsError
from tawt.hypergradient.aims import OwnAlignment, aimed
from tawt.hypergradient.choosing import passes_for
from tawt.hypergradient.examples import LossesOf, measured_examples
from tawt.hypergradient.passes import JointPasses, LossOf
from tawt.hypergradient.result import Hypergradient
from tawt.hypergradient.tasks import measured_tasks
from tawt.ranks import Ranks, watched_calls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import nn

    from tawt.gradients import Gradient
    from tawt.hypergradient.alignments import Alignment
    from tawt.per_example import Way
    from tawt.weights import SourceWeights


def hypergradient(  # noqa: PLR0913 - the parts of a measurement, each by its name
    parameters: Sequence[Tensor],
    *,
    weights: SourceWeights,
    targets: Mapping[str, float],
    loss_of: LossOf,
    losses_of: LossesOf | None = None,
    alignment: Alignment,
    own_alignment: OwnAlignment = "itself",
    modules: Sequence[nn.Module] = (),
    way: Way = "auto",
    ranks: Ranks | None = None,
) -> Hypergradient:
    """Measure every unit against the targets.

    A task that is a unit is measured by its gradient, which is then dropped; the numbers of all
    such tasks leave the device together. Finer units are measured by the losses of examples.

    Args:
        parameters: Of the representation φ.
        weights: Of the objective, for H = Σ ω_u ∇²L_u, on the units that are measured; targets
            are among their tasks in joint training.
        targets: The convex combination of targets whose loss is to fall.
        loss_of: A task's loss on a fresh batch; called once per target and per task that is a
            unit, for a target among these a second time if `own_alignment` is "held-out", and once
            more per task by curvatures that need the Hessian. If it is a `Passes` too, its
            gradients are taken.
        losses_of: A task's examples, those to be measured, in batches; needed where units are
            finer than tasks.
        alignment: `Cosine` or `CurvatureWeighted`.
        own_alignment: "itself" compares a target's gradient with itself, as the authors do: a
            cosine of one always. "held-out" draws other examples for its side of the comparison.
        modules: All that `losses_of` runs: representation and heads.
        way: How products with single examples are computed, as for `ExampleProducts`.
        ranks: The processes that measure together, each by its own `loss_of` and `losses_of`; by
            default this one alone.

    Example:
        >>> from tawt.hypergradient import Cosine
        >>> from tawt.weights import SourceWeights
        >>> x = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> ways = {"near": [1.0, 1.0], "far": [1.0, -1.0], "goal": [2.0, 2.0]}
        >>> found = hypergradient(
        ...     [x],
        ...     weights=SourceWeights.uniform(["near", "far"]),
        ...     targets={"goal": 1.0},
        ...     loss_of=lambda task: x @ torch.tensor(ways[task]),
        ...     alignment=Cosine(),
        ... )
        >>> found.values.round(decimals=4)
        tensor([-1., -0.], dtype=torch.float64)
    """
    units = weights.units
    if units.finer and losses_of is None:
        raise WeightsError(
            "Weights on examples or groups need the loss of single examples; pass `losses_of`."
        )
    ranks = ranks or Ranks(None, size=1, rank=0)
    with watched_calls() as calls:
        passes = passes_for(
            parameters, loss_of=loss_of, alignment=alignment, ranks=ranks, calls=calls
        )
        aim = aimed(
            parameters,
            weighed=[name for name, part in units.parts.items() if part.is_whole],
            targets=targets,
            weights=weights.shares(),
            loss_of=loss_of,
            alignment=alignment,
            own_alignment=own_alignment,
            passes=passes,
            ranks=ranks,
        )
        finer = measured_examples(
            aim,
            {name: part for name, part in units.parts.items() if not part.is_whole},
            losses_of=losses_of,
            parameters=parameters,
            modules=modules,
            alignment=alignment,
            way=way,
            ranks=ranks,
        )
        whole = measured_tasks(aim, alignment)
    found = torch.zeros_like(weights.logs)
    measured = torch.ones(len(found), dtype=torch.bool)
    for name, span in units.spans.items():
        if name in finer.means:
            found[span], measured[span] = finer.alignments[name], finer.measured[name]
        else:
            found[span] = whole.alignments[name]
    return Hypergradient(
        units=units,
        targets=tuple(targets),
        alignments=found,
        measured=measured,
        means=finer.means | whole.alignments,
        norms=whole.norms,
        target_norm=whole.target_norm,
        losses=whole.losses,
        scale=alignment.scale,
        way=finer.way,
        relative_error=finer.relative_error,
    )


def target_direction(
    parameters: Sequence[Tensor],
    *,
    targets: Mapping[str, float],
    loss_of: LossOf,
    alignment: Alignment,
    ranks: Ranks,
) -> Gradient:
    """The direction that units would be measured along, without measuring any; as `hypergradient`.

    Its memory may be that of the next one: copy what is to be kept.

    Example:
        >>> from tawt.hypergradient import Cosine
        >>> x = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> target_direction(
        ...     [x],
        ...     targets={"goal": 1.0},
        ...     loss_of=lambda task: x.square().sum(),
        ...     alignment=Cosine(),
        ...     ranks=Ranks.of(None),
        ... )
        [tensor([2., 2.])]
    """
    with watched_calls() as calls:
        passes = passes_for(
            parameters, loss_of=loss_of, alignment=alignment, ranks=ranks, calls=calls
        )
        aim = aimed(
            parameters,
            weighed=[],
            targets=targets,
            weights={},
            loss_of=loss_of,
            alignment=alignment,
            own_alignment="held-out",
            passes=passes,
            ranks=ranks,
        )
        if isinstance(passes, JointPasses):  # which fail in all processes, or in none
            squares = aim.target_squared, aim.direction_squared
            passes.settled(squares, [], [loss for _, loss in aim.losses], targets=aim.reaching)
    return aim.direction
