"""Tags of spans, chosen a sentence at a time: none goes on with a span that has not begun."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from tawt.errors import DataError
from tawt.text.metrics import spans
from tawt.text.reading import is_iob

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    Positions = NDArray[np.int64]
    """Of tags among all tags of a task."""

_LARGE = 1e30  # what infinite scores count: sums of many of them stay finite


def mark_spans(tags: Sequence[str]) -> bool:
    """Whether tags mark spans in IOB2: each is `O`, `B-TYPE` or `I-TYPE`, and not all are `O`.

    Example:
        >>> mark_spans(["O", "B-PER", "I-PER"]), mark_spans(["NOUN", "VERB"]), mark_spans(["O"])
        (True, False, False)
    """
    try:
        spans(tags, reading="strict")
    except DataError:
        return False
    return is_iob(tags)


def best_tags(scores: Tensor, lengths: Sequence[int], labels: tuple[str, ...]) -> Positions:
    """The tags of each sentence that score best together.

    Of tags that mark spans only valid sequences are considered: `I-X` follows `B-X` or `I-X` (the
    best of them, by Viterbi). Of other tags every word's best.

    Args:
        scores: A row for each word, one sentence after the other, `(words, labels)`. What a score
            is beside the others of its word matters alone, so logits do.
        lengths: How many words each sentence has.
        labels: The tags, in the order of the scores.

    Returns:
        The position of each word's tag among the labels, `(words,)`.

    Example:
        >>> scores = torch.tensor([[2.0, 0.0, 3.0], [0.0, 0.0, 1.0]])
        >>> labels = ("O", "B-PER", "I-PER")
        >>> [labels[tag] for tag in best_tags(scores, [2], labels)]
        ['O', 'O']
        >>> best_tags(scores, [2], ("NOUN", "VERB", "PRON")).tolist()
        [2, 2]
    """
    best: Positions = scores.argmax(dim=-1).cpu().numpy()
    rules = _rules(labels)
    if rules is None or not len(best):
        return best
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    invalid = np.unique(sentence[_is_invalid(best, sentence, rules)])
    if not len(invalid):  # each word's best are the best together
        return best
    chosen = np.isin(sentence, invalid)
    of_words = scores[torch.from_numpy(chosen).to(scores.device)].detach().cpu().double().numpy()
    of_words = np.nan_to_num(of_words, nan=-_LARGE, posinf=_LARGE, neginf=-_LARGE)
    filled = _filled(np.asarray(lengths)[invalid])
    padded = np.zeros((*filled.shape, len(labels)))  # after its end, a sentence may go on for free
    padded[filled] = of_words
    best = best.copy()
    best[chosen] = _viterbi(padded, rules)[filled]
    return best


class _Rules(NamedTuple):
    """Which tag may follow which."""

    goes_on: Positions
    """The tags `I-X`."""
    begun_by: Positions
    """Their `B-X`; where there is none, they themselves, so that no span of that type begins."""
    may_follow: NDArray[np.bool_]
    """By the tag before (after all tags, the start of a sentence) and the tag."""


@cache
def _rules(labels: tuple[str, ...]) -> _Rules | None:
    """None where tags mark no spans, or every one of them goes on with one."""
    going_on = [place for place, tag in enumerate(labels) if tag.startswith("I-")]
    if not mark_spans(labels) or len(going_on) == len(labels):
        return None
    places = {tag: place for place, tag in enumerate(labels)}
    goes_on = np.array(going_on, np.int64)
    begun_by = np.array([places.get(f"B-{labels[i][2:]}", i) for i in going_on], np.int64)
    may_follow = np.ones((len(labels) + 1, len(labels)), np.bool_)
    may_follow[:, goes_on] = False
    may_follow[goes_on, goes_on] = may_follow[begun_by, goes_on] = True
    return _Rules(goes_on, begun_by, may_follow)


def _is_invalid(tags: Positions, sentence: Positions, rules: _Rules) -> NDArray[np.bool_]:
    """Of each word, whether its tag may not follow the one before."""
    start = len(rules.may_follow) - 1
    before = np.concatenate([[start], tags[:-1]])
    before[1:][sentence[1:] != sentence[:-1]] = start
    invalid: NDArray[np.bool_] = ~rules.may_follow[before, tags]
    return invalid


def _filled(lengths: Positions) -> NDArray[np.bool_]:
    """Where words are if sentences are padded to the longest, `(sentences, words)`."""
    filled: NDArray[np.bool_] = np.arange(lengths.max()) < lengths[:, None]
    return filled


def _viterbi(scores: NDArray[np.float64], rules: _Rules) -> Positions:
    """The best valid tags of sentences, from scores `(sentences, words, labels)`."""
    sentences, words, labels = scores.shape
    best = scores[:, 0].copy()
    best[:, rules.goes_on] = -np.inf
    came_from = np.empty((words, sentences, labels), np.int64)
    for word in range(1, words):
        came_from[word] = best.argmax(axis=1)[:, None]
        begun, gone_on = best[:, rules.begun_by], best[:, rules.goes_on]
        longer = np.where(begun >= gone_on, rules.begun_by, rules.goes_on)
        came_from[word][:, rules.goes_on] = longer
        best = np.take_along_axis(best, came_from[word], axis=1) + scores[:, word]
    tags = np.empty((sentences, words), np.int64)
    tags[:, -1] = best.argmax(axis=1)
    every = np.arange(sentences)
    for word in range(words - 1, 0, -1):
        tags[:, word - 1] = came_from[word][every, tags[:, word]]
    return tags
