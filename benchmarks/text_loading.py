"""Reading and tokenising 100 000 sentences: words a second on one core, and memory.

A process of its own loads the encoder, notes how much memory it has, reads a file with two columns
and cuts it into pieces, looking at its memory every hundredth of a second; the most it had more
than at the start is the memory it took. The file is the generated corpus, repeated (with
`--text-data FOLDER`, `FOLDER/ewt/pos.train.tsv`).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.finding import Finding
from benchmarks.text_speed import ENCODER
from tawt.demos.grammar import generate
from tawt.demos.tiny import write_tiny_encoder
from tawt.text.reading import SplitFiles, TaggedSentence, load, write_columns

if TYPE_CHECKING:
    import torch

_PROGRAM = """
import json, sys, threading, time
from pathlib import Path
import torch
torch.set_num_threads(1)
from tawt.text.encoding import TextRepresentation, load_tokenizer
from tawt.text.kinds import Cutting, TaskOptions
from tawt.text.kinds.tagging import tagging_task
from tawt.text.reading import SplitFiles, load

def held():
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])

seen, done = [], threading.Event()

def watch():
    while not done.wait(0.01):
        seen.append(held())

tokenizer = load_tokenizer(sys.argv[2])
model = TextRepresentation(sys.argv[2], levels={"words"})
before = held()
threading.Thread(target=watch, daemon=True).start()
start, work = time.perf_counter(), time.process_time()
splits = load(SplitFiles(train=Path(sys.argv[1])), kind="tagging", seed=0)
task = tagging_task("pos", splits, Cutting(tokenizer=tokenizer), TaskOptions())
seconds, work = time.perf_counter() - start, time.process_time() - work
done.set()
words = sum(len(sentence.words) for sentence in task.train.sentences)
print(json.dumps({"sentences": len(task.train), "words": words, "pieces": task.train.pieces,
                  "seconds": seconds, "work": work, "bytes": max(seen) - before}))
"""


def run(
    *, device: torch.device, quick: bool, encoder: str = ENCODER, data: Path | None = None
) -> list[Finding]:
    """Two lines: speed, and memory."""
    count = 500 if quick else 100_000
    with tempfile.TemporaryDirectory() as folder:
        if quick:
            words = [sentence.words for sentence in generate(200, seed=0)]
            encoder = str(write_tiny_encoder(Path(folder) / "tiny", words))
        file = Path(folder) / "corpus.tsv"
        write_columns(file, _sentences(count, data))
        found = [_measured(file, encoder) for _ in range(1 if quick else 3)]
    speeds = [run["words"] / run["work"] for run in found]
    memory = [run["bytes"] / 2**30 for run in found]
    what = f"{found[0]['sentences']:.0f} sentences read and tokenised"
    return [
        Finding(
            benchmark="text_loading",
            what=f"{what}: words a second, on one core",
            value=median(speeds) / 1000,
            unit="thousand/s",
            goal=50.0,
            direction="at least",
            spread=(min(speeds) / 1000, max(speeds) / 1000),
            note=f"{found[0]['words']:.0f} words, {found[0]['pieces']:.0f} pieces",
            numbers={"words_per_second": speeds},
        ),
        Finding(
            benchmark="text_loading",
            what=f"{what}: memory above the model",
            value=median(memory),
            unit="GiB",
            goal=1.0,
            spread=(min(memory), max(memory)),
            numbers={"gibibytes": memory},
        ),
    ]


def _sentences(count: int, data: Path | None) -> list[TaggedSentence]:
    if data is None:
        some = [
            TaggedSentence(sentence.words, sentence.pos, number)
            for number, sentence in enumerate(generate(min(count, 5000), seed=0))
        ]
    else:
        files = SplitFiles(train=data / "ewt/pos.train.tsv")
        read = load(files, kind="tagging", seed=0).train
        some = [sentence for sentence in read if isinstance(sentence, TaggedSentence)]
    return [some[number % len(some)] for number in range(count)]


def _measured(file: Path, encoder: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(file), encoder],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
