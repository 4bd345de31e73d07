"""What training steps can show, and what is said of a step that is observed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tawt.errors import WeightsError, is_number, suggestion
from tawt.hypergradient import Alignment, Cosine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.units import Units


def check_observable(alignment: Alignment, units: Units) -> None:
    """Refuse what the gradients of training steps do not show.

    Raises:
        WeightsError: Alignments are no cosines, or not of whole tasks.
    """
    if not isinstance(alignment, Cosine) or units.finer:
        raise WeightsError(
            "Training steps show cosines of whole tasks. Weights on groups or examples, and "
            "alignments under a curvature, are measured on fresh batches: pass the representation "
            "and `loss_of` to `update`; in a configuration, `training.measure: fresh batches`."
        )


def shares_of(tasks: str | Mapping[str, float], known: Sequence[str]) -> dict[str, float]:
    """What each task had of a step, the shares made to sum to one.

    Args:
        tasks: One task, or several with the share that each had.
        known: Names of all tasks.

    Raises:
        WeightsError: There is no such task, or shares are none.

    Example:
        >>> shares_of("pos", ["pos", "ner"]), shares_of({"pos": 1, "ner": 3}, ["pos", "ner"])
        ({'pos': 1.0}, {'pos': 0.25, 'ner': 0.75})
    """
    if not isinstance(tasks, str | Mapping):
        raise WeightsError(
            "A step that is observed is on one task, named by text, or on several with the share "
            f'of each, {{"task": share, …}}; got {tasks!r}.'
        )
    shares = {tasks: 1.0} if isinstance(tasks, str) else dict(tasks)
    for name, share in shares.items():
        if name not in known:
            raise WeightsError(
                f"There is no task {name!r} to observe; {suggestion(str(name), known)}"
            )
        if not (is_number(share) and share >= 0):
            raise WeightsError(
                f"The share of {name!r} in a step must be a number of at least 0; got {share!r}."
            )
    total = sum(shares.values())
    if not total > 0:
        raise WeightsError("A step that is observed must be on some task; all shares are 0.")
    return {name: share / total for name, share in shares.items()}
