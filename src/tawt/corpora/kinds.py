"""Language modelling as a kind of task."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from torch import Tensor, nn

from tawt.tasks.kind import Kind
from tawt.tasks.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.corpora.vocabularies import Vocabulary

_LARGEST = 700.0  # whose exponential is still a number


class Size(NamedTuple):
    """How much of a text is predicted."""

    bytes: float
    """That the predicted tokens stand for, in UTF-8."""
    tokens: int

    def __str__(self) -> str:
        return f"{self.bytes:.7g}"


@dataclass(frozen=True)
class LanguageModelling(Kind):
    """Every window of a text, to be predicted token by token.

    Outputs are nats and tokens of each window, shape `(windows, 2)`; labels are the bytes that the
    tokens stand for, shape `(windows,)`.

    Args:
        vocabulary: Which tokens there are.
        window: Tokens of a window.

    Example:
        >>> import torch
        >>> from tawt.corpora.vocabularies import Bytes
        >>> kind = LanguageModelling(Bytes(), window=4)
        >>> outputs = torch.tensor([[math.log(2) * 8, 4.0]])
        >>> kind.losses(outputs, torch.tensor([4.0])).round(decimals=4)
        tensor([1.3863])
        >>> round(kind.scores(*kind.answers(outputs, torch.tensor([4.0])))["bits_per_byte"], 4)
        2.0
    """

    vocabulary: Vocabulary
    window: int
    metric = "bits_per_byte"
    measure = Measure(lower_is_better=True, unit="bits a byte")
    is_labelled = False
    shares_head = True

    def head(self, width: int) -> nn.Module:
        """Nothing: the output layer is shared by all tasks, and belongs to the representation."""
        del width
        return nn.Identity()

    def losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """Nats a token, of each window; none where no token is asked for."""
        del labels
        nats, tokens = outputs.unbind(-1)
        return nats / tokens.clamp(min=1)

    def answers(self, outputs: Tensor, labels: Tensor) -> tuple[list[Size], list[float]]:
        """The size of each window, and the nats that it took to predict it."""
        nats, tokens = outputs.unbind(-1)
        sizes = zip(labels.tolist(), tokens.tolist(), strict=True)
        return [Size(size, round(count)) for size, count in sizes], nats.tolist()

    def scores(self, gold: Sequence[Size], predicted: Sequence[float]) -> dict[str, float]:
        """Nats a token, its exponential, and bits a byte: of the text as a whole."""
        nats, tokens = math.fsum(predicted), sum(size.tokens for size in gold)
        loss = nats / max(tokens, 1)
        return {
            "loss": loss,
            "perplexity": math.exp(min(loss, _LARGEST)),
            "bits_per_byte": bits_per_byte(nats, math.fsum(size.bytes for size in gold)),
        }

    def example_scores(self, gold: Sequence[Size], predicted: Sequence[float]) -> list[float]:
        """Minus the bits a byte of each window."""
        return [
            -bits_per_byte(nats, size.bytes) for size, nats in zip(gold, predicted, strict=True)
        ]


def bits_per_byte(nats: float, size: float) -> float:
    """Bits that it takes to write down a byte of the text; none of no text.

    Example:
        >>> bits_per_byte(math.log(2) * 16, 8)
        2.0
    """
    return nats / math.log(2) / size if size > 0 else 0.0
