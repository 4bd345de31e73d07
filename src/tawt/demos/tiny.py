"""A very small encoder made on the spot, for where no real one can be had.

It knows nothing but the words it is shown: what a model gains from it comes from training alone.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tawt.extras import need

need("text", by=__name__)

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from tawt.streams import derived_seed
from tawt.text.encoding.loading import quietly
from tawt.text.saving import make_readable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_tiny_encoder(
    folder: Path,
    sentences: Iterable[Iterable[str]],
    *,
    vocabulary: int = 2000,
    width: int = 64,
    layers: int = 2,
    seed: int = 0,
) -> Path:
    """A BERT of a few hundred thousand parameters, with a tokenizer for these words.

    Args:
        folder: Where it goes, in Hugging Face form; whole or not at all.
        sentences: Words to make the tokenizer's pieces from.
        vocabulary: Most pieces.
        width: Of the vectors.
        layers: Number of layers.
        seed: Of the parameters.

    Returns:
        The folder, which can be given as an encoder.
    """
    tokenizer = _tokenizer(sentences, vocabulary)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=2 * width,
        max_position_embeddings=256,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "tiny encoder"))
        model = BertModel(config)
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    with quietly():
        model.save_pretrained(part)
    tokenizer.save_pretrained(part)
    make_readable(part)
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    return folder


def _tokenizer(sentences: Iterable[Iterable[str]], vocabulary: int) -> PreTrainedTokenizerFast:
    inner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=False)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary, special_tokens=list(_SPECIAL), show_progress=False
    )
    inner.train_from_iterator((" ".join(words) for words in sentences), trainer)
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, inner.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
