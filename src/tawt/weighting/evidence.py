"""How far each unit is ahead of the others, and how far that may be off.

An update measures a lead of every unit over the mean of all. What it finds is off for two reasons:
it sees some examples of each source, which the mean over updates makes up for; and the target has
so many examples and no more, which nothing makes up for. Where successive updates see the two
halves of the target's examples, cut at random each time, both can be told: half the difference of
two halves varies as the mean over all examples would with other examples (the delete-half
jackknife), and with the noise of an update; the mean of two halves with that noise alone.

Leads are means over updates. What helps changes while a model learns, so what was measured when
training was a quarter as far counts half as much. They are shrunk by what remains of their squares
when those of the errors are taken off (James and Stein), so that leads that are no larger than
their errors move nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.errors import WeightsError, is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_GUESS = 0.1**2  # variance of a lead at one update, before differences have shown it; of cosines
_WORTH = 2.0  # differences that the guess counts as
_AGE = 0.5  # power of how far training was, beside how far it is
_SUMS = ("updates", "squares", "halves", "pairs", "halves_count", "pairs_count")


class Evidence:
    """Leads and their standard error, from updates one by one.

    Args:
        count: Units that compete.
        size: Of alignments, 1 for cosines; none, if the first update is to show it.

    Example:
        >>> import numpy as np
        >>> evidence = Evidence(2)
        >>> for step, off in enumerate((0.02, -0.02, 0.01, -0.01), start=1):
        ...     evidence.take(np.array([0.4 + off, 0.1 - off]), step=step)
        >>> first, second = evidence.scores()
        >>> bool(first > 2), bool(second < -2)
        (True, True)
    """

    def __init__(self, count: int, *, size: float | None = 1.0) -> None:
        self._step = 0
        self._size = size
        self._sum = np.zeros(count)
        self._last: Array | None = None  # of the update before, or the mean of the pair before
        self._first: Array | None = None  # of a pair that is not complete
        self._sums = dict.fromkeys(_SUMS, 0.0)

    def take(self, alignments: Array, *, step: int, half: int | None = None) -> None:
        """Take in what an update has measured.

        Args:
            alignments: Of every unit.
            step: How far training is.
            half: Which half of the target's examples it saw, 0 and then 1; none, if each update
                sees examples of its own.
        """
        if self._size is None:
            self._size = float(np.sqrt(np.square(alignments).mean()))
        leads = alignments - alignments.mean()
        sums, now = self._sums, max(step, self._step, 1)
        kept = (max(self._step, 1) / now) ** _AGE
        self._step = now
        self._sum = kept * self._sum + leads
        for name in sums:
            sums[name] *= kept
        sums["squares"] = kept * sums["squares"] + 1  # of what updates count
        sums["updates"] += 1
        if half is None:
            self._compare(leads)
        elif half == 0:
            self._first = leads
        elif self._first is not None:
            sums["halves"] += float(np.square((self._first - leads) / 2).mean())
            sums["halves_count"] += 1
            self._compare((self._first + leads) / 2)
            self._first = None

    def _compare(self, mean: Array) -> None:
        if self._last is not None:
            self._sums["pairs"] += float(np.square(mean - self._last).mean()) / 2
            self._sums["pairs_count"] += 1
        self._last = mean

    @property
    def leads(self) -> Array:
        """Mean lead of each unit, the last updates counting most."""
        leads: Array = self._sum / max(self._sums["updates"], 1e-12)
        return leads

    @property
    def error(self) -> float:
        """Standard error of a lead, that of all units together; infinite without an update."""
        sums, many = self._sums, len(self._sum)
        if not sums["updates"]:
            return float("inf")
        updates = sums["updates"] ** 2 / sums["squares"]
        paired = 2.0 if sums["halves_count"] else 1.0
        guess = _GUESS * (self._size or 1.0) ** 2 / paired
        noise = (_WORTH * guess + sums["pairs"]) / (_WORTH + sums["pairs_count"])
        square = noise * paired / updates
        if sums["halves_count"]:
            halves = (_WORTH * guess + sums["halves"]) / (_WORTH + sums["halves_count"])
            square += max(0.0, halves - noise)
        return float(np.sqrt(square * many / max(1, many - 1)))

    def scores(self) -> Array:
        """Leads in units of their standard error, shrunk."""
        error = self.error
        leads = self.leads
        if not np.isfinite(error):
            return np.zeros_like(leads)
        return shrunk(leads, error) / error

    def state_dict(self) -> dict[str, Any]:
        """All of it, as plain values."""
        return {
            "step": self._step,
            "size": self._size,
            "sum": self._sum.tolist(),
            "last": None if self._last is None else self._last.tolist(),
            "first": None if self._first is None else self._first.tolist(),
            **self._sums,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly from a saved state, which is copied.

        Raises:
            WeightsError: It is not such a state.
        """
        try:
            found = {name: self._array(state[name]) for name in ("sum", "last", "first")}
            sums = {name: state[name] for name in ("step", *_SUMS)}
            size = state["size"]
        except (KeyError, TypeError, ValueError) as error:
            raise WeightsError(
                f"`evidence` of the saved state is not what `state_dict` returned ({error!r}). "
                "Load a state of a weighting with the same arguments."
            ) from error
        numbers = [*sums.values(), *([] if size is None else [size])]
        if found["sum"] is None or not all(map(is_number, numbers)):
            raise WeightsError("`evidence` of the saved state must be finite numbers.")
        self._sum, self._last, self._first = found["sum"], found["last"], found["first"]
        self._step, self._size = int(sums.pop("step")), size
        self._sums = {name: float(value) for name, value in sums.items()}

    def _array(self, values: Any) -> Array | None:
        return None if values is None else np.array(values, np.float64).reshape(self._sum.shape)


def shrunk(leads: Array, error: float) -> Array:
    """Leads drawn towards zero, all of it where they are no larger than their error lets expect.

    Args:
        leads: Over the mean of all.
        error: The standard error of each.

    Example:
        >>> import numpy as np
        >>> shrunk(np.array([0.1, -0.1]), error=0.1).tolist()
        [0.05, -0.05]
        >>> np.abs(shrunk(np.array([0.05, -0.05]), error=0.1)).tolist()
        [0.0, 0.0]
    """
    squares = float(np.square(leads).sum())
    if squares == 0:
        return leads
    expected = (len(leads) - 1) * error**2
    return leads * max(0.0, 1.0 - expected / squares)
