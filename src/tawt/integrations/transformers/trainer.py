"""Weights over several train datasets, for any subclass of transformers' `Trainer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from torch.utils.data import DataLoader
from transformers import Trainer, TrainingArguments

from tawt.integrations.transformers.arguments import check_arguments, check_trainer
from tawt.integrations.transformers.examples import LaidEndToEnd
from tawt.integrations.transformers.given import checked_data, is_learned, prepared_evaluation
from tawt.integrations.transformers.measuring import items_in
from tawt.integrations.transformers.place import Place
from tawt.integrations.transformers.saving import (
    checkpoint_of,
    read_state,
    restore,
    state_of,
    write_state,
)
from tawt.integrations.transformers.settings import WeightedSettings
from tawt.integrations.transformers.updates import Updates
from tawt.mixture import Mixture, MixtureSampler

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor, nn

    from tawt.integrations.transformers.settings import Measure
    from tawt.mixture import Weights
    from tawt.weights import WeightUpdate

    _Base = Trainer
else:
    _Base = object

_PASSED_ON = (
    *("collate_fn", "num_workers", "pin_memory", "timeout", "worker_init_fn", "in_order"),
    *("multiprocessing_context", "prefetch_factor", "persistent_workers"),
)
"""Settings of a loader that have nothing to do with which examples it takes."""


class Weighted(_Base):
    """Adds weights over several train datasets to a `Trainer`: `class Mine(Weighted, Trainer)`.

    The dataset of each batch is drawn with probability ω_t, the same on every process, and trained
    on with the trainer's own loss. Learned weights move every `update_every` steps of the
    optimiser, by the gradients of that loss. Where weights go by evidence (the usual rule), updates
    see the two halves of the target dataset in turn, if it has twelve examples. A loss is the mean
    over its batch, also where gradients of several batches are accumulated: longer texts do not
    count more than their weight.

    Weights, the place in the data and what was measured are part of every checkpoint. A training
    that is resumed from one ends where an uninterrupted one ends.

    Args:
        args: As for the trainer: the model, its arguments.
        train_dataset: Map-style datasets by name.
        weights: A weighting such as `TargetAware` or `Fixed`, or numbers by name.
        target_dataset: Examples that weights are learned towards, or datasets by name for several
            targets. By default those that the target trains on, where it has a weight.
        eval_dataset: As for the trainer.
        update_every: Steps of the optimiser between two updates of learned weights.
        update_batch_size: Examples of one process in a fresh batch; by default as in training.
        representation: The module whose gradients are compared, or its name in the model; by
            default all parameters that are trained.
        floor: Least probability of drawing a dataset. Losses are multiplied by ω_t / p_t, so the
            objective stays Σ ω_t L_t.
        measure: "fresh batches" measures each dataset when weights move; "training steps" takes
            alignments from the gradients of training, and measures the target alone. All batches
            that a step of the optimiser accumulates are then of one dataset.
        aim_every: With "training steps", steps of the optimiser between two gradients of the
            target.
        options: All that the trainer takes by name.

    Attributes:
        weights: As given; `weights.history` has every update.
    """

    def __init__(  # noqa: PLR0913 - the trainer's own, and settings by name
        self,
        *args: Any,
        train_dataset: Mapping[str, Any],
        weights: Weights,
        target_dataset: Any = None,
        eval_dataset: Any = None,
        update_every: int = 100,
        update_batch_size: int | None = None,
        representation: nn.Module | str | None = None,
        floor: float = 0.0,
        measure: Measure = "fresh batches",
        aim_every: int = 5,
        **options: Any,
    ) -> None:
        # Names with two underscores, since those of the trainer's classes are not known here.
        self.__settings = WeightedSettings(
            update_every, update_batch_size, representation, floor, measure, aim_every
        )
        data = checked_data(train_dataset, target_dataset, weights)
        for given in (*args, *options.values()):
            if isinstance(given, TrainingArguments):
                check_arguments(given, evaluates=eval_dataset is not None)
        options |= {"train_dataset": data.sample, "eval_dataset": data.by_name(eval_dataset)}
        super().__init__(*args, **options)
        prepared = data.prepared(cast("dict[str, Any]", self.eval_dataset))
        self.train_dataset = self.__laid = LaidEndToEnd(prepared.trained)
        self.eval_dataset = prepared_evaluation(eval_dataset, self.eval_dataset)
        self.__targets = prepared.targets
        self.weights = weights
        self.__first_weights = state_of(weights)
        self.__saved: dict[str, Any] | None = None
        self.__begins = False
        self.__factor = 1.0
        check_trainer(self, learned=is_learned(weights))
        self.__sampler()  # refuses a floor that cannot be, before training
        fewest = min(map(len, self.__targets.values()), default=0)
        self.__updates = Updates(self, weights, self.__settings, fewest=fewest)
        self.add_callback(self.__updates)

    def train(
        self, resume_from_checkpoint: str | bool | None = None, *args: Any, **options: Any
    ) -> Any:
        """Train, as the trainer does; weights go on from the checkpoint, or from where they are."""
        folder = checkpoint_of(resume_from_checkpoint, self.args.output_dir)
        self.__saved = None if folder is None else read_state(folder)
        if self.__saved is not None:
            restore(self.weights, self.__saved["weights"])
        elif self.model_init is not None:  # the model begins anew, and so do weights
            restore(self.weights, self.__first_weights)
        self.__begins = True
        return super().train(resume_from_checkpoint, *args, **options)

    def get_train_dataloader(self) -> DataLoader[Any]:
        """The trainer's own loader, with batches that are drawn by weight."""
        loader = super().get_train_dataloader()
        sampler = self.__sampler()
        if self.__begins:  # not if it is called to look at the data
            self.__begins = False
            self.__updates.place = self.__placed(sampler, loader.collate_fn)
        settings = {name: getattr(loader, name) for name in _PASSED_ON}
        weighed = DataLoader(loader.dataset, batch_sampler=sampler, **settings)
        prepared: DataLoader[Any] = self.accelerator.prepare(weighed)
        return prepared

    def training_step(
        self, model: nn.Module, inputs: dict[str, Any], num_items_in_batch: Any = None
    ) -> Tensor:
        """A step on a batch, whose loss is the mean over that batch, times the draw's factor."""
        accumulated = self.current_gradient_accumulation_steps
        if num_items_in_batch is not None and accumulated > 1:
            # The trainer would take the mean over the items of all batches, in which a dataset of
            # long texts counts more than its weight.
            num_items_in_batch = items_in(self, inputs) * accumulated
        place = self.__updates.place
        assert place is not None, "training begins with `train`"
        draw = place.next()
        self.__factor = draw.factors[draw.tasks[0]]
        try:
            return super().training_step(model, inputs, num_items_in_batch)
        finally:
            self.__factor = 1.0

    def compute_loss(self, *args: Any, **options: Any) -> Any:
        """The trainer's loss; in a training step with a floor, times ω_t / p_t of its draw."""
        found = super().compute_loss(*args, **options)
        if self.__factor == 1.0:
            return found
        if isinstance(found, tuple):
            return (self.__factor * found[0], *found[1:])
        return self.__factor * found

    def save_model(self, output_dir: str | None = None, *args: Any, **options: Any) -> None:
        """Save the model, and beside it weights and the place in the data, while it trains."""
        super().save_model(output_dir, *args, **options)
        place = self.__updates.place
        if self.is_in_train and place is not None and self.args.should_save:
            folder = self.args.output_dir if output_dir is None else output_dir
            step = {"step": self.state.global_step, "weights": state_of(self.weights)}
            write_state(str(folder), {**step, **place.state()})

    def update_weights(self) -> WeightUpdate | None:
        """Measure now, and move the weights; all processes call it, while they train."""
        return self.__updates.move()

    def __sampler(self) -> MixtureSampler:
        """Over epochs of about a pass, and of whole steps of the optimiser."""
        arguments = self.args
        settings: dict[str, Any] = {
            "batch_size": arguments.per_device_train_batch_size,
            "seed": arguments.seed if arguments.data_seed is None else arguments.data_seed,
            "floor": self.__settings.floor,
            "hold": self.__hold(),
        }
        sizes = self.__laid.sizes
        passed = MixtureSampler(sizes, self.weights, **settings).steps
        accumulated = arguments.gradient_accumulation_steps
        steps = -(-passed // accumulated) * accumulated
        return MixtureSampler(sizes, self.weights, steps=steps, **settings)

    def __hold(self) -> int:
        """Batches in a row of one dataset: a step's, where its gradient shows an alignment."""
        observed = is_learned(self.weights) and self.__settings.measure == "training steps"
        return self.args.gradient_accumulation_steps if observed else 1

    def __placed(self, sampler: MixtureSampler, collate: Any) -> Place:
        fresh = None
        if is_learned(self.weights):
            size = self.__settings.update_batch_size or self.args.per_device_train_batch_size
            fresh = Mixture(
                {**self.__laid.parts, **self.__targets},
                self.weights,
                batch_size=size,
                collate=collate,
                seed=sampler.seed,
            )
        place = Place(sampler, fresh, accumulated=self.args.gradient_accumulation_steps)
        if self.__saved is not None:
            place.load(self.__saved, step=self.__saved["step"])
        return place


class WeightedTrainer(Weighted, Trainer):
    """transformers' `Trainer` with weights over several train datasets; see `Weighted`."""
