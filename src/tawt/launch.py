"""What a launcher, torchrun or accelerate launch, said about this process when it started it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_OF_LAUNCHERS = (
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
)


@dataclass(frozen=True)
class Launch:
    """One of the processes that were started together."""

    processes: int = 1
    """How many there are, on all machines."""
    number: int = 0
    """Which of them this is; the first is 0."""
    processes_here: int = 1
    """How many of them are on this machine."""
    number_here: int = 0
    """Which of those this is."""

    @property
    def is_one_of_several(self) -> bool:
        """Whether others were started together with this one."""
        return self.processes > 1


def this_launch(environment: Mapping[str, str] | None = None) -> Launch:
    """What the environment says, without torch.

    Args:
        environment: Of the process; its own by default.

    Example:
        >>> this_launch({"WORLD_SIZE": "2", "RANK": "1", "LOCAL_RANK": "1"})
        Launch(processes=2, number=1, processes_here=2, number_here=1)
        >>> this_launch({})
        Launch(processes=1, number=0, processes_here=1, number_here=0)
    """
    given = os.environ if environment is None else environment
    try:
        processes, number = int(given["WORLD_SIZE"]), int(given["RANK"])
        number_here = int(given.get("LOCAL_RANK", number))
        return Launch(processes, number, int(given.get("LOCAL_WORLD_SIZE", processes)), number_here)
    except (KeyError, ValueError):
        return Launch()


def forget_launch() -> None:
    """Let this process, a child of a launched one, be no member of its group."""
    for name in _OF_LAUNCHERS:
        os.environ.pop(name, None)
