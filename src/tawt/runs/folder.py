"""The folder that a run leaves behind, and when it may be written."""

from __future__ import annotations

import contextlib
import json
import shutil
from typing import TYPE_CHECKING, Any

from tawt import files
from tawt.config import yaml_file
from tawt.config.curvature_before import readable, removed_from
from tawt.config.schema import RunConfig, difference, dumped, parsed
from tawt.errors import ConfigError, RunError
from tawt.files import locks
from tawt.runs import checkpoints as run_checkpoints
from tawt.runs import predictions, units
from tawt.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tawt.tasks import Task
    from tawt.training import TrainingResult

CONFIG, RECORD, WEIGHTS, DATA = "config.yaml", "record.json", "weights.jsonl", "data.json"
PAGE = "report.html"
_NEEDED = (
    "name",
    "scores",
    "metric",
    "weights",
    "multipliers",
    "epochs",
    "skipped_steps",
    "skipped_updates",
    "seconds",
)
_MADE_BY = "# tawt"
_FILES, _MODEL = "files", "model"


class RunFolder:
    """One run on disk.

        config.yaml        resolved, enough to run it again
        data.json          size and fingerprint of every task's examples
        record.json        versions, seed, device, data fingerprints, scores, times
        weights.jsonl      one line per update: step, weights, alignments, norms
        unit_weights.*     with weights on groups or examples: of all of them, and units.json
                           with those trusted most and least
        predictions.*.tsv  gold, predicted and score of each example, or word
        model/             the target's model: Hugging Face's form for text, safetensors else
        report.html        all of it to look at
        checkpoints/       the last two states of an unfinished run

    A run is finished when it has a record; that file is written last. Who writes to a folder holds
    its lock.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def finished(self) -> bool:
        """Whether the run came to its end."""
        return (self.path / RECORD).exists()

    @contextlib.contextmanager
    def locked(self, *, wait_unless: Callable[[], bool] | None = None) -> Iterator[None]:
        """Be the only writer, see `locks.locked`; what a killed writer left half-written is gone.

        Args:
            wait_unless: Wait for another writer to end, as long as this returns false.
        """
        with locks.locked(self.path, wait_unless=wait_unless):
            for name in (run_checkpoints.FOLDER, _MODEL):
                files.sweep(self.path / name)
            yield

    def open(self, config: RunConfig, *, resume: bool, overwrite: bool) -> None:
        """Make the folder ready for this run, or say why it must not be touched.

        Only its writer may call this.

        Raises:
            RunError: As `check` does.
        """
        self.check(config, resume=resume, overwrite=overwrite)
        try:
            if overwrite:
                self.clear()
            if not (self.path / CONFIG).exists():
                files.write(self.path / CONFIG, f"{_MADE_BY} {__version__}\n{dumped(config)}")
        except OSError as error:
            raise RunError(f"Cannot use {self.path}: {error.strerror or error}.") from error

    def check(self, config: RunConfig, *, resume: bool, overwrite: bool) -> None:
        """Say why the folder must not be touched, if it must not; touch nothing.

        Raises:
            RunError: It holds another run, or an unfinished one that was not to be resumed, or
                files that are not a run's, or it cannot be read.
        """
        try:
            started = (self.path / CONFIG).exists()
            foreign = self.path.exists() and (not self.path.is_dir() or any(self._visible()))
        except OSError as error:
            raise RunError(f"Cannot read {self.path}: {error.strerror or error}.") from error
        if not started:
            if foreign:
                raise RunError(
                    f"{self.path} is not a run folder and not empty; give another folder."
                )
            return
        if overwrite:
            return
        self._check_same(config)
        if self.finished and not resume:
            raise RunError(
                f"{self.path} holds a finished run; use --overwrite to run it again, or give "
                "another folder."
            )
        if not self.finished and not resume:
            raise RunError(
                f"{self.path} holds an unfinished run; use --resume to go on with it, or "
                "--overwrite to start again."
            )

    def check_data(self, found: Mapping[str, Any]) -> None:
        """Refuse to go on with other data than the run was started with.

        Raises:
            RunError: Naming the task whose examples changed.
        """
        path = self.path / DATA
        if not path.exists():
            files.write_json(path, found)
            return
        known = files.read_json(path)
        if not isinstance(known, dict):
            raise RunError(f"The run folder {self.path} is damaged: {DATA} names no tasks.")
        for task in found:
            if known.get(task) != found[task]:
                raise RunError(
                    f"The examples of task {task!r} are not those that {self.path} was started "
                    "with; use --overwrite to start again, or give another folder."
                )

    def config(self) -> RunConfig:
        """The configuration the run was started with; a curvature that is gone is the default."""
        return self._started_with()[0]

    def _started_with(self) -> tuple[RunConfig, str | None]:
        """The configuration, and the kind of its curvature if that is gone."""
        path = self.path / CONFIG
        if not path.exists():
            raise RunError(f"{self.path} is not a run folder: it has no {CONFIG}.")
        try:
            values, lines = yaml_file.read(path)
            config = parsed(readable(values), source=str(path), lines=lines)
        except ConfigError as error:
            raise RunError(self._unreadable(path, error)) from error
        return config, removed_from(values)

    def _unreadable(self, path: Path, error: ConfigError) -> str:
        first = path.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
        version = first.removeprefix(_MADE_BY).strip()
        if first.startswith(_MADE_BY) and version != __version__:
            return (
                f"{self.path} was made by tawt {version}, and this is {__version__}, which "
                f"reads it otherwise ({error}). Use that version, or give another folder."
            )
        return f"The run folder {self.path} is damaged: {error}"

    def record(self) -> dict[str, Any]:
        """What the run came to.

        Raises:
            RunError: The run is not finished, or its record is damaged.
        """
        _, removed = self._started_with()
        if not self.finished and removed is not None:
            raise RunError(self._cannot_go_on(removed))
        if not self.finished:
            raise RunError(f"{self.path} holds an unfinished run; finish it with --resume.")
        record = files.read_sealed(self.path / RECORD)
        missing = [key for key in _NEEDED if key not in record]
        if missing:
            raise RunError(f"The run folder {self.path} is damaged: {RECORD} has no {missing[0]}.")
        return record

    def checked(self, name: str) -> Path:
        """A file of the folder, if it is as the finished run left it.

        Args:
            name: Relative to the folder.

        Raises:
            RunError: It has changed since. Runs of older versions cannot tell.
        """
        path = self.path / name
        known = self.record().get(_FILES, {}).get(name) if self.finished else None
        if known is not None and known != files.checksum(path):
            raise RunError(
                f"The run folder {self.path} is damaged: {name} is not as the run left it (its "
                "checksum does not match)."
            )
        return path

    def check_model(self) -> None:
        """Refuse a model that is not as the run left it.

        Raises:
            RunError: Naming the file that has changed.
        """
        for name in self.record().get(_FILES, {}):
            if name.startswith(f"{_MODEL}/"):
                self.checked(name)

    def updates(self) -> list[dict[str, Any]]:
        """The history of the weights."""
        path = self.checked(WEIGHTS)
        try:
            found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        except (OSError, ValueError, RecursionError) as error:
            raise RunError(f"The run folder {self.path} is damaged: {WEIGHTS}: {error}.") from error
        for update in found:
            if not isinstance(update, dict) or not {"step", "weights", "alignments"} <= set(update):
                raise RunError(
                    f"The run folder {self.path} is damaged: a line of {WEIGHTS} is no update."
                )
        return found

    def example_scores(self, target: str, split: str = "test") -> list[float]:
        """Score of each example of a split, in order."""
        return predictions.example_scores(self.checked(f"predictions.{split}.tsv"), target)

    def answers(self, target: str, split: str) -> list[predictions.PredictionRow]:
        """What the model answered on a split; nothing where the run left no table of it."""
        path = self.path / f"predictions.{split}.tsv"
        if not path.exists():
            return []
        return predictions.answers(self.checked(path.name), target)

    def shown_units(self) -> dict[str, Any] | None:
        """What is shown of groups and examples, where weights were on those."""
        if not (self.path / units.SHOWN).exists():
            return None
        shown: dict[str, Any] = files.read_json(self.checked(units.SHOWN))
        return shown

    def write_weights(self, history: Sequence[Mapping[str, Any]]) -> None:
        """One line per update."""
        lines = [
            json.dumps(update, ensure_ascii=False, allow_nan=False) + "\n" for update in history
        ]
        files.write(self.path / WEIGHTS, "".join(lines))

    def write_result(self, result: TrainingResult, tasks: Sequence[Task]) -> None:
        """Weights and predictions."""
        self.write_weights([update.to_json() for update in result.history])
        if result.outcome is not None and result.outcome.weights.units.finer:
            units.write(self.path, result.outcome, tasks)
        by_name = {task.name: task for task in tasks}
        for split in ("dev", "test"):
            found = [
                (target, examples, splits[split])
                for target, splits in result.predictions.items()
                if (examples := by_name[target].split(split)) is not None and split in splits
            ]
            if found:
                table = predictions.as_tsv(found)
                files.write(self.path / f"predictions.{split}.tsv", table)

    def finish(self, record: Mapping[str, Any]) -> None:
        """Write the record, with the checksum of every file beside it; let the checkpoints go."""
        files.write_sealed(self.path / RECORD, {**record, _FILES: self._checksums()})
        shutil.rmtree(self.path / run_checkpoints.FOLDER, ignore_errors=True)

    def _checksums(self) -> dict[str, str]:
        """Of all that results are read from: not of what people may edit, or build again."""
        found = [*self.path.glob("*.jsonl"), *self.path.glob("*.tsv"), *self.path.glob("unit*.*")]
        model = (self.path / _MODEL).rglob("*")
        found += [path for path in model if path.is_file() and path.suffix != ".md"]
        return {
            path.relative_to(self.path).as_posix(): files.checksum(path) for path in sorted(found)
        }

    def _check_same(self, config: RunConfig) -> None:
        kept, removed = self._started_with()
        if removed is not None:
            raise RunError(self._cannot_go_on(removed))
        changed = difference(config, kept=kept)
        if changed is not None:
            raise RunError(
                f"{self.path} was started with another configuration ({changed}); "
                "use --overwrite to start again, or give another folder."
            )

    def _cannot_go_on(self, removed: str) -> str:
        return (
            f"{self.path} was started with `weighting.curvature.kind: {removed}`, which was "
            "removed, so it cannot be gone on with (a finished run can still be read); use "
            "--overwrite to start again, or give another folder."
        )

    def _visible(self) -> list[Path]:
        return [path for path in self.path.iterdir() if not path.name.startswith(".")]

    def clear(self) -> None:
        """Remove the run, and nothing else; only its writer may call this."""
        (self.path / RECORD).unlink(missing_ok=True)
        for name in (_MODEL, run_checkpoints.FOLDER, "logs"):
            shutil.rmtree(self.path / name, ignore_errors=True)
        for path in (*self.path.glob("predictions.*.tsv"), self.path / PAGE):
            path.unlink(missing_ok=True)
        # The config last: by it the folder is known as ours.
        for name in (units.VECTORS, units.SHOWN, WEIGHTS, DATA, CONFIG):
            (self.path / name).unlink(missing_ok=True)
