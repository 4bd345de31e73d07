"""Where the time goes that learning from training steps adds to a language model's steps.

The model and the steps of `language_speed`, with equal weights and with weights that are learned
from training steps. Twenty steps of each, after compilation, are watched by PyTorch's profiler:
four of the twenty are taken in pieces of one corpus each, and the target's gradient is taken four
times. The time of the device's kernels is summed up by what they do; what is left of the time by
the clock is time in which no kernel ran. It is more than without the profiler, which waits for the
device after every step.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.profiler import ProfilerActivity, profile
from transformers import GPT2Config

from benchmarks.finding import Finding
from benchmarks.language_speed import trained_by_tawt, write_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

_STEPS, _FIRST, _LAST = 50, 25, 45
_KINDS: Mapping[str, tuple[str, ...]] = {
    "matrix products": ("gemm", "nvjet", "cutlass", "xmma", "addmm", "aten::mm"),
    "attention": ("flash", "fmha", "attention"),
    "the optimiser and the norm of gradients": ("multi_tensor", "fused_adam", "lpnorm", "foreach"),
}
_OTHER, _IDLE = "all other kernels", "no kernel at work"


@dataclass
class _Profile:
    """Seconds of the watched steps, by what was at work."""

    device: torch.device
    seconds: Counter[str] = field(default_factory=Counter)
    kernels: list[tuple[float, str, int]] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    """When each of the steps was done."""
    _profiler: Any = None

    def after_step(self, step: int) -> None:
        """Begin and end when it is time to."""
        if step == _FIRST:
            on_gpu = self.device.type == "cuda"
            kind = ProfilerActivity.CUDA if on_gpu else ProfilerActivity.CPU
            self._profiler = profile(activities=[kind])
            self._wait()
            self._profiler.__enter__()
        if _FIRST <= step <= _LAST:
            self._wait()
            self.ends.append(time.perf_counter())
        if step == _LAST:
            self._profiler.__exit__(None, None, None)
            self._read(self.ends[-1] - self.ends[0])

    def _read(self, taken: float) -> None:
        on_gpu = self.device.type == "cuda"
        for event in self._profiler.key_averages():
            if on_gpu and "CUDA" not in str(event.device_type):
                continue
            time_of = event.self_device_time_total if on_gpu else event.self_cpu_time_total
            seconds = time_of / 1e6
            self.seconds[_kind(event.key)] += seconds
            self.kernels.append((seconds, event.key[:80], event.count))
        self.kernels.sort(reverse=True)
        self.seconds[_IDLE] = max(0.0, taken - self.seconds.total())

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def run(*, device: torch.device, quick: bool) -> list[Finding]:
    """Profile both, and set them side by side."""
    size = {"n_embd": 768, "n_layer": 12, "n_head": 12} if not quick else _TINY
    width, batch = (1024, 64) if not quick else (32, 4)
    count = 24_000 if not quick else 100
    config = GPT2Config(
        vocab_size=50304, n_positions=width, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, **size
    )
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokens.bin")
        write_tokens(path, count * width + 1)
        for learns in (False, True):
            found[learns] = _Profile(device)
            trained_by_tawt(
                *(config, path, device, width, batch, _STEPS, count),
                learns=learns,
                after_step=found[learns].after_step,
            )
            torch.compiler.reset()
    return _findings(found[False], found[True])


_TINY = {"n_embd": 32, "n_layer": 2, "n_head": 2}


def _findings(equal: _Profile, learned: _Profile) -> list[Finding]:
    steps = _LAST - _FIRST
    whole = equal.seconds.total()
    kinds = [*_KINDS, _OTHER, _IDLE]
    rows = [("all of it", learned.seconds.total(), whole)]
    rows += [(kind, learned.seconds[kind], equal.seconds[kind]) for kind in kinds]
    return [
        Finding(
            benchmark="language_profile",
            what=f"added by learning from steps: {what}",
            value=100 * (ours - theirs) / whole,
            unit="%",
            numbers={
                "ms a step, equal weights": 1000 * theirs / steps,
                "ms a step, learned from steps": 1000 * ours / steps,
                **({"kernels": _longest(equal, learned)} if what == "all of it" else {}),
            },
        )
        for what, ours, theirs in rows
    ]


def _longest(equal: _Profile, learned: _Profile) -> dict[str, Any]:
    """Of each: milliseconds of every step; and of the longest kernels, and how often they ran."""
    return {
        name: {
            "steps": [round(1000 * (b - a), 2) for a, b in pairwise(found.ends)],
            "longest": [
                [round(1000 * seconds, 2), key, times] for seconds, key, times in found.kernels[:25]
            ],
        }
        for name, found in (("equal weights", equal), ("learned from steps", learned))
    }


def _kind(name: str) -> str:
    lower = name.lower()
    for kind, parts in _KINDS.items():
        if any(part in lower for part in parts):
            return kind
    return _OTHER
