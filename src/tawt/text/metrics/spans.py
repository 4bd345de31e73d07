"""Spans in tag sequences, and how many of them are found."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Literal

from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB2, Tokens

from tawt.errors import DataError
from tawt.tasks.label_scores import LabelScore, counted_scores
from tawt.text.metrics.pairing import tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Reading = Literal["strict", "conlleval"]
Span = tuple[str, int, int]

# seqeval strips hyphens around a type in one reading and not in the other: none are let through.
_IOB = re.compile(r"O|[BI]-[^-](.*[^-])?")


def spans(tags: Sequence[str], *, reading: Reading) -> list[Span]:
    """The spans of one sentence.

    A span begins at `B-X` and goes on while `I-X` follows. The readings differ where `I-X` follows
    something else than `B-X` or `I-X`: "strict" (the scheme IOB2) sees no span there,
    "conlleval" (the script of the CoNLL tasks) sees a new span begin.

    Args:
        tags: `O`, `B-type` or `I-type` for each token.
        reading: What an `I-` without its `B-` means.

    Returns:
        Type, first token, and the token after the last, of each span from left to right.

    Raises:
        DataError: A tag is none of the three.

    Example:
        >>> spans(["B-PER", "I-PER", "O", "I-LOC"], reading="strict")
        [('PER', 0, 2)]
        >>> spans(["B-PER", "I-PER", "O", "I-LOC"], reading="conlleval")
        [('PER', 0, 2), ('LOC', 3, 4)]
    """
    for tag in set(tags):
        if not _IOB.fullmatch(tag):
            raise DataError(
                f"Spans are read from tags `O`, `B-type` and `I-type`; got {tag!r}. "
                "For tags of another form use a token metric such as accuracy or macro_f1."
            )
    if reading == "strict":
        return [(e.tag, e.start, e.end) for e in Tokens(list(tags), IOB2).entities]
    return [(kind, first, last + 1) for kind, first, last in get_entities(list(tags))]


def span_f1(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], *, reading: Reading
) -> dict[str, float]:
    """Precision, recall and F1 of the spans of a corpus, over all types and for each type.

    A predicted span counts if its type and both its ends are right. A share of nothing is 0, as in
    seqeval: a corpus without gold and without predicted spans has F1 0.

    Args:
        gold: The tags of each sentence.
        predicted: Likewise.
        reading: See `spans`.

    Returns:
        `precision`, `recall`, `f1`, and `f1/X` for each type X in gold or predicted.

    Example:
        >>> gold = [["B-PER", "I-PER", "O", "B-LOC"]]
        >>> span_f1(gold, [["B-PER", "I-PER", "O", "O"]], reading="strict")
        {'precision': 1.0, 'recall': 0.5, 'f1': 0.6666666666666666, 'f1/LOC': 0.0, 'f1/PER': 1.0}
    """
    in_gold, in_predicted, in_both = _counted(gold, predicted, reading=reading)
    return {
        "precision": _share(in_both.total(), in_predicted.total()),
        "recall": _share(in_both.total(), in_gold.total()),
        "f1": _share(2 * in_both.total(), in_gold.total() + in_predicted.total()),
    } | {
        f"f1/{kind}": _share(2 * in_both[kind], in_gold[kind] + in_predicted[kind])
        for kind in sorted(in_gold.keys() | in_predicted.keys())
    }


def span_label_scores(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], *, reading: Reading
) -> dict[str, LabelScore]:
    """Precision, recall and F1 of the spans of each type; arguments as for `span_f1`.

    Example:
        >>> found = span_label_scores([["B-PER", "B-LOC"]], [["B-PER", "B-PER"]], reading="strict")
        >>> found["PER"].precision, found["PER"].recall, found["LOC"].support
        (0.5, 1.0, 1)
    """
    in_gold, in_predicted, in_both = _counted(gold, predicted, reading=reading)
    return counted_scores(gold=in_gold, predicted=in_predicted, right=in_both)


def sentence_span_f1(
    gold_tags: Sequence[str], predicted_tags: Sequence[str], *, reading: Reading
) -> float:
    """F1 of the spans of one sentence, for paired tests over sentences.

    Finding nothing where there is nothing is right: a sentence without gold and without predicted
    spans has F1 1. (In `span_f1` such a sentence adds nothing.)

    Example:
        >>> sentence_span_f1(["B-PER", "B-LOC"], ["B-PER", "O"], reading="strict").__round__(3)
        0.667
        >>> sentence_span_f1(["O"], ["O"], reading="strict")
        1.0
    """
    tokens_of([gold_tags], [predicted_tags])
    gold_spans = set(spans(gold_tags, reading=reading))
    predicted_spans = set(spans(predicted_tags, reading=reading))
    if not gold_spans and not predicted_spans:
        return 1.0
    return _share(2 * len(gold_spans & predicted_spans), len(gold_spans) + len(predicted_spans))


def _counted(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], *, reading: Reading
) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Spans of each type: in gold, in predicted, and in both."""
    tokens_of(gold, predicted)  # refuses what cannot be compared
    in_gold, in_predicted, in_both = Counter[str](), Counter[str](), Counter[str]()
    for gold_tags, predicted_tags in zip(gold, predicted, strict=True):
        gold_spans = set(spans(gold_tags, reading=reading))
        predicted_spans = set(spans(predicted_tags, reading=reading))
        in_gold.update(_types(gold_spans))
        in_predicted.update(_types(predicted_spans))
        in_both.update(_types(gold_spans & predicted_spans))
    return in_gold, in_predicted, in_both


def _types(found: Iterable[Span]) -> list[str]:
    return [kind for kind, _, _ in found]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
