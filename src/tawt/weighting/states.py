"""Whether a saved state is one, before a weighting goes on from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tawt.errors import WeightsError
from tawt.weights import WeightUpdate

_REMEDY = "Load what `state_dict` of a weighting with the same arguments returned."


def check_keys(state: Mapping[str, Any], keys: Iterable[str]) -> None:
    """Refuse what is no mapping with these keys.

    Example:
        >>> check_keys({"names": []}, ["names", "logs"])
        Traceback (most recent call last):
        ...
        tawt.errors.WeightsError: The saved state has no 'logs'. Load what `state_dict` of a \
weighting with the same arguments returned.
    """
    if not isinstance(state, Mapping):
        raise WeightsError(
            f"The saved state must be a dictionary; got {type(state).__name__}. {_REMEDY}"
        )
    for key in keys:
        if key not in state:
            raise WeightsError(f"The saved state has no {key!r}. {_REMEDY}")


def check_names(saved: object, names: Sequence[str]) -> None:
    """Refuse the names of other tasks, or the same ones in another order."""
    if not isinstance(saved, list | tuple) or not all(isinstance(name, str) for name in saved):
        raise WeightsError(
            f"`names` of the saved state must be a list of names; got {saved!r}. {_REMEDY}"
        )
    if tuple(saved) == tuple(names):
        return
    if sorted(saved) == sorted(names):
        raise WeightsError(
            f"The saved weights are for {', '.join(saved)}, in this order; these are for "
            f"{', '.join(names)}. Build the weighting with the tasks in the same order."
        )
    raise WeightsError(
        f"The saved weights are for {', '.join(saved)}; these are for "
        f"{', '.join(names)}. Build the weighting with the same tasks."
    )


def checked_tensor(saved: object, like: Tensor, *, what: str) -> Tensor:
    """A copy, if it has the shape and the precision of `like`; of a list, the numbers in it."""
    if isinstance(saved, np.ndarray):
        saved = torch.as_tensor(saved)
    if isinstance(saved, list | tuple):
        try:
            saved = torch.tensor(saved, dtype=like.dtype)
        except (TypeError, ValueError, RuntimeError) as error:
            raise WeightsError(f"`{what}` of the saved state are no numbers. {_REMEDY}") from error
    elif not isinstance(saved, Tensor):
        raise WeightsError(
            f"`{what}` of the saved state must be a tensor; got {type(saved).__name__}. {_REMEDY}"
        )
    if saved.shape != like.shape or saved.dtype != like.dtype:
        raise WeightsError(
            f"`{what}` of the saved state must be {like.dtype} of shape {tuple(like.shape)}; got "
            f"{saved.dtype} of shape {tuple(saved.shape)}. {_REMEDY}"
        )
    return saved.detach().to(like.device, copy=True)


def checked_logs(saved: object, like: Tensor) -> Tensor:
    """A copy of the logarithms of weights, if that is what they are.

    Example:
        >>> half = torch.tensor([0.5, 0.5]).log()
        >>> checked_logs(half, half).exp()
        tensor([0.5000, 0.5000])
    """
    logs = checked_tensor(saved, like, what="logs")
    if bool(torch.isnan(logs).any() | (logs == math.inf).any()):
        raise WeightsError(
            "`logs` of the saved state must be logarithms of weights; some are NaN or infinite. "
            "Load a state from before that."
        )
    total = float(torch.logsumexp(logs.double(), dim=0).exp())
    # Shares that a user rounded sum to one within a millionth, and float32 knows no better.
    if abs(total - 1) > 2e-5:
        raise WeightsError(
            f"`logs` of the saved state must be logarithms of weights that sum to 1; these sum to "
            f"{total:.6g}. {_REMEDY}"
        )
    return logs


def checked_history(saved: object, names: Sequence[str]) -> list[WeightUpdate]:
    """The updates, if all are updates of these tasks' weights."""
    if not isinstance(saved, list | tuple):
        raise WeightsError(
            f"`history` of the saved state must be a list of updates; got {type(saved).__name__}. "
            f"{_REMEDY}"
        )
    history = [WeightUpdate.from_json(update) for update in saved]
    for update in history:
        if set(update.weights) != set(names):
            raise WeightsError(
                f"`history` of the saved state has an update of {', '.join(update.weights)}; the "
                f"tasks are {', '.join(names)}. {_REMEDY}"
            )
    return history
