"""The optimiser: made, told to skip a step, saved and restored. Only the loop steps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from torch import Tensor


def optimiser_for(parameters: Iterable[Tensor], *, weight_decay: float) -> torch.optim.AdamW:
    """AdamW whose fused step can be told to do nothing (see `skip_if`), and can be replayed."""
    given = list(parameters)
    device = given[0].device if given else torch.device("cpu")
    return torch.optim.AdamW(
        given,
        lr=torch.zeros((), device=device),
        weight_decay=weight_decay,
        fused=True,
        capturable=device.type == "cuda",
    )


def skip_if(optimiser: torch.optim.Optimizer, bad: Tensor) -> None:
    """Make the next step a no-op where `bad` is true, without asking the device.

    This is the mechanism by which torch's own gradient scaler skips steps in mixed precision.
    """
    optimiser.grad_scale = None  # type: ignore[attr-defined]
    optimiser.found_inf = bad.to(torch.float32)  # type: ignore[attr-defined]


def optimiser_state(optimiser: torch.optim.Optimizer) -> dict[str, object]:
    """The optimiser's tensors, by position; its settings are made anew from the config."""
    return {"state": optimiser.state_dict()["state"]}


def load_optimiser_state(
    optimiser: torch.optim.Optimizer, saved: Mapping[str, Mapping[str, object]]
) -> None:
    """Inverse of `optimiser_state`."""
    state = {int(position): entry for position, entry in saved["state"].items()}
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": state, "param_groups": groups})
