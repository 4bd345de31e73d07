"""Where training begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tawt.training.devices import accelerator_for, number_of
from tawt.training.keeping import Keeping, training_seed
from tawt.training.loop import Loop
from tawt.training.processes import TrainingProcesses
from tawt.training.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from accelerate import Accelerator

    from tawt.tasks import MultiTaskModel, Task
    from tawt.training.checkpoints import Checkpoint
    from tawt.training.paradigms import Paradigm
    from tawt.training.progress import TrainingProgress
    from tawt.training.result import TrainingResult
    from tawt.weighting import Weighting


def train(  # noqa: PLR0913 - the parts of a run, each by its name
    model: MultiTaskModel,
    *,
    tasks: Sequence[Task],
    target: str | Mapping[str, float],
    paradigm: Paradigm,
    weighting: Weighting | None = None,
    settings: Settings | None = None,
    seed: int = 0,
    checkpoint: Checkpoint | None = None,
    accelerator: Accelerator | None = None,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TrainingResult:
    """Train the model for the target.

    Args:
        model: Trained in place; afterwards it holds the chosen parameters.
        tasks: Sources and target(s); the weighting says which it weighs.
        target: The target's name, or several with the share each has.
        paradigm: `SingleTask`, `PreTraining` or `JointTraining`.
        weighting: How the tasks are weighed; not needed for a single one.
        settings: How to train.
        seed: Of every random choice. The caller's random streams are left as they were.
        checkpoint: Where state is kept; training goes on from what it holds.
        accelerator: Devices, precision and trackers; made from the settings by default.
        on_progress: Told after every step.
        should_stop: Asked after every step; if true, state is saved and `Interrupted` raised.

    Returns:
        Scores, predictions, final weights and their history.
    """
    settings = settings or Settings()
    accelerator = accelerator or accelerator_for(settings.precision)
    cuda = [number_of(accelerator.device)] if accelerator.device.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda):
        processes = TrainingProcesses.of(accelerator)
        torch.manual_seed(training_seed(seed, processes))
        loop = Loop(model, tasks, target, paradigm, weighting, settings, seed, accelerator)
        kept = Keeping(checkpoint, should_stop, processes, accelerator.device, seed=seed)
        return loop.run(kept, on_progress)
