"""Which of several training processes this is, and whether they agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch.distributed as dist

from tawt.errors import ConfigError, TrainingError, is_whole

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Processes:
    """One of the processes that share every step.

    Attributes:
        index: Which it is.
        count: How many there are.

    Example:
        >>> Processes(1, 3).part(7)
        slice(3, 5, None)
    """

    index: int = 0
    count: int = 1

    def part(self, examples: int) -> slice:
        """Its part of so many examples in a row; parts differ by one at most."""
        size, more = divmod(examples, self.count)
        start = self.index * size + min(self.index, more)
        return slice(start, start + size + (self.index < more))


def group() -> Processes:
    """This process in torch's process group; without one it is alone.

    Example:
        >>> group()
        Processes(index=0, count=1)
    """
    if not (dist.is_available() and dist.is_initialized()):
        return Processes()
    return Processes(dist.get_rank(), dist.get_world_size())


def checked(process: int | None, processes: int | None) -> Processes | None:
    """What a caller gave instead of the process group; nothing if they gave nothing.

    Example:
        >>> checked(2, 2)
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: `process` must be a whole number from 0 to 1 (there are 2 \
processes); got 2.
    """
    if process is None and processes is None:
        return None
    count = 1 if processes is None else processes
    if not (is_whole(count) and count >= 1):
        raise ConfigError(f"`processes` must be a whole number of at least 1; got {processes!r}.")
    index = 0 if process is None else process
    if not (is_whole(index) and 0 <= index < count):
        raise ConfigError(
            f"`process` must be a whole number from 0 to {count - 1} (there are {count} "
            f"processes); got {process!r}."
        )
    return Processes(index, count)


def check_alike(configuration: Mapping[str, Any]) -> None:
    """Refuse processes that would draw different tasks; all of the group must call it.

    Raises:
        TrainingError: They differ; it names what, and the processes.
    """
    if group().count == 1:
        return
    found: list[Any] = [None] * group().count
    dist.all_gather_object(found, dict(configuration))
    for rank, other in enumerate(found):
        for key, value in found[0].items():
            if other[key] != value:
                raise TrainingError(
                    f"Processes must draw from the same mixture, but `{key}` is {value!r} on "
                    f"process 0 and {other[key]!r} on process {rank}. Build it from the same "
                    "arguments on every process."
                )
