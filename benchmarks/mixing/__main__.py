"""Run the benchmark, several trainings side by side; leave every record.

`python -m benchmarks.mixing --data FOLDER --out records.jsonl` goes on where it was stopped: what
has a record is not trained again. `python -m benchmarks.mixing.table records.jsonl` makes the
tables.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from benchmarks import machine
from benchmarks.mixing import plan
from benchmarks.mixing.corpora import make_targets, make_useless, source_names, target_names
from benchmarks.mixing.records import Records
from benchmarks.mixing.training import Where, trained

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmarks.mixing.spec import Spec

_STAGES = (
    *("choosing", "methods", "ceilings", "more", "longer", "tenth", "evidence"),
    *("proxies", "transferred", "large", "pretrained"),
)


def main() -> None:
    """Parse, train, write."""
    options = _parser().parse_args()
    make_useless(options.data, options.scratch)
    make_targets(options.data, options.scratch)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    records = Records(options.out)
    about = {"machine": machine.description(torch.device(options.device))}
    options.out.with_suffix(".about.json").write_text(json.dumps(about, indent=2) + "\n")
    context = multiprocessing.get_context("spawn")
    began = time.perf_counter()
    with ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        for stage in options.stages:
            wanted = sorted(_specs(stage, records, options), key=lambda spec: -spec.budget)
            print(f"{stage}: {time.perf_counter() - began:.0f} s", flush=True)
            _train(pool, wanted, records, options, began)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--scratch", type=Path, default=Path("runs/mixing"))
    parser.add_argument("--out", type=Path, default=Path("runs/mixing/records.jsonl"))
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--jobs", type=int, default=16 if torch.cuda.is_available() else 2)
    parser.add_argument("--stages", nargs="+", choices=_STAGES, default=_STAGES[:4])
    parser.add_argument("--budgets", type=int, nargs="+", default=[900, 300])
    parser.add_argument("--checkpoint", help="The pretrained language model.")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--targets", nargs="+")
    parser.add_argument("--until", type=float, default=1e9, help="Seconds after which none begins.")
    return parser


def _specs(stage: str, records: Records, options: argparse.Namespace) -> Iterator[Spec]:
    sources, budgets, seeds = source_names(options.data), options.budgets, options.seeds
    targets = options.targets or target_names(options.data)
    most, less = budgets[:1], budgets[1:]
    first, others = range(1), range(1, seeds)
    stages = {
        "choosing": lambda: plan.choosing(sources, budgets=budgets),
        "methods": lambda: chain(
            plan.pairs(records, targets, budgets=budgets),
            plan.methods(records, targets, budgets=most, seeds=range(seeds)),
            plan.methods(records, targets, budgets=less, seeds=first),
        ),
        "ceilings": lambda: plan.ceilings(records, targets, budgets=budgets, seeds=seeds),
        "more": lambda: plan.methods(records, targets, budgets=less, seeds=others),
        "longer": lambda: plan.longer(targets, seeds=min(seeds, 2)),
        "evidence": lambda: plan.evidence(targets, seeds=seeds),
        "tenth": lambda: plan.tenth(targets, seeds=seeds),
        "proxies": lambda: plan.proxies(targets, seeds=seeds),
        "transferred": lambda: plan.transferred(records, targets, seeds=seeds),
        "large": lambda: plan.large(records, targets, seeds=seeds),
        "pretrained": lambda: plan.pretrained(targets, seeds=seeds),
    }
    return stages[stage]()


def _train(
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
        print(
            f"{seconds:6.0f} s  {done}/{len(lacking)}  {spec.name} {spec.target or ''}  "
            f"{spec.budget}  {score:.3f}  {future.result()['seconds']} s",
            flush=True,
        )
        if seconds > options.until:
            for other in futures:
                other.cancel()


if __name__ == "__main__":
    main()
