"""A tag for every word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch.nn.functional as F  # noqa: N812 - the name everyone uses

from tawt.errors import ConfigError
from tawt.tasks import Task
from tawt.tasks.label_scores import LabelScore, label_scores
from tawt.text.decoding import best_tags, mark_spans
from tawt.text.kinds.making import Cutting, TaskOptions, chosen_labels, chosen_metric, last_layer
from tawt.text.kinds.text_kind import TextAnswers, TextKind
from tawt.text.metrics import METRICS, sentence_span_f1
from tawt.text.metrics.pairing import tokens_of
from tawt.text.metrics.spans import Reading, span_label_scores
from tawt.text.predicting import asking
from tawt.text.reading import TaggedSentence, labels_of
from tawt.text.tokens import NO_TAG, TaggedSentences, TagLabels, WordPieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor, nn

    from tawt.text.encoding import Level
    from tawt.text.reading import Splits

Tags = list[str]

_OF_SPANS = ("span_f1", "span_f1_conlleval")


@dataclass(frozen=True)
class Tagging(TextAnswers):
    """One of several tags for every word; the loss of all examples is the mean over their words.

    (Of sentences that are weighed one by one, the mean over sentences of each one's own mean.)
    Where tags mark spans, a sentence is answered with the best of its valid sequences.

    Args:
        labels: The tags, in the order of the head's outputs.
        metric: "accuracy", "span_f1", "span_f1_conlleval", "token_f1" or "macro_f1".
        unseen: Tags that only held-out examples have: never predicted, so always wrong.

    Example:
        >>> kind = Tagging(("B-PER", "O"), metric="span_f1")
        >>> kind.scores([["B-PER", "O"]], [["B-PER", "B-PER"]])["span_f1"].__round__(3)
        0.667
    """

    labels: tuple[str, ...]
    metric: str = "accuracy"
    unseen: tuple[str, ...] = ()
    level: ClassVar[Level] = "words"
    has_usual_loss: ClassVar[bool] = True

    def head(self, width: int) -> nn.Module:
        """A linear layer with one output per tag."""
        return last_layer(width, len(self.labels))

    def losses(self, outputs: Tensor, labels: TagLabels) -> Tensor:
        """Cross-entropy of each row's words, summed by what a word counts (`TagLabels.share`)."""
        words = F.cross_entropy(
            outputs.flatten(0, 1),
            labels.tags.flatten().long(),
            ignore_index=NO_TAG,
            reduction="none",
        )
        return words.view_as(labels.tags).sum(dim=1) * labels.share

    def items(self, vectors: Tensor, labels: TagLabels) -> tuple[Tensor, Tensor]:
        """The vectors of words that have a tag, and the tags' numbers."""
        known = labels.tags != NO_TAG
        return vectors[known], labels.tags[known].long()

    def answers(self, outputs: Tensor, labels: TagLabels) -> tuple[list[Tags], list[Tags]]:
        """Gold and best tags of each sentence, its rows put together again."""
        names = (*self.labels, *self.unseen)
        known = labels.tags != NO_TAG
        in_rows, owners = known.sum(dim=1).cpu().numpy(), labels.sentence.cpu().numpy()
        lengths = np.bincount(owners, weights=in_rows).astype(np.int64)
        best = best_tags(outputs[known], lengths.tolist(), self.labels)
        ends = np.cumsum(lengths)[:-1]

        def named(tags: NDArray[np.int64]) -> list[Tags]:
            return [[names[tag] for tag in of_one] for of_one in np.split(tags, ends)]

        return named(labels.tags[known].cpu().numpy()), named(best)

    def scores(self, gold: Sequence[Tags], predicted: Sequence[Tags]) -> dict[str, float]:
        """Every metric that these tags have: of spans, only where they mark spans."""
        known = METRICS["tagging"]
        plain = [name for name in known if name in ("accuracy", "macro_f1", self.metric)]
        names = known if mark_spans([*self.labels, *self.unseen]) else plain
        return {name: known[name].score(gold, predicted) for name in names}

    def example_scores(self, gold: Sequence[Tags], predicted: Sequence[Tags]) -> list[float]:
        """Of each sentence: F1 of its spans, or the share of its words that are right."""
        pairs = zip(gold, predicted, strict=True)
        if self.metric in _OF_SPANS:
            return [sentence_span_f1(g, p, reading=self._reading) for g, p in pairs]
        if self.metric == "token_f1":
            return [_token_f1(g, p) for g, p in pairs]
        return [sum(map(str.__eq__, g, p)) / max(1, len(g)) for g, p in pairs]

    def label_scores(
        self, gold: Sequence[Tags], predicted: Sequence[Tags]
    ) -> dict[str, LabelScore]:
        """Of each type of span, where the tags mark spans; else of each tag of a word."""
        if mark_spans([*self.labels, *self.unseen]):
            return span_label_scores(gold, predicted, reading=self._reading)
        return label_scores(*tokens_of(gold, predicted))

    @property
    def _reading(self) -> Reading:
        return "conlleval" if self.metric == "span_f1_conlleval" else "strict"


def tagging_task(name: str, splits: Splits, cutting: Cutting, wanted: TaskOptions) -> Task:
    """A tagging task from sentences.

    Args:
        name: Of the task.
        splits: Its sentences.
        cutting: How they become pieces.
        wanted: What is said about it.
    """
    train = _sentences(splits.train)
    labels = chosen_labels(wanted, labels_of(train), task=name, called="tag")
    held_out = [s for part in (splits.dev, splits.test) if part for s in _sentences(part)]
    unseen = tuple(sorted(set(labels_of(held_out)) - set(labels)))
    marked = mark_spans([*labels, *unseen])
    usual = "span_f1" if marked else "accuracy"
    metric = chosen_metric(wanted.metric or usual, kind="tagging", task=name)
    if metric in _OF_SPANS and not marked:
        raise ConfigError(
            f"Task {name!r}: the metric {metric!r} is of spans, which tags B-TYPE, I-TYPE and O "
            f"mark; these are {', '.join(labels[:5])}. Choose accuracy, token_f1 or macro_f1.",
            place=("data", "tasks", name, "metric"),
        )
    kind = Tagging(labels, metric, unseen)
    pieces = WordPieces(
        cutting.tokenizer,
        max_length=cutting.max_length,
        long=cutting.long,
        overlap=cutting.overlap,
    )
    positions = {tag: index for index, tag in enumerate((*labels, *unseen))}
    padding = int(cutting.tokenizer.pad_token_id or 0)

    def build_examples(part: Sequence[object] | None) -> TaggedSentences | None:
        if part is None:
            return None
        return TaggedSentences(_sentences(part), positions, pieces, padding=padding)

    examples = build_examples(splits.train)
    assert examples is not None
    return Task(name, kind, examples, build_examples(splits.dev), build_examples(splits.test))


TAGGING = TextKind(
    name="tagging", reads="tagging", level="words", make=tagging_task, asking=asking.Tags
)


def _sentences(examples: Sequence[object]) -> list[TaggedSentence]:
    return [example for example in examples if isinstance(example, TaggedSentence)]


def _token_f1(gold: Tags, predicted: Tags) -> float:
    """F1 of the tags other than O in one sentence; 1 where neither has any."""
    right = sum(g == p != "O" for g, p in zip(gold, predicted, strict=True))
    marked = sum(tag != "O" for tag in gold) + sum(tag != "O" for tag in predicted)
    return 2 * right / marked if marked else 1.0
