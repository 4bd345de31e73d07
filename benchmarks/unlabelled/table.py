"""The table that records make, in Markdown.

    python -m benchmarks.unlabelled.table records.jsonl

Scores are means over seeds. Differences are paired by seed, with the 95% interval of Student's t.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.unlabelled.records import Records
from benchmarks.unlabelled.spec import METHODS
from benchmarks.unlabelled.texts import metric_of
from tawt.significance import interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Scores = dict[str, dict[int, float]]
"""In percent, by method and seed."""
_DOMAIN, _EQUAL = "domain, then target", "equal weights, then target"
PAIRS = [
    *((method, METHODS[0]) for method in METHODS[1:]),
    ("domain beside target", _DOMAIN),
    ("learned weights, then target", _EQUAL),
    ("weights by evidence, then target", _EQUAL),
    ("learned weights, then target", _DOMAIN),
    ("weights by evidence, then target", _DOMAIN),
]
LEARNED = ("learned weights, then target", "weights by evidence, then target")
"""By the earlier rule, and by that of the preset `robust`."""


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """All records: scores, differences, and where learned weights ended."""
    questions = questions_of(records)
    lines = [*scores_table(questions), "", *differences_table(questions)]
    return "\n".join([*lines, "", *weights_table(records)]) + "\n"


def questions_of(records: Sequence[Mapping[str, Any]]) -> dict[tuple[str, ...], Scores]:
    """The scores of all methods that can be compared, by all that they have in common."""
    questions: dict[tuple[str, ...], Scores] = {}
    for record in records:
        scores = questions.setdefault(_question(record["spec"]), {})
        spec = record["spec"]
        scores.setdefault(spec["method"], {})[spec["seed"]] = 100 * record["score"]
    return questions


def of_targets(
    questions: Mapping[tuple[str, ...], Scores], ours: str, theirs: str
) -> dict[str, list[float]]:
    """Differences of two methods for each target, paired by seed."""
    found = {q[0]: paired(s.get(ours, {}), s.get(theirs, {})) for q, s in questions.items()}
    return {target: pairs for target, pairs in found.items() if pairs}


def _question(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """All that two methods must have in common."""
    of_texts = "with its own" if spec["own_text"] else "of others"
    examples = str(spec["examples"] or "all")
    settings = (
        f"{spec['text_steps']} steps at {spec['text_rate']:g}, then {spec['epochs']} passes at "
        f"{spec['rate']:g}; batches of {spec['batch_size']} × {spec['max_length']}; η "
        f"{spec['step_size']:g}"
    )
    return spec["target"], examples, spec["encoder"], of_texts, settings


def scores_table(questions: Mapping[tuple[str, ...], Scores]) -> Iterator[str]:
    """Means over seeds, in percent."""
    settings = sorted({question[2:] for question in questions})
    for number, (encoder, texts, how) in enumerate(settings, start=1):
        yield f"Setting {number}: {encoder}; text {texts}; {how}."
    yield ""
    yield f"| setting | target | examples | metric | seeds | {' | '.join(METHODS)} |"
    yield "|" + "---|" * (5 + len(METHODS))
    for question, scores in sorted(questions.items()):
        target, examples, *rest = question
        seeds = max(len(found) for found in scores.values())
        cells = [_mean(scores.get(method, {})) for method in METHODS]
        first = [str(settings.index(tuple(rest)) + 1), target, examples, metric_of(target)]
        yield f"| {' | '.join([*first, str(seeds), *cells])} |"


def differences_table(questions: Mapping[tuple[str, ...], Scores]) -> Iterator[str]:
    """Of methods, by target and over all of them."""
    yield "| target | examples | text | difference | pairs | mean | 95% interval |"
    yield "|---|---|---|---|---|---|---|"
    for question, scores in sorted(questions.items()):
        for ours, theirs in PAIRS:
            pairs = paired(scores.get(ours, {}), scores.get(theirs, {}))
            if pairs:
                first = [question[0], question[1], question[3], f"{ours} − {theirs}"]
                yield f"| {' | '.join([*first, str(len(pairs)), *_said(pairs)])} |"
    for ours, theirs in PAIRS:
        found = [paired(s.get(ours, {}), s.get(theirs, {})) for s in questions.values()]
        means = [mean(pairs) for pairs in found if pairs]
        if len(means) > 1:
            first = ["mean of all", "", "", f"{ours} − {theirs}"]
            yield f"| {' | '.join([*first, f'{len(means)} targets', *_said(means)])} |"


def weights_table(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Where learned weights ended."""
    yield "| target | examples | text | by the earlier rule | by evidence |"
    yield "|---|---|---|---|---|"
    ends: dict[tuple[str, ...], dict[str, list[dict[str, float]]]] = {}
    for record in records:
        by_method = ends.setdefault(_question(record["spec"]), {})
        by_method.setdefault(record["spec"]["method"], []).append(record["weights"])
    for question, found in sorted(ends.items()):
        said = [_shares(found.get(method, [])) for method in LEARNED]
        yield f"| {' | '.join([question[0], question[1], question[3], *said])} |"


def _shares(found: Sequence[Mapping[str, float]]) -> str:
    """The mean over seeds."""
    names = found[0] if found else ()
    return ", ".join(f"{name} {mean(weights[name] for weights in found):.2f}" for name in names)


def paired(ours: Mapping[int, float], theirs: Mapping[int, float]) -> list[float]:
    """Differences on the seeds that both have."""
    return [score - theirs[seed] for seed, score in ours.items() if seed in theirs]


def _said(values: Sequence[float]) -> tuple[str, str]:
    ends = interval(values)
    return f"{mean(values):+.2f}", "" if ends is None else f"{ends[0]:+.2f} to {ends[1]:+.2f}"


def _mean(found: Mapping[int, float]) -> str:
    return f"{mean(found.values()):.1f}" if found else ""


def main() -> None:
    """Print the table of a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    print(table(Records(parser.parse_args().records).all), end="")


if __name__ == "__main__":
    main()
