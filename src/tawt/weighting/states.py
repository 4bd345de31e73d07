"""Whether a saved state is one, before a weighting goes on from it."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tawt.errors import WeightsError
from tawt.weights import History, WeightUpdate

_REMEDY = "Load what `state_dict` of a weighting with the same arguments returned."


def plain(numbers: Tensor, *, finer: bool) -> list[float | None] | dict[str, str]:
    """A vector in values that JSON knows, to the last bit.

    Args:
        numbers: One for each unit.
        finer: Whether units are finer than tasks, and may be millions: then base64 of their bytes,
            under the name of their precision. Otherwise a list, with None for −∞, the logarithm
            of a weight of zero, which JSON has no number for.

    Example:
        >>> plain(torch.tensor([0.5, -math.inf]), finer=False)
        [0.5, None]
        >>> plain(torch.tensor([0.5, 1.0]), finer=True)
        {'float32': 'AAAAPwAAgD8='}
    """
    values = numbers.detach().cpu().contiguous()
    if not finer:
        return [None if value == -math.inf else value for value in values.tolist()]
    array = values.numpy()
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return {str(array.dtype): base64.b64encode(little.tobytes()).decode()}


def _vector(saved: object, what: str) -> object:
    """What `plain` made of a vector, as numbers again; anything else as it is."""
    if isinstance(saved, Mapping) and len(saved) == 1:
        ((kind, text),) = saved.items()
        try:
            dtype = np.dtype(kind).newbyteorder("<")
            found = np.frombuffer(base64.b64decode(text, validate=True), dtype=dtype)
        except (TypeError, ValueError) as error:
            raise WeightsError(f"`{what}` of the saved state are no numbers. {_REMEDY}") from error
        return found.astype(dtype.newbyteorder("="))
    if isinstance(saved, list | tuple):
        return [-math.inf if value is None else value for value in saved]
    return saved


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
    saved = _vector(saved, what)
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


def checked_history(saved: object, names: Sequence[str], *, left_out: Any) -> History:
    """The updates, if all are updates of these tasks' weights.

    Args:
        saved: Those that were kept.
        names: Of the tasks.
        left_out: What is known of the others; nothing in states of older versions, which kept all.
    """
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
    return History(history) if left_out is None else History.restored(history, left_out)
