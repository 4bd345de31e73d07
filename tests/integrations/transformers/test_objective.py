"""Gradients of a step are those of the objective: each batch's mean loss, drawn by weight."""

import pytest
import torch
from transformers import TrainerCallback

from tests.integrations.transformers import tiny


class _Watches(TrainerCallback):
    """Keeps what a step trained on and the gradients it had, and the parameters before it."""

    def __init__(self):
        self.batches = []
        self.steps = []

    def on_step_begin(self, args, state, control, model, **_):
        self.batches = []
        self.before = {name: p.detach().clone() for name, p in model.named_parameters()}

    def on_pre_optimizer_step(self, args, state, control, model, **_):
        gradient = {name: p.grad.clone() for name, p in model.named_parameters()}
        self.steps.append((self.before, self.batches, gradient))


def mean_loss(model, batch):
    """Over the tokens of a batch that are predicted, written out."""
    logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    labels = batch["labels"][:, 1:]
    chances = logits[:, :-1].log_softmax(-1)
    chosen = chances.gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return -chosen[labels != -100].mean()


@pytest.mark.parametrize("floor", [0.0, 0.2])
@pytest.mark.parametrize("accumulated", [1, 3])
def test_an_accumulated_gradient_is_the_mean_over_batches_of_mean_losses(
    tmp_path, accumulated, floor
):
    """Texts of `far` are twice as long: a mean over tokens would give it twice its weight."""
    watches = _Watches()
    trainer = tiny.trainer(
        tmp_path,
        settings={
            "gradient_accumulation_steps": accumulated,
            "max_grad_norm": 0.0,
            "max_steps": 4,
        },
        weights={"near": 0.7, "far": 0.3},
        target_dataset=None,
        floor=floor,
        callbacks=[watches],
    )
    original = trainer.training_step

    def training_step(model, inputs, *others):
        watches.batches.append({name: value.clone() for name, value in inputs.items()})
        return original(model, inputs, *others)

    trainer.training_step = training_step
    trainer.train()
    raised = {name: floor + (1 - 2 * floor) * w for name, w in {"near": 0.7, "far": 0.3}.items()}
    factors = {"near": 0.7 / raised["near"], "far": 0.3 / raised["far"]}
    known = {tuple(e["input_ids"]): name for name, part in tiny.data().items() for e in part}
    drawn = set()
    for before, batches, gradient in watches.steps:
        model = tiny.model()
        model.load_state_dict(before, strict=False)
        assert len(batches) == accumulated
        for batch in batches:
            row = batch["input_ids"][0]
            task = known[tuple(row[row != 0].tolist())]
            drawn.add(task)
            (factors[task] * mean_loss(model, batch) / accumulated).backward()
        for name, parameter in model.named_parameters():
            torch.testing.assert_close(gradient[name], parameter.grad, rtol=1e-4, atol=1e-6)
    assert drawn == {"near", "far"} or accumulated == 1


def test_an_update_measures_the_trainers_own_loss_on_fresh_batches(tmp_path):
    """Norms of an update are those of mean losses, at the parameters of that moment."""
    seen, losses = [], []

    class Watching(tiny.WeightedTrainer):
        def compute_loss(self, model, inputs, *others, **options):
            batch = {name: value.clone() for name, value in inputs.items()}
            loss = super().compute_loss(model, inputs, *others, **options)
            if not self.trains:
                seen.append(batch)
                losses.append(float(loss.detach()))
            return loss

        trains = False

        def training_step(self, *given):
            self.trains = True
            loss = super().training_step(*given)
            self.trains = False
            return loss

    trainer = tiny.trainer(tmp_path, kind=Watching, settings={"max_steps": 2})
    trainer.train()
    [update] = trainer.weights.history
    own, near, far = seen
    assert losses == pytest.approx(
        [float(mean_loss(trainer.model, b).detach()) for b in seen], rel=1e-5
    )
    for name, batch in {"near": near, "far": far}.items():
        trainer.model.zero_grad()
        mean_loss(trainer.model, batch).backward()
        flat = torch.cat([p.grad.flatten() for p in trainer.model.parameters()])
        assert update.norms[name] == pytest.approx(float(flat.norm()), rel=1e-4)
    goal = {tuple(example["input_ids"]) for example in tiny.target()}
    assert {tuple(row[row != 0].tolist()) for row in own["input_ids"]} <= goal
