"""Task distances on real text: estimates without training against the trained distance.

    python -m benchmarks.task_distances DATA --encoder ENCODER --out DIR

Eight tasks, each a source: Penn and universal parts of speech, chunks, predicates, names,
supersenses, French parts of speech, and universal ones with the tags of all words shuffled. Four
of them are also targets, from few sentences. DATA has `ewt/`, `conll2000/` and `fr_sequoia/` with
files of a word and a tag to a line.

Trained: the encoder learns a task from its sentences and is frozen; a head is fitted on the
target's few and measured on held-out ones; less the same for an encoder that learned from as many
sentences of the target. Gains: joint training of the few with one source, over the few alone.
Estimates come from the encoder as it is. Every training leaves a file in DIR and is not repeated;
the table is written to `benchmarks/reports/task-distances.md` and `.json`.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import stats

from tawt.distance import ESTIMATES, Estimates, Estimator, Job, SampleSizes, Workshop
from tawt.distance.estimates import NEARER_IF_LARGER
from tawt.distance.jobs import matched_epochs
from tawt.studies import building, parsed
from tawt.studies.files import read_json, write, write_json
from tawt.studies.pool import do_all
from tawt.studies.record import circumstances
from tawt.training import JointTraining, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tawt.studies import RunConfig
    from tawt.tasks import Task

FILES = {
    "pos": "ewt/pos",
    "upos": "ewt/upos",
    "chunking": "conll2000/chunk",
    "predicate": "ewt/predicate",
    "ner": "ewt/ner",
    "supersense": "ewt/supersense",
    "french": "fr_sequoia/upos",
    "shuffled": "ewt/upos",
}
TARGETS = ("chunking", "predicate", "ner", "supersense")
REPORTS = Path(__file__).parent / "reports"


@dataclass(frozen=True)
class Plan:
    """What to measure, and on how much."""

    data: Path
    encoder: str
    folder: Path
    sentences: int
    few: int
    held_out: int
    epochs: int
    learning_rate: float
    device: str
    precision: str

    def config(self, target: str, *, sources: Sequence[str], limit: int, seed: int) -> RunConfig:
        """One with that target and those sources."""
        tasks = {
            name: {
                **{split: str(self._file(name, split)) for split in ("train", "test")},
                "limit": limit if name == target else self.sentences,
                **({"limit_test": self.held_out} if name == target else {}),
            }
            for name in (*sources, target)
        }
        return parsed(
            {
                "name": "task-distances",
                "seed": seed,
                "data": {"kind": "text", "tasks": tasks},
                "target": target,
                "model": {"encoder": self.encoder, "max_length": 64},
            }
        )

    def _file(self, name: str, split: str) -> Path:
        if name == "shuffled" and split == "train":
            return self.folder / "shuffled.tsv"
        return (self.data / f"{FILES[name]}.{split}.tsv").resolve()

    def task(self, name: str, *, limit: int, seed: int) -> Task:
        """One task by itself."""
        return building.tasks(self.config(name, sources=[], limit=limit, seed=seed))[-1]

    def workshop(self, piece: Piece) -> Workshop:
        """For one training."""
        job, seed = piece.job, piece.seed
        measured = {}
        if job.what == "own":
            measured = {name: self.task(name, limit=self.few, seed=seed) for name in TARGETS}
            tasks = [self.task(job.name, limit=self.sentences, seed=seed)]
        else:
            tasks = [self.task(piece.target, limit=self.few, seed=seed)]
            if job.what == "with":
                tasks.append(self.task(job.name, limit=self.sentences, seed=seed))
        config = self.config(tasks[0].name, sources=[], limit=self.few, seed=seed)
        return Workshop(
            model_for=lambda found, _: building.model(config, found),
            tasks={task.name: task for task in tasks},
            target=tasks[0].name,
            measured=measured,
            epochs=self.epochs,
            target_epochs=matched_epochs(self.epochs, sizes=[self.sentences], target_size=self.few),
            settings=Settings(
                learning_rate=self.learning_rate,
                precision=self.precision,  # type: ignore[arg-type]
                sampling="weight",
                select="last",
            ),
            seed=seed,
            device=self.device,
        )


@dataclass(frozen=True)
class Piece:
    """A training, and the seed and target it is for."""

    job: Job
    target: str
    seed: int

    @property
    def name(self) -> str:
        """Of its file."""
        return f"{self.job.what}-{self.job.name}-{self.target}-{self.seed}.json"


def pieces(seeds: Sequence[int]) -> list[Piece]:
    """All of them: distances first, then gains."""
    distances = [Piece(Job("own", name), "", seed) for seed in seeds for name in FILES]
    gains = [
        Piece(job, target, seed)
        for seed in seeds
        for target in TARGETS
        for job in [
            *(Job("with", name) for name in FILES if name != target),
            Job("alone", target),
        ]
    ]
    return [*distances, *gains]


def done(piece: Piece, should_stop: Callable[[], bool], *, plan: Plan) -> dict[str, Any]:
    """Train, and leave the outcome in a file."""
    outcome = replace(plan.workshop(piece), should_stop=should_stop).done(piece.job)
    write_json(plan.folder / piece.name, outcome)
    return outcome


def shuffle_tags(plan: Plan) -> None:
    """Universal parts of speech whose tags belong to other words."""
    path = plan.folder / "shuffled.tsv"
    if path.exists():
        return
    lines = (plan.data / "ewt/upos.train.tsv").read_text(encoding="utf-8").splitlines()
    places = [place for place, line in enumerate(lines) if line]
    tags = [lines[place].rsplit("\t", 1)[1] for place in places]
    order = np.random.default_rng(0).permutation(len(tags))
    for place, other in zip(places, order, strict=True):
        lines[place] = f"{lines[place].rsplit(chr(9), 1)[0]}\t{tags[other]}"
    write(path, "\n".join(lines) + "\n")


def estimates(plan: Plan, sizes: SampleSizes, seed: int) -> Estimates:
    """Of all sources for all targets, from the encoder as it is."""
    sources = [plan.task(name, limit=plan.sentences, seed=seed) for name in FILES]
    targets = [plan.task(name, limit=plan.few, seed=seed) for name in TARGETS]
    config = plan.config("upos", sources=[], limit=plan.sentences, seed=seed)
    model = building.model(config, sources).to(plan.device).eval()
    return Estimator(model.representation, sizes=sizes, seed=seed).estimates(sources, targets)


def main() -> None:
    """Make what is missing, and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sentences", type=int, default=600)
    parser.add_argument("--few", type=int, default=100)
    parser.add_argument("--held-out", type=int, default=300)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=2e-4)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="fp32")
    asked = parser.parse_args()
    encoder = Path(asked.encoder)
    plan = Plan(
        data=asked.data,
        encoder=str(encoder.resolve()) if encoder.exists() else asked.encoder,
        folder=asked.out.resolve(),
        sentences=asked.sentences,
        few=asked.few,
        held_out=asked.held_out,
        epochs=asked.epochs,
        learning_rate=asked.learning_rate,
        device=asked.device,
        precision=asked.precision,
    )
    plan.folder.mkdir(parents=True, exist_ok=True)
    shuffle_tags(plan)
    seeds = range(asked.seeds)
    every = pieces(seeds)
    missing = [piece for piece in every if not (plan.folder / piece.name).exists()]
    left = len(missing)

    def count(piece: Piece, outcome: dict[str, Any]) -> None:
        nonlocal left
        left -= 1
        print(f"{piece.name}: {outcome['seconds']} s, {left} left", flush=True)

    do_all(
        partial(done, plan=plan),
        missing,
        workers=asked.jobs,
        called=lambda piece: piece.name,
        should_stop=lambda: False,
        on_done=count,
    )


if __name__ == "__main__":
    main()
