"""The folders of candidates, and what their runs came to."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tawt import files
from tawt.best.result import ALONE_MODEL, MODEL
from tawt.config.schema import difference
from tawt.errors import FolderInUse, Interrupted, TawtError
from tawt.runs import Options, RunFolder, held_out
from tawt.sweeps import TrainRun, Work

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tawt.best.recipes import Recipe
    from tawt.best.study import BestStudy
    from tawt.best.trials import Trial
    from tawt.config.fold import Whose
    from tawt.config.schema import RunConfig
    from tawt.runs.held_out import HeldOut
    from tawt.sweeps import Context, RecordStore

CANDIDATES, HALVES = "candidates", "halves"
_FAILED = "failed.json"


@dataclass(frozen=True)
class TryRun:
    """Makes the run of one part; that it cannot be made is kept, and no error of the search."""

    train: TrainRun

    def __call__(self, context: Context) -> None:
        """Run, or leave a note of what went wrong."""
        try:
            self.train(context)
        except (Interrupted, FolderInUse):
            raise
        except TawtError as error:
            files.write_json(_note_beside(self.train.path), {"error": str(error)})


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Where candidates are, and how they are run."""

    study: BestStudy
    folder: Path
    options: Options

    def key(self, trial: Trial, part: int) -> str:
        """What a run is called in the folder."""
        return f"{CANDIDATES}/{trial.name}/{part}"

    def run_folder(self, trial: Trial, part: int) -> RunFolder:
        """The run that holds out a part."""
        return RunFolder(self.folder / self.key(trial, part))

    def work(self, trial: Trial, part: int) -> Work:
        """The run that holds out a part, to be made."""
        name = f"{trial.name}-{part}"
        config = trial.recipe.applied(self.study.config, self.study.fold(part), name=name)
        path = self.folder / self.key(trial, part)
        return Work(
            key=self.key(trial, part),
            name=name,
            make=TryRun(TrainRun(config, path, self._options(keeps_model=False))),
            size=self._size(trial.recipe),
        )

    def half(self, trial: Trial, part: int, whose: Whose) -> Work:
        """The run that holds out a part and trains on half of the other examples, as long.

        Args:
            trial: The candidate.
            part: What is held out.
            whose: Examples are halved.
        """
        name = f"{trial.name}-{part}-half"
        fold = self.study.fold(part, halved=whose)
        applied = trial.recipe.applied(self.study.config, fold, name=name)
        passes = "target_epochs" if whose == "target" else "epochs"
        applied = applied.model_copy(update={passes: 2 * getattr(applied, passes)})
        path = self.half_folder(trial, part, whose).path
        return Work(
            key=str(path.relative_to(self.folder)),
            name=name,
            make=TryRun(TrainRun(applied, path, self._options(keeps_model=False))),
            size=self._size(trial.recipe),
        )

    def half_failed(self, trial: Trial, part: int, whose: Whose) -> bool:
        """Whether that run could not be made."""
        return _note_beside(self.half_folder(trial, part, whose).path).exists()

    def half_folder(self, trial: Trial, part: int, whose: Whose) -> RunFolder:
        """Where that is."""
        return RunFolder(self.folder / HALVES / trial.name / whose / str(part))

    def final(self, name: str, recipe: Recipe) -> Work:
        """The run on all examples, whose model is kept.

        Args:
            name: Of its folder.
            recipe: What it is trained by.
        """
        config = self._final_config(name, recipe)
        path = self.folder / name
        return Work(
            key=name, name=name, make=TrainRun(config, path, self._options(keeps_model=True))
        )

    def clear_finals(self, finals: Mapping[str, Recipe], store: RecordStore) -> None:
        """Remove models of an earlier answer, which other candidates were used for.

        Args:
            finals: What each folder is to hold.
            store: That may have read their records.
        """
        for name in (MODEL, ALONE_MODEL):
            run = RunFolder(self.folder / name)
            recipe = finals.get(name)
            if not run.path.exists():
                continue
            if recipe is None or difference(self._final_config(name, recipe), kept=run.config()):
                shutil.rmtree(run.path)
                store.forget(name)

    def _final_config(self, name: str, recipe: Recipe) -> RunConfig:
        return recipe.applied(self.study.config, self.study.fold(None), name=name)

    def error(self, trial: Trial, part: int) -> str | None:
        """Why a run could not be made, if it could not."""
        path = _note_beside(self.folder / self.key(trial, part))
        return str(files.read_json(path)["error"]) if path.exists() else None

    def held_out(self, trial: Trial, part: int) -> HeldOut:
        """What a finished run left of the examples that it held out."""
        return held_out.read(self.run_folder(trial, part).checked(held_out.NAME))

    def _options(self, *, keeps_model: bool) -> Options:
        return replace(
            self.options,
            resume=True,
            overwrite=False,
            save_model=keeps_model,
            save_page=keeps_model,
        )

    def _size(self, recipe: Recipe) -> float:
        return float(recipe.uses_sources)


def _note_beside(run: Path) -> Path:
    """The file that says why a run could not be made."""
    return run.with_name(f"{run.name}.{_FAILED}")
