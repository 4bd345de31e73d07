"""Small language models in folders, as others leave them."""

import torch
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

from tawt.corpora.vocabularies import Bytes
from tawt.text.encoding.loading import quietly


def write_causal(folder, *, tokens=320, positions=32, layers=2):
    """GPT-2, with bytes as its tokens."""
    config = GPT2Config(
        vocab_size=tokens,
        n_positions=positions,
        n_embd=16,
        n_layer=layers,
        n_head=2,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        eos_token_id=Bytes().separator,
        bos_token_id=Bytes().separator,
    )
    return _saved(GPT2LMHeadModel, config, folder)


def write_masked(folder):
    """BERT, with bytes as its tokens."""
    config = BertConfig(
        vocab_size=320,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return _saved(BertForMaskedLM, config, folder)


def _saved(kind, config, folder):
    with torch.random.fork_rng(), quietly():
        torch.manual_seed(0)
        kind(config).save_pretrained(folder)
    Bytes().save(folder)
    return folder
