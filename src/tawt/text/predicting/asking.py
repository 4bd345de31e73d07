"""What a kind of task asks of a model, and makes of what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import torch

from tawt.text.decoding import best_tags
from tawt.text.predicting.answers import LabelledAnswer, NumberAnswer, TaggedAnswer
from tawt.text.reading import LabelledText, TaggedSentence
from tawt.text.tokens import NO_TAG, TaggedSentences, WholeTexts, WordPieces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor
    from transformers import PreTrainedTokenizerFast

    from tawt.modality import Answer
    from tawt.tasks import Examples
    from tawt.text.predicting.unlabelled import Sentence, Text

Says: TypeAlias = "Callable[[Text, Tensor | None, Sequence[str]], Answer]"
"""From a text, the outputs for it (none where it is blank) and the labels to an answer."""


@dataclass(frozen=True, kw_only=True)
class TextModelDetails:
    """What a kind knows of the model."""

    tokenizer: PreTrainedTokenizerFast
    labels: tuple[str, ...]
    """In the order of the outputs."""
    max_length: int
    overlap: int | None


class TaskPredictor(Protocol):
    """One kind of task; examples given to it are filled, and cut as they were in training."""

    def examples(self, asked: Sequence[Any]) -> Examples:
        """The pieces of these examples."""
        ...

    def outputs(self, logits: Tensor, labels: Any, asked: Sequence[Any]) -> Sequence[Tensor]:
        """The model's outputs for each example of a batch."""
        ...

    def answer(self, asked: Any, outputs: Tensor) -> Answer:
        """What these outputs say of the example."""
        ...

    def blank(self, asked: Any) -> Answer:
        """The answer where nothing is asked."""
        ...


class Tags:
    """A tag for every word: long sentences become windows, whatever was done in training."""

    def __init__(self, trained: TextModelDetails) -> None:
        self._labels = trained.labels
        self._pieces = WordPieces(
            trained.tokenizer, max_length=trained.max_length, overlap=trained.overlap
        )
        self._padding = int(trained.tokenizer.pad_token_id or 0)

    def examples(self, asked: Sequence[Sentence]) -> Examples:
        """The pieces, the tags still open."""
        open_tags = [TaggedSentence(s.words, ("",) * len(s.words), s.line) for s in asked]
        return TaggedSentences(open_tags, {"": 0}, self._pieces, padding=self._padding)

    def outputs(self, logits: Tensor, labels: Any, asked: Sequence[Sentence]) -> Sequence[Tensor]:
        """Of each sentence, shape `(words, labels)`: at the first piece of each word."""
        of_words = logits[labels.tags.to(logits.device) != NO_TAG].cpu()
        return torch.split(of_words, [len(sentence.words) for sentence in asked])

    def answer(self, asked: Sentence, outputs: Tensor) -> TaggedAnswer:
        """The tags that are best together, and how probable each is by itself."""
        found = best_tags(outputs, [len(outputs)], self._labels)
        best = torch.from_numpy(found)[:, None]
        shares = outputs.double().softmax(dim=-1).gather(-1, best)
        tags = tuple(self._labels[index] for index in best[:, 0].tolist())
        return TaggedAnswer(asked.words, tags, tuple(shares[:, 0].tolist()))

    def blank(self, asked: Sentence) -> TaggedAnswer:
        """No words, no tags."""
        return TaggedAnswer(asked.words, (), ())


class Texts:
    """One answer for a whole text, or for two; long ones are cut at the end, as in training."""

    def __init__(self, trained: TextModelDetails, *, says: Says) -> None:
        self._trained = trained
        self._says = says

    def examples(self, asked: Sequence[Text]) -> Examples:
        """The pieces, the answers still open."""
        return WholeTexts(
            [LabelledText(text.text, text.second, "", text.line) for text in asked],
            np.zeros(len(asked), np.int64),
            self._trained.tokenizer,
            max_length=self._trained.max_length,
        )

    def outputs(self, logits: Tensor, labels: Any, asked: Sequence[Text]) -> Sequence[Tensor]:
        """Of each text, shape `(labels,)`."""
        del labels, asked  # a row is a text
        return logits.cpu().unbind()

    def answer(self, asked: Text, outputs: Tensor) -> Answer:
        """A label, or a number."""
        return self._says(asked, outputs, self._trained.labels)

    def blank(self, asked: Text) -> Answer:
        """Neither."""
        return self._says(asked, None, self._trained.labels)


def labelled(asked: Text, outputs: Tensor | None, labels: Sequence[str]) -> LabelledAnswer:
    """The most probable label, and how probable all are.

    Example:
        >>> from tawt.text.predicting.unlabelled import Text
        >>> labelled(Text("Good."), torch.tensor([-1.0, 1.0]), ("neg", "pos")).label
        'pos'
    """
    if outputs is None:
        return LabelledAnswer(asked.text, asked.second, None, {})
    shares = outputs.double().softmax(dim=-1).tolist()
    found = dict(zip(labels, shares, strict=True))
    return LabelledAnswer(asked.text, asked.second, labels[int(outputs.argmax())], found)


def numbered(asked: Text, outputs: Tensor | None, labels: Sequence[str]) -> NumberAnswer:
    """The one number that there is.

    Example:
        >>> from tawt.text.predicting.unlabelled import Text
        >>> numbered(Text("Good."), torch.tensor([4.5]), ("stars",)).number
        4.5
    """
    assert len(labels) == 1
    number = None if outputs is None else float(outputs[0])
    return NumberAnswer(asked.text, asked.second, number)
