"""Make docs/results/unlabelled.md from the records, and keep the records.

    python -m benchmarks.unlabelled.page records.jsonl [more.jsonl …]

writes the page and, beside it, all records in one compressed file. `--check` makes the page from
that file and compares.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.unlabelled.spec import RULE, UPDATES
from benchmarks.unlabelled.table import (
    LEARNED,
    PAIRS,
    Scores,
    differences_table,
    of_targets,
    questions_of,
    scores_table,
    weights_table,
)
from tawt.significance import interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAGE = Path(__file__).parents[2] / "docs" / "results" / "unlabelled.md"
KEPT = PAGE.with_suffix(".jsonl.gz")
_ALONE, _DOMAIN = "target alone", "domain, then target"
_EQUAL = "equal weights, then target"
_LEARNED, _BY_EVIDENCE = LEARNED
_HEAD = """# Unlabelled text beside a target of few labels

**{answer}**

MiniLM (all-MiniLM-L6-v2) learns a target of 100 labelled examples. Before that, or beside it, it
predicts hidden words of unlabelled text. Text of the target's domain is, for chemprot, the corpus
`genes` (abstracts); for the other sets of scientific text the training texts of all such sets but
itself; for the tweets those of the other sets of tweets. Lines that stand in the target's own dev
or test would be left out; there were none. With weights, product reviews and drama are among the
text.

The target has the same examples, passes and learning rate in all rows of a seed; dev examples are
not used, and what is scored is the model at the end. *Domain beside target* trains on both together
first, the target a fifth of the steps, so it makes some 17 passes over the target more than the
others.

*Weights by evidence* are those of the preset `robust`. *Learned weights* are by the rule that it
had before: mirror descent with c = {scale:g}, no weight more than {ratio_bound:g} times another,
an update every {update_every} steps from {gradient_examples} examples of each text and of the
target, through heads that are in training."""
_FOOT = """Made by `python -m benchmarks.unlabelled` and `python -m benchmarks.unlabelled.page` on
one NVIDIA H200 (torch 2.11, bf16). Every record is in `unlabelled.jsonl.gz`."""


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("records", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        same = page(kept_records()) == PAGE.read_text(encoding="utf-8")
        raise SystemExit(0 if same else f"{PAGE} is not what its records say")
    lines = [line for path in options.records for line in path.read_text().splitlines()]
    with gzip.GzipFile(KEPT, "wb", mtime=0) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
    PAGE.write_text(page(kept_records()), encoding="utf-8")


def kept_records() -> list[dict[str, Any]]:
    """The records beside the page."""
    lines = gzip.decompress(KEPT.read_bytes()).decode().splitlines()
    return [json.loads(line) for line in lines]


def page(records: Sequence[Mapping[str, Any]]) -> str:
    """The whole page."""
    questions = questions_of(records)
    parts = [
        _HEAD.format(answer=_answer(questions), **RULE, **UPDATES),
        *("## Scores", f"**{_of_scores(questions)}**", "\n".join(scores_table(questions))),
        *("## Differences", f"**{_of_differences(questions)}**"),
        "Points of the metric, paired by seed, with the 95% interval of Student's t.",
        "\n".join(differences_table(questions)),
        *("## Where learned weights ended", f"**{_of_weights(records)}**"),
        "\n".join(weights_table(records)),
        _FOOT,
    ]
    return "\n\n".join(parts) + "\n"


def _answer(questions: Mapping[tuple[str, ...], Scores]) -> str:
    seeds = max(len(found) for scores in questions.values() for found in scores.values())
    every, sure = _differences(questions)
    return (
        f"With {seeds} seeds no gain can be told from chance, the mean of {len(questions)} "
        "targets: text of the domain and then the target is "
        f"{_over_targets(questions, _DOMAIN, _ALONE)} points beside the target alone, and of three "
        f"texts, weights by evidence are {_over_targets(questions, _BY_EVIDENCE, _EQUAL)} points "
        "beside equal ones, and those of the rule before "
        f"{_over_targets(questions, _LEARNED, _EQUAL)}. On single targets {len(sure)} of {every} "
        "differences have an interval without zero."
    )


def _of_scores(questions: Mapping[tuple[str, ...], Scores]) -> str:
    domain = of_targets(questions, _DOMAIN, _ALONE)
    better = sum(mean(pairs) > 0 for pairs in domain.values())
    return (
        f"Text of the domain before the target has a higher mean than the target alone on {better} "
        f"of {len(domain)} targets."
    )


def _of_differences(questions: Mapping[tuple[str, ...], Scores]) -> str:
    every, sure = _differences(questions)
    return (
        f"Intervals without zero: {len(sure)} of {every} ({'; '.join(sure)}), where chance alone "
        f"gives five in a hundred."
    )


def _differences(questions: Mapping[tuple[str, ...], Scores]) -> tuple[int, list[str]]:
    """How many differences on single targets there are, and those whose intervals have no zero."""
    found = [
        (f"{ours} − {theirs} on {target}", pairs)
        for ours, theirs in PAIRS
        for target, pairs in of_targets(questions, ours, theirs).items()
    ]
    sure = [f"{said}, {_with_interval(pairs)}" for said, pairs in found if _is_sure(pairs)]
    return len(found), sure


def _of_weights(records: Sequence[Mapping[str, Any]]) -> str:
    ends = [_of_method(records, method) for method in LEARNED]
    earlier, today = (f"{min(found):.2f} to {max(found):.2f}" for found in ends)
    domains = _of_method(records, _BY_EVIDENCE, text="domain")
    least = sum(domain < 1 / 3 for domain in domains)
    return (
        f"By evidence a text ended with {today} of the weight, by the earlier rule with {earlier}, "
        f"where equal weights are 0.33. In {least} of {len(domains)} runs by evidence text of "
        "the domain had less than that."
    )


def _of_method(
    records: Sequence[Mapping[str, Any]], method: str, text: str | None = None
) -> list[float]:
    """Final weights of a text, or of all, in all runs."""
    return [
        weight
        for record in records
        if record["spec"]["method"] == method
        for name, weight in record["weights"].items()
        if text in (None, name)
    ]


def _over_targets(questions: Mapping[tuple[str, ...], Scores], ours: str, theirs: str) -> str:
    means = [mean(pairs) for pairs in of_targets(questions, ours, theirs).values()]
    return _with_interval(means)


def _is_sure(values: Sequence[float]) -> bool:
    ends = interval(values)
    return ends is not None and (ends[0] > 0 or ends[1] < 0)


def _with_interval(values: Sequence[float]) -> str:
    ends = interval(values)
    said = f"{mean(values):+.1f}"
    return said if ends is None else f"{said} ({ends[0]:+.1f} to {ends[1]:+.1f})"


if __name__ == "__main__":
    main()
