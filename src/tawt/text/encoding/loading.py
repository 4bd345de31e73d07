"""Loading an encoder and its tokenizer, quietly, and never from a pickle."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Literal

import torch
from tokenizers import normalizers, pre_tokenizers
from transformers import (
    MODEL_FOR_MASKED_LM_MAPPING,
    AutoConfig,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
)
from transformers.utils import logging as transformers_logging

from tawt.errors import ConfigError
from tawt.text.encoding.finding import is_hub_name, located, not_downloaded, not_found
from tawt.text.online import hub_if_reachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

Level = Literal["words", "text", "pieces"]
"""What gets a vector: every word, the text as a whole, or pieces that are asked for."""

OUTPUTS = 1009
"""Outputs of the layer to be taken off, a number that no other layer has."""

_CLASSES = {
    "words": AutoModelForTokenClassification,
    "text": AutoModelForSequenceClassification,
}

# RoBERTa and its kin, and MPNet, count places from the padding's id on.
_COUNT_FROM_PADDING = (
    *("roberta", "camembert", "mpnet", "longformer"),
    *("data2vec-text", "ibert", "luke", "markuplm", "xmod"),
)


def load_tokenizer(encoder: str) -> PreTrainedTokenizerFast:
    """The encoder's fast tokenizer, ready for words that are split already.

    Args:
        encoder: A hub name, a folder, or `package:NAME`.

    Raises:
        ConfigError: There is none, or it is not a fast one.
    """
    place = located(encoder)
    with quietly(), loading(encoder):
        tokenizer: Any = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
        if not tokenizer.is_fast:
            raise ConfigError(
                f"The encoder {encoder!r} has no fast tokenizer (tokenizer.json), which is needed "
                "to know which word a piece belongs to; convert it, or choose another encoder."
            )
        if set(tokenizer.get_vocab().values()) <= set(tokenizer.all_special_ids):
            raise not_found(encoder, "it comes without a tokenizer")
        if _needs_prefix_space(tokenizer):
            # Byte-level tokenizers tell a word's first piece by the blank before it.
            tokenizer = AutoTokenizer.from_pretrained(
                place, add_prefix_space=True, trust_remote_code=False
            )
            _put_blank_before_words(tokenizer.backend_tokenizer)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    found: PreTrainedTokenizerFast = tokenizer
    return found


def load_body(encoder: str, level: Level) -> PreTrainedModel:
    """The architecture's own model for the level, in float32, with `OUTPUTS` outputs.

    Args:
        encoder: A hub name, a folder, or `package:NAME`.
        level: What gets a vector: "words" or "text".

    Raises:
        ConfigError: It cannot be had, or has no such model.
    """
    body: PreTrainedModel
    place = located(encoder)
    with quietly(), loading(encoder):
        body, found = _CLASSES[level].from_pretrained(
            place,
            num_labels=OUTPUTS,
            dtype=torch.float32,
            use_safetensors=True,  # anything else is a pickle
            ignore_mismatched_sizes=True,  # a checkpoint may bring a head of its own
            trust_remote_code=False,
            output_loading_info=True,
        )
        _check_is_trained(body, found, encoder)
        _check_can_read(body, found, encoder)
    return body


def load_masked_model(encoder: str) -> tuple[PreTrainedModel, bool]:
    """The architecture's own masked language model in float32, and whether its head is trained.

    A checkpoint without such a head gets a new one.

    Args:
        encoder: A hub name, a folder, or `package:NAME`.

    Raises:
        ConfigError: It cannot be had, or the architecture has no such model.
    """
    place = located(encoder)
    model: PreTrainedModel
    with quietly(), loading(encoder):
        config = AutoConfig.from_pretrained(place, trust_remote_code=False)
        if type(config) not in MODEL_FOR_MASKED_LM_MAPPING:
            raise ConfigError(
                f"The encoder {encoder!r} ({config.model_type}) has no masked language model, so "
                "it cannot learn from unlabelled text; choose an encoder such as BERT, RoBERTa, "
                "MPNet or ModernBERT, or leave the unlabelled tasks out."
            )
        model, found = AutoModelForMaskedLM.from_pretrained(
            place,
            dtype=torch.float32,
            use_safetensors=True,  # anything else is a pickle
            trust_remote_code=False,
            output_loading_info=True,
        )
    prefix = f"{model.base_model_prefix}."
    return model, all(name.startswith(prefix) for name in found["missing_keys"])


def longest_input(encoder: str) -> int | None:
    """Most pieces that an encoder can take, if it says.

    Args:
        encoder: A hub name, a folder, or `package:NAME`.
    """
    place = located(encoder)
    with quietly(), loading(encoder):
        config = AutoConfig.from_pretrained(place, trust_remote_code=False)
        return positions(config)


def width_of(encoder: str) -> int | None:
    """The width of an encoder's vectors, if it says.

    Args:
        encoder: A hub name, a folder, or `package:NAME`.
    """
    place = located(encoder)
    with quietly(), loading(encoder):
        width: int | None = getattr(
            AutoConfig.from_pretrained(place, trust_remote_code=False), "hidden_size", None
        )
    return width


def positions(config: PretrainedConfig) -> int | None:
    """How many places an architecture with this configuration knows, if it says.

    Example:
        >>> from transformers import BertConfig, RobertaConfig
        >>> positions(BertConfig()), positions(RobertaConfig(max_position_embeddings=514))
        (512, 512)
    """
    known: int | None = getattr(config, "max_position_embeddings", None)
    if known is None or known <= 0:
        return None
    kind = str(getattr(config, "model_type", ""))
    offset = any(name in kind for name in _COUNT_FROM_PADDING)
    padding: int = getattr(config, "pad_token_id", None) or 0
    return known - padding - 1 if offset else known


def _check_is_trained(body: PreTrainedModel, found: Mapping[str, Any], encoder: str) -> None:
    """Refuse weights that the encoder, as it is configured, could not take up."""
    prefix = f"{body.base_model_prefix}."
    own = {name for name in body.state_dict() if name.startswith(prefix)}
    misshapen = sorted(own & {name for name, *_ in found["mismatched_keys"]})
    if misshapen:
        raise not_found(encoder, f"{misshapen[0]} has another shape than its config.json says")
    if own and own <= set(found["missing_keys"]):
        raise not_found(encoder, f"its model.safetensors is of no {type(body).__name__}")


def _check_can_read(body: PreTrainedModel, found: Mapping[str, Any], encoder: str) -> None:
    """Refuse what would load, and fail (or answer at random) when it is given a text."""
    base, named = body.base_model, f"The encoder {encoder!r} ({type(body).__name__})"
    without = not body.config.is_encoder_decoder or any(
        name.startswith(f"{body.base_model_prefix}.decoder.") for name in found["missing_keys"]
    )
    if hasattr(base, "encoder") and hasattr(base, "decoder") and without:
        raise ConfigError(
            f"{named} needs a decoder, and the checkpoint has none; choose an encoder such as "
            "BERT, RoBERTa, DeBERTa or ModernBERT."
        )
    languages = getattr(body.config, "languages", None)
    if languages and getattr(body.config, "default_language", "none needed") is None:
        raise ConfigError(
            f"{named} must be told a language; set `default_language` in its config.json to one "
            f"of {', '.join(languages[:20])}."
        )


def _needs_prefix_space(tokenizer: Any) -> bool:
    # A sequence's parts are only to be seen in its repr.
    return "ByteLevel(add_prefix_space=False" in repr(tokenizer.backend_tokenizer.pre_tokenizer)


def _put_blank_before_words(backend: Any) -> None:
    """Where the tokenizer's class did not heed `add_prefix_space`."""
    if isinstance(backend.pre_tokenizer, pre_tokenizers.ByteLevel):
        backend.pre_tokenizer.add_prefix_space = True
    else:
        known = [] if backend.normalizer is None else [backend.normalizer]
        backend.normalizer = normalizers.Sequence([*known, normalizers.Prepend(" ")])


@contextlib.contextmanager
def loading(encoder: str, *, what: str = "encoder") -> Iterator[None]:
    """Say what a library's exceptions mean; ask the hub for what only the hub has.

    Args:
        encoder: A hub name, a folder, or `package:NAME`, which is loaded within.
        what: It is, as errors are to call it.
    """
    unreachable = None
    try:
        with contextlib.ExitStack() as stack:
            if is_hub_name(encoder):
                unreachable = stack.enter_context(hub_if_reachable())
            yield
    except ConfigError:
        raise
    except Exception as error:  # a broken file makes the libraries raise anything
        if unreachable is not None:
            raise not_downloaded(encoder, unreachable, what=what) from error
        reason = " ".join(str(error).split())[:300].rstrip(". ") or type(error).__name__
        raise not_found(encoder, reason, what=what) from error


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Without the library's remarks on layers that are new, which here they are meant to be."""
    level, bars = (
        transformers_logging.get_verbosity(),
        transformers_logging.is_progress_bar_enabled(),
    )
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(level)
        if bars:
            transformers_logging.enable_progress_bar()
