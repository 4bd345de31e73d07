"""A training that is resumed ends where an uninterrupted one ends, to the last bit."""

import json

import pytest
import torch
from transformers import TrainerCallback

from tawt.errors import TrainingError
from tests.integrations.transformers import tiny

STEPS = 10
MANY = {"dataloader_num_workers": 2, "gradient_accumulation_steps": 3}


def logged(trainer):
    """All that was logged, but how long it took."""
    return [entry for entry in trainer.state.log_history if "train_runtime" not in entry]


def same(whole, again):
    assert logged(again) == logged(whole)
    assert again.weights.state_dict() == whole.weights.state_dict()
    for one, other in zip(whole.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("settings", "share", "measure", "stops"),
    [
        ({}, 0.3, "fresh batches", [1, 6, 9]),
        (MANY, None, "fresh batches", [3, 6]),
        ({}, 0.3, "training steps", [3]),
        (MANY, None, "training steps", [3]),
    ],
    ids=["plain", "workers and accumulation", "by steps", "by steps, accumulated"],
)
def test_it_ends_with_the_same_weights_losses_and_parameters(
    tmp_path, settings, share, measure, stops
):
    """Dropout on; before and after weights moved, and where an epoch ends."""
    train_dataset = {"near": tiny.data()["near"][:12], "far": tiny.data()["far"][:10]}
    if share is not None:
        train_dataset["goal"] = tiny.target()
        train_dataset["near"] = train_dataset["near"][:2]

    def made(folder):
        return tiny.trainer(
            folder,
            model=tiny.model(attention_dropout=0.2),
            settings={"save_strategy": "steps", "save_steps": 1, "max_steps": STEPS, **settings},
            train_dataset=train_dataset,
            weights=tiny.weighting(target_share=share),
            target_dataset=tiny.target() if share is None else None,
            floor=0.05,
            measure=measure,
        )

    whole = made(tmp_path / "whole")
    whole.train()
    assert whole.weights.history.updates == STEPS // 2
    for stop in stops:
        again = made(tmp_path / f"from {stop}")
        again.train(resume_from_checkpoint=str(tmp_path / "whole" / f"checkpoint-{stop}"))
        same(whole, again)


def test_the_last_checkpoint_is_found(tmp_path):
    settings = {"save_strategy": "steps", "save_steps": 2, "max_steps": 5}
    tiny.trainer(tmp_path, settings=settings).train()
    again = tiny.trainer(tmp_path, settings={**settings, "max_steps": 6})
    again.train(resume_from_checkpoint=True)
    assert again.state.global_step == 6
    assert [update.step for update in again.weights.history] == [2, 4, 6]


class _Moves(TrainerCallback):
    def __init__(self, weights):
        self.weights = weights

    def on_step_end(self, args, state, control, **_):
        if state.global_step == 2:
            self.weights.update(near=0.1, far=0.9)


def test_numbers_that_a_callback_changed_are_restored(tmp_path):
    settings = {"save_strategy": "steps", "save_steps": 3, "max_steps": 6}
    found = []
    for resume in (None, str(tmp_path / "checkpoint-3")):
        weights = {"near": 1.0, "far": 0.0}
        trainer = tiny.trainer(
            tmp_path,
            settings=settings,
            weights=weights,
            target_dataset=None,
            callbacks=[_Moves(weights)],
        )
        trainer.train(resume_from_checkpoint=resume)
        found.append((weights, logged(trainer)[-1]))
    assert found[0] == found[1]
    assert found[0][0] == {"near": 0.1, "far": 0.9}


class _Fills(TrainerCallback):
    """Sets the gradient of the second step."""

    def __init__(self, value):
        self.value = value

    def on_pre_optimizer_step(self, args, state, control, model, **_):
        if state.global_step == 1:
            for parameter in model.parameters():
                parameter.grad.fill_(self.value)


def test_a_gradient_that_is_not_finite_can_be_saved_and_resumed_from(tmp_path):
    """As in mixed precision, weights see the gradient and the optimiser does not."""

    def made(folder):
        trainer = tiny.trainer(
            folder,
            settings={"save_strategy": "steps", "save_steps": 1, "max_steps": 8},
            measure="training steps",
            update_every=4,
            floor=0.2,
            callbacks=[_Fills(float("inf"))],  # called before the weights' own
        )
        trainer.add_callback(_Fills(0.0))  # and after them
        return trainer

    whole = made(tmp_path / "whole")
    whole.train()
    assert whole.weights.history.updates == 2
    for stop in (1, 2, 5):
        again = made(tmp_path / f"from {stop}")
        again.train(resume_from_checkpoint=str(tmp_path / "whole" / f"checkpoint-{stop}"))
        same(whole, again)


def test_epochs_of_another_length_go_on_where_they_were(tmp_path):
    """With twice the accumulation an epoch has half the steps, and the Trainer skips others."""
    settings = {"save_strategy": "steps", "save_steps": 5, "max_steps": 5}
    before = tiny.trainer(tmp_path, settings=settings)
    before.train()
    state = json.loads((tmp_path / "checkpoint-5" / "tawt.json").read_text())
    again = tiny.trainer(
        tmp_path, settings={**settings, "gradient_accumulation_steps": 2, "max_steps": 9}
    )
    trained = []
    original = again.training_step
    again.training_step = lambda model, inputs, *others: (
        trained.append(inputs["input_ids"]) or original(model, inputs, *others)
    )
    again.train(resume_from_checkpoint=str(tmp_path / "checkpoint-5"))
    assert len(trained) == 2 * 4
    assert len({str(batch.tolist()) for batch in trained}) == len(trained)  # no placeholders
    assert again.weights.history.updates == 2 + 2
    assert state["sampler"]["step"] == 5


def test_a_checkpoint_of_another_trainer_is_refused(tmp_path):
    (tmp_path / "checkpoint-1").mkdir()
    with pytest.raises(TrainingError, match=r"has no tawt\.json"):
        tiny.trainer(tmp_path).train(resume_from_checkpoint=str(tmp_path / "checkpoint-1"))


@pytest.mark.parametrize(("text", "said"), [("{", "damaged"), ("{}", "another version")])
def test_a_damaged_state_is_refused(tmp_path, text, said):
    (tmp_path / "checkpoint-1").mkdir()
    (tmp_path / "checkpoint-1" / "tawt.json").write_text(text)
    with pytest.raises(TrainingError, match=said):
        tiny.trainer(tmp_path).train(resume_from_checkpoint=str(tmp_path / "checkpoint-1"))
