"""A step whose gradient is observed is on one dataset, whatever it accumulates."""

import pytest
from transformers import TrainerCallback

from tests.integrations.transformers import tiny

KNOWN = {tuple(e["input_ids"]): name for name, part in tiny.data().items() for e in part}


class _Stops(TrainerCallback):
    def on_step_end(self, args, state, control, **_):
        control.should_epoch_stop = state.global_step in (2, 5)


class _Watching(tiny.WeightedTrainer):
    def training_step(self, model, inputs, *others):
        row = inputs["input_ids"][0]
        self.seen.append(KNOWN[tuple(row[row != 0].tolist())])
        return super().training_step(model, inputs, *others)

    def groups(self):
        """Datasets of the batches of each step of the optimiser."""
        count = self.args.gradient_accumulation_steps
        return [self.seen[start : start + count] for start in range(0, len(self.seen), count)]


def trainer(folder, *, accumulated, measure="training steps", callbacks=(), **settings):
    made = tiny.trainer(
        folder,
        kind=_Watching,
        settings={"gradient_accumulation_steps": accumulated, **settings},
        weights=tiny.weighting(rule=tiny.still()),
        measure=measure,
        callbacks=list(callbacks),
    )
    made.seen = []
    return made


@pytest.mark.parametrize("workers", [0, 2])
def test_all_batches_of_a_step_are_of_one_dataset(tmp_path, workers):
    """Over epochs too, of which some are stopped with batches fetched ahead."""
    settings = {"max_steps": 24, "dataloader_num_workers": workers}
    made = trainer(tmp_path, accumulated=3, callbacks=[_Stops()], **settings)
    made.train()
    assert all(len(group) == 3 and len(set(group)) == 1 for group in made.groups())
    assert set(made.seen) == {"near", "far"}


def test_fresh_batches_leave_every_batch_its_own_draw(tmp_path):
    made = trainer(tmp_path, accumulated=3, measure="fresh batches")
    made.train()
    assert any(len(set(group)) == 2 for group in made.groups())


def test_a_resume_with_another_accumulation_is_in_line(tmp_path):
    settings = {"save_strategy": "steps", "save_steps": 3, "max_steps": 3}
    trainer(tmp_path, accumulated=3, **settings).train()
    again = trainer(tmp_path, accumulated=4, **{**settings, "max_steps": 14})
    again.train(resume_from_checkpoint=str(tmp_path / "checkpoint-3"))
    assert len(again.seen) == 4 * 11
    assert all(len(set(group)) == 1 for group in again.groups())
