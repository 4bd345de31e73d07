"""An update of the weights of 10 and of 200 corpora, beside a training step, and its memory.

The corpora are the standard library's documentation (`pydoc_data.topics`), each a few paragraphs of
it, tokenised as bytes and read from their shards. The model is GPT-2's architecture with 2 layers
of 128 numbers; a window has 128 bytes, a step trains on 16 windows, and an update measures every
corpus and the target on 16 fresh ones.

- **update**: seconds of one, over those of a training step (forward, backward, AdamW). Every corpus
  takes a forward and a backward pass, so that many steps are the goal, and the target's two.
- **memory of an update**: the most that it holds beyond model and optimiser, for 200 over 10.
- **memory of a process**: all that it holds when 200 corpora are open and updates were made, over
  that with 10. The allocator keeps blocks that were freed, the more the more batches there were;
  so it is asked again once it has given them back (`malloc_trim` of glibc). What is left is what
  the process needs: files are mapped, and nothing of them is kept.
- **from training steps**: a whole training of 60 steps with an update every 20, which compares the
  gradients that steps compute anyway; how much longer it takes than one with equal weights.

With `--only process` nothing but the memory of a process is measured.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from pydoc_data.topics import topics
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import torch

from benchmarks.finding import Finding
from benchmarks.live_storage import peak_extra_bytes
from benchmarks.timing import in_turns, seconds
from tawt.corpora import Bytes, CorpusFiles, Windows, tokenised
from tawt.corpora.kinds import LanguageModelling
from tawt.corpora.model_sections import LanguageModelConfig
from tawt.corpora.networks import language_model
from tawt.tasks import Task
from tawt.training import Settings, SourcesOnly, train
from tawt.training.devices import to_device
from tawt.weighting import Fixed, TargetAware, UpdateRule

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from tawt.tasks import MultiTaskModel

_COUNTS = (10, 200)
_TARGET = "target"
_WINDOW, _WINDOWS = 128, 16
_CHARACTERS = 12_000  # of a corpus
_REPEATS = 5

_HELD = """
import ctypes, json, sys
from pathlib import Path
import torch
from benchmarks.many_corpora import Setting
torch.set_num_threads(1)
setting = Setting(Path(sys.argv[1]), int(sys.argv[2]), torch.device("cpu"))
setting.update()
setting.update()
held = lambda: 4096 * int(Path("/proc/self/statm").read_text().split()[1])
found = {"with freed blocks": held()}
ctypes.CDLL("libc.so.6").malloc_trim(0)
print(json.dumps(found | {"without": held()}))
"""


class Setting:
    """So many corpora, a model, and what is done with them.

    Args:
        folder: Where corpora are kept.
        count: Of sources.
        device: Where the model is.
        width: Of the model's vectors.
    """

    def __init__(self, folder: Path, count: int, device: torch.device, *, width: int = 128) -> None:
        self.sources = [f"source {number}" for number in range(1, count + 1)]
        kind = LanguageModelling(Bytes(), _WINDOW)
        self.tasks = [
            Task(name, kind, _windows(folder, number), dev=_windows(folder, number))
            if name == _TARGET
            else Task(name, kind, _windows(folder, number))
            for number, name in enumerate([_TARGET, *self.sources])
        ]
        section = LanguageModelConfig(layers=2, width=width, heads=4)
        torch.manual_seed(0)
        self.model: MultiTaskModel = language_model(section, self.tasks).to(device)
        self.device = device
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.weighting = self.learned()
        self._draw = np.random.default_rng(0)

    def learned(self) -> TargetAware:
        """Weights that move."""
        return TargetAware(
            sources=self.sources, target=_TARGET, target_share=None, rule=UpdateRule.robust()
        )

    def loss_of(self, task: str) -> Tensor:
        """On fresh windows."""
        number = 0 if task == _TARGET else 1 + self.sources.index(task)
        train = self.tasks[number].train
        batch = to_device(train.batch(self._draw.integers(0, len(train), _WINDOWS)), self.device)
        losses = self.tasks[number].kind.losses(self.model(batch.inputs, task), batch.labels)
        return losses.mean()

    def step(self) -> None:
        """One training step."""
        self.loss_of(self.sources[0]).backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        self.optimiser.zero_grad()

    def update(self) -> None:
        """One update of the weights."""
        self.weighting.update(
            self.model.representation, loss_of=self.loss_of, touching=[self.model]
        )

    def training(self, *, learns: bool, steps: int) -> None:
        """A whole training, from training steps where weights are learned."""
        weighting = self.learned() if learns else Fixed(self.sources, initial="uniform")
        settings = Settings(
            sampling="mixed",
            steps=steps,
            batch_size=_WINDOWS,
            update_every=steps // 3,
            measure="training steps",
            gradient_examples=_WINDOWS,
        )
        train(
            self.model,
            tasks=self.tasks,
            target=_TARGET,
            paradigm=SourcesOnly(epochs=1),
            weighting=weighting,
            settings=settings,
        )


def run(*, device: torch.device, quick: bool, only: str | None = None) -> list[Finding]:
    """Few corpora and many."""
    counts = (2, 5) if quick else _COUNTS
    width = 16 if quick else 128
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if only == "process":
            return _process(folder)
        settings = {count: Setting(folder, count, device, width=width) for count in counts}
        found = [_cost(count, setting, quick=quick) for count, setting in settings.items()]
        found.append(_peaks(settings))
        found += [_observing(count, setting, quick=quick) for count, setting in settings.items()]
        if device.type == "cpu" and not quick:
            found += _process(folder)
    return found


def _cost(count: int, setting: Setting, *, quick: bool) -> Finding:
    repeats = 1 if quick else _REPEATS
    sides: dict[str, Callable[[], float]] = {
        "step": lambda: seconds(lambda: _times(setting.step, 10), device=setting.device) / 10,
        "update": lambda: seconds(setting.update, device=setting.device),
    }
    times = in_turns(sides, repeats=repeats)
    ratios = [one / other for one, other in zip(times["update"], times["step"], strict=True)]
    return Finding(
        benchmark="many_corpora",
        what=f"{count} corpora: an update over a training step",
        value=median(ratios),
        unit="x",
        goal=float(count + 2),
        spread=(min(ratios), max(ratios)),
        note=f"{1000 * median(times['update']):.0f} ms and {1000 * median(times['step']):.1f} ms",
        numbers={"seconds of updates": times["update"], "seconds of a step": times["step"]},
    )


def _peaks(settings: dict[int, Setting]) -> Finding:
    peaks = {}
    for count, setting in settings.items():
        present = [*setting.model.parameters(), *setting.model.buffers()]
        peaks[count] = peak_extra_bytes(setting.update, device=setting.device, present=present)
    few, many = peaks
    size = sum(p.numel() * p.element_size() for p in settings[few].model.parameters())
    return Finding(
        benchmark="many_corpora",
        what=f"memory of an update, {many} corpora over {few}",
        value=round(peaks[many] / peaks[few], 2),
        unit="x",
        goal=1.0,
        note=f"{peaks[many] / size:.1f} copies of the model; most are one batch's activations",
        numbers={f"bytes with {count}": peak for count, peak in peaks.items()},
    )


def _observing(count: int, setting: Setting, *, quick: bool) -> Finding:
    steps = 3 if quick else 60

    def taken(*, learns: bool) -> Callable[[], float]:
        return lambda: seconds(
            lambda: setting.training(learns=learns, steps=steps), device=setting.device
        )

    sides = {"fixed": taken(learns=False), "learned": taken(learns=True)}
    times = in_turns(sides, repeats=1 if quick else _REPEATS)
    fixed = median(times["fixed"])
    more = [100 * (learned - fixed) / fixed for learned in times["learned"]]
    return Finding(
        benchmark="many_corpora",
        what=f"{count} corpora, from training steps: longer than with equal weights",
        value=median(more),
        unit="%",
        spread=(min(more), max(more)),
        note=f"{steps} steps, 3 updates",
        numbers={f"seconds, {name}": found for name, found in times.items()},
    )


def _process(folder: Path) -> list[Finding]:
    held = {count: [_held(folder, count) for _ in range(3)] for count in _COUNTS}
    few, many = held
    found = []
    for which, said in (("with freed blocks", ""), ("without", ", without freed blocks")):
        sizes = {count: median(each[which] for each in runs) for count, runs in held.items()}
        found.append(
            Finding(
                benchmark="many_corpora",
                what=f"memory of a process after updates, {many} corpora over {few}{said}",
                value=sizes[many] / sizes[few],
                unit="x",
                goal=1.05,
                note=f"{sizes[few] / 2**20:.0f} MiB and {sizes[many] / 2**20:.0f} MiB",
                numbers={f"bytes with {count}": size for count, size in sizes.items()},
            )
        )
    return found


def _held(folder: Path, count: int) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _HELD, str(folder), str(count)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


def _times(action: Callable[[], None], count: int) -> None:
    for _ in range(count):
        action()


def _windows(folder: Path, number: int) -> Windows:
    path = folder / f"{number}.txt"
    if not path.exists():
        whole = "\n\n".join(topics[name] for name in sorted(topics))
        start = number * _CHARACTERS // 4 % (len(whole) - _CHARACTERS)
        path.write_text(whole[start : start + _CHARACTERS], encoding="utf-8")
    files = CorpusFiles(train=path, documents="blank line")
    shard = tokenised(files, Bytes(), cache=folder / "cache", workers=1)
    return Windows(shard, Bytes(), width=_WINDOW)
