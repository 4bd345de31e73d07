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
the table is written to DIR/table.md and its record to `docs/results/task-distances.json`.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tawt import sweeps
from tawt.config import parsed
from tawt.distance import (
    ESTIMATES,
    Estimates,
    Estimator,
    Job,
    SampleSizes,
    Workshop,
    rank_correlation,
)
from tawt.distance.budgets import TrainingBudget
from tawt.distance.estimates import as_distance
from tawt.files.whole import write
from tawt.runs import building
from tawt.runs.record import circumstances
from tawt.sweeps import RecordStore, Sweep, Work
from tawt.training import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.config import RunConfig
    from tawt.sweeps import Context, Progress
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
_PATHS = ("data", "encoder", "folder")
RECORD = Path(__file__).parents[1] / "docs/results/task-distances.json"


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
                # Of the others nothing is held out, and some have fewer.
                **({"limit_test": self.held_out} if name == target and name in TARGETS else {}),
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
            budget=TrainingBudget(
                epochs=self.epochs, batch=32, sizes=(self.sentences,), target_size=self.few
            ),
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
    def key(self) -> str:
        """By which its outcome is found."""
        return f"{self.job.what}-{self.job.name}-{self.target}-{self.seed}"


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


@dataclass(frozen=True)
class Train:
    """One training, which leaves its outcome in a file."""

    piece: Piece
    plan: Plan

    def __call__(self, context: Context) -> None:
        """Train, and keep what came out."""
        workshop = replace(self.plan.workshop(self.piece), should_stop=context.should_stop)
        outcomes_in(self.plan.folder).keep(self.piece.key, workshop.done(self.piece.job))


def outcomes_in(folder: Path) -> RecordStore:
    """The outcomes of trainings, by key."""
    return RecordStore(folder, "{}.json")


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


def findings(plan: Plan, seeds: Sequence[int], found: Estimates, *, one: float) -> dict[str, Any]:
    """Trained distances, gains, estimates, how they agree, and what they cost.

    Args:
        plan: What was measured.
        seeds: Of the trained distances; gains may have fewer.
        found: The estimates.
        one: Seconds of one training and its heads.
    """
    outcomes = {
        piece: found
        for piece in pieces(seeds)
        if (found := outcomes_in(plan.folder).find(piece.key)) is not None
    }

    def risk(name: str, target: str, seed: int) -> float:
        outcome = outcomes[Piece(Job("own", name), "", seed)]
        return float(outcome["risks"][target]["risk"]["clipped"])

    def score(job: Job, target: str, seed: int) -> float:
        return float(outcomes[Piece(job, target, seed)]["score"])

    distances: dict[str, dict[str, list[float]]] = {}
    gains: dict[str, dict[str, list[float]]] = {}
    for target in TARGETS:
        alone = Job("alone", target)
        scored = [
            seed
            for seed in seeds
            if all(p in outcomes for p in pieces([seed]) if p.target == target)
        ]
        for name in FILES:
            if name == target:
                continue
            distances.setdefault(target, {})[name] = [
                risk(name, target, seed) - risk(target, target, seed) for seed in seeds
            ]
            gains.setdefault(target, {})[name] = [
                score(Job("with", name), target, seed) - score(alone, target, seed)
                for seed in scored
            ]
    return {
        "distances": distances,
        "gains": gains,
        "estimates": found.values,
        "seconds": {"trained": one * len(FILES) * len(seeds), **found.seconds},
        "agreement": {name: _agreement(name, found, distances, gains) for name in ESTIMATES},
        "distance_with_loss": {
            "all": rank_correlation(_means(distances), _means(gains, sign=-1)),
            **{
                target: rank_correlation({target: each}, _means(gains, sign=-1))
                for target, each in _means(distances).items()
            },
        },
    }


def _means(
    found: dict[str, dict[str, list[float]]], *, sign: float = 1.0
) -> dict[str, dict[str, float]]:
    """Over seeds."""
    return {t: {s: sign * float(np.mean(v)) for s, v in each.items()} for t, each in found.items()}


def _agreement(
    name: str,
    found: Estimates,
    distances: dict[str, dict[str, list[float]]],
    gains: dict[str, dict[str, list[float]]],
) -> dict[str, Any]:
    """Spearman's of an estimate with the truth, over all pairs and for each target."""
    told = {
        target: {source: as_distance(name, values[name]) for source, values in each.items()}
        for target, each in found.values.items()
    }
    far, lost = _means(distances), _means(gains, sign=-1)
    return {
        "distance": rank_correlation(told, far),
        "gain": rank_correlation(told, lost),
        "by target": {target: rank_correlation({target: told[target]}, far) for target in told},
    }


def written(values: dict[str, Any], plan: Plan, seeds: Sequence[int]) -> str:
    """The tables in Markdown."""
    trained = values["seconds"]["trained"]
    lines = [
        f"Encoder {Path(plan.encoder).name}, {plan.sentences} sentences a source, {plan.few} of a "
        f"target, {plan.held_out} held out, {plan.epochs} epochs, learning rate "
        f"{plan.learning_rate:g}; {len(seeds)} seeds for distances, "
        f"{max(len(v) for each in values['gains'].values() for v in each.values())} for gains.",
        "",
        "Spearman's ρ of each estimate with the trained distance and with the loss in joint "
        "training, over sources within each target; and its cost over that of the trained "
        "distances.",
        "",
        f"| estimate | ρ distance | ρ gain | {' | '.join(TARGETS)} | cost |",
        "|---|" + "---:|" * (len(TARGETS) + 3),
    ]
    ranked = sorted(values["agreement"].items(), key=lambda item: -(item[1]["distance"] or -1))
    for name, found in ranked:
        cells = [found["distance"], found["gain"], *found["by target"].values()]
        shown = " | ".join("" if cell is None else f"{cell:.2f}" for cell in cells)
        lines.append(f"| {name} | {shown} | {values['seconds'][name] / trained:.1%} |")
    for title, key, scale in (
        ("Trained distance (clipped log-loss, hundredths)", "distances", 100),
        ("Gain of joint training over the target alone (points)", "gains", 100),
    ):
        lines += ["", f"{title}, mean ± standard deviation over seeds:", ""]
        lines += [f"| source | {' | '.join(TARGETS)} |", "|---|" + "---:|" * len(TARGETS)]
        for name in FILES:
            cells = [_cell(values[key][target].get(name), scale) for target in TARGETS]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _cell(found: list[float] | None, scale: float) -> str:
    if not found:
        return ""
    spread = f" ± {scale * float(np.std(found, ddof=1)):.1f}" if len(found) > 1 else ""
    return f"{scale * float(np.mean(found)):.1f}{spread}"


def _seconds_of_one(plan: Plan) -> float:
    """Of a training and its heads, now: earlier ones may have shared the machine with others."""
    piece = Piece(Job("own", "pos"), "", 0)
    seconds: float = plan.workshop(piece).done(piece.job)["seconds"]
    return seconds


def main() -> None:
    """Make what is missing, and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--gain-seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sentences", type=int, default=600)
    parser.add_argument("--few", type=int, default=100)
    parser.add_argument("--held-out", type=int, default=300)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=2e-4)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="fp32")
    asked = parser.parse_args()
    torch.set_num_threads(1)  # as the trainings'
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
    every = [p for p in pieces(seeds) if p.job.what == "own" or p.seed < asked.gain_seeds]
    wanted = [Work(piece.key, piece.key, Train(piece, plan)) for piece in every]

    def tell(now: Progress) -> None:
        if now.made is not None:
            print(f"{now.made.name}: {now.total - now.done} left", flush=True)

    Sweep(workers=asked.jobs, on_progress=tell).make(
        lambda: sweeps.Plan(wanted), outcomes_in(plan.folder)
    )
    before = _seconds_of_one(plan)
    found = estimates(plan, SampleSizes(), seed=0)
    one = (before + _seconds_of_one(plan)) / 2
    values = findings(plan, seeds, found, one=one)
    settings = {name: value for name, value in asdict(plan).items() if name not in _PATHS}
    record = {
        "command": "python -m benchmarks.task_distances",
        "settings": {**settings, "encoder": Path(plan.encoder).name, "seeds": asked.seeds},
        **circumstances(torch.device(plan.device)),
        **values,
    }
    text = written(values, plan, seeds)
    write(plan.folder / "table.md", text)
    write(RECORD, json.dumps(record, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
