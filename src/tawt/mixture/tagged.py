"""Several datasets as one, whose examples say which they are from."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from torch.utils.data import Dataset

if TYPE_CHECKING:
    from collections.abc import Mapping


class TaggedExamples(Dataset[tuple[str, Any]]):
    """Datasets laid end to end; an example comes with the name of its task.

    Args:
        datasets: Map-style, by name.

    Example:
        >>> both = TaggedExamples({"pos": ["a", "b"], "ner": ["c"]})
        >>> both[2], both.sizes
        (('ner', 'c'), {'pos': 2, 'ner': 1})
    """

    def __init__(self, datasets: Mapping[str, Any]) -> None:
        self.sizes = {name: len(dataset) for name, dataset in datasets.items()}
        self._names = list(datasets)
        self._ends = list(accumulate(self.sizes.values()))
        self._datasets = dict(datasets)

    def __len__(self) -> int:
        return sum(self.sizes.values())

    def __getitem__(self, index: int) -> tuple[str, Any]:
        place = next(place for place, end in enumerate(self._ends) if index < end)
        name = self._names[place]
        start = self._ends[place] - self.sizes[name]
        return name, self._datasets[name][index - start]
