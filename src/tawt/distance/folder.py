"""The folder of `tawt distance`: a file for every training and every piece of the estimates."""

from __future__ import annotations

import contextlib
import math
import shutil
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tawt import files
from tawt.config.schema import difference, dumped, load
from tawt.distance.page import distance_page
from tawt.distance.pieces import PieceResult
from tawt.distance.shapes import Distances
from tawt.errors import RunError
from tawt.files import locks, shapes
from tawt.runs.folder import CONFIG as RUN_CONFIG
from tawt.runs.folder import DATA, PAGE
from tawt.sweeps import RecordStore
from tawt.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from tawt.config.schema import RunConfig
    from tawt.distance import Job, SampleSizes
    from tawt.distance.pieces import Piece
    from tawt.sweeps import Record

DISTANCE, CONFIG = "distance.json", "distance.yaml"
TRAININGS, ESTIMATES = "trainings", "estimates"
_NEEDED = ("target", "telling", "sources", "seeds", "mixtures", "trained", "estimates", "gains",
           "metric", "rates", "terms", "seconds", "correlations", "open_constants")  # fmt: skip
_REMEDY = "Delete it and run the same command again to make it once more."


@dataclass(frozen=True)
class Item:
    """A training, and its seed."""

    job: Job
    seed: int

    @property
    def key(self) -> str:
        """By which its outcome is found."""
        return f"{self.seed}/{self.job.what}-{quote(self.job.name, safe='')}"

    @property
    def name(self) -> str:
        """In messages."""
        return f"{self.job.what} {self.job.name}, seed {self.seed}"

    def fits(self, outcome: Mapping[str, Any], *, measured: Iterable[str]) -> bool:
        """Whether an outcome is of these weights, and was measured on these tasks."""
        mixes = self.job.what in ("sources", "half")
        if mixes and outcome.get("weights") != dict(self.job.weights):
            return False
        measures = self.job.what not in ("alone", "with")
        return not (measures and set(measured) - set(outcome.get("risks", {})))


def trainings_in(folder: Path) -> RecordStore:
    """The outcomes of the trainings in a folder, by key."""
    return RecordStore(folder, f"{TRAININGS}/{{}}.json", sealed=True, remedy=_REMEDY)


def with_numbers(outcome: Record) -> Record:
    """An outcome as it was before JSON, which has none for a score that is not finite."""
    if "score" not in outcome:
        return outcome
    score, *examples = (
        math.nan if each is None else each for each in (outcome["score"], *outcome["examples"])
    )
    return {**outcome, "score": score, "examples": examples}


class DistanceFolder:
    """Where distances are left.

        distance.yaml   the configuration, enough to go on
        data.json       size and fingerprint of every task's examples
        trainings/      a file for each training, by seed
        estimates/      a file for each piece of the estimates
        distance.json   what follows from all of them; written last
        report.html     the same to look at

    Args:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only writer; what a killed one left half-written is gone."""
        with locks.locked(self.path):
            for folder in (self.path / ESTIMATES, *(self.path / TRAININGS).glob("*")):
                files.sweep(folder)
            yield

    def check(self, config: RunConfig, data: Mapping[str, Any], *, overwrite: bool) -> None:
        """Refuse a folder that holds something else; touch nothing.

        Args:
            config: Of the distances.
            data: Size and fingerprint of every task's examples.
            overwrite: Whether other distances may be replaced.

        Raises:
            RunError: It holds a run, files that are not ours, or distances of something else.
        """
        if (self.path / RUN_CONFIG).exists():
            raise RunError(f"{self.path} holds a single run; give the distances another folder.")
        started = (self.path / CONFIG).exists()
        if not started and _has_files(self.path):
            raise RunError(f"{self.path} holds no distances and is not empty; give another --out.")
        if started and not overwrite:
            self._check_same(config, data)

    def open(self, config: RunConfig, data: Mapping[str, Any], *, overwrite: bool) -> None:
        """Leave there what this is about, as `check` allows; only the writer may call this."""
        self.check(config, data, overwrite=overwrite)
        if overwrite or not (self.path / CONFIG).exists():
            self._clear()
            files.write(self.path / CONFIG, dumped(config))  # first: by it the folder is ours
        if not (self.path / DATA).exists():
            files.write_json(self.path / DATA, data)

    def finish(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Leave what follows and its page, and say it as a reader finds it."""
        files.write_sealed(self.path / DISTANCE, values)
        found = load_distance(self.path)
        files.write(self.path / PAGE, distance_page(found))
        return found

    def _check_same(self, config: RunConfig, data: Mapping[str, Any]) -> None:
        other = difference(config, kept=load(self.path / CONFIG))
        # A kill may have come between the two files.
        if other is None and (self.path / DATA).exists():
            other = "the data has changed" if files.read_json(self.path / DATA) != data else None
        if other is not None:
            raise RunError(
                f"{self.path} holds the distances of something else ({other}); give another "
                "--out, or --overwrite to start again."
            )

    def _clear(self) -> None:
        """The result first, and the data last: what is left fits together at any time."""
        for name in (DISTANCE, PAGE):
            (self.path / name).unlink(missing_ok=True)
        for name in (TRAININGS, ESTIMATES):
            if (self.path / name).exists():
                shutil.rmtree(self.path / name)
        (self.path / DATA).unlink(missing_ok=True)


class KeptEstimates:
    """Pieces of the estimates in a folder, each with what it was made from.

    A piece that was made from other samples, other weights, for fewer targets, or by another
    version of tawt is made again.

    Args:
        folder: Of the distances.
        seed: Of the samples and the starting encoder.
        sizes: Of the samples.
    """

    def __init__(self, folder: Path, *, seed: int, sizes: SampleSizes) -> None:
        self._folder = folder / ESTIMATES
        self._made_from = {"tawt": __version__, "seed": seed, "sizes": asdict(sizes)}

    def known(self, piece: Piece) -> PieceResult | None:
        """What came of a piece that was made before."""
        path = self._file(piece)
        if not path.exists():
            return None
        kept = _read(path)
        try:
            if kept["made_from"] != self._key(piece) or set(piece.targets) - set(kept["values"]):
                return None
            values = {name: _numbers(kept["values"][name]) for name in piece.targets}
            return PieceResult(values, _numbers(kept["seconds"]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise RunError(f"{path} is damaged: {error!r}. {_REMEDY}") from error

    def keep(self, piece: Piece, found: PieceResult) -> None:
        """Leave it, whole."""
        files.write_sealed(self._file(piece), {"made_from": self._key(piece), **asdict(found)})

    def _key(self, piece: Piece) -> dict[str, Any]:
        return {**self._made_from, "weights": dict(piece.weights)}

    def _file(self, piece: Piece) -> Path:
        name = f"{piece.what.replace(' ', '-')}-{quote(piece.name, safe='')}.json"
        return self._folder / name


def load_distance(folder: Path) -> dict[str, Any]:
    """What `measure_distances` left in a folder.

    Raises:
        RunError: There is nothing, or it is damaged.
    """
    path = folder / DISTANCE
    values = files.read_sealed(path)
    missing = [name for name in _NEEDED if name not in values]
    if missing:
        raise RunError(f"{path} is damaged: it has no {missing[0]!r}.")
    return values


def _numbers(kept: Mapping[str, float | None]) -> dict[str, float]:
    """As they were before JSON, which has none for what is not finite."""
    return {name: math.nan if each is None else float(each) for name, each in kept.items()}


def _read(path: Path) -> dict[str, Any]:
    """A file that can be made again."""
    try:
        return files.read_sealed(path)
    except RunError as error:
        raise RunError(f"{error} {_REMEDY}") from error


def _has_files(folder: Path) -> bool:
    """Whether there is something of somebody else's."""
    if not folder.is_dir():
        return folder.exists()
    return any(not path.name.startswith(".") for path in folder.iterdir())


def checked_distances(values: dict[str, Any], path: Path) -> dict[str, Any]:
    """The values, if they are distances.

    Args:
        values: Of the file.
        path: Of `distance.json`.

    Raises:
        RunError: They are damaged.
    """
    shapes.check(values, Distances, path)
    if values["target"] not in values["estimates"]:
        raise RunError(f"{path} is damaged: it has no estimates for {values['target']!r}.")
    return values
