"""The target's direction, held so that comparing a gradient with it takes few launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.gradients import Gradient, squared_norm, width
from tawt.ranks import Ranks, Shards, own_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TOGETHER = {"cpu": 1 << 16, "others": 1 << 22}
"""Entries that are laid end to end before they are compared. On a GPU a launch costs as much as
millions of entries; on a CPU copying them costs more than a call."""


class Direction:
    """Memory for one gradient, as long as the parameters stay the same.

    Args:
        parameters: What gradients are by; of a sharded one, the part that is here.
    """

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        parts = [own_part(parameter).detach() for parameter in parameters]
        self.shapes = [tuple(part.shape) for part in parts]
        shards = Shards.of(parameters, processes=Ranks.of(None).size)
        self.copies = None if shards is None else shards.copies
        """Where parameters are sharded, how many processes have the same part."""
        self._stretches = list(_stretches(parts))
        self._held = [
            torch.zeros(
                sum(parts[place].numel() for place in places),
                dtype=width(parts[places[0]]),
                device=parts[places[0]].device,
            )
            for places in self._stretches
        ]
        self._squared = torch.zeros((), dtype=torch.float64, device=self._held[0].device)

    @torch.no_grad()
    def take(self, gradient: Gradient) -> None:
        """Hold a copy of this gradient from now on, if it is finite; the device is not waited for.

        Of one that is not, the direction before is kept.
        """
        good = torch.isfinite(squared_norm(gradient))
        for places, held in zip(self._stretches, self._held, strict=True):
            flat = self._flat(gradient, places, held).to(held.dtype)
            held.copy_(torch.where(good.to(held.device), flat, held))
        self._squared.copy_(self._added([torch.dot(held, held) for held in self._held]))

    @torch.no_grad()
    def products(self, gradient: Gradient) -> Tensor:
        """⟨v, g⟩, ‖g‖² and ‖v‖², float64, without waiting for the device."""
        inner, squared = [], []
        for places, held in zip(self._stretches, self._held, strict=True):
            flat = self._flat(gradient, places, held).to(held.dtype)
            inner.append(torch.dot(held, flat))
            squared.append(torch.dot(flat, flat))
        return torch.stack([self._added(inner), self._added(squared), self._squared])

    def fits(self, gradient: Gradient) -> bool:
        """Whether the gradient is by the parameters that the direction is of."""
        return len(gradient) == len(self.shapes) and all(
            entry is None or tuple(entry.shape) == shape
            for entry, shape in zip(gradient, self.shapes, strict=True)
        )

    def entries(self) -> list[Tensor]:
        """v, one entry for each parameter; views of the memory that holds it."""
        found: dict[int, Tensor] = {}
        for places, held in zip(self._stretches, self._held, strict=True):
            sizes = [torch.Size(self.shapes[place]).numel() for place in places]
            for place, piece in zip(places, torch.split(held, sizes), strict=True):
                found[place] = piece.view(self.shapes[place])
        return [found[place] for place in range(len(self.shapes))]

    def _flat(self, gradient: Gradient, places: Sequence[int], like: Tensor) -> Tensor:
        """The entries at these places, end to end; zeros where a loss does not reach."""
        pieces = []
        for place in places:
            entry = gradient[place]
            if entry is None:
                nothing = like.new_zeros(())
                pieces.append(nothing.expand(torch.Size(self.shapes[place]).numel()))
            else:
                pieces.append(entry.detach().reshape(-1))
        return pieces[0] if len(pieces) == 1 else torch.cat(pieces)

    def _added(self, terms: list[Tensor]) -> Tensor:
        home = terms[0].device
        return torch.stack([term.to(home) for term in terms]).double().sum()


def _stretches(parts: Sequence[Tensor]) -> Iterator[list[int]]:
    """Places of parameters that are compared together: of one device and precision, in order."""
    homes: dict[tuple[torch.device, torch.dtype], list[int]] = {}
    for place, part in enumerate(parts):
        homes.setdefault((part.device, part.dtype), []).append(place)
    for (device, _), places in homes.items():
        most = _TOGETHER["cpu" if device.type == "cpu" else "others"]
        stretch: list[int] = []
        for place in places:
            if stretch and sum(parts[p].numel() for p in stretch) + parts[place].numel() > most:
                yield stretch
                stretch = []
            stretch.append(place)
        yield stretch
