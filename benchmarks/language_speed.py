"""Tokens a second of a language model of GPT-2's size, in tawt's loop and beside it.

GPT-2's architecture (124 million parameters, 12 layers, width 768, vocabulary 50,304) is trained
from nothing in bf16 on windows of 1024 tokens, 64 to a step, with AdamW (fused) and gradients
clipped to 1, compiled with `torch.compile`:

- **plain loop**: the same model on batches of the same shape, in a loop of twenty lines;
- **tawt**: `tawt.training.train`, equal weights on 12 corpora;
- **tawt, learning from steps**: the same, with weights learned from training steps every 25 steps;
  the target's own gradient is taken every 5 steps from 4 windows;
- **Trainer**: `GPT2LMHeadModel` in transformers' Trainer on the same windows, with `bf16`,
  `adamw_torch_fused` and `torch_compile`.

Times are of the last steps of each training, after compilation, trainings taken in turns. FLOPs are
those of the model by Chowdhery et al. (2022): 6N + 12·L·d·T to a token, N without the table of
positions; the peak of an H200 is 989 TFLOP/s (dense bf16).
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import AutoModelForCausalLM, GPT2Config

from benchmarks.finding import Finding
from tawt import Cosine, Fixed, TargetAware, UpdateRule
from tawt.corpora.attention import causal_attention
from tawt.corpora.kinds import LanguageModelling
from tawt.corpora.networks import LanguageModel
from tawt.corpora.vocabularies import Bytes
from tawt.tasks import Batch, Examples, MultiTaskModel, Task
from tawt.training import Settings, SourcesOnly, train

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CORPORA, _WINDOWS = 12, 2000
_PEAK = 989e12  # FLOP/s of dense bf16
_RATE = 6e-4


class Tokens(Examples):
    """Windows of tokens that mean nothing, read from a file as those of a corpus are."""

    def __init__(self, path: Path, *, width: int, first: int, count: int) -> None:
        self.path, self.width, self.first, self.count = path, width, first, count
        self._tokens = np.memmap(path, np.uint16, "r")

    def __len__(self) -> int:
        return self.count

    def batch(self, indices: Any) -> Batch:
        """Windows of one token more than are predicted."""
        starts = (self.first + np.asarray(indices)) * self.width
        rows = self._tokens[starts[:, None] + np.arange(self.width + 1)].astype(np.int64)
        lengths = torch.full((len(rows),), self.width + 1)
        inputs = {"tokens": torch.from_numpy(rows), "lengths": lengths}
        return Batch(inputs, torch.full((len(rows),), float(self.width)))


class _Rows(Dataset[Any]):
    """Whole batches, for the plain loop."""

    def __init__(self, tokens: Tokens, *, batch: int) -> None:
        self.tokens, self.size = tokens, batch

    def __len__(self) -> int:
        return len(self.tokens) // self.size

    def __getitem__(self, number: int) -> Any:
        draw = np.random.default_rng(number)
        return self.tokens.batch(draw.choice(len(self.tokens), self.size, replace=False)).inputs


def run(*, device: torch.device, quick: bool, only: str | None = None) -> list[Finding]:
    """Train in every way, in turns."""
    size = {"n_embd": 768, "n_layer": 12, "n_head": 12} if not quick else _TINY
    width, batch = (1024, 64) if not quick else (32, 4)
    config = GPT2Config(
        vocab_size=50304, n_positions=width, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, **size
    )
    steps = 50 if not quick else 4
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokens.bin")
        draw = np.random.default_rng(0)
        count = _CORPORA * _WINDOWS if not quick else 100
        draw.integers(0, 50257, count * width + 1, dtype=np.uint16).tofile(path)
        ways: dict[str, Callable[[], float]] = {
            "plain loop": lambda: _plain(config, path, device, width, batch, steps, count),
            "tawt": lambda: _tawt(config, path, device, width, batch, steps, count, learns=False),
            "tawt, learning from steps": lambda: _tawt(
                config, path, device, width, batch, steps, count, learns=True
            ),
            "Trainer": lambda: _trainer(config, path, device, width, batch, steps, count, folder),
        }
        if only is not None:
            ways = {name: way for name, way in ways.items() if name in only.split(",")}
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(2 if not quick else 1):
            for name, way in ways.items():
                with _own_environment():
                    seconds[name].append(way())
                print(f"{name}: {1000 * seconds[name][-1]:.2f} ms a step", flush=True)
                torch.compiler.reset()
    return list(_findings(seconds, config, width, batch))


@contextlib.contextmanager
def _own_environment() -> Iterator[None]:
    """Leave no variable behind: the Trainer has Accelerate compile whatever it prepares later."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


_TINY = {"n_embd": 32, "n_layer": 2, "n_head": 2}


def _findings(
    seconds: dict[str, list[float]], config: GPT2Config, width: int, batch: int
) -> list[Finding]:
    found = []
    flops = _flops(config, width) * width * batch
    for name, times in seconds.items():
        best = median(times)
        found.append(
            Finding(
                benchmark="language_speed",
                what=f"{name}: share of the peak",
                value=100 * flops / best / _PEAK,
                unit="%",
                goal=40 if name == "tawt" else None,
                direction="at least",
                numbers={
                    "seconds a step": times,
                    "tokens a second": width * batch / best,
                    "FLOP a token": _flops(config, width),
                },
            )
        )
    ratios = [
        ("plain loop", "tawt", 0.97, "tokens a second of tawt beside the plain loop"),
        ("Trainer", "tawt", 1.3, "tokens a second of tawt beside the Trainer"),
    ]
    for other, ours, goal, what in ratios:
        if other in seconds and ours in seconds:
            value = median(seconds[other]) / median(seconds[ours])
            found.append(
                Finding(
                    benchmark="language_speed",
                    what=what,
                    value=value,
                    unit="x",
                    goal=goal,
                    direction="at least",
                )
            )
    if "tawt" in seconds and "tawt, learning from steps" in seconds:
        extra = median(seconds["tawt, learning from steps"]) / median(seconds["tawt"]) - 1
        found.append(
            Finding(
                benchmark="language_speed",
                what="learning from training steps, beside equal weights",
                value=100 * extra,
                unit="%",
                note="the target's own gradient, 4 windows every 5 steps, is 1.25% of the windows",
            )
        )
    return found


def _flops(config: GPT2Config, width: int) -> float:
    """To a token, forward and back."""
    layers, size = config.n_layer, config.n_embd
    parameters = config.vocab_size * size + layers * (12 * size**2 + 13 * size) + 2 * size
    return float(6 * parameters + 12 * layers * size * width)


def _model(config: GPT2Config) -> LanguageModel:
    torch.manual_seed(0)
    return LanguageModel(
        AutoModelForCausalLM.from_config(config, attn_implementation=causal_attention())
    )


def _plain(
    config: GPT2Config,
    path: Path,
    device: torch.device,
    width: int,
    batch: int,
    steps: int,
    count: int,
) -> float:
    """Seconds a step of a loop that does nothing but train."""
    model = _model(config).to(device)
    compiled: Any = torch.compile(model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=_RATE, fused=True)
    rows = _Rows(Tokens(path, width=width, first=0, count=count), batch=batch)
    loader = DataLoader(rows, batch_size=None, pin_memory=device.type == "cuda")
    times = []
    for inputs in islice(cycle(loader), steps):
        moved = {name: value.to(device, non_blocking=True) for name, value in inputs.items()}
        with torch.autocast(device.type, torch.bfloat16):
            nats, tokens = compiled(moved).unbind(-1)
        (nats / tokens).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        times.append(_now_if_due(len(times), steps, device))
    return _per_step(times)


def _tawt(
    config: GPT2Config,
    path: Path,
    device: torch.device,
    width: int,
    batch: int,
    steps: int,
    count: int,
    *,
    learns: bool,
) -> float:
    """Seconds a step of tawt's own loop."""
    kind = LanguageModelling(Bytes(), window=width)
    each = count // _CORPORA
    names = [f"corpus {number}" for number in range(_CORPORA)]
    tasks = [
        Task(name, kind, Tokens(path, width=width, first=number * each, count=each))
        for number, name in enumerate(names)
    ]
    tasks.append(Task("target", kind, Tokens(path, width=width, first=0, count=min(each, 64))))
    model = MultiTaskModel.for_tasks(_model(config), tasks, width=2)
    weighting: Any = Fixed(names)
    if learns:
        rule = UpdateRule(alignment=Cosine(scale=10.0))
        weighting = TargetAware(sources=names, target="target", target_share=None, rule=rule)
    times: list[float | None] = []
    train(
        model,
        tasks=tasks,
        target="target",
        paradigm=SourcesOnly(epochs=1),
        weighting=weighting,
        settings=Settings(
            batch_size=batch,
            steps=steps,
            sampling="mixed",
            learning_rate=_RATE,
            precision="bf16",
            compile=True,
            decay="none",
            update_every=max(1, steps // 2),
            measure="training steps" if learns else "fresh batches",
            gradient_examples=max(1, min(20, count // 20)),
        ),
        on_progress=lambda now: times.append(_now_if_due(now.step - 1, steps, device)),
    )
    return _per_step(times)


def _trainer(
    config: GPT2Config,
    path: Path,
    device: torch.device,
    width: int,
    batch: int,
    steps: int,
    count: int,
    folder: str,
) -> float:
    """Seconds a step of transformers' Trainer."""
    from transformers import Trainer, TrainerCallback, TrainingArguments  # noqa: PLC0415

    times: list[float | None] = []

    class Clock(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            times.append(_now_if_due(len(times), steps, device))

    class Windows(Dataset[Any]):
        tokens = Tokens(path, width=width, first=0, count=count)

        def __len__(self) -> int:
            return len(self.tokens)

        def __getitem__(self, number: int) -> Any:
            row = self.tokens.batch([number]).inputs["tokens"][0, :-1]
            return {"input_ids": row, "labels": row}

    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    arguments = TrainingArguments(
        output_dir=str(Path(folder, "trainer")),
        max_steps=steps,
        per_device_train_batch_size=batch,
        learning_rate=_RATE,
        bf16=True,
        optim="adamw_torch_fused",
        torch_compile=device.type == "cuda",
        logging_strategy="no",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=device.type == "cpu",
    )
    Trainer(model=model, args=arguments, train_dataset=Windows(), callbacks=[Clock()]).train()
    return _per_step(times)


def _now_if_due(step: int, steps: int, device: torch.device) -> float | None:
    """The time at the middle and at the end, when all that was begun is done."""
    if step not in (steps // 2 - 1, steps - 1):
        return None
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def _per_step(times: list[float | None]) -> float:
    """Seconds a step in the second half."""
    begin, end = (moment for moment in times if moment is not None)
    return (end - begin) / (len(times) - len(times) // 2)
