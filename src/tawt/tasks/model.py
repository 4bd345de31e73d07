"""φ and the f_t: one representation, a head per task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from tawt.errors import DataError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tawt.tasks.task import Task


class Heads(nn.Module):
    """Heads by task name; any name will do, dots and all.

    Example:
        >>> heads = Heads({"ner.v2": nn.Linear(2, 3)})
        >>> heads["ner.v2"].out_features, list(heads)
        (3, ['ner.v2'])
    """

    def __init__(self, heads: Mapping[str, nn.Module]) -> None:
        super().__init__()
        # A ModuleDict refuses dots and the names of its own methods; positions never clash.
        self._modules_by_position = nn.ModuleList(heads.values())
        self._positions = {name: position for position, name in enumerate(heads)}

    def __getitem__(self, name: str) -> nn.Module:
        if name not in self._positions:
            raise DataError(f"There is no head for task {name!r}; {suggestion(name, self)}")
        return self._modules_by_position[self._positions[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)


class MultiTaskModel(nn.Module):
    """A representation shared by all tasks, and one head for each.

    Args:
        representation: φ, from a batch's inputs to vectors.
        heads: f_t by task name.

    Example:
        >>> import torch
        >>> model = MultiTaskModel(nn.Linear(4, 2), {"digits": nn.Linear(2, 10)})
        >>> model(torch.zeros(3, 4), "digits").shape
        torch.Size([3, 10])
    """

    def __init__(self, representation: nn.Module, heads: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.representation = representation
        self.heads = Heads(heads)

    @classmethod
    def for_tasks(
        cls, representation: nn.Module, tasks: Sequence[Task], *, width: int
    ) -> MultiTaskModel:
        """A model with the head that each task's kind wants.

        Args:
            representation: φ.
            tasks: Sources and targets.
            width: Size of the vectors that φ makes.
        """
        names = [task.name for task in tasks]
        for name in names:
            if names.count(name) > 1:
                raise DataError(f"Tasks must have different names; {name!r} is given twice.")
        return cls(representation, {task.name: task.kind.head(width) for task in tasks})

    def forward(self, inputs: Any, task: str) -> Tensor:
        """f_t(φ(inputs))."""
        outputs: Tensor = self.heads[task](self.representation(inputs))
        return outputs
