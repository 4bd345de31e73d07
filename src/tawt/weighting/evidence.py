"""How far each unit is ahead of the others, and how far that may be off.

Every update measures the lead of each unit: its alignment above the mean of all units. What counts
is the mean lead over the updates so far. It is off for two reasons:

- every update sees some examples of each source, and the model of that moment;
- all updates see the same target, which has so many examples and no more.

Where successive updates see the two halves of the target's examples, cut at random each time, both
can be told: half the difference of two halves varies as the mean over all examples would with other
examples (the delete-half jackknife), and with the noise of an update; the mean of two halves varies
with that noise alone.

Without halves nothing tells what other examples of the target would show: an update that sees all
of them sees the same ones every time, and repeats what chance put there. So the error does not
shrink with the number of updates then. It is that of a single update, as if all of them saw the
same; and never below the size of the leads themselves, as if all of these were chance.

Nothing here has a size of its own, so cosines and inner products, small or large, lead to the same
scores.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.errors import WeightsError, is_number
from tawt.weights.student import normal_score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_SUMS = ("updates", "means", "noise", "compared", "halves", "pairs")


class Evidence:
    """Leads and their standard error, from updates one by one.

    Args:
        count: Units that compete.

    Example:
        >>> import numpy as np
        >>> evidence = Evidence(2)
        >>> for number, off in enumerate((0.02, -0.02, 0.01, -0.01, 0.0, 0.01)):
        ...     evidence.take(np.array([0.4 + off, 0.1 - off]), half=number % 2)
        >>> first, second = evidence.scores()
        >>> bool(first > 2), bool(second < -2)
        (True, True)
    """

    def __init__(self, count: int) -> None:
        self._sum = np.zeros(count)
        self._last: Array | None = None  # leads of the update before, or of the pair before
        self._first: Array | None = None  # of a pair that is not complete
        self._sums = dict.fromkeys(_SUMS, 0.0)

    def take(self, alignments: Array, *, half: int | None = None) -> None:
        """Take in what an update has measured.

        Args:
            alignments: Of every unit.
            half: Which half of the target's examples it saw, 0 and then 1; none, if that is not
                known.
        """
        leads = alignments - alignments.mean()
        self._sum = self._sum + leads
        self._sums["updates"] += 1
        if half is None:
            self._compare(leads)
        elif half == 0:
            self._first = leads
        elif self._first is not None:
            self._sums["halves"] += float(np.square((self._first - leads) / 2).mean())
            self._sums["pairs"] += 1
            self._compare((self._first + leads) / 2)
            self._first = None

    def _compare(self, leads: Array) -> None:
        if self._last is not None:
            self._sums["noise"] += float(np.square(leads - self._last).mean()) / 2
            self._sums["compared"] += 1
        self._sums["means"] += 1
        self._last = leads

    @property
    def leads(self) -> Array:
        """Mean lead of each unit."""
        leads: Array = self._sum / max(self._sums["updates"], 1.0)
        return leads

    @property
    def is_known(self) -> bool:
        """Whether there is an error: after two updates, or two pairs of halves."""
        return self._sums["compared"] > 0

    @property
    def is_in_halves(self) -> bool:
        """Whether it is known, and all updates have seen halves of the target's examples."""
        return self.is_known and self._sums["pairs"] == self._sums["means"]

    @property
    def error(self) -> float:
        """Standard error of a lead, that of all units together; infinite until it is known."""
        sums, many = self._sums, len(self._sum)
        if not self.is_known:
            return math.inf
        noise = sums["noise"] / sums["compared"]
        if self.is_in_halves:
            square = noise / sums["means"]
            square += max(0.0, sums["halves"] / sums["pairs"] - noise)
        else:
            square = max(noise, float(np.square(self.leads).mean()))
        return math.sqrt(square * many / max(1, many - 1))

    def scores(self) -> Array:
        """Leads in units of their standard error, as points of a standard normal.

        An error that is known from few differences is allowed for by Student's t.
        """
        error, leads = self.error, self.leads
        if math.isinf(error):
            return np.zeros_like(leads)
        if error == 0:  # halves that are all the same leave no doubt
            return np.where(leads == 0, 0.0, np.copysign(np.inf, leads))
        freedom = self._sums["compared"] * max(1, len(leads) - 1)
        return np.array([normal_score(lead / error, freedom) for lead in leads.tolist()])

    def state_dict(self) -> dict[str, Any]:
        """All of it, as plain values."""
        return {
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
            sums = {name: state[name] for name in _SUMS}
        except (KeyError, TypeError, ValueError) as error:
            raise WeightsError(
                f"`evidence` of the saved state is not what `state_dict` returned ({error!r}). "
                "Load a state of a weighting with the same arguments."
            ) from error
        if found["sum"] is None or not all(map(is_number, sums.values())):
            raise WeightsError("`evidence` of the saved state must be finite numbers.")
        self._sum, self._last, self._first = found["sum"], found["last"], found["first"]
        self._sums = {name: float(value) for name, value in sums.items()}

    def _array(self, values: Any) -> Array | None:
        return None if values is None else np.array(values, np.float64).reshape(self._sum.shape)
