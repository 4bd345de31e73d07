"""A language model of a few thousand parameters, and corpora that it can learn."""

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM, TrainingArguments

from tawt import TargetAware, UpdateRule
from tawt.integrations.transformers import WeightedTrainer

VOCABULARY = 32


def model(seed=0, **settings):
    torch.manual_seed(seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=32,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            **settings,
        )
    )


def corpus(count, *, step, seed, longest=12):
    """Sequences that count up by `step`; the shortest have half the length of the longest."""
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        length = int(draw.integers(longest // 2, longest + 1))
        start = int(draw.integers(VOCABULARY - 3))
        found.append(
            {"input_ids": [(start + step * n) % (VOCABULARY - 3) + 3 for n in range(length)]}
        )
    return found


def padded(examples):
    """A collator: labels are the inputs, and padding is not counted."""
    longest = max(len(example["input_ids"]) for example in examples)
    rows = [[*e["input_ids"], *[0] * (longest - len(e["input_ids"]))] for e in examples]
    inputs = torch.tensor(rows)
    labels = inputs.masked_fill(inputs == 0, -100)
    return {"input_ids": inputs, "attention_mask": (inputs != 0).long(), "labels": labels}


def data():
    return {
        "near": corpus(40, step=1, seed=1),
        "far": corpus(24, step=5, seed=2, longest=24),
    }


def target():
    return corpus(20, step=1, seed=3)


def arguments(folder, *, kind=TrainingArguments, **settings):
    defaults = {
        "per_device_train_batch_size": 4,
        "learning_rate": 5e-3,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": [],
        "use_cpu": True,
        "disable_tqdm": True,
        "max_steps": 8,
        "dataloader_pin_memory": False,
    }
    return kind(str(folder), **{**defaults, **settings})


def weighting(**settings):
    return TargetAware(
        **{"sources": ["near", "far"], "target": "goal", "target_share": None, **settings}
    )


def still():
    """A rule by which weights are measured and stay."""
    return UpdateRule(step_size=1e-30)


def trainer(folder, *, kind=WeightedTrainer, settings=None, **options):
    defaults = {
        "model": model(),
        "args": arguments(folder, **(settings or {})),
        "data_collator": padded,
        "train_dataset": data(),
        "target_dataset": target(),
        "weights": weighting(),
        "update_every": 2,
    }
    return kind(**{**defaults, **options})
