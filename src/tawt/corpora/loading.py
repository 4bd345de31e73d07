"""The language model of a configuration: one to go on with, or one from nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_MASKED_LM_MAPPING,
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    BertConfig,
    GenerationMixin,
    GPT2Config,
)

from tawt.corpora.attention import causal_attention
from tawt.errors import ConfigError, inside
from tawt.modality.said import DATA_LOG
from tawt.text.encoding.finding import located, not_found
from tawt.text.encoding.loading import loading, positions, quietly

if TYPE_CHECKING:
    from collections.abc import Mapping

    from transformers import PretrainedConfig, PreTrainedModel

    from tawt.corpora.model_sections import LanguageModelConfig, Objective
    from tawt.corpora.vocabularies import Vocabulary

CLASSES: Mapping[Objective, Any] = {
    "causal": AutoModelForCausalLM,
    "masked": AutoModelForMaskedLM,
}
_ARCHITECTURES: Mapping[Objective, Any] = {
    "causal": MODEL_FOR_CAUSAL_LM_MAPPING,
    "masked": MODEL_FOR_MASKED_LM_MAPPING,
}
_WHAT = "language model"
_ROUND = 64  # vocabularies of a multiple of it are multiplied faster on GPUs
_TOLERANCE = 1e-4  # of logits: later tokens change those of earlier ones by rounding at most


def check_language_model(section: LanguageModelConfig, *, window: int) -> None:
    """Refuse, before text is tokenised, what the configuration of a model says of it already.

    Args:
        section: The section `model` of a configuration.
        window: Most tokens that the model sees at once.

    Raises:
        ConfigError: There is no such model, it is for another objective, or sees fewer tokens.
    """
    for field, name in (("checkpoint", section.checkpoint), ("config", section.config)):
        if name is not None:
            config = _read_config(name, section.objective, field=field)
            _check_window(name, config, window)


def load_language_model(
    section: LanguageModelConfig, *, vocabulary: Vocabulary, window: int
) -> PreTrainedModel:
    """The model of a section, in float32, for windows of so many tokens.

    Args:
        section: The section `model` of a configuration.
        vocabulary: Which tokens there are.
        window: Most tokens that the model sees at once.

    Raises:
        ConfigError: It cannot be had, or does not fit vocabulary or window.
    """
    if section.checkpoint is not None:
        return _pretrained(section.checkpoint, section.objective, vocabulary, window)
    if section.config is not None:
        config = _config_of(section.config, vocabulary, section.objective)
        _check_window(section.config, config, window)
    else:
        config = _small(section, vocabulary, window)
    with quietly():
        made: PreTrainedModel = CLASSES[section.objective].from_config(
            config,
            attn_implementation=_attention(section.objective),
            dtype=torch.float32,
            trust_remote_code=False,
        )
    if isinstance(made, GenerationMixin):
        # Rows that round a vocabulary up stand for no text, and some tokenizers fail on them.
        rows = range(vocabulary.size, made.config.vocab_size)
        made.generation_config.suppress_tokens = list(rows) or None
    return made


def _attention(objective: Objective) -> str:
    return causal_attention() if objective == "causal" else "sdpa"


def _rows(vocabulary: Vocabulary, objective: Objective) -> int:
    """How many tokens a new model has; one that fills masks could choose those that are no text."""
    return vocabulary.size if objective == "masked" else -(-vocabulary.size // _ROUND) * _ROUND


def _small(section: LanguageModelConfig, vocabulary: Vocabulary, window: int) -> PretrainedConfig:
    size = _rows(vocabulary, section.objective)
    if section.objective == "masked":
        return BertConfig(
            vocab_size=size,
            hidden_size=section.width,
            num_hidden_layers=section.layers,
            num_attention_heads=section.heads,
            intermediate_size=4 * section.width,
            max_position_embeddings=window,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            pad_token_id=vocabulary.padding,
        )
    return GPT2Config(
        vocab_size=size,
        n_positions=window,
        n_embd=section.width,
        n_layer=section.layers,
        n_head=section.heads,
        activation_function="gelu_pytorch_tanh",  # GPT-2's own, in one kernel instead of eight
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=vocabulary.separator,
        eos_token_id=vocabulary.separator,
    )


def _config_of(name: str, vocabulary: Vocabulary, objective: Objective) -> PretrainedConfig:
    """An architecture, with a vocabulary of ours."""
    config = _read_config(name, objective, field="config")
    config.vocab_size = _rows(vocabulary, objective)
    config.bos_token_id = config.eos_token_id = vocabulary.separator
    # Causal models need no padding, and what is given as such would never be learned.
    config.pad_token_id = vocabulary.padding if objective == "masked" else None
    return config


def _read_config(name: str, objective: Objective, *, field: str) -> PretrainedConfig:
    with inside("model", field), quietly(), loading(name, what=_WHAT):
        place = located(name, what=_WHAT)
        config: PretrainedConfig = AutoConfig.from_pretrained(place, trust_remote_code=False)
    if type(config) not in _ARCHITECTURES[objective]:
        raise _wrong_objective(name, objective)
    return config


def _pretrained(
    name: str, objective: Objective, vocabulary: Vocabulary, window: int
) -> PreTrainedModel:
    _read_config(name, objective, field="checkpoint")
    with inside("model", "checkpoint"), quietly(), loading(name, what=_WHAT):
        place = located(name, what=_WHAT)
        model: PreTrainedModel
        model, found = CLASSES[objective].from_pretrained(
            place,
            dtype=torch.float32,
            use_safetensors=True,  # anything else is a pickle
            trust_remote_code=False,
            attn_implementation=_attention(objective),
            output_loading_info=True,
        )
    _check_is_trained(name, model, found)
    _check_window(name, model.config, window)
    embeddings: Any = model.get_input_embeddings()
    rows = embeddings.weight.shape[0]
    if vocabulary.size > rows:
        raise ConfigError(
            f"The tokenizer has {vocabulary.size} tokens, and the language model {name!r} knows "
            f"{rows}; leave `data.tokenizer` out, and that of the model is used.",
            place=("data", "tokenizer"),
        )
    if objective == "causal":
        _check_causal(name, model)
    return model


def _check_is_trained(name: str, model: PreTrainedModel, found: Mapping[str, Any]) -> None:
    """Refuse a body without parameters; say so where the output layer has none."""
    missing = sorted(found["missing_keys"])
    prefix = f"{model.base_model_prefix}."
    body = [key for key in missing if key.startswith(prefix) and ".pooler." not in key]
    if body:
        error = not_found(
            name, f"its model.safetensors has no parameters for {body[0]}", what=_WHAT
        )
        raise error.inside("model", "checkpoint")
    if missing:
        DATA_LOG.warning(
            "The language model %r comes without an output layer (%s); a new one is trained.",
            name,
            missing[0],
        )


def _check_window(name: str, config: PretrainedConfig, window: int) -> None:
    most = positions(config)
    if most is not None and window > most:
        raise ConfigError(
            f"`data.window` is {window}, and the language model {name!r} sees at most {most} "
            f"tokens at once; set it to {most} or less.",
            place=("data", "window"),
        )


@torch.no_grad()
def _check_causal(name: str, model: PreTrainedModel) -> None:
    """Refuse a model that sees the tokens it is to predict: an encoder taken for a decoder."""
    tokens = torch.arange(1, 9)[None].expand(2, -1).clone()
    tokens[1, 4:] += 8
    one, other = model.eval()(input_ids=tokens).logits[:, :4]
    if (one - other).abs().max() > _TOLERANCE * one.abs().max():
        raise _wrong_objective(name, "causal")


def _wrong_objective(name: str, objective: Objective) -> ConfigError:
    other = "masked" if objective == "causal" else "causal"
    return ConfigError(
        f"{name!r} is no {objective} language model; set `model.objective` to {other}, or choose "
        "another model.",
        place=("model", "objective"),
    )
