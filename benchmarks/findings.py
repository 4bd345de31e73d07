"""What is said of sources (helps, hurts) beside what leaving them out does, on scanned digits.

    python -m benchmarks.findings

Seven sources, of which three help, and thirty target examples, with the preset `robust`. Each seed
trains with all sources, whose findings are noted; and with equal weights with all of them, and
without each. (With learned weights a source that is hardly drawn makes no difference, whatever was
said of it.) Leaving a source out is taken to be known where the interval of the difference in test
accuracy over all seeds does not hold zero. Writes `benchmarks/reports/findings.md` and `.json`.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from benchmarks.presets import REPORTS
from tawt.compare.demo import demo_config
from tawt.config import RunConfig, parsed
from tawt.runs import Options, RunFolder
from tawt.runs.record import circumstances
from tawt.significance import interval
from tawt.sweeps import Plan, Progress, RecordStore, Sweep, TrainRun, Work
from tawt.weights import Finding, WeightUpdate, findings
from tawt.weights.findings import alignments_of, projections_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SEEDS = range(20)
WORKERS = max(1, (os.cpu_count() or 1) - 1)
PARADIGMS = ("joint", "pre-training")
DRAWN = ("all", "halves in turn")
"""What an update draws the target's examples from."""
TARGET = "digit"


def sources() -> list[str]:
    """All of the demonstration."""
    config = demo_config()
    return [name for name in config.modality.task_names(config.data) if name != TARGET]


def configured(
    paradigm: str, *, seed: int, drawn: str | None = None, without: str | None = None
) -> RunConfig:
    """The demonstration's configuration: with learned weights, or equal ones and less a source."""
    base = demo_config().model_dump(mode="json", exclude={"weighting", "training"})
    training: dict[str, Any] = {
        "learning_rate": 0.01,
        "head_learning_rate": 0.01,
        "update_every": 20,
    }
    weighting = {"kind": "fixed"} if drawn is None else {}
    changes: dict[str, Any] = {"paradigm": paradigm, "weighting": weighting, "seed": seed}
    if without is not None:
        changes["sources"] = [name for name in sources() if name != without]
    if drawn is not None:
        training["target_from"] = drawn
    return parsed({**base, **changes, "training": training})


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
        Sweep(workers=WORKERS, on_progress=tell).make(
            lambda: Plan(work), RecordStore(folder, "{}/record.json", sealed=True)
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
            for drawn in DRAWN:
                yield (
                    folder / _name(paradigm, drawn, seed),
                    configured(paradigm, seed=seed, drawn=drawn),
                )
            for source in (None, *sources()):
                config = configured(paradigm, seed=seed, without=source)
                yield folder / _name(paradigm, f"without {source}", seed), config


def _name(paradigm: str, what: str, seed: int) -> str:
    return f"{paradigm}-{what}-{seed}".replace(" ", "-")


def _row(folder: Path, paradigm: str) -> dict[str, Any]:
    """Scores with all sources and without each; and what was said of each, by seed."""
    names = [*DRAWN, *(f"without {source}" for source in (None, *sources()))]
    scores = {
        what: [_score(folder / _name(paradigm, what, seed)) for seed in SEEDS] for what in names
    }
    equal = scores["without None"]
    return {
        "scores": {what: scores[what] for what in DRAWN} | {"equal weights": equal},
        "gains": {
            source: [a - b for a, b in zip(equal, scores[f"without {source}"], strict=True)]
            for source in sources()
        },
        "said": {
            drawn: {
                source: [
                    _found(folder / _name(paradigm, drawn, seed))[source].verdict for seed in SEEDS
                ]
                for source in sources()
            }
            for drawn in DRAWN
        },
    }


def _score(path: Path) -> float:
    found: float = RunFolder(path).record()["scores"][TARGET]["test"]["accuracy"]
    return 100 * found


def _found(path: Path) -> dict[str, Finding]:
    lines = (path / "weights.jsonl").read_text(encoding="utf-8").splitlines()
    history = [WeightUpdate.from_json(json.loads(line)) for line in lines]
    return findings(history, sources(), views=(alignments_of, projections_of))


def written(rows: Mapping[str, dict[str, Any]]) -> str:
    """The tables in Markdown, the answer first."""
    counted = [_counted(row["gains"], row["said"][DRAWN[1]]) for row in rows.values()]
    right, wrong, neither = (sum(numbers) for numbers in zip(*counted, strict=True))
    parts = [
        "# What is said of sources, beside leaving them out",
        "",
        f"**Of {right + wrong} statements on sources of which leaving out says something, {right} "
        f"are right; {neither} statements are on sources of which it says nothing.** Scanned "
        "digits, thirty target examples, seven sources, the preset `robust`; "
        f"{len(SEEDS)} seeds. *Gain*: points of test accuracy that a source adds to the others at "
        "equal weights, with its 95% interval. *Said*: of all seeds, how often that it helps, that "
        "it hurts, or neither. Right: it agrees with an interval that does not hold zero.",
    ]
    for paradigm, row in rows.items():
        equal = float(np.mean(row["scores"]["equal weights"]))
        parts += ["", f"## {paradigm}", "", f"Equal weights: test accuracy {equal:.1f}.", ""]
        for drawn in DRAWN:
            right, wrong, neither = _counted(row["gains"], row["said"][drawn])
            score = float(np.mean(row["scores"][drawn]))
            parts.append(
                f"- the target's examples: {drawn}: {right} right, {wrong} wrong, {neither} on "
                f"sources of which leaving out says nothing; test accuracy {score:.1f}"
            )
        heads = " | ".join(f"said, {drawn}" for drawn in DRAWN)
        parts += ["", f"| | gain | {heads} |", f"|---|---:|{'---|' * len(DRAWN)}"]
        for source in sources():
            low, high = interval(row["gains"][source])
            cells = " | ".join(
                f"{each.count('helps')} helps, {each.count('hurts')} hurts, "
                f"{each.count('cannot tell')} neither"
                for each in (row["said"][drawn][source] for drawn in DRAWN)
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
