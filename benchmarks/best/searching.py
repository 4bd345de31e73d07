"""Makes one search, in this process."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from benchmarks.best.published import TARGETS
from tawt.best import best, examined
from tawt.best.recipes import Recipe
from tawt.best.result import ALONE_MODEL, MODEL
from tawt.config import parsed
from tawt.errors import Interrupted
from tawt.runs import Options, RunFolder, run
from tawt.sweeps import Sweep, in_this_process

if TYPE_CHECKING:
    from benchmarks.best.spec import Spec
    from tawt.best import BestResult
    from tawt.config import RunConfig

_UNTUNED = "untuned"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where things are on this machine; no part of what is searched."""

    encoder: str
    data: str
    scratch: str
    device: str
    precision: str
    deadline: float
    """By the clock of the machine: a search stops then, and goes on when it is begun again."""


def prepare() -> None:
    """A process for searches, one of several."""
    torch.set_num_threads(1)
    logging.getLogger("tawt.data").setLevel(logging.ERROR)  # few examples lack some labels


def searched(spec: Spec, place: Place) -> dict[str, Any]:
    """Search, and score the models on the target's test examples.

    Raises:
        Interrupted: The time is over; what is finished stays in the folder.
    """
    began = time.perf_counter()
    config = configuration(spec, place)
    folder = Path(place.scratch, spec.folder)
    options = Options(device=place.device, checkpoint_seconds=3600)

    def is_over() -> bool:
        return time.time() > place.deadline

    if is_over():
        raise Interrupted("The time is over.")
    found = best(
        config,
        folder,
        budget=spec.budget,
        options=options,
        sweep=Sweep(should_stop=is_over),
        executor=in_this_process,
    )
    models = {
        MODEL: folder / MODEL,
        ALONE_MODEL: folder / (ALONE_MODEL if found.uses_sources else MODEL),
    }
    models[_UNTUNED] = models[ALONE_MODEL]
    if Recipe.of(found.candidate(found.alone).recipe) != Recipe():
        models[_UNTUNED] = folder / _UNTUNED
        _train_untuned(config, models[_UNTUNED], options)
    runs = {name: RunFolder(path) for name, path in models.items()}
    answers = {name: each.answers(spec.target, "test") for name, each in runs.items()}
    return {
        "spec": spec.to_json(),
        **_of_search(found),
        "gold": [answer.gold for answer in answers[MODEL]],
        "answers": {name: [answer.predicted for answer in each] for name, each in answers.items()},
        "warnings": [*found.remarks, *runs[MODEL].record()["warnings"]],
        "seconds": round(found.seconds, 1),
        "seconds_here": round(time.perf_counter() - began, 1),
    }


def _train_untuned(config: RunConfig, folder: Path, options: Options) -> None:
    """The target alone as it is first tried, on all examples."""
    study = examined(config)
    untuned = Recipe().applied(study.config, study.fold(None), name=_UNTUNED)
    run(
        untuned,
        folder,
        options=Options(device=options.device, resume=True, save_model=False, save_page=False),
    )


def _of_search(found: BestResult) -> dict[str, Any]:
    rival = None if found.rival is None else found.candidate(found.rival)
    states = [each.state for each in found.candidates]
    return {
        "examples": found.examples,
        "uses_sources": found.uses_sources,
        "chosen": found.candidate(found.chosen).words,
        "recipe": found.candidate(found.chosen).recipe,
        "alone": found.candidate(found.alone).words,
        "rival": None if rival is None else rival.words,
        "rival_gain": None if rival is None else rival.gain,
        "worse": found.worse,
        "test_gain": found.test_gain,
        "unseen": found.to_json()["unseen"],
        "sources": found.to_json()["sources"],
        "candidates": len(states),
        "dropped": states.count("dropped"),
        "failed": states.count("failed"),
    }


def configuration(spec: Spec, place: Place) -> RunConfig:
    """The same as a file would have it."""
    sources = {
        name: _task(name, place, ("train",), limit=min(spec.cap, _size(name, place)))
        for name in TARGETS
        if name != spec.target and Path(place.data, name).is_dir()
    }
    splits = ("train", "test") if spec.examples else ("train", "dev", "test")
    return parsed(
        {
            "data": {
                "kind": "text",
                "tasks": {
                    spec.target: _task(spec.target, place, splits, limit=spec.examples),
                    **sources,
                },
            },
            "target": spec.target,
            "seed": spec.seed,
            "model": {"encoder": place.encoder, "max_length": spec.max_length},
            "epochs": spec.epochs,
            "training": {
                "batch_size": spec.batch_size,
                "learning_rate": spec.rate,
                "precision": place.precision,
            },
        }
    )


def _size(name: str, place: Place) -> int:
    """Training examples that a set has."""
    text = Path(place.data, name, "train.jsonl").read_text(encoding="utf-8")
    return text.rstrip("\n").count("\n") + 1


def _task(name: str, place: Place, splits: tuple[str, ...], *, limit: int | None) -> dict[str, Any]:
    paths = {split: str(Path(place.data, name, f"{split}.jsonl")) for split in splits}
    return {"kind": "classification", **paths, "metric": "macro_f1", "limit": limit}
