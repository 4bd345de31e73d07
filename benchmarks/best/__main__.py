"""Run the benchmark, several searches side by side; leave every record.

    python -m benchmarks.best --data FOLDER --encoder FOLDER --out records.jsonl

goes on where it was stopped: what has a record is not searched again, and a search that was stopped
keeps its finished runs, as long as `--scratch` is there.

    python -m benchmarks.best.table records.jsonl

makes the page of the records.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from benchmarks import machine
from benchmarks.best.published import TARGETS
from benchmarks.best.searching import Place, prepare, searched
from benchmarks.best.spec import Spec
from benchmarks.unlabelled.records import Records
from tawt.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FULL = ("acl_arc", "sci_cite", "tweet_irony", "tweet_stance_climate")


def main() -> None:
    """Parse, search, write."""
    options = _options()
    place = Place(
        encoder=str(options.encoder),
        data=str(options.data),
        scratch=str(options.scratch),
        device=options.device,
        precision=options.precision,
        deadline=time.time() + options.until,
    )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    about = {
        "machine": machine.description(torch.device(options.device)),
        "precision": options.precision,
        "jobs": options.jobs,
    }
    options.out.with_suffix(".about.json").write_text(json.dumps(about, indent=2) + "\n")
    records = Records(options.out)
    failed = _search_all(records, records.lacking(list(_specs(options))), place, options)
    if failed:
        sys.exit(f"{failed} searches failed")


def _specs(options: argparse.Namespace) -> Iterator[Spec]:
    """Whole seeds first, so that what is there at any time can be compared."""
    for seed in range(options.seeds):
        wanted = [(target, options.examples) for target in options.targets]
        full = () if options.full is None else options.full or _FULL
        wanted += [(target, None) for target in full]
        for target, examples in wanted:
            yield Spec(
                target=target,
                seed=seed,
                examples=examples,
                encoder=options.encoder.name,
                budget=str(options.budget),
                cap=options.cap,
                epochs=options.epochs,
                batch_size=options.batch_size,
                max_length=options.max_length,
                rate=options.rate,
            )


def _search_all(
    records: Records, specs: Sequence[Spec], place: Place, options: argparse.Namespace
) -> int:
    """Returns how many failed."""
    print(f"{len(specs)} searches", flush=True)
    began, failed = time.perf_counter(), 0
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context, initializer=prepare) as pool:
        futures = {pool.submit(searched, spec, place): spec for spec in specs}
        for done, future in enumerate(as_completed(futures), start=1):
            spec = futures[future]
            said = f"{time.perf_counter() - began:6.0f} s  {done}/{len(specs)}  {spec.folder}"
            error = future.exception()
            if error is None:
                record = future.result()
                records.add(record)
                shutil.rmtree(Path(place.scratch, spec.folder), ignore_errors=True)
                print(f"{said}  {record['chosen']}  {record['seconds_here']:.0f} s", flush=True)
            elif isinstance(error, Interrupted):
                print(f"{said}  stopped", flush=True)
            else:
                failed += 1
                print(f"{said}  failed: {error!r}", flush=True)
    return failed


def _options() -> argparse.Namespace:
    has_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="A folder for each labelled set.")
    parser.add_argument("--encoder", type=Path, required=True, help="Folder of the encoder.")
    parser.add_argument("--out", type=Path, default=Path("runs/best/records.jsonl"))
    parser.add_argument("--scratch", type=Path, default=Path("runs/best/searches"))
    parser.add_argument("--device", default="cuda" if has_gpu else "cpu")
    parser.add_argument("--precision", default="bf16" if has_gpu else "fp32")
    parser.add_argument("--jobs", type=int, default=16 if has_gpu else 1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--targets", nargs="*", default=list(TARGETS), choices=TARGETS)
    parser.add_argument(
        "--full", nargs="*", choices=TARGETS,
        help=f"With all examples too; {', '.join(_FULL)} where none is named.",
    )  # fmt: skip
    parser.add_argument("--examples", type=int, default=100, help="Of the target's training part.")
    parser.add_argument("--budget", default="12", help="Of candidates, or a time.")
    parser.add_argument("--cap", type=int, default=500, help="Examples of a source, at most.")
    parser.add_argument("--epochs", type=int, default=2, help="Passes over the sources.")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--max-length", type=int, default=128)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--until", type=float, default=1e9, help="Seconds after which all stop.")
    return parser.parse_args()


if __name__ == "__main__":
    main()
