"""The pieces that estimates are made in: each can be kept, and made again without the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from tawt.distance.items import batch_count
from tawt.distance.trained import held_out

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tawt.distance.samples import SampleSizes
    from tawt.tasks import Examples, Task

FORWARD, BACKWARD = 1, 2
"""What passes over a batch cost beside each other."""
_PRODUCT = 2 * FORWARD + BACKWARD
_ITERATIONS = 2


@dataclass(frozen=True)
class Piece:
    """Some estimates of one source or mixture, for all targets.

    | what | of | finds |
    | --- | --- | --- |
    | `own heads` | a target | the risk through its own head |
    | `heads` | a source | LEEP of its head for the targets, and their risk through it |
    | `own steps` | a target | the risk after its own step |
    | `steps` | a source or a mixture | the targets' risk after its step |
    """

    what: Literal["own heads", "heads", "own steps", "steps"]
    name: str
    weights: tuple[tuple[str, float], ...]
    """Of the tasks whose examples are looked at."""
    targets: tuple[str, ...]


@dataclass(frozen=True)
class PieceResult:
    """What came of a piece."""

    values: dict[str, dict[str, float]]
    """By target, by what was found."""
    seconds: dict[str, float] = field(default_factory=dict)
    """By what took them."""


class Kept(Protocol):
    """Where pieces are kept."""

    def known(self, piece: Piece) -> PieceResult | None:
        """What came of a piece that was made before."""

    def keep(self, piece: Piece, found: PieceResult) -> None:
        """Remember it."""


class NothingKept:
    """Every piece is made."""

    def known(self, piece: Piece) -> PieceResult | None:
        """Nothing."""
        return None

    def keep(self, piece: Piece, found: PieceResult) -> None:
        """Forget it."""


def pieces(
    sources: Sequence[str], targets: Sequence[str], mixtures: Mapping[str, Mapping[str, float]]
) -> list[Piece]:
    """What has to be made, the cheapest first; a task is no source of its own.

    Example:
        >>> for piece in pieces(["near"], ["goal"], {}):
        ...     print(piece.what, piece.name)
        own heads goal
        heads near
        own steps goal
        steps near
    """

    def others(weights: Mapping[str, float]) -> tuple[str, ...]:
        return tuple(name for name in targets if name not in weights)

    alone = {name: {name: 1.0} for name in sources}
    own = {name: ((name, 1.0),) for name in targets}
    return [
        *(Piece("own heads", name, weights, (name,)) for name, weights in own.items()),
        *(Piece("heads", name, tuple(w.items()), others(w)) for name, w in alone.items()),
        *(Piece("own steps", name, weights, (name,)) for name, weights in own.items()),
        *(
            Piece("steps", name, tuple(w.items()), others(w))
            for name, w in {**alone, **mixtures}.items()
        ),
    ]


def passes(
    piece: Piece,
    *,
    sources: Mapping[str, Task],
    targets: Mapping[str, Task],
    sizes: SampleSizes,
) -> int:
    """What a piece costs: passes over batches, and a backward pass counts twice."""
    looked_at = {**sources, **targets} if piece.what.startswith("own") else sources
    tasks = [looked_at[name] for name, _ in piece.weights]
    others = [targets[name] for name in piece.targets]
    seen = sum(_count(task.train, sizes.target) for task in others)
    seen += sum(_count(held_out(task), sizes.held_out) for task in others)
    if piece.what.endswith("heads"):
        heads = sum(_count(task.train, sizes.head) for task in tasks)
        return heads + (seen if piece.what == "own heads" else 0)
    own_step = FORWARD + BACKWARD + _ITERATIONS * _PRODUCT
    steps = sum(own_step * _count(task.train, sizes.step) for task in tasks)
    return steps + seen


def _count(examples: Examples, most: int) -> int:
    return batch_count(min(most, len(examples)))


class Meter:
    """How many of the planned passes are done, piece by piece.

    A piece that ends early, or has to do more than was planned, ends where the next begins.

    Args:
        tell: Told the passes that are done; may raise to stop.
    """

    def __init__(self, tell: Callable[[float], None]) -> None:
        self._tell = tell
        self._done, self._inside, self._planned = 0.0, 0.0, 0.0

    def begin(self, planned: float) -> None:
        """The next piece."""
        self._planned = planned

    def add(self, passes: float) -> None:
        """Inside a piece."""
        self._inside = min(self._planned, self._inside + passes)
        self._tell(self._done + self._inside)

    def end(self) -> None:
        """The piece is made."""
        self._done, self._inside, self._planned = self._done + self._planned, 0.0, 0.0
        self._tell(self._done)
