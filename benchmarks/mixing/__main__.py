"""Run the benchmark, several trainings side by side; leave every record.

`python -m benchmarks.mixing --data FOLDER --out records.jsonl` goes on where it was stopped: what
has a record is not trained again. `python -m benchmarks.mixing.table records.jsonl` makes the
table.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import torch

from benchmarks import machine
from benchmarks.mixing import plan
from benchmarks.mixing.corpora import make_targets, make_useless, source_names, target_names
from benchmarks.mixing.training import Where, trained

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmarks.mixing.spec import Spec


class Records:
    """What is trained already, in a file that is added to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.found: dict[str, dict[str, Any]] = {}
        for line in lines:
            record = json.loads(line)
            self.found[_key(record["spec"])] = record

    def add(self, record: dict[str, Any]) -> None:
        """Keep a record."""
        self.found[_key(record["spec"])] = record
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def lacks(self, spec: Spec) -> bool:
        """Whether a spec is yet to be trained."""
        return _key(json.loads(json.dumps(spec.to_json()))) not in self.found

    def singles(self, *, target: str, budget: int) -> dict[str, float]:
        """Mean bits a byte of each single corpus on a target's dev text."""
        scores: dict[str, list[float]] = {}
        for record in self.found.values():
            spec = record["spec"]
            if spec["name"] == plan.SINGLE and spec["budget"] == budget:
                scores.setdefault(spec["sources"][0], []).append(record["scores"][target]["dev"])
        return {name: mean(values) for name, values in scores.items()}


def _key(spec: dict[str, Any]) -> str:
    return json.dumps(spec, sort_keys=True)


def main() -> None:
    """Parse, train, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--scratch", type=Path, default=Path("runs/mixing"))
    parser.add_argument("--out", type=Path, default=Path("runs/mixing/records.jsonl"))
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--jobs", type=int, default=16 if torch.cuda.is_available() else 2)
    parser.add_argument("--budgets", type=int, nargs="+", default=[300, 1200])
    parser.add_argument("--checkpoint", help="The pretrained language model.")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--targets", nargs="+")
    parser.add_argument("--until", type=float, default=1e9, help="Seconds after which none begins.")
    options = parser.parse_args()
    make_useless(options.data, options.scratch)
    make_targets(options.data, options.scratch)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    records = Records(options.out)
    about = {"machine": machine.description(torch.device(options.device))}
    options.out.with_suffix(".about.json").write_text(json.dumps(about, indent=2) + "\n")
    context = multiprocessing.get_context("spawn")
    began = time.perf_counter()
    with ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        for wanted in _stages(records, options):
            _make(pool, wanted, records, options, began)


def _stages(records: Records, options: argparse.Namespace) -> Iterator[list[Spec]]:
    sources = source_names(options.data)
    targets = options.targets or target_names(options.data)
    each = [(budget, seed) for seed in range(options.seeds) for budget in options.budgets]
    first = [spec for b, s in each for spec in plan.for_all(sources, budget=b, seed=s)]
    first += [
        spec for b, s in each for t in targets for spec in plan.for_target(t, budget=b, seed=s)
    ]
    yield sorted(first, key=lambda spec: -spec.budget)
    yield [
        spec
        for budget, seed in each
        for target in targets
        for spec in plan.pairs(
            records.singles(target=target, budget=budget), target, budget=budget, seed=seed
        )
    ]


def _make(
    pool: ProcessPoolExecutor,
    wanted: Iterable[Spec],
    records: Records,
    options: argparse.Namespace,
    began: float,
) -> None:
    where = Where(str(options.data), str(options.scratch), options.device, options.checkpoint)
    lacking = [spec for spec in wanted if records.lacks(spec)]
    print(f"{len(lacking)} trainings", flush=True)
    futures = {pool.submit(trained, spec, where): spec for spec in lacking}
    for done, future in enumerate(as_completed(futures), start=1):
        if future.cancelled():
            continue
        spec, seconds = futures[future], time.perf_counter() - began
        records.add(future.result())
        score = next(iter(future.result()["scores"].values()))["test"]
        print(f"{seconds:6.0f} s  {done}/{len(lacking)}  {spec.name}  {score:.3f}", flush=True)
        if seconds > options.until:
            for other in futures:
                other.cancel()


if __name__ == "__main__":
    main()
