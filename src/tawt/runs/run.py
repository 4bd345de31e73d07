"""One run: from a configuration to a folder."""

from __future__ import annotations

import math
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tawt.errors import ConfigError, Interrupted, RunError, TrainingError, is_out_of_memory
from tawt.runs import held_out
from tawt.runs.building import build_parts
from tawt.runs.checkpoints import FolderCheckpoint, run_key
from tawt.runs.folder import RunFolder
from tawt.runs.models import write_model
from tawt.runs.page import write_page
from tawt.runs.predictions import scores_of_labels
from tawt.runs.record import circumstances
from tawt.runs.unseen import on_unseen, unseen_in_words
from tawt.training import train
from tawt.training.devices import accelerator_for
from tawt.training.processes import TrainingProcesses, is_lost, lost_process

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import torch
    from accelerate import Accelerator

    from tawt.config.schema import RunConfig
    from tawt.runs.building import RunParts
    from tawt.tasks import Task
    from tawt.training import TrainingResult
    from tawt.training.progress import TrainingProgress


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to run, none of which changes what comes out."""

    resume: bool = False
    """Go on with an unfinished run; a finished one is left as it is."""
    overwrite: bool = False
    """Start again, even if there is a finished run."""
    checkpoint_seconds: float = 60.0
    """Between checkpoints."""
    log_with: str | None = None
    """An experiment tracker that Accelerate knows, such as "tensorboard"."""
    device: str = "auto"
    """Where to train: "auto", "cpu", "cuda" or "cuda:N"."""
    shared: Path | None = None
    """A folder for what several runs need and one can make for all: clusters of examples."""
    save_model: bool = True
    """Whether the trained model is left in the folder."""
    save_page: bool = True
    """Whether the run's own page is: megabytes, which runs of a table, shown on its page, spare."""
    wait: bool = False
    """Wait for another process that is making the same run, instead of refusing."""

    def __post_init__(self) -> None:
        if self.resume and self.overwrite:
            raise RunError("Either --resume goes on with a run or --overwrite starts it again.")
        if not 0 <= self.checkpoint_seconds < math.inf:
            raise ConfigError(
                "--checkpoint-seconds must be a finite number, 0 or more; got "
                f"{self.checkpoint_seconds}."
            )


def run(
    config: RunConfig,
    path: Path,
    *,
    options: Options | None = None,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_tasks: Callable[[Sequence[Task]], None] | None = None,
    on_device: Callable[[torch.device], None] | None = None,
) -> dict[str, Any]:
    """Train as configured, leave everything in a folder, and return its record.

    Args:
        config: What to do.
        path: The run's folder.
        options: How to go about it.
        on_progress: Told after every step.
        should_stop: Asked after every step; if true, a checkpoint is written and `Interrupted`
            raised.
        on_tasks: Told what will be trained on, before training begins.
        on_device: Told where, then.

    Of several processes that train together, every one calls this. The first uses the folder, and
    is told of tasks, device and progress; all return its record, or raise the same error.
    """
    options = options or Options()
    folder = RunFolder(path)
    accelerator = accelerator_for(
        config.training.precision,
        device=options.device,
        log_with=options.log_with,
        log_folder=str(path / "logs"),
    )
    processes = TrainingProcesses.of(accelerator)
    # Before anything is built; of processes that train together the first alone uses the folder.
    processes.first_does(
        lambda: folder.check(config, resume=options.resume, overwrite=options.overwrite)
    )
    parts = processes.all_do(lambda: build_parts(config, shared=options.shared))
    key = run_key(config, parts.data)
    processes.check_same(key, "configuration and data")
    with ExitStack() as held:

        def open_folder() -> bool:
            waiting = (should_stop or _never) if options.wait else None
            held.enter_context(folder.locked(wait_unless=waiting))
            folder.open(config, resume=options.resume, overwrite=options.overwrite)
            folder.check_data(parts.data)
            return folder.finished

        if processes.first_does(open_folder):
            return processes.first_does(lambda: _left(folder, options))
        if on_tasks is not None and processes.is_first:
            on_tasks(parts.tasks)
        if on_device is not None and processes.is_first:
            on_device(accelerator.device)
        began, clock = datetime.now(UTC), time.perf_counter()
        result = _trained(
            config,
            parts,
            accelerator,
            FolderCheckpoint(folder, run=key, seconds=options.checkpoint_seconds),
            log=options.log_with is not None,
            on_progress=on_progress if processes.is_first else None,
            should_stop=should_stop,
        )

        def leave_result() -> dict[str, Any]:
            folder.write_result(result, parts.tasks)
            if config.fold is not None and config.fold.part is not None:
                held_out.write(path, config, parts, result, device=accelerator.device)
            if options.save_model:
                write_model(path, config, parts.tasks, parts.model, result)
            unseen = on_unseen(config, parts.tasks, result.predictions)
            remarks = [*parts.remarks, *unseen_in_words(unseen)]
            record = {
                "name": config.name,
                "seed": config.seed,
                **circumstances(accelerator.device, processes=processes.count),
                "began": began.isoformat(timespec="seconds"),
                "seconds": round(time.perf_counter() - clock, 3),
                "data": parts.data,
                **_outcome(config, result, remarks=remarks),
                **({"unseen": unseen} if unseen else {}),
                "labels": scores_of_labels(result.predictions, parts.tasks),
            }
            folder.finish(record)
            return _left(folder, options)

        return processes.first_does(leave_result)


def _never() -> bool:
    return False


def _left(folder: RunFolder, options: Options) -> dict[str, Any]:
    """The record of a finished run, once its page is there too."""
    if options.save_page:
        write_page(folder.path)
    return folder.record()


def _trained(
    config: RunConfig,
    parts: RunParts,
    accelerator: Accelerator,
    checkpoint: FolderCheckpoint,
    *,
    log: bool,
    on_progress: Callable[[TrainingProgress], None] | None,
    should_stop: Callable[[], bool] | None,
) -> TrainingResult:
    """Train, and say in the user's words what stopped it."""
    if log:
        accelerator.init_trackers(config.name)
    try:
        return train(
            parts.model,
            tasks=parts.tasks,
            target=config.target,
            paradigm=parts.paradigm,
            weighting=parts.weighting,
            settings=config.training,
            seed=config.seed,
            checkpoint=checkpoint,
            accelerator=accelerator,
            on_progress=on_progress,
            should_stop=should_stop,
        )
    except Interrupted as stop:
        path = checkpoint.run_folder
        raise Interrupted(f"Stopped as asked; {path} can go on with --resume.") from stop
    except (RuntimeError, MemoryError) as error:
        if is_out_of_memory(error):
            raise TrainingError(_what_to_lower(config, accelerator.device)) from error
        if accelerator.num_processes > 1 and is_lost(error):
            raise lost_process(error) from error
        raise
    finally:
        # Not by `end_training`, which would end the processes' group as well.
        for tracker in accelerator.trackers if log else ():
            tracker.finish()


def _what_to_lower(config: RunConfig, device: torch.device) -> str:
    settings = config.training
    others = [f"`training.gradient_examples` ({settings.gradient_examples})"]
    others += config.modality.memory_fields(config.model)
    return (
        f"Out of memory on {device}. Lower `training.batch_size` ({settings.batch_size}) and raise "
        f"`training.accumulation` ({settings.accumulation}) by the same factor; then "
        f"{' or '.join(others)}; or choose a smaller model."
    )


def _outcome(
    config: RunConfig, result: TrainingResult, *, remarks: Sequence[str]
) -> dict[str, Any]:
    return {
        "target": config.target,
        "metric": result.metric,
        "measure": {target: asdict(measure) for target, measure in result.measure.items()},
        "scores": result.scores,
        "weights": result.weights,
        "multipliers": result.multipliers,
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "steps": result.steps,
        "passes": result.passes,
        "findings": {name: found.to_json() for name, found in result.findings.items()},
        "warnings": [*remarks, *result.warnings],
        "skipped_steps": result.skipped_steps,
        "skipped_updates": sum(update.skipped is not None for update in result.history),
    }
