"""Attention without a mask answers as attention with one."""

import pytest
import torch
from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig, MistralConfig

from tawt.corpora.attention import causal_attention

SMALL = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}


@pytest.mark.parametrize(
    "config",
    [
        GPT2Config(vocab_size=40, n_embd=16, n_layer=2, n_head=2, n_positions=24),
        LlamaConfig(**SMALL, intermediate_size=32, num_key_value_heads=2),
        MistralConfig(**SMALL, intermediate_size=32, num_key_value_heads=2, sliding_window=4),
    ],
    ids=["gpt2", "llama", "mistral with a sliding window"],
)
@pytest.mark.parametrize("padded", [False, True])
def test_answers_are_those_of_transformers_own_attention(config, padded):
    torch.manual_seed(0)
    plain = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    ours = AutoModelForCausalLM.from_config(config, attn_implementation=causal_attention()).eval()
    ours.load_state_dict(plain.state_dict())
    tokens = torch.randint(40, (3, 20))
    mask = None
    if padded:
        mask = torch.ones(3, 20, dtype=torch.long)
        mask[1, :7] = 0
    with torch.no_grad():
        wanted = plain(input_ids=tokens, attention_mask=mask).logits
        found = ours(input_ids=tokens, attention_mask=mask).logits
    seen = slice(None) if mask is None else mask.bool()
    torch.testing.assert_close(found[seen], wanted[seen], atol=1e-5, rtol=1e-4)


def test_generating_with_a_cache_answers_alike():
    config = GPT2Config(vocab_size=40, n_embd=16, n_layer=2, n_head=2, n_positions=64)
    torch.manual_seed(0)
    plain = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    ours = AutoModelForCausalLM.from_config(config, attn_implementation=causal_attention()).eval()
    ours.load_state_dict(plain.state_dict())
    start = torch.randint(40, (2, 5))
    given = {"max_new_tokens": 10, "do_sample": False, "pad_token_id": 0}
    assert torch.equal(plain.generate(start, **given), ours.generate(start, **given))
