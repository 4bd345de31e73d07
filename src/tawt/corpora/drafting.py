"""A first configuration for corpora."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.modality.drafting import course, cut_off, held_out, sections, trained_on, weighting
from tawt.modality.recognising import Commented, Drafted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.modality.recognising import Recognised

_STEPS = 1000


def draft_corpora(target: Recognised, sources: Sequence[Recognised]) -> Drafted:
    """A configuration for these corpora.

    Args:
        target: The corpus that counts.
        sources: All others.

    Raises:
        DataError: The target has too few documents.
    """
    cut = held_out(target)
    chosen = course(trained_on(target, cut), sources, noun=target.plural)
    training: dict[str, Any] = {}
    if sources:
        chosen["paradigm"] = Commented(
            "pre-training", "the sources first, by their weights, then the target's own text"
        )
        chosen["epochs"] = Commented(4, "parts of the same length, after each of which is scored")
        training["steps"] = Commented(_STEPS, "on the sources; more where there is time")
    rate = Commented(0.001, "of a model from nothing; 0.0001 with a `checkpoint`")
    values = {
        "data": {
            "kind": Commented("corpora", "raw text; paths are relative to this file"),
            "window": Commented(256, "tokens of an example"),
            "corpora": sections(target, sources, cut),
        },
        "model": {
            "layers": Commented(4, "a small model from nothing that reads bytes; or in place of"),
            "width": Commented(256, "these three `checkpoint: NAME`, to go on with a model"),
            "heads": 4,
        },
        **chosen,
        **weighting(sources),
        "training": {**training, "learning_rate": rate},
    }
    return Drafted(values, cut_off(target, cut))
