"""What valid sequences of tags are worth: one model, its words answered one by one and together.

    python -m benchmarks.decoding --data FOLDER --encoder PATH

FOLDER holds `ewt/ner.*.tsv` and `gum/ner.*.tsv`, in columns. A model is trained on some sentences
of each alone; its test sentences are answered with every word's most probable tag, and with the
best valid sequence. Writes `benchmarks/reports/decoding.md` and `.json`.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from benchmarks import machine
from tawt.config import parsed
from tawt.text.decoding import best_tags
from tawt.text.kinds import Tagging
from tawt.text.reading import TagCounts, TaggedSentence, check_tags
from tawt.text.tokens import NO_TAG, TaggedSentences
from tawt.training import SingleTask, train
from tawt.training.evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch import Tensor

    from tawt.text.tokens import TagLabels

REPORTS = Path(__file__).parent / "reports"
DATA_SETS = ("ewt", "gum")
CPU = torch.device("cpu")
_SENTENCES, _WORDS, _BROKEN = 64, 20, (0.0, 0.05, 1.0)
_TAGS = ("O", *(f"{prefix}-{kind}" for kind in "abcdefgh" for prefix in "BI"))


@dataclass(frozen=True)
class OneByOne(Tagging):
    """Every word gets its most probable tag."""

    def answers(
        self, outputs: Tensor, labels: TagLabels
    ) -> tuple[list[list[str]], list[list[str]]]:
        """Gold and predicted tags of each sentence."""
        names = (*self.labels, *self.unseen)
        gold: dict[int, list[str]] = {}
        predicted: dict[int, list[str]] = {}
        rows = zip(labels.sentence.tolist(), labels.tags, outputs.argmax(dim=-1), strict=True)
        for sentence, tags, best in rows:
            known = tags != NO_TAG
            gold.setdefault(sentence, []).extend(names[tag] for tag in tags[known].tolist())
            predicted.setdefault(sentence, []).extend(names[tag] for tag in best[known].tolist())
        return list(gold.values()), list(predicted.values())


def compared(data: Path, encoder: str, *, examples: int, seeds: Sequence[int]) -> Iterator[Any]:
    """For each data set and seed, scores and seconds of both ways to answer.

    Args:
        data: The folder of the data sets.
        encoder: Of all models.
        examples: To train on.
        seeds: Of the sample and of training.
    """
    for name in DATA_SETS:
        for seed in seeds:
            files = {"folder": data / name, "pattern": "ner.*", "limit": examples}
            config = parsed(
                {
                    "data": {"kind": "text", "tasks": {"ner": files}},
                    "target": "ner",
                    "paradigm": "single-task",
                    "model": {"encoder": encoder},
                    "training": {"learning_rate": 2e-4, "batch_size": 16, "select": "last"},
                }
            )
            [task] = config.modality.tasks(
                config.data, config.model, names=["ner"], targets=["ner"], seed=seed
            )
            torch.manual_seed(seed)
            model = config.modality.model(config.model, [task])
            train(
                model,
                tasks=[replace(task, dev=None)],
                target="ner",
                paradigm=SingleTask(epochs=10),
                settings=config.training,
                seed=seed,
            )
            yield {"data": name, "seed": seed, **_answered(model, task)}


def _answered(model: Any, task: Any) -> dict[str, Any]:
    kind = task.kind
    one_by_one = OneByOne(kind.labels, kind.metric, kind.unseen)
    found: dict[str, Any] = {}
    for way, each in {"one by one": one_by_one, "valid sequence": kind}.items():
        predictions = evaluate(
            model, replace(task, kind=each), task.test, batch_size=64, device=CPU
        )
        broken = sum(not _is_valid(tags) for tags in predictions.predicted)
        found[way] = {"scores": predictions.scores, "broken": broken}
    assert isinstance(task.test, TaggedSentences)
    return {"sentences": len(task.test), "ways": found}


def _is_valid(tags: list[str]) -> bool:
    sentence = TaggedSentence(("",) * len(tags), tuple(tags), line=1)
    repaired = check_tags(sentence, path=Path(), invalid="repair", counts=TagCounts())
    return repaired.tags == sentence.tags


def written(rows: list[dict[str, Any]], cost: dict[str, Any], *, examples: int) -> str:
    """The table in Markdown."""
    lines = [
        "# Valid sequences of tags",
        "",
        f"F1 of spans on test sentences, of models trained on {examples} sentences of the task "
        "alone; each model answers both ways. *Broken*: sentences with an `I-` that nothing leads "
        "to.",
        "",
        "| data | seed | one by one | by CoNLL's reading | broken | valid sequence | difference |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    gaps = []
    for row in rows:
        plain, valid = row["ways"]["one by one"], row["ways"]["valid sequence"]
        before, after = 100 * plain["scores"]["span_f1"], 100 * valid["scores"]["span_f1"]
        conll = 100 * plain["scores"]["span_f1_conlleval"]
        gaps.append(after - before)
        lines.append(
            f"| {row['data']} | {row['seed']} | {before:.2f} | {conll:.2f} | "
            f"{plain['broken']} of {row['sentences']} | {after:.2f} | {after - before:+.2f} |"
        )
    plain = cost["one by one"]
    return "\n".join(
        [
            *lines,
            "",
            f"Mean difference {np.mean(gaps):+.2f} points, from {min(gaps):+.2f} to "
            f"{max(gaps):+.2f}.",
            "",
            f"To choose the tags of {_SENTENCES} sentences of {_WORDS} words, {len(_TAGS)} tags, "
            f"from their scores takes {plain:.0f} µs one by one on one core; as valid sequences "
            + "; ".join(
                f"{micros:.0f} µs where {share:.0%} of the sentences are broken"
                for share, micros in cost["valid sequence"].items()
            )
            + ".",
            "",
            "Made by `python -m benchmarks.decoding`.",
            "",
        ]
    )


def measured_cost() -> dict[str, Any]:
    """Microseconds of this process for a batch: the least of several rounds."""
    draws = torch.Generator().manual_seed(0)
    scores = torch.randn(_SENTENCES * _WORDS, len(_TAGS), generator=draws)
    scores[:, 0] += 20  # all are O
    found = {}
    for share in _BROKEN:
        broken = scores.clone()
        broken[3::_WORDS][: round(share * _SENTENCES), 2] += 50
        found[share] = _micros(partial(best_tags, broken, [_WORDS] * _SENTENCES, _TAGS))
    return {"one by one": _micros(partial(scores.argmax, dim=-1)), "valid sequence": found}


def _micros(act: Callable[[], object], *, rounds: int = 7, times: int = 50) -> float:
    each = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(times):
            act()
        each.append((time.process_time() - start) / times * 1e6)
    return min(each)


def main() -> None:
    """Train, answer, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=REPORTS / "decoding")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = compared(
        options.data, options.encoder, examples=options.examples, seeds=range(options.seeds)
    )
    leave([*found], Path(options.encoder).name, options.out, examples=options.examples)


def leave(rows: list[dict[str, Any]], encoder: str, path: Path, *, examples: int) -> None:
    """Write the record and the table.

    Args:
        rows: As `compared` gives them.
        encoder: Its name.
        path: Of both files, without their endings.
        examples: That were trained on.
    """
    cost = measured_cost()
    record = {
        "command": "python -m benchmarks.decoding --data FOLDER --encoder PATH",
        "encoder": encoder,
        "examples": examples,
        "machine": machine.description(CPU),
        "cost": cost,
        "rows": rows,
    }
    path.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(written(rows, cost, examples=examples), encoding="utf-8")


if __name__ == "__main__":
    main()
