"""φ for text: an encoder, and all that its architecture puts between it and the last layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from tawt.errors import ConfigError
from tawt.text.encoding.loading import OUTPUTS, Level, load_body

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from transformers import PreTrainedModel


_WITH_BODY: tuple[Level, ...] = ("words", "text")


class TextInputs(NamedTuple):
    """A batch of texts as the representation takes it."""

    ids: Tensor
    """Of the pieces, padded, shape `(rows, width)`."""
    lengths: Tensor
    """How many pieces of each row are no padding, shape `(rows,)`."""
    types: Tensor | None
    """Which of two texts a piece belongs to, where the encoder wants to know."""
    level: Level
    """What gets a vector."""


class PieceInputs(NamedTuple):
    """A batch of texts of which some pieces get a vector: the encoder's own."""

    ids: Tensor
    """Of the pieces, padded, shape `(rows, width)`."""
    lengths: Tensor
    """How many pieces of each row are no padding, shape `(rows,)`."""
    places: Tensor
    """Which places of each row are asked for, shape `(rows, asked)`."""


class TextRepresentation(nn.Module):
    """All but the last linear layer of a Hugging Face model for tagging or classification.

    Tasks on words and tasks on whole texts share one encoder; what an architecture has between
    it and the last layer (a pooler, say) is the level's own. Pieces are the encoder's own vectors.

    Args:
        encoder: A hub name, a folder, or `package:NAME`.
        levels: Which of them are needed.

    Raises:
        ConfigError: The encoder cannot be had, or cannot do this.
    """

    def __init__(self, encoder: str, *, levels: Collection[Level]) -> None:
        super().__init__()
        self.encoder = encoder
        # Pieces need no model of their own, but one that has the encoder.
        wanted = [level for level in _WITH_BODY if level in levels] or ["words"]
        bodies: dict[Level, PreTrainedModel] = {
            level: load_body(encoder, level) for level in wanted
        }
        self.widths: dict[Level, int] = {
            level: _take_off_head(body, encoder) for level, body in bodies.items()
        }
        if len(bodies) == 2:
            # The model for whole texts may have a pooler in its encoder; the other has no use for
            # one, and no quarrel with it.
            prefix = bodies["text"].base_model_prefix
            _check_can_be_shared(bodies, prefix, encoder)
            setattr(bodies["words"], prefix, getattr(bodies["text"], prefix))
        self.bodies = nn.ModuleDict({str(level): body for level, body in bodies.items()})
        if "pieces" in levels:
            self.widths["pieces"] = int(self.base.config.hidden_size)

    def body(self, level: Level) -> PreTrainedModel:
        """The architecture's own model, without its last layer."""
        found: PreTrainedModel = self.bodies[level]  # type: ignore[assignment]
        return found

    @property
    def base(self) -> PreTrainedModel:
        """The encoder itself, which all levels share."""
        body: Any = next(iter(self.bodies.values()))
        found: PreTrainedModel = body.base_model
        return found

    @property
    def embeddings(self) -> nn.Module:
        """The encoder's table of pieces."""
        found: nn.Module = self.base.get_input_embeddings()
        return found

    def forward(self, inputs: TextInputs | PieceInputs) -> Tensor:
        """Vectors: shape `(rows, width, size)` for words, `(rows, size)` for texts.

        For pieces `(rows, asked, size)`.
        """
        places = torch.arange(inputs.ids.shape[1], device=inputs.ids.device)
        mask = (places < inputs.lengths[:, None]).long()  # XLNet subtracts it
        if isinstance(inputs, PieceInputs):
            states: Tensor = self.base(input_ids=inputs.ids, attention_mask=mask)[0]
            return states.gather(1, inputs.places[:, :, None].expand(-1, -1, states.shape[2]))
        ids, _, types, level = inputs
        extra = {} if types is None else {"token_type_ids": types}
        found = self.bodies[level](input_ids=ids, attention_mask=mask, **extra)
        vectors: Tensor = found.logits
        return vectors


def _check_can_be_shared(
    bodies: Mapping[Level, PreTrainedModel], prefix: str, encoder: str
) -> None:
    words, text = (type(getattr(body, prefix)).__name__ for body in bodies.values())
    if words != text:
        raise ConfigError(
            f"The encoder {encoder!r} reads words with a {words} and whole texts with a {text}, "
            "which has a decoder too, so tasks on words and on texts cannot share it. Leave out "
            "one or the other, or choose an encoder such as BERT, RoBERTa, DeBERTa or ModernBERT."
        )


def _take_off_head(body: PreTrainedModel, encoder: str) -> int:
    """Replace the last linear layer by nothing; returns the size of what it was given."""
    named = [
        (name, module)
        for name, module in body.named_modules()
        if isinstance(module, nn.Linear) and module.out_features == OUTPUTS
    ]
    if not named:
        raise ConfigError(
            f"The encoder {encoder!r} ({type(body).__name__}) does not end in a linear layer, so "
            "heads cannot take its place; choose another encoder."
        )
    name, head = named[-1]
    if head.bias is None:
        raise ConfigError(
            f"The encoder {encoder!r} ({type(body).__name__}) ends in a layer without a bias, as "
            "left-to-right models do; what heads learn could not be saved in its form. Choose an "
            "encoder such as BERT, RoBERTa, DeBERTa or ModernBERT."
        )
    body.set_submodule(name, nn.Identity())
    body.head_name = name
    return head.in_features
