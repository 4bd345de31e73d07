"""The sampler in transformers' `Trainer`, whose resume skips batches."""

import json
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader
from transformers import Trainer, TrainerCallback, TrainingArguments

from tawt import MixtureSampler

SIZES = {"a": 13, "b": 40, "c": 6}
EPOCH = 12  # steps, each with its micro-batches


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(1, 1)

    def forward(self, x, labels=None):
        return {"loss": (self.linear(x) - 1).square().mean()}


def examples():
    return [{"x": torch.tensor([float(n)]), "labels": torch.tensor(0)} for n in range(59)]


class Mixed(Trainer):
    """Trains on the sampler's batches and remembers which they were."""

    sampler: MixtureSampler

    def get_train_dataloader(self):
        workers = self.args.dataloader_num_workers
        loader = DataLoader(examples(), batch_sampler=self.sampler, num_workers=workers)
        return self.accelerator.prepare(loader)

    def training_step(self, model, inputs, *others):
        self.seen.append(inputs["x"].flatten().tolist())
        return super().training_step(model, inputs, *others)


class Moves(TrainerCallback):
    """Turns the weights around after five steps, and saves where the sampler is."""

    def __init__(self, weights, sampler):
        self.weights = weights
        self.sampler = sampler

    def on_step_end(self, args, state, control, **_):
        if state.global_step == 5:
            self.weights.update(a=0.0, b=0.5, c=0.5)

    def on_save(self, args, state, control, **_):
        trained = state.global_step * args.gradient_accumulation_steps
        saved = {"sampler": self.sampler.state_dict(step=trained), "weights": self.weights}
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        (folder / "mixture.json").write_text(json.dumps(saved))


def trained(folder, *, workers, accumulation, resume=None):
    weights = {"a": 1.0, "b": 0.0, "c": 0.0}
    sampler = MixtureSampler(SIZES, weights, batch_size=2, steps=EPOCH * accumulation, seed=1)
    if resume is not None:
        saved = json.loads((resume / "mixture.json").read_text())
        weights.update(saved["weights"])
        state = saved["sampler"]
        sampler.load_state_dict(state, skipped=state["step"] - state["begun"])
    arguments = TrainingArguments(
        str(folder),
        num_train_epochs=2,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=accumulation,
        dataloader_num_workers=workers,
        dataloader_pin_memory=False,
        save_steps=1,
        logging_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    moves = Moves(weights, sampler)
    trainer = Mixed(Model(), arguments, train_dataset=examples(), callbacks=[moves])
    trainer.sampler, trainer.seen = sampler, []
    trainer.train(resume_from_checkpoint=None if resume is None else str(resume))
    return trainer.seen


@pytest.mark.parametrize(("workers", "accumulation"), [(0, 1), (2, 2)])
def test_a_resumed_training_takes_the_same_batches(tmp_path, workers, accumulation):
    """Before and after weights moved, while older draws were ahead, and at an epoch's end."""
    how = {"workers": workers, "accumulation": accumulation}
    whole = trained(tmp_path / "whole", **how)
    assert len(whole) == 2 * EPOCH * accumulation
    for stop in (4, 5, 6, EPOCH):
        checkpoint = tmp_path / "whole" / f"checkpoint-{stop}"
        again = trained(tmp_path / f"from {stop}", resume=checkpoint, **how)
        assert again == whole[stop * accumulation :], stop
