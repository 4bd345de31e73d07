"""Causal attention without a mask, also where a model is compiled.

Fused kernels of causal attention take no mask. transformers leaves the mask out where it can, but
while it is being compiled it makes one, and with it the slower kernel is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import causal_mask_function, sdpa_mask

if TYPE_CHECKING:
    from torch import Tensor

_NAME = "sdpa_causal"


def causal_attention() -> str:
    """The name of the implementation, which models can be loaded with from now on.

    Example:
        >>> causal_attention()
        'sdpa_causal'
    """
    AttentionInterface.register(_NAME, sdpa_attention_forward)
    AttentionMaskInterface.register(_NAME, _mask_if_needed)
    return _NAME


def _mask_if_needed(*sizes: Any, **given: Any) -> Tensor | None:
    """No mask where attention is causal and nothing else; what "sdpa" has in all other cases.

    transformers passes whatever the architecture asks for; its own function takes it as it is.
    """
    plain = (
        given.get("mask_function", causal_mask_function) is causal_mask_function
        and given.get("attention_mask") is None
        and given.get("local_size") is None
        and given.get("allow_is_causal_skip", True)
        and given.get("q_length") == given.get("kv_length")
        and "q_length" in given
    )
    if plain:
        return None
    mask: Tensor | None = sdpa_mask(*sizes, **given)
    return mask
