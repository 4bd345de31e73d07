"""How a source's examples are grouped, for weights on groups."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.cluster import MiniBatchKMeans

from tawt.errors import ConfigError
from tawt.tasks.task import lengths_of
from tawt.training.evaluation import row_batches
from tawt.units import Units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from tawt.studies.weighting_sections import GroupConfig
    from tawt.tasks import Examples, MultiTaskModel, Task

_AT_ONCE = 128
_NOTHING = "O"  # the tag of words that are part of nothing


def grouped(
    sources: Sequence[Task], settings: GroupConfig, model: MultiTaskModel, *, seed: int
) -> Units:
    """The units of these sources.

    Args:
        sources: Whose training examples are grouped.
        settings: By what.
        model: Whose representation clusters are of.
        seed: Of the clusters.

    Raises:
        ConfigError: A source cannot be grouped so.
    """
    found: dict[str, Sequence[Any]] = {}
    for task in sources:
        if settings.by == "label":
            found[task.name] = [_one_label(label, task) for label in labels_of(task)]
        elif settings.by == "length":
            found[task.name] = _by_length(task, settings.count)
        elif settings.by == "column":
            found[task.name] = _by_column(task)
        else:
            found[task.name] = _clusters(task, settings.count, model, seed=seed)
    return Units.of_groups(found)


def labels_of(task: Task) -> list[Any]:
    """The gold label of each training example: a name, a number, or a tag for each word."""
    examples: Any = task.train
    if hasattr(examples, "sentences"):
        return [sentence.tags for sentence in examples.sentences]
    if hasattr(examples, "texts"):
        return [text.label for text in examples.texts]
    names = getattr(task.kind, "labels", None)
    given = examples.labels.tolist()
    return given if names is None else [names[index] for index in given]


def _one_label(label: Any, task: Task) -> str:
    """One label for an example; of a sentence, its commonest tag that says anything."""
    if isinstance(label, float):
        raise ConfigError(
            f"The labels of {task.name!r} are numbers, which are no groups; group it by column, "
            "length or cluster."
        )
    if isinstance(label, str):
        return label
    counts = Counter(tag for tag in label if tag != _NOTHING) or Counter({_NOTHING: 1})
    return str(min(counts, key=lambda tag: (-counts[tag], tag)))


def _by_length(task: Task, count: int) -> list[str]:
    """Equally many examples to a group, from short to long."""
    lengths = lengths_of(task.train)
    if lengths is None:
        raise ConfigError(f"The examples of {task.name!r} are all of one length.")
    edges = np.unique(np.quantile(lengths, np.linspace(0, 1, count + 1)[1:-1]))
    numbers = np.searchsorted(edges, lengths, side="left")
    ends = [*edges.astype(int).tolist(), int(lengths.max())]
    digits = len(str(ends[-1]))
    return [f"up to {ends[number]:>{digits}} pieces" for number in numbers]


def _by_column(task: Task) -> list[str]:
    given = getattr(task.train, "groups", None)
    if given is None or any(group is None for group in given):
        raise ConfigError(
            f"The data of {task.name!r} does not say which group each example is in: give text a "
            "field (`fields: {group: NAME}`) or marks between documents, arrays an array `groups`."
        )
    return list(map(str, given))


def _clusters(task: Task, count: int, model: MultiTaskModel, *, seed: int) -> list[str]:
    """Clusters of the representation's vectors, as the model has them before training."""
    vectors = _vectors(task.train, model)
    count = min(count, len(vectors))
    means = MiniBatchKMeans(count, random_state=seed, n_init=3).fit_predict(vectors)
    digits = len(str(count))
    return [f"cluster {number + 1:>{digits}}" for number in means]


def _vectors(examples: Examples, model: MultiTaskModel) -> np.ndarray[Any, np.dtype[np.float32]]:
    """One vector for each example: the mean over its places, where there are several."""
    found = np.zeros((len(examples), 0), np.float32)
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    with torch.no_grad():
        for indices in row_batches(examples, np.arange(len(examples)), _AT_ONCE):
            batch = examples.batch(indices)
            vectors = _pooled(model.representation(batch.inputs), batch.inputs)
            if batch.owners is not None:  # the first of an example's rows stands for it
                firsts = np.unique(batch.owners.numpy(), return_index=True)[1]
                vectors = vectors[torch.from_numpy(firsts)]
            if not found.shape[1]:
                found = np.zeros((len(examples), vectors.shape[1]), np.float32)
            found[indices] = vectors.numpy()
    for module, training in modes:
        module.training = training
    return found


def _pooled(vectors: Tensor, inputs: Any) -> Tensor:
    if vectors.dim() < 3:
        return vectors.float()
    lengths = getattr(inputs, "lengths", None)
    if lengths is None:
        return vectors.flatten(1).float()
    inside = torch.arange(vectors.shape[1]) < lengths[:, None]
    means: Tensor = (vectors * inside[..., None]).sum(1).float() / lengths[:, None]
    return means
