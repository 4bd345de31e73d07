"""Clusters of examples, their own or by what the model makes of them, which runs share."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING

import numpy as np
import torch
from sklearn.cluster import MiniBatchKMeans

from tawt import files
from tawt.errors import ConfigError
from tawt.gradients import untouched
from tawt.training.evaluation import row_batches
from tawt.training.roles import heads_learn
from tawt.units import Coded

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor, nn

    from tawt.tasks import Examples, MultiTaskModel, Task
    from tawt.units import Numbers

_AT_ONCE = 128


def clustered(
    task: Task, count: int, model: MultiTaskModel, *, seed: int, shared: Path | None
) -> Coded:
    """Clusters that the examples have of themselves, or else of the representation's vectors.

    Vectors are those that the model has before training.

    Args:
        task: Whose training examples are clustered.
        count: How many clusters.
        model: Whose representation.
        seed: Of k-means.
        shared: A folder where the clusters of the same examples, representation and seed are
            looked for, and left.

    Raises:
        ConfigError: There is nothing that could be clustered.
    """
    count = min(count, len(task.train))
    path = None
    if shared is not None:
        path = shared / f"{_fingerprint(task.train, count, model.representation, seed)}.npy"
    numbers = None if path is None else _read(path, len(task.train), count)
    if numbers is None:
        numbers = task.train.clusters(count, seed=seed)
        if numbers is None:
            _check_vectors(task, model)
            means = MiniBatchKMeans(count, random_state=seed, n_init=3)
            numbers = means.fit_predict(_vectors(task.train, model)).astype(np.int32)
        if path is not None:
            content = io.BytesIO()
            np.save(content, numbers, allow_pickle=False)
            files.write(path, content.getvalue())
    digits = len(str(count))
    return Coded(tuple(f"cluster {number:>{digits}}" for number in range(1, count + 1)), numbers)


def _check_vectors(task: Task, model: MultiTaskModel) -> None:
    """Refuse a model whose output is its losses: clusters of those say nothing of content."""
    if not heads_learn(model, [task.name]):
        raise ConfigError(
            f"The model of {task.name!r} is a whole one, of which there are no vectors to cluster; "
            "group it by column, or set `weighting.unit` to example.",
            place=("weighting", "group", "by"),
        )


def _fingerprint(examples: Examples, count: int, representation: nn.Module, seed: int) -> str:
    """SHA-256 of all that the clusters follow from."""
    digest = hashlib.sha256(repr((examples.fingerprint(), count, seed)).encode())
    for name, value in representation.state_dict().items():
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def _read(path: Path, examples: int, count: int) -> Numbers | None:
    """What is kept there, if it is whole; what is not is made again."""
    try:
        numbers = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    if not isinstance(numbers, np.ndarray) or numbers.dtype != np.int32:
        return None
    fits = numbers.shape == (examples,) and 0 <= numbers.min() <= numbers.max() < count
    return numbers if fits else None


def _vectors(examples: Examples, model: MultiTaskModel) -> NDArray[np.float32]:
    """One vector for each example: the mean over its places, where there are several."""
    found = np.zeros((len(examples), 0), np.float32)
    with untouched([model]), torch.no_grad():
        model.eval()
        for indices in row_batches(examples, np.arange(len(examples)), _AT_ONCE):
            batch = examples.batch(indices)
            vectors = _pooled(model.representation(batch.inputs), batch.places)
            if batch.owners is not None:  # the first of an example's rows stands for it
                firsts = np.unique(batch.owners.numpy(), return_index=True)[1]
                vectors = vectors[torch.from_numpy(firsts)]
            if not found.shape[1]:
                found = np.zeros((len(examples), vectors.shape[1]), np.float32)
            found[indices] = vectors.numpy()
    return found


def _pooled(vectors: Tensor, places: Tensor | None) -> Tensor:
    if vectors.dim() < 3:
        return vectors.float()
    if places is None:
        return vectors.flatten(1).float()
    inside = torch.arange(vectors.shape[1]) < places[:, None]
    means: Tensor = (vectors * inside[..., None]).sum(1).float() / places[:, None]
    return means
