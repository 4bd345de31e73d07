"""What it costs to learn weights from training steps, at 12 sources and an update every 25 steps.

A block is 25 steps on one task each, in a loop of one's own. Blocks of four kinds are taken in
turns, and compared by their medians:

- **plain**: steps alone;
- **target**: and the target's gradient, every 5 steps from 26 examples (`aim`);
- **training steps**: and the gradients of all steps compared with it (`observe`), and an update;
- **fresh batches**: an update that measures all 12 sources on 64 examples each, and the target on
  128; no `aim`, no `observe`.

What observing costs is the third less the second, in percent of the first: that is what it adds to
the target's own gradient, which no update can do without, and whose cost is the second less the
first.
"""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from benchmarks.finding import Finding
from benchmarks.networks import Encoder, dense
from benchmarks.timing import in_turns, now
from tawt import Cosine, TargetAware, UpdateRule

if TYPE_CHECKING:
    from collections.abc import Callable

_SOURCES = [f"source {number}" for number in range(12)]
_STEPS, _BATCH = 25, 32
_AIM_EVERY, _AIM_EXAMPLES = 5, 26
_FRESH_EXAMPLES, _FRESH_TARGET = 64, 128
_GOAL = 2.0
_REPEATS = {"cpu": 9, "cuda": 25}


class Loop:
    """A training loop of one's own, on examples that mean nothing."""

    def __init__(
        self, encoder: nn.Module, width: int, draw: Callable[[int], Tensor], device: torch.device
    ) -> None:
        self.encoder = encoder.to(device)
        self.heads = nn.ModuleDict({name: nn.Linear(width, 5) for name in [*_SOURCES, "target"]})
        self.heads.to(device)
        self.optimiser = torch.optim.AdamW(
            [*self.encoder.parameters(), *self.heads.parameters()], lr=1e-4
        )
        self.draw = draw
        self.device = device
        self.weights = TargetAware(
            sources=_SOURCES,
            target="target",
            target_share=None,
            rule=UpdateRule(alignment=Cosine(scale=1.0)),
        )

    def loss(self, task: str, count: int) -> Tensor:
        """On as many new examples."""
        labels = torch.randint(5, (count,), device=self.device)
        return cross_entropy(self.heads[task](self.encoder(self.draw(count))), labels)

    def block(self, *, aims: bool, observes: bool, measures: bool) -> float:
        """Seconds of 25 steps."""
        start = now(self.device)
        for step in range(1, _STEPS + 1):
            task = _SOURCES[step % len(_SOURCES)]
            self.optimiser.zero_grad()
            self.loss(task, _BATCH).backward()
            if observes:
                self.weights.observe(self.encoder, task)
            self.optimiser.step()
            if aims and step % _AIM_EVERY == 0:
                self.weights.aim(self.encoder, loss_of=partial(self.loss, count=_AIM_EXAMPLES))
        if observes:
            self.weights.update()
        if measures:
            self.weights.update(self.encoder, loss_of=self._fresh)
        return now(self.device) - start

    def _fresh(self, task: str) -> Tensor:
        return self.loss(task, _FRESH_TARGET if task == "target" else _FRESH_EXAMPLES)


def run(*, device: torch.device, quick: bool) -> list[Finding]:
    """Both models."""
    torch.manual_seed(0)
    found = []
    for name, loop in _loops(device, quick=quick).items():
        sides = {
            "plain": partial(loop.block, aims=False, observes=False, measures=False),
            "target": partial(loop.block, aims=True, observes=False, measures=False),
            "training steps": partial(loop.block, aims=True, observes=True, measures=False),
            "fresh batches": partial(loop.block, aims=False, observes=False, measures=True),
        }
        times = in_turns(sides, repeats=2 if quick else _REPEATS[device.type], warm_up=1)
        found += _findings(name, times)
    return found


def _loops(device: torch.device, *, quick: bool) -> dict[str, Loop]:
    small = (32, 1, 32) if quick else (256, 4, 32)
    sizes = {"encoder": small}
    if device.type == "cuda" and not quick:
        sizes["encoder of BERT-base's size"] = (768, 12, 128)
    features = partial(_features, device=device)
    loops = {"MLP 3 x 256": Loop(dense(features=64, width=256, depth=3), 256, features, device)}
    for name, (width, layers, length) in sizes.items():
        encoder = Encoder(
            vocabulary=30522 if layers == 12 else 8000,
            width=width,
            layers=layers,
            heads=12 if layers == 12 else 4,
        )
        tokens = partial(_tokens, length=length, device=device)
        loops[f"{name}, {layers} x {width}, {length} tokens"] = Loop(encoder, width, tokens, device)
    return loops


def _tokens(count: int, *, length: int, device: torch.device) -> Tensor:
    return torch.randint(8000, (count, length), device=device)


def _features(count: int, *, device: torch.device) -> Tensor:
    return torch.randn(count, 64, device=device)


def _findings(name: str, times: dict[str, list[float]]) -> list[Finding]:
    def extra(side: str, over: str) -> tuple[float, tuple[float, float], list[float]]:
        each = [
            100 * (one - other) / plain
            for one, other, plain in zip(times[side], times[over], times["plain"], strict=True)
        ]
        typical = {key: median(found) for key, found in times.items()}
        value = 100 * (typical[side] - typical[over]) / typical["plain"]
        ordered = sorted(each)
        quarter = len(ordered) // 4
        return value, (ordered[quarter], ordered[-1 - quarter]), each

    goals = {"training steps": _GOAL}
    rows = [
        ("training steps", "target", "observing, beyond the target's own gradient"),
        ("target", "plain", "the target's own gradient"),
        ("fresh batches", "plain", "fresh batches of all sources and the target"),
    ]
    found = []
    for side, over, what in rows:
        value, spread, each = extra(side, over)
        found.append(
            Finding(
                benchmark="observing",
                what=f"{name}: {what}",
                value=value,
                unit="%",
                # Steps of an MLP take as long as Python does; it is here for the record.
                goal=goals.get(side) if name.startswith("encoder") else None,
                spread=spread,
                note=f"block of 25 steps: {1e3 * median(times[side]):.1f} ms against "
                f"{1e3 * median(times[over]):.1f} ms; over repeats: the middle half",
                numbers={"percent_by_repeat": each, "seconds_by_repeat": times[side]},
            )
        )
    return found
