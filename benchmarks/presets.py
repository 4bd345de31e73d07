"""Which way of moving the weights works: the experiment behind what `robust` was before evidence.

    python -m benchmarks.presets

On the demonstration's digits (thirty target examples; three sources that help and four that do
not), every variant of the update rule trains with the same seeds, data, model and budget. Writes
`benchmarks/reports/presets.md` and `.json`, which `docs/decisions/003-robust-preset.md` cites.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tawt.compare.demo import demo_config
from tawt.config import RunConfig, parsed
from tawt.runs import Options, RunFolder
from tawt.runs.record import circumstances
from tawt.significance import paired_t_test
from tawt.sweeps import Plan, Progress, RecordStore, Sweep, TrainRun, Work

SEEDS = range(10)
HELPFUL = ("parity", "magnitude", "shape")
REPORTS = Path(__file__).parent / "reports"

ROBUST: dict[str, Any] = {"preset": "robust", "step": "mirror", "ratio_bound": 10.0}
"""As it was: since then it goes by evidence, which `python -m benchmarks.regimes` measures."""
PAPER: dict[str, Any] = {"preset": "paper"}
FIXED: dict[str, Any] = {"kind": "fixed"}
LEARNED_SHARE = {**ROBUST, "target_share": "learned"}

NO_BOUND = {**ROBUST, "ratio_bound": None}

# Name: paradigm, weighting, training.
VARIANTS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "joint, sources equal, target 0.3, nothing learned": ("joint", FIXED, {}),
    "joint, all equal, nothing learned": ("joint", {**FIXED, "target_share": "learned"}, {}),
    "joint, paper, steps drawn by size": ("joint", PAPER, {"sampling": "size"}),
    "joint, paper, steps drawn by weight": ("joint", PAPER, {"sampling": "weight"}),
    "joint, target held out but its share learned": ("joint", LEARNED_SHARE, {}),
    "joint, robust": ("joint", ROBUST, {}),
    "joint, robust, target 0.1": ("joint", {**ROBUST, "target_share": 0.1}, {}),
    "joint, robust, target 0.5": ("joint", {**ROBUST, "target_share": 0.5}, {}),
    "joint, robust, no bound": ("joint", NO_BOUND, {}),
    "joint, robust, bound 3": ("joint", {**ROBUST, "ratio_bound": 3.0}, {}),
    "joint, robust, no bound, anchor 0.05": ("joint", {**NO_BOUND, "anchor": 0.05}, {}),
    "joint, robust, c = 5": ("joint", {**ROBUST, "scale": 5.0}, {}),
    "joint, robust, 16 examples a gradient": ("joint", ROBUST, {"gradient_examples": 16}),
    "joint, robust, 512 examples a gradient": ("joint", ROBUST, {"gradient_examples": 512}),
    "pre-training, nothing learned": ("pre-training", FIXED, {}),
    "pre-training, robust": ("pre-training", ROBUST, {}),
    "pre-training, robust, no bound": ("pre-training", NO_BOUND, {}),
    "pre-training, robust, no bound, anchor 0.05": (
        "pre-training",
        {**NO_BOUND, "anchor": 0.05},
        {},
    ),
    "pre-training, robust, c = 5": ("pre-training", {**ROBUST, "scale": 5.0}, {}),
    "pre-training, robust, head fitted once over": ("pre-training", ROBUST, {"head_epochs": 1}),
}


def configured(name: str, seed: int) -> RunConfig:
    """The demonstration's configuration with a variant's changes."""
    paradigm, weighting, training = VARIANTS[name]
    base = demo_config().model_dump(mode="json", exclude={"weighting", "training"})
    demo_training = {
        "learning_rate": 0.01,
        "head_learning_rate": 0.01,
        "update_every": 20,
        "update_growth": 0.0,
        "target_from": "all",
    }
    changes = {"paradigm": paradigm, "weighting": weighting, "seed": seed}
    return parsed({**base, **changes, "training": {**demo_training, **training}})


def measured(folder: Path) -> dict[str, dict[str, Any]]:
    """Scores, and the weight that ended on sources that help, of every variant."""
    rows = {}
    for number, name in enumerate(VARIANTS):
        runs = [RunFolder(folder / f"{number}-{seed}") for seed in SEEDS]
        records = [run.record() for run in runs]
        shares = [record["weights"] for record in records]
        sources = [sum(s for n, s in share.items() if n != "digit") for share in shares]
        rows[name] = {
            "scores": [record["scores"]["digit"]["test"]["accuracy"] for record in records],
            "examples": np.array([run.example_scores("digit") for run in runs]),
            "target": float(np.mean([share.get("digit", 0.0) for share in shares])),
            "helpful": float(
                np.mean(
                    [
                        sum(share[n] for n in HELPFUL) / max(total, 1e-300)
                        for share, total in zip(shares, sources, strict=True)
                    ]
                )
            ),
        }
    return rows


def written(rows: dict[str, dict[str, Any]]) -> str:
    """The table in Markdown."""
    lines = [
        "# Ways of moving the weights, on scanned digits",
        "",
        f"Test accuracy (%), mean ± standard deviation over {len(SEEDS)} seeds; difference to the",
        "first row of the paradigm, with the p-value of a paired t-test on test examples; final",
        "share of the target, and of the helpful sources among the sources.",
        "",
        "| | accuracy | difference | p | target | helpful |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        base = next(other for other in rows if other.split(",")[0] == name.split(",")[0])
        gain = np.mean(row["scores"]) - np.mean(rows[base]["scores"])
        p = paired_t_test(row["examples"], rows[base]["examples"])
        shown = (
            "" if name == base else f"{100 * gain:+.1f} | {'< 0.001' if p < 0.001 else f'{p:.3f}'}"
        )
        lines.append(
            f"| {name} | {100 * np.mean(row['scores']):.1f} ± "
            f"{100 * np.std(row['scores'], ddof=1):.1f} | {shown or ' | '} | "
            f"{row['target']:.3f} | {row['helpful']:.2f} |"
        )
    return "\n".join([*lines, "", "Made by `python -m benchmarks.presets`.", ""])


def main() -> None:
    """Make all runs in a temporary folder, and the record."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        options = Options(save_page=False)
        wanted = [
            Work(path.name, path.name, TrainRun(configured(name, seed), path, options))
            for number, name in enumerate(VARIANTS)
            for seed in SEEDS
            for path in [folder / f"{number}-{seed}"]
        ]

        def tell(now: Progress) -> None:
            if now.done % 20 == 0:
                print(f"{now.done} of {now.total} runs", flush=True)

        Sweep(workers=os.cpu_count() or 1, on_progress=tell).make(
            lambda: Plan(wanted), RecordStore(folder, "{}/record.json", sealed=True)
        )
        rows = measured(folder)
    text = written(rows)
    REPORTS.mkdir(exist_ok=True)
    (REPORTS / "presets.md").write_text(text, encoding="utf-8")
    record = {
        "command": "python -m benchmarks.presets",
        "seeds": list(SEEDS),
        **circumstances(torch.device("cpu")),
        "rows": {
            name: {key: value for key, value in row.items() if key != "examples"}
            for name, row in rows.items()
        },
    }
    (REPORTS / "presets.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
