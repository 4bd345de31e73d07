"""Settings of a trainer that do not go with weights over datasets, each refused in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import Trainer

from tawt.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transformers import TrainingArguments


def check_arguments(arguments: TrainingArguments, *, evaluates: bool) -> None:
    """Refuse arguments that would not have their effect, or undo that of weights.

    Args:
        arguments: Of the trainer.
        evaluates: Whether there is a dataset for it.

    Raises:
        ConfigError: There is one; it says which.
    """
    for problem in _problems(arguments, evaluates):
        raise ConfigError(problem)


def _problems(arguments: Any, evaluates: bool) -> Iterator[str]:
    strategy = getattr(arguments, "train_sampling_strategy", "random")
    if strategy != "random" or getattr(arguments, "group_by_length", False):
        yield (
            f"`train_sampling_strategy` must be 'random'; got {strategy!r}. Weights draw the "
            "examples, so no other sampler can."
        )
    if arguments.auto_find_batch_size:
        yield (
            "`auto_find_batch_size` begins training again with weights that have moved; set "
            "`per_device_train_batch_size` instead."
        )
    if arguments.ignore_data_skip:
        yield (
            "`ignore_data_skip` would train on examples again after a resume; leave it out. "
            "Skipping costs no reading here."
        )
    accelerator = arguments.accelerator_config
    for name in ("split_batches", "dispatch_batches"):
        if getattr(accelerator, name, None):
            yield (
                f"`{name}` of `accelerator_config` takes batches apart that are of one dataset; "
                "leave it out."
            )
    if not evaluates and str(getattr(arguments.eval_strategy, "value", "no")) != "no":
        yield (
            f"`eval_strategy` is {arguments.eval_strategy.value!r} and there is no `eval_dataset`; "
            "pass one, or leave it out."
        )
    packing = getattr(arguments, "packing", None)
    if getattr(arguments, "eval_packing", None) not in (None, packing):
        yield (
            f"`eval_packing` must be as `packing` is ({packing}), since train datasets are "
            "prepared by name, as eval datasets are; leave it out."
        )


def check_trainer(trainer: Trainer, *, learned: bool) -> None:
    """Refuse a trainer with a sampler of its own, or a model cut up in ways not supported.

    Args:
        trainer: That is built.
        learned: Whether gradients are measured.
    """
    for problem in _conflicts(trainer, learned):
        raise ConfigError(problem)


def _conflicts(trainer: Any, learned: bool) -> Iterator[str]:
    own = getattr(type(trainer), "_get_train_sampler", None)
    if own is not getattr(Trainer, "_get_train_sampler", None):
        yield (
            f"{type(trainer).__name__} has a sampler of its own (`_get_train_sampler`), and "
            "weights draw the examples; they cannot be added to it."
        )
    if trainer.args.n_gpu > 1:
        yield (
            f"The model would be run by DataParallel on {trainer.args.n_gpu} GPUs; start one "
            "process a GPU with `torchrun` or `accelerate launch`."
        )
    parallel = getattr(trainer.accelerator, "parallelism_config", None)
    for kind in ("tp", "cp", "sp"):
        if getattr(parallel, f"{kind}_enabled", False):
            yield (
                f"Processes that share a batch (`{kind}_size` of `parallelism_config`) are not "
                "supported; use DDP or FSDP2."
            )
    if learned:
        yield from _unmeasurable(trainer)


def _unmeasurable(trainer: Any) -> Iterator[str]:
    state = trainer.accelerator.state
    if trainer.is_fsdp_enabled and getattr(state.fsdp_plugin, "fsdp_version", 1) != 2:
        yield (
            "Nothing can be measured in a model wrapped by FSDP1; set `fsdp_version: 2` in "
            "`fsdp_config`, or use DDP."
        )
    if trainer.is_deepspeed_enabled and state.deepspeed_plugin.zero_stage == 3:
        yield (
            "Nothing can be measured in a model partitioned by DeepSpeed (ZeRO-3); use ZeRO-1 or "
            "2, DDP or FSDP2."
        )
