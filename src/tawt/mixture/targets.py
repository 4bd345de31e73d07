"""That weights are not learned towards a source's own examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_target(dataset: Any, *, name: str, sources: Mapping[str, Any]) -> None:
    """Refuse a dataset of the target that is also that of a source.

    Args:
        dataset: Of the target.
        name: Of the target.
        sources: Datasets by name, of which none is a target's.

    Example:
        >>> examples = ["a", "b"]
        >>> check_target(examples, name="ner", sources={"pos": examples})
        Traceback (most recent call last):
        ...
        tawt.errors.DataError: The dataset of the target 'ner' is also that of the source 'pos', \
which would agree with it whatever it holds. Pass other examples.
    """
    for source, other in sources.items():
        if other is dataset:
            raise DataError(
                f"The dataset of the target {name!r} is also that of the source {source!r}, which "
                "would agree with it whatever it holds. Pass other examples."
            )
