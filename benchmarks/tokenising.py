"""Tokenising text into shards on two cores, and how much memory that takes.

The text is the standard library's own documentation (`pydoc_data.topics`), repeated; each time, one
word in ten is another one of it. Paragraphs are documents, and a tenth of them is held out. A
process of its own tokenises it with two threads: as bytes, and with the word pieces of MiniLM (in a
package). It looks at its memory every hundredth of a second; the most it had more than before it
opened the text is the memory it took. Times are half of the work that the process does in all its
threads: what two idle cores would take if threads never waited for each other. The wall clock,
which a busy machine lengthens, is beside it.

Memory is flat if four times the text takes no more of it (with `--large`, ten times: 1 GB beside
100 MB). The goal for 1 GB is ten minutes; without `--large`, it is a tenth of that for 100 MB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from pydoc_data.topics import topics
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.finding import Finding
from benchmarks.text_speed import ENCODER

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

_MEGABYTE = 10**6
_CHANGED = 0.1  # of the words
_MINUTES = 10  # for a gigabyte
_REPEATS = 3

_TOKENISING = """
import json, sys, threading, time
from pathlib import Path
from tawt.corpora import CorpusFiles, tokenised, vocabulary_named

def held():
    return 4096 * int(Path("/proc/self/statm").readtext().split()[1])

seen, done = [], threading.Event()

def watch():
    while not done.wait(0.01):
        seen.append(held())

path, tokenizer, cache = sys.argv[1:]
files = CorpusFiles(train=path, documents="blank line", held_out={"dev": 0.1})
vocabulary = vocabulary_named(tokenizer)
vocabulary.encode(["a warm-up"])
before = held()
threading.Thread(target=watch, daemon=True).start()
start, work = time.perf_counter(), time.process_time()
shard = tokenised(files, vocabulary, cache=Path(cache), workers=2)
seconds, work = time.perf_counter() - start, time.process_time() - work
done.set()
print(json.dumps({"seconds": seconds, "work": work, "memory": max(seen, default=before) - before,
                  "documents": shard.index.documents, "tokens": shard.index.tokens}))
"""


def run(
    *, device: torch.device, quick: bool, encoder: str = ENCODER, large: bool = False
) -> list[Finding]:
    """Speed and memory for both tokenizers."""
    del device  # text is tokenised on the CPU
    size = 1 if quick else 100
    found: list[Finding] = []
    with tempfile.TemporaryDirectory() as folder:
        texts = {size: text(Path(folder), size)}
        texts |= {size // 4: text(Path(folder), size // 4)} if size >= 4 else {}
        texts |= {1000: text(Path(folder), 1000)} if large else {}
        for name, tokenizer in (("bytes", "bytes"), ("word pieces", encoder)):
            if quick and name != "bytes":
                continue
            measured = {
                size: [_tokenised(path, tokenizer) for _ in range(1 if size >= 100 else _REPEATS)]
                for size, path in texts.items()
            }
            found += _speeds(name, measured)
            found += _memory(name, measured)
    return found


def _speeds(name: str, measured: dict[int, list[dict[str, float]]]) -> Iterator[Finding]:
    for size, runs in measured.items():
        if size < max(measured) and size != 100:
            continue
        seconds = [each["work"] / 2 for each in runs]
        yield Finding(
            benchmark="tokenising",
            what=f"{size} MB tokenised, {name}: half of the work",
            value=median(seconds),
            unit="s",
            goal=_MINUTES * 60 * size / 1000,
            spread=(min(seconds), max(seconds)),
            note=f"{size / median(seconds):.1f} MB/s; "
            f"by the clock {median(each['seconds'] for each in runs):.1f} s",
            numbers={
                "seconds of work": [each["work"] for each in runs],
                "seconds of wall clock": [each["seconds"] for each in runs],
                "documents": runs[0]["documents"],
                "tokens": runs[0]["tokens"],
            },
        )


def _memory(name: str, measured: dict[int, list[dict[str, float]]]) -> Iterator[Finding]:
    peaks = {size: median(run["memory"] for run in runs) for size, runs in measured.items()}
    most = max(peaks)
    least = 100 if most == 1000 else min(peaks)
    yield Finding(
        benchmark="tokenising",
        what=f"{most} MB tokenised, {name}: memory beside the tokenizer",
        value=peaks[most] / 2**30,
        unit="GiB",
        goal=0.5,
        numbers={f"bytes for {size} MB": peak for size, peak in peaks.items()},
    )
    if least != most:
        yield Finding(
            benchmark="tokenising",
            what=f"{name}: memory for {most} MB over that for {least} MB",
            value=peaks[most] / peaks[least],
            unit="x",
            goal=1.2,
        )


def _tokenised(path: Path, tokenizer: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir=path.parent) as cache:
        return call(_TOKENISING, str(path), tokenizer, cache)


def call(program: str, *arguments: str) -> dict[str, float]:
    """What a program prints last, and how long all of it takes and works.

    Args:
        program: In Python.
        arguments: Of it.
    """
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    after = os.times()
    work = after.children_user + after.children_system
    work -= before.children_user + before.children_system
    return {**found, "whole": after.elapsed - before.elapsed, "whole work": work}


def text(folder: Path, size: int, name: str | None = None) -> Path:
    """So many megabytes of paragraphs.

    Args:
        folder: Where the file goes.
        size: Megabytes.
        name: Of the file; the size by default.
    """
    path = folder / f"{name or size}.txt"
    draw, written = np.random.default_rng(size), 0
    paragraphs = _paragraphs()
    words = np.array(sorted({word for each in paragraphs for word in each}))
    with path.open("w", encoding="utf-8") as file:
        while written < size * _MEGABYTE:
            lengths = np.array([len(each) for each in paragraphs])
            every = np.concatenate([np.array(each) for each in paragraphs])
            changed = draw.random(len(every)) < _CHANGED
            every = every.astype(words.dtype)
            every[changed] = draw.choice(words, int(changed.sum()))
            parts = np.split(every, np.cumsum(lengths)[:-1])
            content = "".join(" ".join(part.tolist()) + "\n\n" for part in parts)
            written += file.write(content[: size * _MEGABYTE - written])
    return path


def _paragraphs() -> list[list[str]]:
    whole = "\n\n".join(topics[name] for name in sorted(topics))
    return [words for each in whole.split("\n\n") if (words := each.split())]
