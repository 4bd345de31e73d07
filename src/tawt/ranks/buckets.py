"""Gradients added up over processes, a bounded piece at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, distributed

from tawt.gradients import Gradient, width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch.distributed import ProcessGroup

    from tawt.ranks.group import Ranks

_BYTES = 25 << 20  # sent at once: enough to fill a network, little beside a model


@dataclass(frozen=True)
class _Piece:
    """A stretch of one parameter's entries."""

    place: int
    start: int
    stop: int


class Buckets:
    """Parameters cut into stretches of bounded size, the same in every process.

    What is added up travels in float32 or better. Beside the gradient itself, memory for one
    stretch is needed.

    Args:
        parameters: What gradients are by.
        ranks: The processes.
        size: Bytes of a stretch.
    """

    def __init__(self, parameters: Sequence[Tensor], ranks: Ranks, *, size: int = _BYTES) -> None:
        self._parameters = parameters
        self._ranks = ranks
        self._stretches = list(_stretches(parameters, size))
        self._scatters = True

    def mean(self, gradient: Gradient, count: float) -> Gradient:
        """Σ n_r g_r / Σ n_r, an entry for each parameter; writes over the gradient where it can.

        Args:
            gradient: g_r, of this process.
            count: n_r, how many examples it is the mean of.
        """
        return self._summed(gradient, count, divided=True)

    def total(self, gradient: Gradient) -> Gradient:
        """Σ g_r."""
        return self._summed(gradient, 1.0, divided=False)

    def _summed(self, gradient: Gradient, scale: float, *, divided: bool) -> Gradient:
        whole = self._own(gradient)
        count: Tensor | None = None
        for stretch in self._stretches:
            # The number of examples travels with each stretch, so that nobody waits for it.
            flat = self._joined(list(whole), stretch, more=1)
            _scale(flat, scale)[-1] = scale
            flat = self._ranks.add_up(flat)
            count = flat[-1].clone() if count is None else count
            if divided:
                flat.div_(count.to(flat))
            _put(flat[:-1], whole, stretch)
        return list(whole)

    def along(self, gradient: Gradient, direction: Gradient, count: float) -> tuple[Tensor, Tensor]:
        """This process's part of ⟨v, Σ n_r g_r⟩ and ‖Σ n_r g_r‖²; the parts add up to the whole.

        Each process gets the sum of one part of the entries only: half of what it costs to send
        all of it to all.

        Args:
            gradient: g_r, of this process.
            direction: v, the same in all of them.
            count: n_r.
        """
        inner: list[Tensor] = []
        squared: list[Tensor] = []
        with torch.no_grad():
            for stretch in self._stretches:
                more = -sum(piece.stop - piece.start for piece in stretch) % self._ranks.size
                flat = _scale(self._joined(gradient, stretch, more=more), count)
                mine = self._scattered(flat)
                del flat
                there = self._joined(direction, stretch, more=more)
                along = there.chunk(self._ranks.size)[self._ranks.rank]
                inner.append(torch.dot(mine, along).double())
                squared.append(torch.dot(mine, mine).double())
        home = inner[0].device
        return (
            torch.stack([one.to(home) for one in inner]).sum(),
            torch.stack([one.to(home) for one in squared]).sum(),
        )

    def _scattered(self, flat: Tensor) -> Tensor:
        """The sum over processes of this one's part of the entries."""
        ranks = self._ranks
        device = ranks.device_for(flat.device)
        sent = flat.to(device)
        mine = sent.new_empty(len(sent) // ranks.size)
        if self._scatters:
            try:
                _reduce_scatter(mine, sent, group=ranks.group)
            except RuntimeError as error:
                if not _is_unsupported(error):
                    raise
                self._scatters = False  # in all processes alike
        if not self._scatters:
            distributed.all_reduce(sent, group=ranks.group)
            mine = sent.chunk(ranks.size)[ranks.rank]
        return mine.to(flat.device)

    def _own(self, gradient: Gradient) -> list[Tensor]:
        """Dense entries that may be written to: autograd's can be views, and one for two."""
        seen: set[int] = set()
        found: list[Tensor] = []
        for entry, parameter in zip(gradient, self._parameters, strict=True):
            if entry is None:
                found.append(torch.zeros_like(parameter, dtype=width(parameter)).detach())
                continue
            wide = entry.detach().to(width(entry)).contiguous()
            if wide.untyped_storage().data_ptr() in seen:
                wide = wide.clone()
            seen.add(wide.untyped_storage().data_ptr())
            found.append(wide)
        return found

    def _joined(self, gradient: Gradient, stretch: list[_Piece], *, more: int) -> Tensor:
        """Entries end to end, a copy, with some zeros more."""
        entries: list[Tensor] = []
        for piece in stretch:
            entry, parameter = gradient[piece.place], self._parameters[piece.place]
            if entry is None:
                zero = torch.zeros(1, dtype=width(parameter), device=parameter.device)
                entries.append(zero.expand(piece.stop - piece.start))
            else:
                flat = entry.detach().reshape(-1)[piece.start : piece.stop]
                entries.append(flat.to(width(parameter)))
        return torch.cat([*entries, entries[0].new_zeros(more)])


def _scale(flat: Tensor, scale: float) -> Tensor:
    # Of no examples the mean may be NaN, and NaN times zero would be NaN.
    return flat.zero_() if scale == 0 else flat.mul_(scale)


def _put(flat: Tensor, whole: list[Tensor], stretch: list[_Piece]) -> None:
    lengths = [piece.stop - piece.start for piece in stretch]
    for piece, part in zip(stretch, torch.split(flat, lengths), strict=True):
        whole[piece.place].view(-1)[piece.start : piece.stop].copy_(part)


def _stretches(parameters: Sequence[Tensor], size: int) -> Iterator[list[_Piece]]:
    """Pieces of parameters that travel together, on one device and in one precision."""
    by_home: dict[tuple[torch.device, torch.dtype], list[int]] = {}
    for place, parameter in enumerate(parameters):
        by_home.setdefault((parameter.device, width(parameter)), []).append(place)
    for (_, dtype), places in by_home.items():
        room = most = max(1, size // dtype.itemsize)
        stretch: list[_Piece] = []
        for place in places:
            start, end = 0, parameters[place].numel()
            while start < end:
                stop = min(end, start + room)
                stretch.append(_Piece(place, start, stop))
                room -= stop - start
                start = stop
                if room == 0:
                    yield stretch
                    stretch, room = [], most
        if stretch:
            yield stretch


def _reduce_scatter(mine: Tensor, sent: Tensor, *, group: ProcessGroup | None) -> None:
    # Renamed in torch 2.13, where the older name warns.
    known = getattr(distributed, "reduce_scatter_single", None)
    (known or distributed.reduce_scatter_tensor)(mine, sent, group=group)


def _is_unsupported(error: Exception) -> bool:
    text = str(error).lower()
    return "support" in text or "implement" in text
