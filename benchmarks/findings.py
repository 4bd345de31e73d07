"""What is said of sources (helps, hurts) beside what leaving them out does, on scanned digits.

    python -m benchmarks.findings

Seven sources, of which three help, and thirty target examples, with the preset `robust`. Each seed
trains with all sources, whose findings are noted, and once without each source. Leaving a source
out is taken to be known where the interval of the difference in test loss over all seeds does not
hold zero. Writes `benchmarks/reports/findings.md` and `.json`.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from benchmarks.presets import REPORTS, ROBUST
from tawt.compare.demo import demo_config
from tawt.config import RunConfig, parsed
from tawt.runs import Options, RunFolder
from tawt.runs.record import circumstances
from tawt.significance import interval
from tawt.sweeps import Plan, Progress, Store, Sweep, TrainRun, Work
from tawt.weights import Finding, WeightUpdate, findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SEEDS = range(10)
PARADIGMS = ("joint", "pre-training")
PARTS = (1, 4)
TARGET = "digit"


def sources() -> list[str]:
    """All of the demonstration."""
    config = demo_config()
    return [name for name in config.modality.task_names(config.data) if name != TARGET]


def configured(paradigm: str, *, seed: int, parts: int, without: str | None = None) -> RunConfig:
    """The demonstration's configuration, without a source."""
    base = demo_config().model_dump(mode="json", exclude={"weighting", "training"})
    training = {"learning_rate": 0.01, "head_learning_rate": 0.01, "update_every": 20}
    changes: dict[str, Any] = {"paradigm": paradigm, "weighting": ROBUST, "seed": seed}
    if without is not None:
        changes["sources"] = [name for name in sources() if name != without]
    return parsed({**base, **changes, "training": {**training, "target_parts": parts}})


def main() -> None:
    """Make all runs in a temporary folder, and the record."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wanted = dict(_runs(folder))

        def tell(now: Progress) -> None:
            if now.done % 20 == 0:
                print(f"{now.done} of {now.total} runs", flush=True)

        work = [
            Work(path.name, path.name, TrainRun(config, path, Options(save_page=False)))
            for path, config in wanted.items()
        ]
        Sweep(workers=os.cpu_count() or 1, on_progress=tell).make(
            lambda: Plan(work), Store(folder, "{}/record.json", sealed=True)
        )
        rows = {paradigm: _row(folder, paradigm) for paradigm in PARADIGMS}
    record = {
        "command": "python -m benchmarks.findings",
        "seeds": list(SEEDS),
        **circumstances(torch.device("cpu")),
        "rows": rows,
    }
    text = written(rows)
    REPORTS.mkdir(exist_ok=True)
    (REPORTS / "findings.md").write_text(text, encoding="utf-8")
    (REPORTS / "findings.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(text)


def _runs(folder: Path) -> Iterator[tuple[Path, RunConfig]]:
    for paradigm in PARADIGMS:
        for seed in SEEDS:
            for parts in PARTS:
                name = f"{paradigm}-{parts}-{seed}"
                yield folder / name, configured(paradigm, seed=seed, parts=parts)
            for source in sources():
                name = f"{paradigm}-without-{source}-{seed}"
                config = configured(paradigm, seed=seed, parts=max(PARTS), without=source)
                yield folder / name, config


def _row(folder: Path, paradigm: str) -> dict[str, Any]:
    """Scores with all sources and without each; and what was said of each, by seed."""
    scores = {
        parts: [_score(folder / f"{paradigm}-{parts}-{seed}") for seed in SEEDS] for parts in PARTS
    }
    gains = {
        source: [
            score - _score(folder / f"{paradigm}-without-{source}-{seed}")
            for seed, score in zip(SEEDS, scores[max(PARTS)], strict=True)
        ]
        for source in sources()
    }
    said = {
        parts: {
            source: [
                _found(folder / f"{paradigm}-{parts}-{seed}")[source].verdict for seed in SEEDS
            ]
            for source in sources()
        }
        for parts in PARTS
    }
    return {"scores": scores, "gains": gains, "said": said}


def _score(path: Path) -> float:
    found: float = RunFolder(path).record()["scores"][TARGET]["test"]["accuracy"]
    return 100 * found


def _found(path: Path) -> dict[str, Finding]:
    lines = (path / "weights.jsonl").read_text(encoding="utf-8").splitlines()
    return findings([WeightUpdate.from_json(json.loads(line)) for line in lines], sources())


def written(rows: Mapping[str, dict[str, Any]]) -> str:
    """The tables in Markdown, the answer first."""
    parts = [
        "# What is said of sources, beside leaving them out",
        "",
        "Scanned digits, thirty target examples, seven sources, the preset `robust`; "
        f"{len(SEEDS)} seeds. *Gain*: points of test accuracy that a source adds to the others, "
        "with its 95% interval. *Said*: of all seeds, how often that it helps, that it hurts, or "
        "neither. Right and wrong: statements that agree with an interval that does not hold zero, "
        "or contradict it.",
    ]
    for paradigm, row in rows.items():
        parts += ["", f"## {paradigm}", ""]
        for number in PARTS:
            right, wrong, neither = _counted(row["gains"], row["said"][number])
            said = "the target whole" if number == 1 else f"the target in {number} parts"
            score = float(np.mean(row["scores"][number]))
            parts.append(
                f"- {said}: {right} right, {wrong} wrong, {neither} on sources of which leaving "
                f"out says nothing; test accuracy {score:.1f}"
            )
        heads = " | ".join(f"said, {number} part{'s' * (number > 1)}" for number in PARTS)
        parts += ["", f"| | gain | {heads} |", f"|---|---:|{'---|' * len(PARTS)}"]
        for source in sources():
            low, high = interval(row["gains"][source])
            cells = " | ".join(
                f"{each.count('helps')} helps, {each.count('hurts')} hurts, "
                f"{each.count('cannot tell')} neither"
                for each in (row["said"][number][source] for number in PARTS)
            )
            gain = float(np.mean(row["gains"][source]))
            parts.append(f"| {source} | {gain:+.1f} ({low:+.1f} to {high:+.1f}) | {cells} |")
    return "\n".join([*parts, "", "Made by `python -m benchmarks.findings`.", ""])


def _counted(
    gains: Mapping[str, Sequence[float]], said: Mapping[str, Sequence[str]]
) -> tuple[int, int, int]:
    """Statements that leaving out confirms, contradicts, and does not judge."""
    right = wrong = neither = 0
    for source, verdicts in said.items():
        low, high = interval(gains[source])
        for verdict in verdicts:
            if verdict == "cannot tell":
                continue
            if low <= 0 <= high:
                neither += 1
            elif (verdict == "helps") == (low > 0):
                right += 1
            else:
                wrong += 1
    return right, wrong, neither


if __name__ == "__main__":
    main()
