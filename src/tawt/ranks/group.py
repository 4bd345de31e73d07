"""The processes that take part, and numbers that all of them agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import torch
from torch import distributed

from tawt.errors import TawtError, TrainingError, first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor
    from torch.distributed import ProcessGroup

_Found = TypeVar("_Found")
_LONGEST = 2000  # bytes of an error's text that travel to the other processes


class Ranks:
    """The processes of a group, among which numbers are exchanged; make it with `Ranks.of`.

    Attributes:
        size: How many they are.
        rank: Which of them this one is.
        failure: Why this one's own part failed, if it did.

    Example:
        >>> alone = Ranks.of(None)
        >>> alone.size, alone.table([1.0, 2.0])
        (1, tensor([[1., 2.]], dtype=torch.float64))
    """

    def __init__(self, group: ProcessGroup | None, *, size: int, rank: int) -> None:
        self.group = group
        self.size = size
        self.rank = rank
        self.failure: Exception | None = None

    @classmethod
    def of(cls, group: ProcessGroup | None) -> Ranks:
        """The processes of this group, or of the default group where there is one.

        Raises:
            TrainingError: This process is not in the group.
        """
        if not (distributed.is_available() and distributed.is_initialized()):
            if group is not None:
                raise TrainingError(
                    "`group` is a process group, but torch.distributed is not initialised here; "
                    "call `torch.distributed.init_process_group` first, or leave `group` out."
                )
            return cls(None, size=1, rank=0)
        if group is not None and not isinstance(group, distributed.ProcessGroup):
            raise TrainingError(
                "`group` must be a process group that this process is in; got "
                f"{group!r}. Call `update` only in the processes of the group."
            )
        found = cls(group, size=distributed.get_world_size(group), rank=distributed.get_rank(group))
        if found.rank < 0:
            raise TrainingError(
                "This process is not in `group`; call `update` only in the processes of the group."
            )
        return found

    @property
    def several(self) -> bool:
        """Whether there are others; alone, nothing is exchanged."""
        return self.size > 1

    def attempt(self, what: Callable[[], _Found], otherwise: _Found) -> _Found:
        """Do this process's own part; where it fails, now or before, take part with `otherwise`.

        The failure is raised by `raise_failures`, in all processes at once.
        """
        if self.failure is not None:
            return otherwise
        try:
            return what()
        except Exception as error:  # whatever it is, the others wait for this one
            if not self.several:
                raise
            self.failure = error
            return otherwise

    def table(self, numbers: Tensor | Sequence[float]) -> Tensor:
        """The numbers of all processes, float64 of shape `(processes, numbers)`, on the CPU.

        Numbers that are added up over processes are added by every one in the same order, so that
        they get the same sums to the last bit.
        """
        own = torch.as_tensor(numbers, dtype=torch.float64)
        if not self.several:
            return own.cpu()[None]
        # MPS has no float64, and NCCL nothing on the CPU.
        sent = own.to(self.device_for(own.device)).contiguous()
        found = [torch.empty_like(sent) for _ in range(self.size)]
        distributed.all_gather(found, sent, group=self.group)
        return torch.stack(found).cpu()

    def add_up(self, tensor: Tensor) -> Tensor:
        """The sum over processes, in place where the backend can reach the tensor."""
        device = self.device_for(tensor.device)
        moved = tensor.to(device)
        distributed.all_reduce(moved, group=self.group)
        return moved.to(tensor.device)

    def from_first(self, tensor: Tensor) -> Tensor:
        """What the first of the processes has."""
        moved = tensor.detach().to(self.device_for(tensor.device), copy=True).contiguous()
        distributed.broadcast(moved, group=self.group, group_src=0)
        return moved.to(tensor.device)

    def device_for(self, device: torch.device) -> torch.device:
        """The device itself if the group's backend can reach it; otherwise one that it can."""
        known = distributed.get_backend_config(self.group)
        kinds = [part.partition(":")[0] for part in known.split(",")]
        if device.type in kinds:
            return device
        if "cpu" in kinds:
            return torch.device("cpu")
        return torch.device(kinds[0], torch.get_device_module(kinds[0]).current_device())

    def raise_failures(self, failed: Sequence[bool]) -> None:
        """Raise in all processes if one has failed: its own error there, that error's text here.

        Args:
            failed: Which have, the same in all of them.
        """
        if not any(failed):
            return
        texts = self._texts()
        if self.failure is not None:
            raise self.failure
        first = list(failed).index(True)
        raise TrainingError(f"Process {first} of {self.size} could not measure: {texts[first]}")

    def _texts(self) -> list[str]:
        error = self.failure
        text = "" if error is None else str(error) if isinstance(error, TawtError) else ""
        if error is not None and not text:
            text = f"{type(error).__name__}: {first_line(error)}"
        sent = text.encode()[:_LONGEST].ljust(_LONGEST, b"\0")
        table = self.table([float(byte) for byte in sent]).to(torch.uint8)
        return [bytes(row.tolist()).rstrip(b"\0").decode(errors="ignore") for row in table.unbind()]
