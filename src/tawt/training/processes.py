"""Processes that train together: what they agree on, and what the first does for all.

Every process takes part in every call here, in the same order. Messages travel beside those of the
gradients, between the hosts, so that no GPU is waited for.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch import distributed as dist

from tawt.errors import RunError, TrainingError, first_line, portable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from accelerate import Accelerator

Result = TypeVar("Result")
_host_groups: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


@dataclass(frozen=True)
class TrainingProcesses:
    """The processes that train together, of which this is one; often it is alone.

    Example:
        >>> alone = TrainingProcesses()
        >>> alone.first_does(lambda: "written"), alone.any_of([True, False])
        ('written', [True, False])
    """

    count: int = 1
    number: int = 0
    """Which of them this is."""
    group: Any = None
    """Through which they talk, where there are several."""

    @classmethod
    def of(cls, accelerator: Accelerator) -> TrainingProcesses:
        """Those that an accelerator trains with."""
        if accelerator.num_processes == 1:
            return cls()
        return cls(accelerator.num_processes, accelerator.process_index, _host_group())

    @property
    def is_first(self) -> bool:
        """Whether this process is the one that writes."""
        return self.number == 0

    @property
    def own_part(self) -> slice:
        """Which of the entries of a list that all have are this process's to work on.

        Example:
            >>> list("abcde")[TrainingProcesses(2, 1).own_part]
            ['b', 'd']
        """
        return slice(self.number, None, self.count)

    def first_does(self, work: Callable[[], Result]) -> Result:
        """What the first process makes of the work, in all of them; so is its error.

        Args:
            work: Done by the first alone, while the others wait.
        """
        if self.count == 1:
            return work()
        done: list[tuple[Any, Exception | None]] = [(None, None)]
        if self.is_first:
            done = [_attempted(work)]
        with self._talking():
            dist.broadcast_object_list(done, src=0, group=self.group)
        result, error = done[0]
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def all_do(self, work: Callable[[], Result]) -> Result:
        """What this process makes of the work, if all of them came through it.

        Args:
            work: Done by every process. If it fails in one, all raise the error of the first that
                it failed in.
        """
        if self.count == 1:
            return work()
        result, error = _attempted(work)
        for found in self.all_of(error):
            if found is not None:
                raise found
        return result  # type: ignore[no-any-return]

    def all_of(self, value: Any) -> list[Any]:
        """What each process has, in their order."""
        if self.count == 1:
            return [value]
        found = [None] * self.count
        with self._talking():
            dist.all_gather_object(found, value, group=self.group)
        return found

    def any_of(self, flags: Iterable[bool]) -> list[bool]:
        """Which of these are so in any process."""
        given = list(flags)
        if self.count == 1:
            return given
        counted = torch.tensor(given, dtype=torch.int64)
        with self._talking():
            dist.all_reduce(counted, group=self.group)
        return [bool(count) for count in counted.tolist()]

    def check_same(self, value: Any, what: str) -> None:
        """Refuse to go on where processes differ.

        Args:
            value: What all must have.
            what: Its name in the message.

        Raises:
            RunError: A process has another.
        """
        found = self.all_of(value)
        others = [number for number, each in enumerate(found) if each != found[0]]
        if others:
            raise RunError(
                f"Processes that train together must have the same {what}; process {others[0]} has "
                "another than process 0. Start all with the same command, on the same files."
            )

    def mean(self, value: Tensor) -> Tensor:
        """Of a tensor that each process has; on the host."""
        return self._reduced(value, dist.ReduceOp.SUM) / self.count

    def largest(self, value: Tensor) -> Tensor:
        """Of a tensor that each process has, entry by entry; on the host."""
        return self._reduced(value, dist.ReduceOp.MAX)

    def adopt_first(self, tensors: Iterable[Tensor]) -> None:
        """Give these, of every process, the values that they have in the first.

        What each process trained for itself would drift apart by rounding.
        """
        if self.count == 1:
            return
        for tensor in tensors:
            host = tensor.detach().cpu()
            with self._talking():
                dist.broadcast(host, src=0, group=self.group)
            with torch.no_grad():
                tensor.copy_(host)

    def _reduced(self, value: Tensor, how: Any) -> Tensor:
        host = value.detach().to("cpu", copy=True)
        if self.count > 1:
            with self._talking():
                dist.all_reduce(host, op=how, group=self.group)
        return host

    @contextmanager
    def _talking(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            raise lost_process(error) from error


def is_lost(error: BaseException) -> bool:
    """Whether it says that another process is not there, or does not answer.

    Example:
        >>> is_lost(RuntimeError("[…/gloo/transport/tcp/pair.cc:547] Connection closed by peer"))
        True
    """
    said = str(error).lower()
    signs = ("gloo", "connection closed by peer", "nccl", "connection reset by peer")
    return isinstance(error, RuntimeError) and (
        isinstance(error, dist.DistError) or any(sign in said for sign in signs)
    )


def lost_process(error: BaseException) -> TrainingError:
    """What is said where another process is gone."""
    return TrainingError(
        "Another of the processes that train together ended, or stopped answering, in the middle "
        f"of training ({first_line(error)[:200]}); perhaps it was killed because memory ran out. "
        "Run the same command again with --resume to go on from the last checkpoint."
    )


def _attempted(work: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """Its result, or an error that can be sent to others."""
    try:
        return work(), None
    except Exception as error:
        return None, portable(error)


def _host_group() -> Any:
    """Of all processes, between their hosts."""
    world = dist.group.WORLD
    if dist.get_backend() == "gloo":
        return world
    if world not in _host_groups:
        _host_groups[world] = dist.new_group(backend="gloo")
    return _host_groups[world]
