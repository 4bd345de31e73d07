"""figure-weighted-samples: from the user's data to its result."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tawt import files
from tawt.errors import ConfigError
from tawt.reproduce.captions import counted, encoder_name
from tawt.reproduce.choices import Once
from tawt.reproduce.contents import by_contents
from tawt.reproduce.making import runs_of
from tawt.reproduce.name_words import name_words
from tawt.reproduce.sample_runs import Paradigm, SampleRun, SampleSettings, Unit, write_examples
from tawt.reproduce.samples import EXPERIMENT, samples_result
from tawt.reproduce.store import key_of
from tawt.sweeps import Plan

if TYPE_CHECKING:
    from tawt.reproduce.request import Request
    from tawt.reproduce.result import Result
    from tawt.reproduce.store import Store
    from tawt.runs import Options
    from tawt.sweeps import Executor

_ABOUT = "about.json"
_ROWS: tuple[tuple[Paradigm, Unit | None], ...] = (
    ("single-task", None),
    ("pre-training", None),
    ("pre-training", "group"),
    ("pre-training", "example"),
    ("joint", None),
    ("joint", "task"),
    ("joint", "group"),
    ("joint", "example"),
)
_TINY = SampleSettings(source=60, target=20, hidden=32, epochs=20, batch_size=32)


class SamplesFigure:
    """Part of speech of words in names, for the type of the name."""

    name: ClassVar[str] = EXPERIMENT
    title: ClassVar[str] = "Weights on samples"
    needs: ClassVar[str] = "--data, --vectors"
    no_use_for: ClassVar[tuple[str, ...]] = ("--encoder", "--cap")
    runs: ClassVar[str] = "8"
    executor: ClassVar[Executor | None] = None

    def check(self, request: Request) -> None:
        """Refuse if there is nothing to make it from."""
        setup = request.setup
        if setup is None or not {"pos", "ner"} <= set(setup.tasks):
            raise ConfigError(f"{EXPERIMENT} needs --data with the tasks pos and ner.")
        if request.vectors is None and not request.tiny:
            raise ConfigError(
                f"{EXPERIMENT} needs --vectors: a file such as glove.6B.50d.txt, or package:NAME."
            )

    def prepare(self, request: Request, store: Store) -> None:
        """Write the words of every seed, unless they are there."""
        from tawt.text.building import read_task
        from tawt.text.sections import TextTask

        folder, settings = self._folder(request, store), _settings(request)
        about = _about(folder)
        if about is None or not set(request.seeds) <= set(about["seeds"]):
            assert request.setup is not None
            tagged, typed = (
                read_task(TextTask.model_validate(request.setup.tasks[task]))
                for task in ("pos", "ner")
            )
            words = name_words(
                {"train": tagged.train, "test": tagged.test or []},
                {"train": typed.train, "test": typed.test or []},
                request.vectors,
            )
            found = write_examples(folder, words, settings, request.seeds)
            files.write_json(folder / _ABOUT, {**found, "seeds": list(request.seeds)})

    def plan_work(self, request: Request, store: Store, options: Options) -> Plan:
        """A run of every row for every seed; none is known before its words are."""
        if _about(self._folder(request, store)) is None:
            return Plan([], later=len(_ROWS) * len(request.seeds))
        choices = [Once(run) for run in self._runs(request, store)]
        return runs_of(choices, request.seeds, store, options)

    def result(self, request: Request, store: Store) -> Result:
        """The figure and its numbers."""
        about = _about(self._folder(request, store))
        assert request.setup is not None
        assert about is not None
        settings = _settings(request)
        departures = [
            f"data: {request.setup.about}, {about['words']['train']} words in names to draw from, "
            f"{about['words']['test']} to test on",
            f"{len(about['labels'][0])} parts of speech (the paper: 50)",
            f"{len(about['labels'][1])} types (the paper: 18)",
            _vectors_in_words(request.vectors),
            counted(request.seeds),
            "the target's head is fitted for 5 passes before an update of pre-training",
        ]
        if request.tiny:
            departures.append(
                f"tiny: {settings.source} and {settings.target} examples, {settings.hidden} hidden "
                f"neurons, {settings.epochs} epochs, batches of {settings.batch_size}"
            )
        return samples_result(
            self._runs(request, store),
            store,
            request.seeds,
            departures=departures,
            majority=about["majority"],
        )

    def _folder(self, request: Request, store: Store) -> Path:
        """Of the examples; another for other files, vectors or sizes."""
        assert request.setup is not None
        tasks = {name: dict(request.setup.tasks[name]) for name in ("pos", "ner")}
        settings = asdict(_settings(request))
        vectors = request.vectors
        if vectors is not None and Path(vectors).exists():
            vectors = str(Path(vectors).resolve())
        key = key_of(by_contents({"tasks": tasks, "vectors": vectors, "settings": settings}))
        return (store.folder / "words" / key).resolve()

    def _runs(self, request: Request, store: Store) -> list[SampleRun]:
        folder = self._folder(request, store)
        about = _about(folder)
        assert about is not None
        labels = (tuple(about["labels"][0]), tuple(about["labels"][1]))
        return [
            SampleRun(folder, _settings(request), labels, paradigm, unit)
            for paradigm, unit in _ROWS
        ]


def _settings(request: Request) -> SampleSettings:
    return _TINY if request.tiny else SampleSettings()


def _vectors_in_words(vectors: str | None) -> str:
    named = "drawn at random" if vectors is None else encoder_name(vectors)
    return f"word vectors: {named} (the paper: GloVe, 50 numbers a word)"


def _about(folder: Path) -> dict[str, Any] | None:
    path = folder / _ABOUT
    return files.read_json(path) if path.exists() else None
