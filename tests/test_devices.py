"""Which device a run gets, and over which GPUs many are spread."""

import pytest
import torch

from tawt.cli import actions
from tawt.errors import ConfigError
from tawt.launch import Launch
from tawt.training.devices import device_together, visible_gpus


@pytest.mark.parametrize(
    ("device", "gpus", "said"),
    [("cuda:1", 2, "names one device"), ("auto", 1, "2 processes were"), ("cuda", 0, "has 0 GPUs")],
)
def test_processes_that_train_together_need_a_gpu_each(device, gpus, said):
    with pytest.raises(ConfigError, match=said):
        device_together(device, Launch(2, 0, 2, 0), gpus=gpus)


@pytest.fixture
def gpus(monkeypatch):
    """As if the machine had so many GPUs."""

    def there_are(count, **environment):
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)

    return there_are


def test_gpus_are_named_as_the_environment_names_them(gpus):
    gpus(3)
    assert visible_gpus() == ["0", "1", "2"]
    gpus(2, CUDA_VISIBLE_DEVICES="4, GPU-a1")
    assert visible_gpus() == ["4", "GPU-a1"]
    gpus(0)
    assert visible_gpus() == []


@pytest.mark.parametrize(
    ("count", "device", "jobs", "expected"),
    [
        (3, "auto", None, (3, ["0", "1", "2"])),
        (3, "cuda", 6, (6, ["0", "1", "2"])),
        (3, "cuda:2", None, (1, [])),
        (1, "auto", None, (1, [])),
        (3, "cpu", 2, (2, [])),
    ],
)
def test_runs_are_spread_over_the_gpus_unless_the_user_names_one(
    gpus, count, device, jobs, expected
):
    gpus(count)
    sweep = actions.usual_sweep(jobs, device)
    assert (sweep.workers, sweep.gpus) == expected
