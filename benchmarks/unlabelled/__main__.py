"""Run the benchmark, several trainings side by side; leave every record.

    python -m benchmarks.unlabelled --data FOLDER --corpora FOLDER --encoder PATH --out FILE

goes on where it was stopped: what has a record is not trained again.

    python -m benchmarks.unlabelled.table FILE

prints the tables, and `python -m benchmarks.unlabelled.page FILE` makes the page of them.
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
from benchmarks.unlabelled.records import Records
from benchmarks.unlabelled.spec import METHODS, Spec
from benchmarks.unlabelled.texts import write_domain
from benchmarks.unlabelled.training import Place, prepare, trained

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ALL = "all"
_TARGETS = ("chemprot", "acl_arc", "scierc", "tweet_irony", "tweet_emotion")


def main() -> None:
    """Parse, train, write."""
    options = _options()
    place = Place(
        encoder=str(options.encoder),
        data=str(options.data),
        corpora=str(options.corpora),
        texts=str(options.scratch),
        device=options.device,
        precision=options.precision,
    )
    for target in options.targets:
        write_domain(
            target,
            options.scratch,
            data=options.data,
            corpora=options.corpora,
            own_text=options.own_text,
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    about = {"machine": machine.description(torch.device(options.device)), **vars(place)}
    known = {key: value for key, value in about.items() if key in ("machine", "precision")}
    options.out.with_suffix(".about.json").write_text(json.dumps(known, indent=2) + "\n")
    records = Records(options.out)
    failed = _train_all(records, records.lacking(_specs(options)), place, options)
    if failed:
        sys.exit(f"{failed} trainings failed")


def _specs(options: argparse.Namespace) -> Iterator[Spec]:
    """Whole seeds first, so that what is there at any time can be compared."""
    for seed in range(options.seeds):
        for limit in options.limit:
            for target in options.targets:
                for method in options.methods:
                    yield Spec(
                        target=target,
                        method=method,
                        seed=seed,
                        examples=None if limit == ALL else int(limit),
                        own_text=options.own_text,
                        encoder=options.encoder.name,
                        text_steps=options.text_steps,
                        text_rate=options.text_rate,
                        epochs=options.epochs_all if limit == ALL else options.epochs,
                        rate=options.rate,
                        batch_size=options.batch_size,
                        max_length=options.max_length,
                        step_size=options.step_size,
                    )


def _train_all(
    records: Records, specs: Sequence[Spec], place: Place, options: argparse.Namespace
) -> int:
    """Returns how many failed."""
    print(f"{len(specs)} trainings", flush=True)
    began, failed = time.perf_counter(), 0
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context, initializer=prepare) as pool:
        futures = {pool.submit(trained, spec, place): spec for spec in specs}
        for done, future in enumerate(as_completed(futures), start=1):
            if future.cancelled():
                continue
            spec, seconds = futures[future], time.perf_counter() - began
            said = f"{seconds:6.0f} s  {done}/{len(specs)}  {spec.target}  {spec.method}"
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
    has_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="A folder for each labelled set.")
    parser.add_argument("--corpora", type=Path, required=True, help="Corpora, in `sources`.")
    parser.add_argument("--encoder", type=Path, required=True, help="Folder of the encoder.")
    parser.add_argument("--out", type=Path, default=Path("runs/unlabelled/records.jsonl"))
    parser.add_argument("--scratch", type=Path, default=Path("runs/unlabelled/texts"))
    parser.add_argument("--device", default="cuda" if has_gpu else "cpu")
    parser.add_argument("--precision", default="bf16" if has_gpu else "fp32")
    parser.add_argument("--jobs", type=int, default=8 if has_gpu else 1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--targets", nargs="+", default=list(_TARGETS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--limit", nargs="+", default=["100"], help=f"Examples, or {ALL}.")
    parser.add_argument("--own-text", action="store_true", help="Its training texts, unlabelled.")
    parser.add_argument("--text-steps", type=int, default=500)
    parser.add_argument("--text-rate", type=float, default=2e-4)
    parser.add_argument("--epochs", type=int, default=20, help="Of the target, with a limit.")
    parser.add_argument("--epochs-all", type=int, default=4, help="Of the target without one.")
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--max-length", type=int, default=128)
    parser.add_argument("--step-size", type=float, default=1.0, help="Of learned weights.")
    parser.add_argument("--until", type=float, default=1e9, help="Seconds after which none begins.")
    return parser.parse_args()


if __name__ == "__main__":
    main()
