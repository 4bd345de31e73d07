"""Tokens a second of a language model of GPT-2's size, in tawt's loop and beside it.

GPT-2's architecture (124 million parameters, 12 layers, width 768, vocabulary 50,304) is trained
from nothing in bf16 on windows of 1024 tokens, 64 to a step, with AdamW (fused) and gradients
clipped to 1, compiled with `torch.compile`:

- **plain loop**: the same model on the same windows in the same order, in a loop of twenty lines;
- **tawt**: `tawt.training.train`, equal weights on 12 corpora;
- **tawt that learns from steps**: the same, with weights learned from training steps every 10;
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
from tawt.training.schedule import Schedule
from tawt.training.watching import AIM_EVERY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tawt.training.progress import TrainingProgress

_CORPORA, _WINDOWS = 12, 2000
_PEAK = 989e12  # FLOP/s of dense bf16
_RATE = 6e-4
_TARGET, _AIMED = 64, 4  # windows of the target, and those that one direction is taken from
_REPEATS = 10


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
    """Whole batches, for the plain loop: those of tawt's steps on equal weights."""

    def __init__(self, tokens: Tokens, *, batch: int, steps: int) -> None:
        self.tokens = tokens
        each = len(tokens) // _CORPORA
        shares = {f"corpus {number}": 1 / _CORPORA for number in range(_CORPORA)}
        plan = Schedule(
            dict.fromkeys(shares, each),
            batch_size=batch,
            sampling="mixed",
            seed=0,
            phase=SourcesOnly(epochs=1).phases()[0].name,
            steps_per_epoch=steps,
        ).steps(0, 0, steps, shares=shares)
        firsts = {name: number * each for number, name in enumerate(shares)}
        self.places = [
            np.concatenate([firsts[name] + found for name, found in step.examples.items()])
            for step in plan
        ]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, number: int) -> Any:
        return self.tokens.batch(self.places[number]).inputs


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
        count = _CORPORA * _WINDOWS if not quick else 100
        write_tokens(path, count * width + 1)
        ways: dict[str, Callable[[], tuple[float, float]]] = {
            "plain loop": lambda: _plain(config, path, device, width, batch, steps, count),
            "tawt": lambda: trained_by_tawt(
                config, path, device, width, batch, steps, count, learns=False
            ),
            "tawt that learns from steps": lambda: trained_by_tawt(
                config, path, device, width, batch, steps, count, learns=True
            ),
            "Trainer": lambda: _trainer(config, path, device, width, batch, steps, count, folder),
        }
        if only is not None:
            ways = {name: way for name, way in ways.items() if name in only.split(",")}
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        losses: dict[str, float] = {}
        for _ in range(2 if not quick else 1):
            for name, way in ways.items():
                with _own_environment():
                    taken, losses[name] = way()
                seconds[name].append(taken)
                print(f"{name}: {1000 * taken:.2f} ms a step, loss {losses[name]:.4f}", flush=True)
                torch.compiler.reset()
        own = _own_gradient(config, path, device, width)
        print(f"a gradient on {_AIMED} windows: {1000 * own:.2f} ms", flush=True)
    return _findings(seconds, losses, config, width, batch, own)


def write_tokens(path: Path, count: int) -> None:
    """Leave tokens that mean nothing."""
    np.random.default_rng(0).integers(0, 50257, count, dtype=np.uint16).tofile(path)


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
    seconds: dict[str, list[float]],
    losses: dict[str, float],
    config: GPT2Config,
    width: int,
    batch: int,
    own: float,
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
                    "mean loss": losses[name],
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
    if "tawt" in seconds and "tawt that learns from steps" in seconds:
        step = median(seconds["tawt"])
        extra = median(seconds["tawt that learns from steps"]) - step
        gradient = own / AIM_EVERY
        for what, value, goal in (
            ("learning from training steps, beside equal weights", extra, None),
            ("of that, the target's own gradient", gradient, None),
            ("learning from training steps beyond the target's own gradient", extra - gradient, 2),
        ):
            found.append(
                Finding(
                    benchmark="language_speed",
                    what=what,
                    value=100 * value / step,
                    unit="%",
                    goal=goal,
                    direction="at most",
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
) -> tuple[float, float]:
    """Seconds a step of a loop that does nothing but train, and its mean loss."""
    model = _model(config).to(device)
    compiled: Any = torch.compile(model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=_RATE, fused=True)
    rows = _Rows(Tokens(path, width=width, first=0, count=count), batch=batch, steps=steps)
    loader = DataLoader(rows, batch_size=None, pin_memory=device.type == "cuda")
    times, total = [], torch.zeros((), device=device)
    for inputs in loader:
        moved = {name: value.to(device, non_blocking=True) for name, value in inputs.items()}
        with torch.autocast(device.type, torch.bfloat16):
            nats, tokens = compiled(moved).unbind(-1)
        loss = (nats / tokens).mean()
        loss.backward()
        total += loss.detach()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        times.append(_now_if_due(len(times), steps, device))
    return _per_step(times), float(total) / steps


def _own_gradient(config: GPT2Config, path: Path, device: torch.device, width: int) -> float:
    """Seconds that a gradient on the target's windows of one direction takes, by itself."""
    model = _model(config).to(device)
    compiled: Any = torch.compile(model)
    rows = Tokens(path, width=width, first=0, count=_TARGET).batch(np.arange(_AIMED)).inputs
    moved = {name: value.to(device) for name, value in rows.items()}
    times: list[float | None] = []
    for number in range(2 * _REPEATS):
        with torch.autocast(device.type, torch.bfloat16):
            nats, tokens = compiled(moved).unbind(-1)
        torch.autograd.grad((nats / tokens).mean(), list(model.parameters()))
        times.append(_now_if_due(number, 2 * _REPEATS, device))
    return _per_step(times)


def trained_by_tawt(
    config: GPT2Config,
    path: Path,
    device: torch.device,
    width: int,
    batch: int,
    steps: int,
    count: int,
    *,
    learns: bool,
    after_step: Callable[[int], None] = lambda _: None,
) -> tuple[float, float]:
    """Seconds a step of tawt's own loop, and its mean loss.

    Args:
        config: Of the model.
        path: Of the tokens.
        device: To train on.
        width: Tokens of a window.
        batch: Windows of a step.
        steps: How many.
        count: Windows that there are.
        learns: Whether weights are learned from training steps.
        after_step: Called with the number of steps so far.
    """
    kind = LanguageModelling(Bytes(), window=width)
    each = count // _CORPORA
    names = [f"corpus {number}" for number in range(_CORPORA)]
    tasks = [
        Task(name, kind, Tokens(path, width=width, first=number * each, count=each))
        for number, name in enumerate(names)
    ]
    tasks.append(Task("target", kind, Tokens(path, width=width, first=0, count=_TARGET)))
    model = MultiTaskModel.for_tasks(_model(config), tasks, width=2)
    weighting: Any = Fixed(names)
    if learns:
        rule = UpdateRule(alignment=Cosine(scale=10.0))
        weighting = TargetAware(sources=names, target="target", target_share=None, rule=rule)
    times: list[float | None] = []

    def progressed(now: TrainingProgress) -> None:
        times.append(_now_if_due(now.step - 1, steps, device))
        after_step(now.step)

    found = train(
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
            weight_decay=0.01,
            precision="bf16",
            compile=True,
            decay="none",
            update_every=max(1, steps // 5),
            measure="training steps" if learns else "fresh batches",
            gradient_examples=_AIMED * AIM_EVERY,
        ),
        on_progress=progressed,
    )
    return _per_step(times), found.epochs[-1]["loss"]


def _trainer(
    config: GPT2Config,
    path: Path,
    device: torch.device,
    width: int,
    batch: int,
    steps: int,
    count: int,
    folder: str,
) -> tuple[float, float]:
    """Seconds a step of transformers' Trainer, and its mean loss."""
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
    trainer = Trainer(model=model, args=arguments, train_dataset=Windows(), callbacks=[Clock()])
    loss = trainer.train().training_loss
    return _per_step(times), loss


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
