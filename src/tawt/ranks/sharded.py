"""Gradients of a model whose parameters `fully_shard` has cut up among the processes (FSDP2).

`torch.autograd.grad` does not see such parameters: only a backward pass brings their gradients
together and leaves each process its part. So one is made, and every `.grad` is put back.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from tawt.errors import TrainingError
from tawt.ranks.wrappers import is_distributed_tensor, is_fully_sharded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tawt.gradients import Gradient
    from tawt.ranks.wrappers import Calls


@dataclass(frozen=True)
class Shards:
    """Parameters of which each process has a part.

    Args:
        parameters: All of them, DTensors.
        copies: How many processes have the same part (with HSDP more than one).
    """

    parameters: Sequence[Tensor]
    copies: int

    @classmethod
    def of(cls, parameters: Sequence[Tensor], *, processes: int) -> Shards | None:
        """What the parameters are, if they are cut up; nothing if none is.

        Raises:
            TrainingError: Some are and some are not, or in a way that cannot be measured.
        """
        cut = [parameter for parameter in parameters if is_distributed_tensor(parameter)]
        if not cut:
            return None
        if len(cut) < len(parameters):
            raise TrainingError(
                f"{len(cut)} of the representation's {len(parameters)} parameters are sharded and "
                "the others are not; measure by the sharded ones alone, by passing a list of them."
            )
        found = {_copies(parameter, processes) for parameter in cut}
        if len(found) > 1:
            raise TrainingError(
                "The representation's parameters are sharded over meshes of different shapes; "
                "measure by those of one mesh, by passing a list of them."
            )
        return cls(parameters, found.pop())

    def gradient(self, loss: Tensor, calls: Calls) -> Gradient:
        """The local part of the mean of the processes' gradients; every `.grad` is as before.

        All processes must call it, each with a loss that went through the model.

        Args:
            loss: Of this process.
            calls: What was called to compute it.
        """
        groups = [group for module in calls.sharded for group in _groups(module)]
        known = {id(p.sharded_param): p.sharded_param for g in groups for p in g.fsdp_params}
        self._check(groups, known)
        leaves = [*known.values(), *_leaves(loss)]
        # Who divides by something else than the processes has another gradient than the mean.
        factors = {
            id(p.sharded_param): g.gradient_divide_factor / g.mesh_info.mesh.size()
            for g in groups
            for p in g.fsdp_params
            if g.gradient_divide_factor is not None
        }
        with _grads_put_back(leaves):
            loss.backward()  # type: ignore[no-untyped-call]
            return [_part_of(p.grad, factors.get(id(p))) for p in self.parameters]

    def _check(self, groups: Sequence[Any], known: dict[int, Tensor]) -> None:
        if any(id(parameter) not in known for parameter in self.parameters):
            raise TrainingError(
                "The representation has DTensor parameters that `fully_shard` does not manage, or "
                "that the loss does not use: tensor-parallel models cannot be measured yet; with "
                "FSDP, compute the loss through the model that `fully_shard` was called on."
            )
        if any(_is_pending(group) for group in groups):
            raise TrainingError(
                "The sharded model holds gradients that are not reduced yet, or has its "
                "reduction off (`set_requires_gradient_sync(False)`), and a measurement would mix "
                "with them. Update after the optimiser's step, with the reduction on."
            )


def reshard(modules: Iterable[nn.Module]) -> None:
    """Have sharded modules hold their own parts again, as they do not after a forward pass alone.

    Args:
        modules: Those, and all inside them.
    """
    for module in {id(m): m for given in modules for m in given.modules()}.values():
        if is_fully_sharded(module):
            module.reshard()  # type: ignore[operator]


def _copies(parameter: Any, processes: int) -> int:
    """How many processes have the same part of a parameter."""
    mesh, placements = parameter.device_mesh, parameter.placements
    cut = [place for place in placements if not place.is_replicate()]
    if len(cut) != 1 or not cut[0].is_shard() or mesh.size() != processes:
        raise TrainingError(
            f"A parameter of the representation is placed as {placements} over {mesh.size()} of "
            f"{processes} processes. FSDP2 (one Shard, or Replicate and Shard) over the processes "
            "of `group` can be measured; tensor parallelism cannot."
        )
    copies = 1
    for dimension, place in enumerate(placements):
        copies *= mesh.size(dimension) if place.is_replicate() else 1
    return copies


def _groups(module: Any) -> list[Any]:
    """FSDP's own lists of a module's parameters; the public API has no view of them."""
    state = module._get_fsdp_state()
    groups = getattr(state, "_fsdp_param_groups", None)
    if groups is None:
        groups = [state._fsdp_param_group]
    return [group for group in groups if group is not None]


def _is_pending(group: Any) -> bool:
    held = any(p.unsharded_accumulated_grad is not None for p in group.fsdp_params)
    return held or not (group.reduce_grads and group.all_reduce_grads)


def _leaves(loss: Tensor) -> list[Tensor]:
    """What a backward pass would leave gradients in."""
    found: dict[int, Tensor] = {}
    seen, waiting = {loss.grad_fn}, [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        variable = getattr(node, "variable", None)
        if variable is not None:
            found[id(variable)] = variable
        for following, _ in () if node is None else node.next_functions:
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return list(found.values())


@contextmanager
def _grads_put_back(leaves: Sequence[Tensor]) -> Iterator[None]:
    if any(getattr(leaf, "_post_accumulate_grad_hooks", None) for leaf in leaves):
        raise TrainingError(
            "A parameter of the sharded model has a post-accumulate-grad hook (an optimiser in the "
            "backward pass?), which a measurement would set off. Remove it during `update`."
        )
    kept = [(leaf, leaf.grad) for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    try:
        yield
    finally:
        for leaf, grad in kept:
            leaf.grad = grad


def _part_of(grad: Tensor | None, factor: float | None) -> Tensor | None:
    if grad is None:
        return None
    part = own_part(grad).detach()
    return part if factor is None else part * factor


def own_part(gradient: Any) -> Tensor:
    """The gradient itself, or the part of it that this process has."""
    found: Tensor = gradient.to_local() if is_distributed_tensor(gradient) else gradient
    return found


def total_norm(gradients: Sequence[Tensor]) -> Tensor:
    """The norm of all of them together; of sharded ones, of all their parts.

    Example:
        >>> import torch
        >>> total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
        tensor(5.)
    """
    cut = [gradient for gradient in gradients if is_distributed_tensor(gradient)]
    if not cut:
        return nn.utils.get_total_norm(gradients)
    known: Any = nn.utils.get_total_norm(cut)
    norms: list[Tensor] = [known.full_tensor()]
    rest = [gradient for gradient in gradients if not is_distributed_tensor(gradient)]
    norms += [nn.utils.get_total_norm(rest)] if rest else []
    return nn.utils.get_total_norm(norms)
