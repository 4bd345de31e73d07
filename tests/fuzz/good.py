"""Good configurations, and the data that they name."""

from pathlib import Path

import numpy as np

from tawt.demos.tiny import write_tiny_encoder

DIGITS = {
    "name": "digits",
    "seed": 1,
    "data": {"kind": "digits", "target_size": 30},
    "target": "digit",
    "sources": ["parity", "coins"],
    "model": {"kind": "mlp", "widths": [6, 4], "dropout": 0.1},
    "paradigm": "joint",
    "epochs": 1,
    "target_epochs": 1,
    "weighting": {"preset": "robust", "step": "mirror", "step_size": 0.5, "anchor": 0.1},
    "training": {"batch_size": 8, "learning_rate": 0.01, "workers": 0, "warmup": 0.1},
}
ARRAYS = {
    "data": {
        "kind": "arrays",
        "tasks": {
            "goal": {"train": "goal.npz", "dev": "goal.npz", "test": "goal.npz"},
            "near": {"kind": "classification", "train": "near.npz", "labels": ["a", "b", "c"]},
            "far": {"kind": "regression", "train": "numbers.npz"},
        },
    },
    "target": {"goal": 1.0},
    "model": {"widths": [4]},
    "paradigm": "pre-training",
    "fine_tune_learning_rate": 0.001,
    "weighting": {
        "unit": "task",
        "initial": {"near": 0.5, "far": 0.5},
        "alignment": "curvature",
        "curvature": {"kind": "conjugate-gradient", "damping": 0.1, "iterations": 3, "scale": 1.0},
        "ratio_bound": 4.0,
    },
    "training": {"clip_norm": 1.0, "weight_decay": 0.1, "head_learning_rate": 0.1, "patience": 2},
}
TEXT = {
    "data": {
        "kind": "text",
        "tasks": {
            "goal": {"train": "goal.tsv", "held_out": {"dev": 0.2, "test": 0.2}, "tag_column": 1},
            "near": {"kind": "classification", "train": "near.jsonl", "limit": 4},
        },
    },
    "target": "goal",
    "model": {"encoder": "encoder", "max_length": 16, "overlap": 2},
    "weighting": {"unit": "group", "group": {"by": "length", "count": 2}, "target_share": 0.5},
}
GRAMMAR = {
    "data": {"kind": "grammar", "target_size": 5, "source_size": 5},
    "target": "chunk",
    "model": {"encoder": "encoder"},
}
CORPORA = {
    "data": {
        "kind": "corpora",
        "window": 16,
        "corpora": {
            "goal": {"train": "goal.txt", "held_out": {"dev": 0.2, "test": 0.2}},
            "near": {"train": "near.jsonl", "group": "label", "limit": 6, "invalid": "replace"},
            "far": {"train": ["far.txt"], "documents": "blank line", "dev": "goal.txt"},
        },
    },
    "target": "goal",
    "paradigm": "sources only",
    "model": {"layers": 1, "width": 8, "heads": 2, "objective": "causal"},
    "weighting": {"unit": "group", "group": {"by": "cluster", "count": 2}},
    "training": {"steps": 4, "sampling": "mixed", "most_passes": 4},
}
GOOD = {"digits": DIGITS, "arrays": ARRAYS, "text": TEXT, "grammar": GRAMMAR, "corpora": CORPORA}


def write_good_data(folder: Path):
    """The files that the configurations name, and some that are none."""
    draw = np.random.default_rng(0)
    for name, labels in (("goal", 3), ("near", 3)):
        inputs = draw.normal(size=(12, 3)).astype(np.float32)
        np.savez(folder / f"{name}.npz", inputs=inputs, labels=np.arange(12) % labels)
    np.savez(folder / "numbers.npz", inputs=inputs, labels=inputs.sum(1))
    (folder / "goal.tsv").write_text("the\tDET\ncat\tNOUN\n\n" * 10)
    lines = (f'{{"text": "cat number {n}", "label": "{"ab"[n % 2]}"}}\n' for n in range(8))
    (folder / "near.jsonl").write_text("".join(lines))
    for name, word in (("goal", "cat"), ("far", "tac")):
        (folder / f"{name}.txt").write_text("".join(f"a {word} of {n}\n\n" for n in range(40)))
    (folder / "folder").mkdir()
    (folder / "circle").symlink_to("circle")
    write_tiny_encoder(folder / "encoder", [["the", "cat", "number"]] * 20)
