"""Where a training is in its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.mixture import Draw, Mixture, MixtureSampler


class Place:
    """Counts the batches that were trained on; the sampler may have drawn more.

    A step of the sampler is one batch of every process, so there are as many in a step of the
    optimiser as it accumulates.

    Args:
        sampler: That draws the batches of training.
        fresh: That has those to measure by, where weights are learned.
        accumulated: Batches in a step of the optimiser.

    Attributes:
        trained: How many batches each process has trained on, or thrown away.
    """

    def __init__(self, sampler: MixtureSampler, fresh: Mixture | None, *, accumulated: int) -> None:
        self.sampler = sampler
        self.fresh = fresh
        self.trained = 0
        self._accumulated = accumulated

    def begin_epoch(self) -> None:
        """After one that was stopped: what its loader had fetched ahead is not trained on."""
        if self.trained < self.sampler.step:
            state = self._regrouped(self.sampler.state_dict())
            self.trained = state["step"]
            self.sampler.load_state_dict({**state, "begun": self.trained})

    def next(self) -> Draw:
        """What was drawn for the batch that is trained on now; counts it."""
        self.trained += 1
        return self.sampler.drawn(self.trained - 1)

    def shares(self, count: int) -> dict[str, float]:
        """Of the last so many batches, what each dataset had of their loss, up to a factor."""
        found: dict[str, float] = {}
        for step in range(self.trained - count, self.trained):
            draw = self.sampler.drawn(step)
            task = draw.tasks[0]
            found[task] = found.get(task, 0.0) + draw.factors[task]
        return found

    def state(self) -> dict[str, Any]:
        """JSON-able, the same on every process."""
        return {
            "sampler": self.sampler.state_dict(step=self.trained),
            "fresh": None if self.fresh is None else self.fresh.state_dict(),
        }

    def load(self, state: Mapping[str, Any], *, step: int) -> None:
        """Go on from there, with any number of processes.

        The `Trainer` draws again, and drops, the batches of the epoch that it has seen. Epochs may
        have another length than when the state was saved, so how many these are follows from the
        step of the optimiser, as it does for the `Trainer`.

        Args:
            state: From `state`.
            step: Of the optimiser, at which it was saved.
        """
        saved = dict(state["sampler"])
        if saved.get("hold", 1) != self.sampler.hold:  # another accumulation
            saved = self._regrouped(saved)
        steps = self.sampler.steps // self._accumulated
        skipped = step % steps * self._accumulated
        saved["begun"] = saved["step"] - skipped
        self.sampler.load_state_dict(saved, skipped=skipped)
        self.trained = saved["step"]
        if self.fresh is not None and state["fresh"] is not None:
            self.fresh.load_state_dict(state["fresh"])

    def _regrouped(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The state at the beginning of a group that keeps its task, for steps to be in line."""
        hold = self.sampler.hold
        step = -(-state["step"] // hold) * hold
        grouped = {**state, "step": step, "ahead": [], "hold": hold}
        return {key: grouped[key] for key in grouped if key != "held"}
