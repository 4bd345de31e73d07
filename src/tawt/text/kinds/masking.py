"""Unlabelled text: some of its pieces are hidden, and predicted from all the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import torch.nn.functional as F  # noqa: N812 - the name everyone uses

from tawt.errors import DataError
from tawt.text.encoding import MaskedHead
from tawt.text.kinds.making import last_layer
from tawt.text.kinds.text_kind import TextAnswers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn

    from tawt.text.encoding import Level, TextRepresentation

UNLABELLED = "unlabelled"
"""The kind's name in a configuration."""
NOT_ASKED = -100
"""The answer where nothing is asked about; cross-entropy ignores it."""


@dataclass(frozen=True)
class MaskedWords(TextAnswers):
    """The pieces that stood at places of a row of text, most of which are hidden.

    Outputs are a number for each piece of the vocabulary at each place that is asked about, shape
    `(rows, asked, pieces)`; labels the numbers of the pieces that stood there, shape
    `(rows, asked)`, and `NOT_ASKED` where a row has fewer.

    Args:
        vocabulary: How many pieces there are.

    Example:
        >>> import torch
        >>> kind = MaskedWords(4)
        >>> kind.losses(torch.zeros(1, 3, 4), torch.tensor([[2, 0, NOT_ASKED]])).exp().round()
        tensor([4.])
    """

    vocabulary: int
    metric: str = field(default="accuracy", init=False, repr=False)
    labels: tuple[str, ...] = field(default=(), init=False, repr=False)
    level: ClassVar[Level] = "pieces"
    is_labelled: ClassVar[bool] = False

    def head(self, width: int) -> nn.Module:
        """A linear layer with one output per piece, which shares nothing with an encoder."""
        return last_layer(width, self.vocabulary)

    def head_on(self, representation: TextRepresentation) -> nn.Module:
        """The architecture's own, tied to the representation's table of pieces."""
        return MaskedHead(representation)

    def losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """Cross-entropy of each row, the mean over what it is asked about."""
        nats = F.cross_entropy(
            outputs.flatten(0, 1), labels.flatten(), ignore_index=NOT_ASKED, reduction="none"
        )
        counts = (labels != NOT_ASKED).sum(dim=1)
        return nats.view_as(labels).sum(dim=1) / counts.clamp(min=1)

    def answers(self, outputs: Tensor, labels: Tensor) -> tuple[list[list[int]], list[list[int]]]:
        """Of each row, the pieces that stood where it is asked about, and the most probable."""
        best = outputs.argmax(dim=-1)
        rows = list(zip(labels, best, labels != NOT_ASKED, strict=True))
        gold = [row[asked].tolist() for row, _, asked in rows]
        return gold, [guess[asked].tolist() for _, guess, asked in rows]

    def scores(
        self, gold: Sequence[Sequence[int]], predicted: Sequence[Sequence[int]]
    ) -> dict[str, float]:
        """The share of hidden pieces that were the most probable ones."""
        flat = [
            g == p
            for one, other in zip(gold, predicted, strict=True)
            for g, p in zip(one, other, strict=True)
        ]
        return {"accuracy": sum(flat) / max(1, len(flat))}

    def example_scores(
        self, gold: Sequence[Sequence[int]], predicted: Sequence[Sequence[int]]
    ) -> list[float]:
        """The same of each row."""
        return [self.scores([g], [p])["accuracy"] for g, p in zip(gold, predicted, strict=True)]

    def items(self, vectors: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Refused: a piece that is hidden is no label."""
        del vectors, labels
        raise DataError("Unlabelled text has no labels that a distance could be measured by.")
