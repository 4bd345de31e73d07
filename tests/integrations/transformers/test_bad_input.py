"""What cannot be trained is refused in one line, before anything is tokenised or trained."""

import datasets
import pytest
import torch
from torch.utils.data import IterableDataset, RandomSampler

from tawt import Fixed, SourceWeights, Units
from tawt.errors import ConfigError, DataError, TawtError, WeightsError
from tests.integrations.transformers import tiny


class _Stream(IterableDataset):
    def __iter__(self):
        return iter(tiny.target())


SHARED = tiny.data()

OPTIONS = [
    ({"train_dataset": tiny.target()}, DataError, "must be datasets by name; got list"),
    ({"train_dataset": {}}, DataError, "at least one train dataset"),
    ({"train_dataset": {**tiny.data(), "more": tiny.target()}}, WeightsError, "'more' has no wei"),
    ({"train_dataset": {"near": tiny.target()}}, WeightsError, "weight for 'far' and no dataset"),
    ({"train_dataset": {**tiny.data(), "far": []}}, DataError, "'far' is empty"),
    ({"train_dataset": {**tiny.data(), "far": _Stream()}}, DataError, "'far' must be map-style"),
    (
        {
            "train_dataset": {
                **tiny.data(),
                "far": datasets.Dataset.from_list(tiny.target()).to_iterable_dataset(),
            }
        },
        DataError,
        "must be map-style",
    ),
    ({"train_dataset": SHARED, "target_dataset": SHARED["near"]}, DataError, "also that of the"),
    ({"target_dataset": None}, DataError, "no dataset of the target 'goal'"),
    ({"target_dataset": []}, DataError, "'goal' is empty"),
    ({"target_dataset": {"gaol": tiny.target()}}, DataError, "no dataset of the target 'goal'"),
    (
        {"target_dataset": {"goal": tiny.target(), "other": tiny.target()}},
        DataError,
        "'other', which is not a target",
    ),
    (
        {"weights": tiny.weighting(target={"goal": 0.5, "other": 0.5})},
        DataError,
        "several targets",
    ),
    ({"weights": Fixed(["near", "far"])}, ConfigError, "`target_dataset` has no effect"),
    ({"weights": [0.5, 0.5]}, WeightsError, "`weights` must be"),
    ({"weights": {"near": -1, "far": 1}, "target_dataset": None}, WeightsError, "at least 0"),
    (
        {"weights": tiny.weighting(units=Units.of_examples({"near": 40, "far": 24}))},
        WeightsError,
        "not on groups or examples",
    ),
    ({"update_every": 0}, ConfigError, "`update_every` must be a whole number"),
    ({"aim_every": 0}, ConfigError, "`aim_every` must be a whole number"),
    ({"measure": "steps"}, ConfigError, "`measure` must be"),
    ({"update_batch_size": 1.5}, ConfigError, "`update_batch_size` must be a whole number"),
    ({"representation": "encoder"}, ConfigError, "names no module of the model: 'encoder'"),
    ({"floor": 0.6}, ConfigError, "`floor` is a probability"),
]

SETTINGS = [
    ({"train_sampling_strategy": "group_by_length"}, "`train_sampling_strategy` must be 'random'"),
    ({"train_sampling_strategy": "sequential"}, "`train_sampling_strategy` must be 'random'"),
    ({"auto_find_batch_size": True}, "`auto_find_batch_size`"),
    ({"ignore_data_skip": True}, "`ignore_data_skip`"),
    ({"accelerator_config": {"split_batches": True}}, "`split_batches`"),
    ({"accelerator_config": {"dispatch_batches": True}}, "`dispatch_batches`"),
    ({"eval_strategy": "steps"}, "there is no `eval_dataset`"),
]


@pytest.mark.parametrize(("options", "kind", "said"), OPTIONS, ids=lambda value: str(value)[:40])
def test_datasets_and_weights(tmp_path, options, kind, said):
    with pytest.raises(kind, match=said) as error:
        tiny.trainer(tmp_path, **options)
    assert isinstance(error.value, TawtError)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("settings", "said"), SETTINGS, ids=lambda value: str(value)[:40])
def test_arguments_of_the_trainer(tmp_path, settings, said):
    with pytest.raises(ConfigError, match=said) as error:
        tiny.trainer(tmp_path, settings=settings)
    assert "\n" not in str(error.value)


def test_a_trainer_with_a_sampler_of_its_own(tmp_path):
    class Sampled(tiny.WeightedTrainer):
        def _get_train_sampler(self, train_dataset=None):
            return RandomSampler(self.train_dataset)

    with pytest.raises(ConfigError, match="Sampled has a sampler of its own"):
        tiny.trainer(tmp_path, kind=Sampled)


@pytest.mark.parametrize(
    ("plugin", "enabled", "said"),
    [
        ({"fsdp_plugin": {"fsdp_version": 1}}, "is_fsdp_enabled", "FSDP1"),
        ({"deepspeed_plugin": {"zero_stage": 3}}, "is_deepspeed_enabled", "ZeRO-3"),
    ],
)
def test_models_in_which_nothing_can_be_measured(tmp_path, plugin, enabled, said):
    """The real wrappers need GPUs; what the Trainer says of them is enough to refuse them."""
    from types import SimpleNamespace

    from tawt.integrations.transformers.arguments import check_trainer

    state = SimpleNamespace(**{name: SimpleNamespace(**of) for name, of in plugin.items()})
    trainer = tiny.trainer(tmp_path)
    trainer.is_fsdp_enabled = trainer.is_deepspeed_enabled = False
    setattr(trainer, enabled, True)
    trainer.accelerator = SimpleNamespace(state=state, parallelism_config=None)
    with pytest.raises(ConfigError, match=said):
        check_trainer(trainer, learned=True)
    check_trainer(trainer, learned=False)


def test_source_weights_are_held(tmp_path):
    weights = SourceWeights.tempered({"near": 40, "far": 24}, exponent=0.5)
    trainer = tiny.trainer(tmp_path, weights=weights, target_dataset=None)
    trainer.train()
    assert trainer.update_weights() is None
    assert torch.equal(trainer.weights.logs, weights.logs)
