"""What weights learned from training steps are worth, beside those learned from fresh batches.

A byte model of two layers is trained for 700 steps on corpora that are mixed by weight, for a
target of 200 lines that it never trains on. Bits a byte on the target's test lines say what a
mixture is worth. With equal weights nothing is chosen; the best single corpus is found by training
on each of them. What lies between the two is the headroom, and what a method recovers of it is
reported, the mean over seeds:

- **fresh batches**: every 25 steps, 64 windows of each corpus against 128 of the target;
- **training steps**: the gradient of every step is compared with the target's, which is taken anew
  every 5 steps from 26 windows: as many in all. Every corpus keeps 0.36% of the steps, whose
  losses are scaled to leave the objective as it is.

Both use cosines with c = 10 and no bounds. The settings of the second were chosen on two targets
(chemistry and galician); the other three were not looked at before.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from benchmarks.finding import Finding
from tawt import Cosine, Fixed, Mixture, TargetAware, UpdateRule

if TYPE_CHECKING:
    from collections.abc import Iterator

_WINDOW, _BATCH, _STEPS, _UPDATE_EVERY = 128, 32, 700, 25
_AIM_EVERY, _AIM_WINDOWS = 5, 26
_SOURCE_WINDOWS, _TARGET_WINDOWS = 64, 128
_FLOOR = 0.05  # of all steps, shared by the corpora
_SEEDS = (0, 1, 2)
_AT_ONCE = {"cuda": 16, "cpu": 2}
_CHOSEN_ON = ("chemistry", "galician")


class Block(nn.Module):
    """One layer of the model."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dense = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, states: Tensor) -> Tensor:
        """Attention to what came before, then a dense layer."""
        rows, places, width = states.shape
        parts = self.project(self.norms[0](states)).view(rows, places, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        seen = scaled_dot_product_attention(query, key, value, is_causal=True)
        states = states + self.out(seen.transpose(1, 2).reshape(rows, places, width))
        found: Tensor = states + self.dense(self.norms[1](states))
        return found


class ByteModel(nn.Module):
    """Predicts each byte of a window from those before it."""

    def __init__(self, width: int = 128, layers: int = 2) -> None:
        super().__init__()
        self.embed, self.places = nn.Embedding(256, width), nn.Embedding(_WINDOW, width)
        self.layers = nn.Sequential(*[Block(width, heads=4) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 256)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)

    def forward(self, windows: Tensor) -> Tensor:
        """The mean loss, in nats a byte."""
        states = self.embed(windows[:, :-1]) + self.places.weight
        logits = self.head(self.norm(self.layers(states)))
        return cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())


class Windows(torch.utils.data.Dataset[Tensor]):
    """Overlapping windows of a file's bytes."""

    def __init__(self, path: Path, *, stride: int = 16) -> None:
        self._bytes = torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8)
        self._stride = stride

    def __len__(self) -> int:
        return (len(self._bytes) - _WINDOW - 1) // self._stride

    def __getitem__(self, number: int) -> Tensor:
        start = number * self._stride
        return self._bytes[start : start + _WINDOW + 1].long()


def run(
    *, device: torch.device, quick: bool, data: Path = Path("../shared/corpora")
) -> list[Finding]:
    """Every target and method, in processes side by side."""
    if not (data / "sources").is_dir():
        return []
    jobs = list(_jobs(data, quick=quick))
    records = _side_by_side(jobs, device=device, data=data)
    return list(_findings(records))


def _jobs(data: Path, *, quick: bool) -> Iterator[dict[str, Any]]:
    steps = 50 if quick else _STEPS
    sources = sorted(path.stem for path in (data / "sources").glob("*.txt"))
    targets = sorted(path.name.split(".")[0] for path in (data / "targets").glob("*.train.txt"))
    if quick:
        sources, targets = sources[:3], targets[:1]
    for seed in _SEEDS[:1] if quick else _SEEDS:
        about = {"seed": seed, "steps": steps, "sources": sources}
        yield {**about, "method": "equal weights"}
        for name in sources:
            yield {**about, "method": "one corpus", "corpus": name}
        for target in targets:
            for method in ("fresh batches", "training steps"):
                yield {**about, "method": method, "target": target}


def _side_by_side(
    jobs: list[dict[str, Any]], *, device: torch.device, data: Path
) -> list[dict[str, Any]]:
    """The records of all jobs, each process making every so many of them."""
    count = _AT_ONCE[device.type]
    command = [sys.executable, "-m", "benchmarks.text_observing", str(data), device.type]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    for number, process in enumerate(running):
        assert process.stdin is not None
        process.stdin.write(json.dumps(jobs[number::count]))
        process.stdin.close()
    records: list[dict[str, Any]] = []
    for process in running:
        assert process.stdout is not None
        records += json.loads(process.stdout.read())
        if process.wait():
            raise SystemExit("a process of the benchmark failed; what it wrote is above")
    return records


def train(job: dict[str, Any], *, data: Path, device: torch.device) -> dict[str, Any]:
    """One run: what it is worth for every target, and where its weights ended."""
    torch.manual_seed(job["seed"])
    sources, steps = job["sources"], job["steps"]
    model = ByteModel().to(device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    weights = _weighting(job)
    corpora = {name: Windows(data / "sources" / f"{name}.txt") for name in sources}
    watches = job["method"] == "training steps"
    floor = _FLOOR / len(sources) if watches else 0.0
    batches = Mixture(
        corpora, weights, batch_size=_BATCH, steps=steps, seed=job["seed"], floor=floor
    )
    draw = torch.Generator().manual_seed(job["seed"])
    measured = corpora | _target(job, data)

    def loss_of(task: str, count: int) -> Tensor:
        chosen = torch.randint(len(measured[task]), (count,), generator=draw).tolist()
        found: Tensor = model(torch.stack([measured[task][one] for one in chosen]).to(device))
        return found

    def fresh(task: str) -> Tensor:
        return loss_of(task, _TARGET_WINDOWS if task == "target" else _SOURCE_WINDOWS)

    for step, (task, batch) in enumerate(batches, start=1):
        for group in optimiser.param_groups:
            group["lr"] = 2e-3 * min(1.0, step / 50) * max(0.05, 1 - step / steps)
        factor = batches.factor(task)
        optimiser.zero_grad()
        (factor * model(batch.to(device))).backward()
        if watches:
            weights.observe(model, task)
        nn.utils.clip_grad_norm_(model.parameters(), max(factor, 1e-6))
        optimiser.step()
        if watches and step % _AIM_EVERY == 0:
            weights.aim(model, loss_of=lambda task: loss_of(task, _AIM_WINDOWS))
        if step % _UPDATE_EVERY == 0:
            # Weights that are fixed take no notice.
            weights.update() if watches else weights.update(model, loss_of=fresh)
    return {**job, "bits": _bits(model, data, device), "weights": weights.shares()}


def _target(job: dict[str, Any], data: Path) -> dict[str, Windows]:
    if "target" not in job:
        return {}
    return {"target": Windows(data / "targets" / f"{job['target']}.train.txt")}


def _weighting(job: dict[str, Any]) -> Fixed | TargetAware:
    sources = job["sources"]
    if job["method"] == "equal weights":
        return Fixed(sources)
    if job["method"] == "one corpus":
        return Fixed(sources, initial={name: float(name == job["corpus"]) for name in sources})
    rule = UpdateRule(alignment=Cosine(scale=10.0))
    return TargetAware(sources=sources, target="target", target_share=None, rule=rule)


@torch.no_grad()
def _bits(model: nn.Module, data: Path, device: torch.device) -> dict[str, float]:
    """Bits a byte on the test lines of every target."""
    found = {}
    for path in sorted((data / "targets").glob("*.test.txt")):
        windows = Windows(path, stride=_WINDOW)
        stacked = torch.stack([windows[number] for number in range(len(windows))]).to(device)
        found[path.name.split(".")[0]] = float(model(stacked)) / math.log(2)
    return found


def _findings(records: list[dict[str, Any]]) -> Iterator[Finding]:
    for target in sorted({record["target"] for record in records if "target" in record}):
        equal = mean(r["bits"][target] for r in records if r["method"] == "equal weights")
        alone: dict[str, list[float]] = {}
        for record in records:
            if record["method"] == "one corpus":
                alone.setdefault(record["corpus"], []).append(record["bits"][target])
        best, corpus = min((mean(bits), name) for name, bits in alone.items())
        for method in ("fresh batches", "training steps"):
            made = [r for r in records if r["method"] == method and r.get("target") == target]
            won = [100 * (equal - r["bits"][target]) / (equal - best) for r in made]
            chosen = " (settings chosen here)" if target in _CHOSEN_ON else ""
            yield Finding(
                benchmark="text_observing",
                what=f"{target}{chosen}: headroom recovered by {method}",
                value=mean(won),
                unit="%",
                spread=(min(won), max(won)),
                note=f"equal weights {equal:.3f} bits a byte, {corpus} alone {best:.3f}, "
                f"this {mean(r['bits'][target] for r in made):.3f}",
                numbers={
                    "recovered_percent_by_seed": won,
                    "standard_deviation": stdev(won) if len(won) > 1 else 0.0,
                    "equal_bits": equal,
                    "best_single_bits": best,
                    "bits_by_seed": [r["bits"][target] for r in made],
                    "weights_by_seed": [r["weights"] for r in made],
                },
            )


def main() -> None:
    """Make the runs that standard input asks for, and print their records."""
    data, device = Path(sys.argv[1]), torch.device(sys.argv[2])
    torch.set_num_threads(1)
    print(json.dumps([train(job, data=data, device=device) for job in json.load(sys.stdin)]))


if __name__ == "__main__":
    main()
