"""TRL's `SFTTrainer` with weights; `make test-integrations` has TRL."""

import re
from pathlib import Path

import datasets
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import PreTrainedTokenizerFast

from tawt import Fixed
from tawt.errors import ConfigError
from tawt.integrations.transformers import Weighted
from tests.integrations.transformers import tiny

trl = pytest.importorskip("trl")


class WeightedSFTTrainer(Weighted, trl.SFTTrainer):
    pass


def words(numbers):
    return " ".join(f"w{number}" for number in numbers)


def texts(examples):
    return datasets.Dataset.from_list([{"text": words(e["input_ids"])} for e in examples])


def tokenizer():
    known = {"<pad>": 0, "<s>": 1, "</s>": 2, **{f"w{n}": n for n in range(3, tiny.VOCABULARY)}}
    made = Tokenizer(WordLevel(known, unk_token="<pad>"))
    made.pre_tokenizer = Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )


def trainer(folder, *, settings=None, **options):
    arguments = {"max_length": 32, "bf16": False, **(settings or {})}
    defaults = {
        "model": tiny.model(),
        "args": tiny.arguments(folder, kind=trl.SFTConfig, **arguments),
        "processing_class": tokenizer(),
        "train_dataset": {name: texts(part) for name, part in tiny.data().items()},
        "target_dataset": texts(tiny.target()),
        "weights": tiny.weighting(),
        "update_every": 2,
    }
    return WeightedSFTTrainer(**{**defaults, **options})


def test_weights_are_learned_from_texts(tmp_path):
    """Each dataset is tokenised by the trainer itself, whose metrics count training alone."""
    found = trainer(tmp_path, eval_dataset=texts(tiny.target()))
    assert found.train_dataset.sizes == {"near": 40, "far": 24}
    assert {"input_ids", "labels"} <= found.train_dataset[0].keys()
    assert "input_ids" in found.eval_dataset.column_names
    found.train()
    assert found.weights["near"] > 0.8
    assert found.weights.skipped == 0
    lines = [entry for entry in found.state.log_history if "loss" in entry]
    assert [entry["step"] for entry in lines] == list(range(1, 9))
    assert all("mean_token_accuracy" in entry for entry in lines)
    shown = [entry for entry in found.state.log_history if "weight/near" in entry]
    assert not any("entropy" in entry for entry in shown)
    assert "eval_loss" in found.evaluate()


def test_what_the_trainer_counts_is_of_training_alone(tmp_path):
    held = trainer(tmp_path, weights=Fixed(["near", "far"]), target_dataset=None)
    held.train()
    frozen = tiny.weighting(rule=tiny.still())
    learned = trainer(tmp_path, weights=frozen)
    learned.train()
    assert learned.weights.history.updates == 4

    def counted(found):
        return [entry for entry in found.state.log_history if "loss" in entry]

    assert counted(learned) == counted(held)


@pytest.mark.parametrize("packing", [False, True])
def test_a_resumed_training_ends_the_same(tmp_path, packing):
    settings = {"save_strategy": "steps", "save_steps": 3, "max_steps": 6, "packing": packing}
    settings |= {"gradient_accumulation_steps": 2, "logging_steps": 1}
    if packing:
        settings |= {"packing_strategy": "wrapped"}
    whole = trainer(tmp_path, settings=settings)
    if packing:
        assert whole.train_dataset.sizes["near"] < 40
    whole.train()
    again = trainer(tmp_path / "again", settings=settings)
    again.train(resume_from_checkpoint=str(tmp_path / "checkpoint-3"))
    assert again.weights.state_dict() == whole.weights.state_dict()
    for one, other in zip(whole.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_evaluation_that_packs_otherwise_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="`eval_packing` must be as `packing` is"):
        trainer(tmp_path, settings={"packing": True, "eval_packing": False})


def test_the_code_of_the_documentation(tmp_path, monkeypatch):
    """The block about TRL, with the names that the page's first block made."""
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[3] / "docs" / "trainer.md"
    block = next(
        text
        for text in re.findall(r"^```py\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
        if "SFTTrainer" in text
    )
    names = {
        "model": tiny.model(),
        "tokenizer": tokenizer(),
        **{name: texts(part) for name, part in (*tiny.data().items(), ("goal", tiny.target()))},
    }
    exec(compile(block, "docs/trainer.md", "exec"), names)
    assert names["trainer"].weights.history.updates > 0
