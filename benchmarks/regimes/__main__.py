"""Run the benchmark; leave every record.

    python -m benchmarks.regimes --data FOLDER --encoder PATH --out records.jsonl

goes on where it was stopped: what has a record is not trained again.

    python -m benchmarks.regimes.table records.jsonl

makes the page of the records. Regimes of text need `--data`, a folder for each corpus, and
`--encoder`; the others need nothing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from benchmarks import machine
from benchmarks.mixing.records import Records
from benchmarks.regimes.methods import METHODS
from benchmarks.regimes.plan import planned
from benchmarks.regimes.regimes import REGIMES
from benchmarks.regimes.tagging import TARGETS
from benchmarks.regimes.texts import write_tasks
from benchmarks.regimes.training import Place, prepare, trained

if TYPE_CHECKING:
    from benchmarks.regimes.spec import Spec


def main() -> None:
    """Parse, train, write."""
    options = _options()
    named = None if options.encoder is None else options.encoder_name or options.encoder.name
    specs = list(
        planned(
            options.regimes,
            methods=options.methods,
            targets=options.targets,
            seeds=options.seeds,
            encoder=named,
        )
    )
    used = {spec.target for spec in specs if spec.encoder is not None}
    for target in used:
        names = [target, *TARGETS[target].names]
        write_tasks(names, data=options.data, texts=options.scratch)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    about = {"machine": machine.description(torch.device(options.device))}
    options.out.with_suffix(".about.json").write_text(json.dumps(about, indent=2) + "\n")
    records = Records(options.out)
    failed = _train_all([spec for spec in specs if records.lacks(spec)], records, options)
    if failed:
        sys.exit(f"{failed} trainings failed")


def _train_all(specs: list[Spec], records: Records, options: argparse.Namespace) -> int:
    """Returns how many failed."""
    print(f"{len(specs)} trainings", flush=True)
    place = Place(
        texts=str(options.scratch),
        encoder=options.encoder and str(options.encoder),
        device=options.device,
    )
    began, failed = time.perf_counter(), 0
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context, initializer=prepare) as pool:
        futures = {pool.submit(trained, spec, place): spec for spec in specs}
        for done, future in enumerate(as_completed(futures), start=1):
            if future.cancelled():
                continue
            spec, seconds = futures[future], time.perf_counter() - began
            named = f"{spec.regime}  {spec.target}  {spec.method} {spec.source or ''}  {spec.seed}"
            said = f"{seconds:6.0f} s  {done}/{len(specs)}  {named}"
            error = future.exception()
            if error is None:
                record = future.result()
                records.add(record)
                print(f"{said}  {record['score']:.3f}  {record['seconds']:.0f} s", flush=True)
            else:
                failed += 1
                print(f"{said}  failed: {error!r}", flush=True)
            if seconds > options.until:
                for other in futures:
                    other.cancel()
    return failed


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="Tagged corpora, a folder for each.")
    parser.add_argument("--encoder", type=Path, help="Folder of the encoder.")
    parser.add_argument("--encoder-name", help="What records call it; the folder by default.")
    parser.add_argument("--out", type=Path, default=Path("runs/regimes/records.jsonl"))
    parser.add_argument("--scratch", type=Path, default=Path("runs/regimes/texts"))
    parser.add_argument("--regimes", nargs="+", default=list(REGIMES), choices=list(REGIMES))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS))
    parser.add_argument("--targets", nargs="+", help="In this order; all by default.")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--device", default="cpu", help="Small networks are faster on a CPU.")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--until", type=float, default=1e9, help="Seconds after which none begins.")
    options = parser.parse_args()
    if any(REGIMES[name].kind == "text" for name in options.regimes) and not (
        options.data and options.encoder
    ):
        parser.error("regimes of text need `--data` and `--encoder`")
    return options


if __name__ == "__main__":
    main()
