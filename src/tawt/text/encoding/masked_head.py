"""From an encoder's vectors to the pieces that stood there, as masked language models do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutput

from tawt.errors import ConfigError
from tawt.modality.said import DATA_LOG
from tawt.text.encoding.loading import load_masked_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from tawt.text.encoding.representation import TextRepresentation


class MaskedHead(nn.Module):
    """The architecture's masked language model without its encoder, tied to one that is shared.

    Its own are the layers between encoder and vocabulary, those of the checkpoint where it has
    them, and the bias of each piece. The matrix that it ends in is the representation's table of
    pieces: a parameter of the representation, not of this head.

    Args:
        representation: Whose table of pieces it ends in.

    Raises:
        ConfigError: The architecture has no such model, or one that cannot be put on it.
    """

    def __init__(self, representation: TextRepresentation) -> None:
        super().__init__()
        encoder = representation.encoder
        model, is_trained = load_masked_model(encoder)
        name, output = _output_layer(model, encoder)
        if output.weight is model.get_input_embeddings().weight:
            model.set_submodule(name, TiedLayer(representation.embeddings, bias=output.bias))
        setattr(model, model.base_model_prefix, _Given())
        self.model = model
        _check_fits(self, representation, encoder)
        if not is_trained:
            DATA_LOG.warning(
                "The encoder %r comes without a head that predicts masked words; a new one is "
                "trained.",
                encoder,
            )

    def forward(self, vectors: Tensor) -> Tensor:
        """A number for every piece of the vocabulary, shape `(rows, asked, pieces)`.

        Args:
            vectors: The encoder's, shape `(rows, asked, size)`.
        """
        found: Tensor = self.model(inputs_embeds=vectors).logits
        return found


class TiedLayer(nn.Module):
    """A linear layer whose matrix is the table of an embedding that belongs to another module.

    Args:
        embedding: Looked at whenever the layer is used; no part of this module.
        bias: One number for each row of the table, if there is one.

    Example:
        >>> table = nn.Embedding(5, 2)
        >>> layer = TiedLayer(table, bias=nn.Parameter(torch.zeros(5)))
        >>> layer(torch.ones(3, 2)).shape, [tuple(p.shape) for p in layer.parameters()]
        (torch.Size([3, 5]), [(5,)])
    """

    def __init__(self, embedding: nn.Module, *, bias: nn.Parameter | None) -> None:
        super().__init__()
        self._embedding = (embedding,)  # in a tuple, which does not make it a part
        self.bias = bias

    def forward(self, vectors: Tensor) -> Tensor:
        """Inner products with every row of the table, and the bias."""
        [embedding] = self._embedding
        table: Any = embedding.weight
        return F.linear(vectors, table, self.bias)


class _Given(nn.Module):
    """Stands where a model has its encoder, whose vectors are there already."""

    def forward(self, *_: object, inputs_embeds: Tensor, **__: object) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=inputs_embeds)  # type: ignore[arg-type]


def _output_layer(model: PreTrainedModel, encoder: str) -> tuple[str, nn.Linear]:
    """The layer that ends in the vocabulary, and its name."""
    wanted = model.get_output_embeddings()
    for name, module in model.named_modules():
        if module is wanted and isinstance(module, nn.Linear):
            return name, module
    raise _unfit(model, encoder, "does not end in a linear layer over its vocabulary")


@torch.no_grad()
def _check_fits(head: MaskedHead, representation: TextRepresentation, encoder: str) -> None:
    vectors = torch.zeros(1, 1, representation.widths["pieces"])
    try:
        found = head(vectors)
    except Exception as error:  # architectures may want anything else of their encoder
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise _unfit(
            head.model, encoder, f"wants more than the encoder's vectors ({reason})"
        ) from (error)
    table: Any = representation.embeddings
    if found.shape[-1] != len(table.weight):
        raise _unfit(head.model, encoder, "has another vocabulary than its encoder")


def _unfit(model: nn.Module, encoder: str, reason: str) -> ConfigError:
    return ConfigError(
        f"The encoder {encoder!r} cannot learn from unlabelled text: its masked language model "
        f"({type(model).__name__}) {reason}. Choose an encoder such as BERT, RoBERTa, MPNet or "
        "ModernBERT, or leave the unlabelled tasks out.",
        place=("model", "encoder"),
    )
