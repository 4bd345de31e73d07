"""Weights on examples where the answer is known: a source with 40% of its labels wrong.

    python -m benchmarks.corrupted_labels --seeds 10

On scikit-learn's scanned digits, which need no download. Which labels are wrong is known to this
script alone. Three settings, with the rule as it is (cosines, mirror descent, nothing bounded):

- "frozen": odd or even, 900 images of the source and 400 of the target; the form that the theorem
  analyses: the target reaches the representation through the weights alone. One half of its
  examples is for the weights, the other for the final head.
- "fine-tuned": the same tasks; the whole network is then trained on all 400.
- "joint": which digit, 900 images and 60, six of each digit; both tasks together, the target's
  share held at 0.3.

and these ways of training, all for the same number of steps:

- "clean": the source before its labels are corrupted, all examples alike
- "corrupted": all examples alike
- "known": the wrong ones left out
- "learned": weights on examples
- "best by alignment": the wrong ones unknown; 60% of the examples kept, by the mean alignment that
  "learned" found
- "as many wrong, at random": as many right and as many wrong ones kept as there, but drawn
- "target alone": no source

Not every setting has all of them. Settings were chosen on seeds 0 to 15 and 100 to 105, and runs
are on seeds from 200. Writes DIR/corrupted-labels.json, after every seed: seeds that are in the
file are not run again.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from tawt.arrays import MLP, classification
from tawt.hypergradient import Cosine
from tawt.runs.record import circumstances
from tawt.tasks import MultiTaskModel
from tawt.training import JointTraining, PreTraining, Settings, SingleTask, train
from tawt.units import Units
from tawt.weighting import Fixed, TargetAware, UpdateRule

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tawt.tasks import Task
    from tawt.training.paradigms import Paradigm

SOURCE, TARGET = "source", "target"
CORRUPTED, SOURCE_SIZE = 0.4, 900
FIRST_SEED = 200


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A task and how it is trained."""

    labels: int
    """Ten: which digit; two: odd or even."""
    target_size: int
    width: int
    """Of the one hidden layer."""
    epochs: int
    scale: float
    """c."""
    training: Settings
    share: float | None = None
    """The target's, in joint training; pre-training if nothing is said."""
    fine_tune_epochs: int = 0
    split: bool = False
    ways: tuple[str, ...] = ()
    """Of training, as named above."""

    def paradigm(self, kept: int) -> Paradigm:
        """For a source of that many examples: as many steps as for the whole of it."""
        epochs = round(self.epochs * SOURCE_SIZE / kept)
        if self.share is not None:
            return JointTraining(epochs=epochs)
        tune = self.fine_tune_epochs
        return PreTraining(epochs=epochs, fine_tune_epochs=tune, split_target=self.split)


_PLAIN = ("clean", "corrupted", "learned", "target alone")
_TRAINING = Settings(
    learning_rate=1e-3,
    clip_norm=None,
    head_learning_rate=1e-2,
    head_epochs=2,
    gradient_examples=200,
    select="last",
)
# A target whose share is held has few steps of its own when they are drawn by size.
_JOINT = replace(_TRAINING, sampling="weight")
_ODD = Setting(labels=2, target_size=400, width=10, epochs=150, scale=0.3, training=_TRAINING)
SETTINGS = {
    "frozen": replace(_ODD, fine_tune_epochs=150, split=True, ways=(*_PLAIN, "known")),
    "fine-tuned": replace(_ODD, fine_tune_epochs=60, ways=_PLAIN),
    "joint": Setting(
        labels=10,
        target_size=60,
        width=128,
        epochs=60,
        scale=0.3,
        share=0.3,
        training=_JOINT,
        ways=(*_PLAIN, "known", "best by alignment", "as many wrong, at random"),
    ),
}


@dataclass(frozen=True)
class Drawn:
    """The data of a seed."""

    target: Task
    images: NDArray[Any]
    """Of the source."""
    right: NDArray[Any]
    """Their labels."""
    given: NDArray[Any]
    """The same, some of them wrong."""

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which are."""
        return self.right != self.given


def drawn(setting: Setting, seed: int) -> Drawn:
    """Target, with as many of each digit as there can be; source; and test: different images."""
    images, digits = load_digits(return_X_y=True)
    images = images.astype(np.float32) / 16 - 0.5
    draw = np.random.default_rng(seed)
    order = draw.permutation(len(images))
    rank = np.empty(len(order), int)
    for digit in range(10):
        places = np.flatnonzero(digits[order] == digit)
        rank[places] = np.arange(len(places))
    own = order[np.argsort(rank, kind="stable")[: setting.target_size]]
    rest = draw.permutation(np.setdiff1d(order, own))
    source, test = rest[:SOURCE_SIZE], rest[SOURCE_SIZE:]
    labels = digits % setting.labels
    wrong = draw.random(SOURCE_SIZE) < CORRUPTED
    shift = np.where(wrong, draw.integers(1, setting.labels, SOURCE_SIZE), 0)
    return Drawn(
        classification(TARGET, train=(images[own], labels[own]), test=(images[test], labels[test])),
        images[source],
        labels[source],
        (labels[source] + shift) % setting.labels,
    )


def trained(
    setting: Setting,
    data: Drawn,
    labels: NDArray[Any],
    seed: int,
    *,
    kept: NDArray[np.bool_] | None = None,
    rule: UpdateRule | None = None,
) -> tuple[float, TargetAware | None]:
    """Test accuracy, and the weighting if there is a rule to learn it by.

    Args:
        setting: How to train.
        data: Of the seed.
        labels: Of the source.
        seed: Of parameters and steps.
        kept: Which examples of the source are; all by default.
        rule: All examples count alike if none is given.
    """
    kept = np.ones(SOURCE_SIZE, bool) if kept is None else kept
    names = [str(label) for label in range(setting.labels)]
    source = classification(SOURCE, train=(data.images[kept], labels[kept]), labels=names)
    sizes = {SOURCE: int(kept.sum())}
    initial = {SOURCE: 1.0}
    if setting.share is not None:
        sizes[TARGET] = setting.target_size
        initial = {SOURCE: 1 - setting.share, TARGET: setting.share}
    learned = None
    if rule is not None:
        learned = TargetAware(
            sources=[SOURCE],
            target=TARGET,
            initial=initial,
            sizes=sizes,
            target_share=setting.share,
            rule=rule,
            units=Units.of_examples({SOURCE: sizes[SOURCE]}),
        )
    tasks = [source, data.target]
    result = train(
        modelled(setting, tasks, seed),
        tasks=tasks,
        target=TARGET,
        paradigm=setting.paradigm(sizes[SOURCE]),
        weighting=learned or Fixed(list(sizes), initial=initial),
        settings=setting.training,
        seed=seed,
    )
    return result.scores[TARGET]["test"]["accuracy"], learned


def modelled(setting: Setting, tasks: list[Task], seed: int) -> MultiTaskModel:
    """A new network."""
    torch.manual_seed(seed)
    network = MLP((64,), widths=(setting.width,))
    return MultiTaskModel.for_tasks(network, tasks, width=setting.width)


def alone(setting: Setting, data: Drawn, seed: int) -> float:
    """Test accuracy from the target's examples alone."""
    result = train(
        modelled(setting, [data.target], seed),
        tasks=[data.target],
        target=TARGET,
        paradigm=SingleTask(epochs=200),
        settings=setting.training,
        seed=seed,
    )
    return result.scores[TARGET]["test"]["accuracy"]


def compared(setting: Setting, seed: int) -> dict[str, Any]:
    """The setting's ways of training with one seed, and what the learned weights are like."""
    data = drawn(setting, seed)
    wrong, given = data.wrong, data.given
    rule = UpdateRule(alignment=Cosine(scale=setting.scale), own_alignment="held-out")
    learned, weighting = trained(setting, data, given, seed, rule=rule)
    assert weighting is not None
    weights = weighting.weights.relative(SOURCE, np.arange(SOURCE_SIZE))
    assert weights is not None
    alignments = weighting.mean_alignments[:SOURCE_SIZE].numpy()
    best = alignments >= np.quantile(alignments, CORRUPTED)
    draw = np.random.default_rng(seed)
    random = np.zeros(SOURCE_SIZE, bool)
    for which in (wrong, ~wrong):
        random[draw.choice(np.flatnonzero(which), int((best & which).sum()), replace=False)] = True
    ways: dict[str, Callable[[], float]] = {
        "clean": lambda: trained(setting, data, data.right, seed)[0],
        "corrupted": lambda: trained(setting, data, given, seed)[0],
        "learned": lambda: learned,
        "target alone": lambda: alone(setting, data, seed),
        "known": lambda: trained(setting, data, given, seed, kept=~wrong)[0],
        "best by alignment": lambda: trained(setting, data, given, seed, kept=best)[0],
        "as many wrong, at random": lambda: trained(setting, data, given, seed, kept=random)[0],
    }
    return {
        "accuracy": {name: ways[name]() for name in ways if name in setting.ways},
        "auc": float(roc_auc_score(~wrong, weights.numpy())),
        "weight_of_wrong": float(weights[wrong].mean() / weights[~wrong].mean()),
        "effective_examples": float(weights.sum() ** 2 / weights.square().sum()),
        "wrong_among_kept": float(wrong[best].mean()),
        "right_left_out": float((~best)[~wrong].mean()),
        "share_by_label": [
            float(weights[given == label].sum() / weights.sum()) for label in range(setting.labels)
        ],
    }


def recovered(runs: list[dict[str, Any]], way: str) -> tuple[float, float, float]:
    """The share of the accuracy lost that a way regains, and a 95% interval over seeds."""
    scores = {
        name: np.array([run["accuracy"][name] for run in runs])
        for name in ("clean", "corrupted", way)
    }

    def share(chosen: NDArray[Any]) -> NDArray[Any]:
        clean, corrupted, mine = (scores[n][chosen].mean(-1) for n in ("clean", "corrupted", way))
        return (mine - corrupted) / (clean - corrupted)

    again = np.random.default_rng(0).integers(0, len(runs), (10_000, len(runs)))
    low, high = np.quantile(share(again), [0.025, 0.975])
    return float(share(np.arange(len(runs)))), float(low), float(high)


def table(record: dict[str, Any]) -> str:
    """Accuracies in Markdown, mean and standard deviation over seeds, and what was recovered."""
    settings = record["runs"]
    ways = max((runs[0]["accuracy"] for runs in settings.values()), key=len)
    lines = ["| | " + " | ".join(settings) + " |", "| --- |" + " ---: |" * len(settings)]
    lines += [_line(way, [_accuracy(runs, way) for runs in settings.values()]) for way in ways]
    for way in (way for way in ways if way not in ("clean", "corrupted", "target alone")):
        cells = [_recovery(runs, way) for runs in settings.values()]
        lines.append(_line(f"recovered, {way}", cells))
    measures = [key for key, value in runs_of(settings)[0].items() if isinstance(value, float)]
    for key in measures:
        found = [np.array([run[key] for run in runs]) for runs in settings.values()]
        cells = [f"{v.mean():.3g} ({v.min():.3g} to {v.max():.3g})" for v in found]
        lines.append(_line(key, cells))
    return "\n".join(lines) + "\n"


def runs_of(settings: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Those of all settings."""
    return [run for runs in settings.values() for run in runs]


def _line(name: str, cells: list[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def _accuracy(runs: list[dict[str, Any]], way: str) -> str:
    if way not in runs[0]["accuracy"]:
        return ""
    scores = [100 * run["accuracy"][way] for run in runs]
    return f"{np.mean(scores):.1f} ± {np.std(scores, ddof=1):.1f}"


def _recovery(runs: list[dict[str, Any]], way: str) -> str:
    if way not in runs[0]["accuracy"]:
        return ""
    share, low, high = recovered(runs, way)
    return f"{share:.2f} ({low:.2f} to {high:.2f})"


def main() -> None:
    """Parse, train, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corrupted_labels")
    parser.add_argument("--setting", action="append", choices=list(SETTINGS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--out", type=Path, default=Path("runs"), metavar="DIR")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "corrupted-labels.json"
    record: dict[str, Any] = {
        "command": "python -m benchmarks.corrupted_labels",
        **circumstances(torch.device("cpu")),
        "settings": {name: asdict(setting) for name, setting in SETTINGS.items()},
        "runs": {name: [] for name in options.setting or SETTINGS},
    }
    if file.exists():
        record = json.loads(file.read_text())
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for name, runs in record["runs"].items():
            if all(run["seed"] != seed for run in runs):
                runs.append({"seed": seed, **compared(SETTINGS[name], seed)})
                file.write_text(json.dumps(record, indent=1) + "\n")
                scores = runs[-1]["accuracy"].items()
                shown = ", ".join(f"{way} {score:.3f}" for way, score in scores)
                print(f"{name} {seed}: {shown}, AUC {runs[-1]['auc']:.3f}", flush=True)
    if options.seeds > 1:
        print(table(record))


if __name__ == "__main__":
    main()
