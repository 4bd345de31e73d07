"""How often each row passed over the target's examples, and whether that is alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.report.words import listed, times

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALIKE = 1.2
"""Up to this ratio, rows have passed over the target about as often."""


def uneven_passes(passes: Mapping[str, float | None], *, target: str) -> list[str]:
    """A sentence, where some rows passed over the target more often by over a fifth than others.

    Rows that are not known to, or that leave the target out by design, are passed over.

    Args:
        passes: Of each row.
        target: Its name.

    Example:
        >>> [said] = uneven_passes({"single-task": 40.0, "balanced joint": 8.2}, target="ner")
        >>> said.partition(": ")[2]
        'single-task 40 and balanced joint 8.2. `epochs` and `target_epochs` set them.'
        >>> uneven_passes({"single-task": 10.0, "pre-training": 11.0}, target="ner")
        []
    """
    known = {name: count for name, count in passes.items() if count}
    if not known or max(known.values()) <= _ALIKE * min(known.values()):
        return []
    said = listed(f"{name} {times(count)}" for name, count in known.items())
    return [
        f"Passes over {target} differ, so scores may differ by these alone: {said}. `epochs` and "
        "`target_epochs` set them."
    ]
