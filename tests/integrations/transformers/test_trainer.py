"""The adapter in the real Trainer: what is drawn, logged and left alone."""

from collections import Counter

import datasets
import pytest
import torch
from transformers import Trainer, TrainerCallback

from tawt import AdamDiagonal, CurvatureWeighted, Fixed, UpdateRule
from tawt.integrations.transformers import Weighted
from tawt.mixture.indexed import Indexed
from tests.integrations.transformers import tiny


class _Logs(TrainerCallback):
    """Stands for what the Trainer reports to."""

    def __init__(self):
        self.lines = []

    def on_log(self, args, state, control, logs, **_):
        self.lines.append((state.global_step, dict(logs)))


def test_weights_move_towards_the_source_that_helps(tmp_path):
    trainer = tiny.trainer(tmp_path, settings={"max_steps": 12})
    trainer.train()
    assert trainer.weights["near"] > 0.8
    assert [update.step for update in trainer.weights.history] == [2, 4, 6, 8, 10, 12]
    assert trainer.weights.skipped == 0


def test_weights_are_logged_beside_what_the_trainer_logs(tmp_path):
    logs = _Logs()
    trainer = tiny.trainer(tmp_path, settings={"max_steps": 4}, callbacks=[logs])
    trainer.train()
    losses = [entry["step"] for entry in trainer.state.log_history if "loss" in entry]
    assert losses == [1, 2, 3, 4]  # none is lost where weights are logged in the same step
    shown = [entry for entry in trainer.state.log_history if "weight/near" in entry]
    assert [entry["step"] for entry in shown] == [0, 2, 4]
    for entry, update in zip(shown[1:], trainer.weights.history, strict=True):
        assert entry["weight/far"] == update.weights["far"]
        assert entry["alignment/far"] == update.alignments["far"]
    assert [step for step, line in logs.lines if "weight/near" in line] == [0, 2, 4]


@pytest.mark.parametrize(
    "weights",
    [Fixed(["near", "far"], initial={"near": 0.25, "far": 0.75}), {"near": 1, "far": 3}],
    ids=["Fixed", "numbers"],
)
def test_weights_that_are_held_draw_by_themselves(tmp_path, weights):
    trainer = tiny.trainer(tmp_path, weights=weights, target_dataset=None)
    known = {tuple(e["input_ids"]): name for name, part in tiny.data().items() for e in part}
    drawn = Counter()
    for _ in range(20):
        for batch in trainer.get_train_dataloader():
            tasks = {known[tuple(row[row != 0].tolist())] for row in batch["input_ids"]}
            drawn.update(tasks)
            assert len(tasks) == 1
        break
    assert drawn["far"] > drawn["near"]
    trainer.train()
    assert trainer.state.global_step == 8


def test_any_subclass_of_the_trainer_can_be_weighted(tmp_path):
    """Its own loss is what is trained and measured."""

    class Doubled(Trainer):
        calls = 0

        def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
            self.calls += 1
            return 2 * super().compute_loss(model, inputs, num_items_in_batch=num_items_in_batch)

    class WeightedDoubled(Weighted, Doubled):
        pass

    plain = tiny.trainer(tmp_path, settings={"max_steps": 2})
    doubled = tiny.trainer(tmp_path, kind=WeightedDoubled, settings={"max_steps": 2})
    plain.train()
    doubled.train()
    assert doubled.calls == 2 + 3
    once, twice = plain.weights.history[0], doubled.weights.history[0]
    assert twice.target_norm == pytest.approx(2 * once.target_norm, rel=0.05)


def test_datasets_of_the_hub_are_taken_with_columns_that_the_model_does_not_know(tmp_path):
    parts = {
        name: datasets.Dataset.from_list([{**example, "source": name} for example in part])
        for name, part in tiny.data().items()
    }
    whole = tiny.trainer(tmp_path, settings={"max_steps": 4})
    whole.train()
    again = tiny.trainer(
        tmp_path,
        settings={"max_steps": 4},
        train_dataset=datasets.DatasetDict(parts),
        target_dataset=datasets.Dataset.from_list(tiny.target()),
    )
    again.train()
    assert again.weights.state_dict() == whole.weights.state_dict()


def test_evaluation_is_as_before(tmp_path):
    settings = {"eval_strategy": "steps", "eval_steps": 2, "max_steps": 4}
    settings |= {"per_device_eval_batch_size": 4}
    trainer = tiny.trainer(tmp_path, settings=settings, eval_dataset=tiny.target(), floor=0.1)
    trainer.train()
    assert trainer.eval_dataset == tiny.target()
    losses = [entry["eval_loss"] for entry in trainer.state.log_history if "eval_loss" in entry]
    assert len(losses) == 2
    assert trainer.evaluate()["eval_loss"] == pytest.approx(losses[-1])
    several = {"goal": tiny.target(), "near": tiny.data()["near"]}
    trainer = tiny.trainer(tmp_path, settings=settings, eval_dataset=several)
    assert trainer.eval_dataset == several
    assert {"eval_goal_loss", "eval_near_loss"} <= trainer.evaluate().keys()


def test_the_target_may_be_trained_on_and_measured_by_examples_held_out(tmp_path):
    train_dataset = {**tiny.data(), "goal": tiny.target()[:10]}
    held_out = tiny.target()[10:]
    trainer = tiny.trainer(
        tmp_path,
        train_dataset=train_dataset,
        target_dataset=held_out,
        weights=tiny.weighting(target_share=0.3),
    )
    trainer.train()
    assert trainer.weights["goal"] == pytest.approx(0.3)
    assert trainer.weights.skipped == 0


def test_a_part_of_the_model_can_be_measured(tmp_path):
    found = {}
    for part in (None, "model.layers", "lm_head"):
        trainer = tiny.trainer(tmp_path, representation=part, settings={"max_steps": 2})
        trainer.train()
        found[part] = trainer.weights.history[0].target_norm
    assert found["model.layers"] < found[None]
    assert found["lm_head"] < found[None]


def test_frozen_parameters_are_left_out(tmp_path):
    model = tiny.model()
    for parameter in model.model.embed_tokens.parameters():
        parameter.requires_grad_(requires_grad=False)
    trainer = tiny.trainer(tmp_path, model=model, settings={"max_steps": 2})
    trainer.train()
    assert trainer.weights.skipped == 0


def test_looking_at_the_data_does_not_disturb_training(tmp_path):
    class Looks(TrainerCallback):
        trainer = None

        def on_step_begin(self, args, state, control, **_):
            if self.trainer is not None:
                next(iter(self.trainer.get_train_dataloader()))

    looks = Looks()
    whole = tiny.trainer(tmp_path)
    whole.train()
    again = tiny.trainer(tmp_path, callbacks=[looks])
    looks.trainer = again
    again.train()
    assert again.weights.state_dict() == whole.weights.state_dict()


def test_a_second_training_goes_on_from_the_weights_of_the_first(tmp_path):
    trainer = tiny.trainer(tmp_path, settings={"max_steps": 4})
    trainer.train()
    middle = trainer.weights["near"]
    trainer.train()
    assert trainer.weights.history.updates == 4
    assert trainer.weights["near"] > middle


def test_with_a_model_that_begins_anew_weights_do_too(tmp_path):
    def model_init():
        return tiny.model()

    trainer = tiny.trainer(tmp_path, model=None, model_init=model_init, settings={"max_steps": 4})
    trainer.train()
    first = trainer.weights.state_dict()
    trainer.train()
    assert trainer.weights.state_dict() == first


def test_bf16_accumulation_and_checkpointed_activations(tmp_path):
    settings = {"bf16": True, "gradient_accumulation_steps": 2, "max_steps": 4}
    settings |= {"gradient_checkpointing": True}
    trainer = tiny.trainer(tmp_path, settings=settings, update_every=1)
    trainer.train()
    assert trainer.weights.skipped == 0
    assert trainer.weights["near"] > 0.5


def test_a_curvature_hears_of_the_optimiser(tmp_path):
    rule = UpdateRule(alignment=CurvatureWeighted(AdamDiagonal()))
    trainer = tiny.trainer(tmp_path, weights=tiny.weighting(rule=rule), settings={"max_steps": 4})
    trainer.train()
    assert trainer.weights.history.updates == 2
    assert trainer.weights.skipped == 0


def test_an_update_leaves_training_as_it_was(tmp_path):
    """Weights that are measured and cannot move: the same losses as with weights that are held."""

    def trained(weights, **options):
        model = tiny.model(attention_dropout=0.2)
        trainer = tiny.trainer(tmp_path, model=model, weights=weights, **options)
        trainer.train()
        return trainer

    learned = trained(tiny.weighting(rule=tiny.still()))
    held = trained(Fixed(["near", "far"]), target_dataset=None)
    assert learned.weights.history.updates == 4
    for one, other in zip(learned.model.parameters(), held.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_weights_can_be_learned_from_the_gradients_of_training(tmp_path):
    """Each step is observed once, with what its batches had of the loss; the target is measured."""
    weights = tiny.weighting()
    aimed, observed = [], []
    aim, observe = weights.aim, weights.observe

    def watched_aim(*given, **options):
        aimed.append(trainer.state.global_step)
        aim(*given, **options)

    def watched_observe(representation, shares):
        observed.append(shares)
        observe(representation, shares)

    weights.aim, weights.observe = watched_aim, watched_observe
    settings = {"max_steps": 20, "gradient_accumulation_steps": 3}
    settings |= {"save_strategy": "steps", "save_steps": 13}
    trainer = tiny.trainer(
        tmp_path,
        weights=weights,
        settings=settings,
        measure="training steps",
        update_every=4,
        floor=0.1,
    )
    trainer.train()
    assert aimed == [0, 5, 10, 13, 15]
    assert len(observed) == 20
    assert all(len(shares) == 1 for shares in observed)  # a step is on one dataset
    assert set().union(*observed) == {"near", "far"}
    assert sum(observed[0].values()) == pytest.approx(3)  # equal weights have factors of one
    assert len(trainer.weights.history) == 5
    assert trainer.weights.skipped == 0
    assert trainer.weights["near"] > 0.7
    assert "alignment/near" in trainer.state.log_history[-3]


def test_an_epoch_may_be_stopped_with_batches_fetched_ahead(tmp_path):
    """What is known of a batch is what was drawn for that batch."""

    class Stops(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            control.should_epoch_stop = state.global_step in (3, 7)

    known = {tuple(e["input_ids"]): name for name, part in tiny.data().items() for e in part}
    seen, told = [], []

    class Watching(tiny.WeightedTrainer):
        def training_step(self, model, inputs, *others):
            row = inputs["input_ids"][0]
            seen.append(known[tuple(row[row != 0].tolist())])
            loss = super().training_step(model, inputs, *others)
            told.extend(self._Weighted__updates.place.shares(1))
            return loss

    trainer = tiny.trainer(
        tmp_path,
        kind=Watching,
        settings={"max_steps": 48, "dataloader_num_workers": 2},
        weights={"near": 0.5, "far": 0.5},
        target_dataset=None,
        callbacks=[Stops()],
    )
    trainer.train()
    assert len(seen) == 3 + 4 + 16  # 48 steps are three epochs, two of which are stopped
    assert seen == told


def test_updates_see_the_halves_of_the_target_dataset_in_turn(tmp_path, monkeypatch):
    seen = []
    drawn = Indexed.fresh_half
    monkeypatch.setattr(
        Indexed,
        "fresh_half",
        lambda feed, processes, half: seen.append(half) or drawn(feed, processes, half),
    )
    trained = tiny.trainer(tmp_path, settings={"max_steps": 20})
    trained.train()
    assert [half.which for half in seen] == [0, 1] * 5
    assert [half.cut for half in seen] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    history = trained.weights.history
    assert [update.target_half for update in history] == [0, 1] * 5
    assert history[-1].error is not None
    assert set(trained.weights.findings()) == {"near", "far"}


@pytest.mark.parametrize(
    "changes",
    [
        {"target_dataset": tiny.corpus(11, step=1, seed=3)},
        {"weights": tiny.weighting(rule=UpdateRule.paper())},
    ],
)
def test_few_examples_of_the_target_and_other_rules_are_not_halved(tmp_path, changes):
    trained = tiny.trainer(tmp_path, **changes)
    trained.train()
    assert {update.target_half for update in trained.weights.history} == {None}
    assert trained.weights.findings() == {}
