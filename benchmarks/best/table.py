"""Make docs/results/best.md from the records, and keep the records.

`python -m benchmarks.best.table records.jsonl [more.jsonl …]` writes the page and, beside it, all
records in one compressed file. `--check` makes the page from that file and compares.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.best.published import SETS
from benchmarks.best.scores import MODELS, groups
from tawt.significance import interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.best.scores import Group

PAGE = Path(__file__).parents[2] / "docs" / "results" / "best.md"
_HEAD = """# What `tawt best` is worth

**{answer}**

Each of eleven labelled sets in turn is the target, with {examples} of its training part; the others
are sources, each cut to {cap} examples. `tawt best --budget {budget}` ({encoder}, {epochs} passes
over the sources, batches of {batch_size}, {max_length} pieces, learning rate {rate:g}) chooses a
model by held-out examples of the target. Here that model is scored on the official test part,
beside the best of the target alone among the same candidates (*tuned*) and the target alone as it
is tried first (*untuned*). All three are trained on the same examples; test examples have no part
in the choice. Where all examples are used, those of the dev part are among them."""
_TABLE = """Scores are means over seeds, in percent. The gain is that of the chosen model over the
tuned target alone, in points, with its 90% interval: seeds and test examples are drawn with
replacement. *Used*: searches whose model uses sources. *Worse*: the mean probability, by the search
itself, that its best use of sources is worse than the target alone. *Dropped*: the mean share of
candidates that were dropped early. The five sets on stance are one row.

Published scores are of models trained on **all** training examples (†: many times those of this
row), most of them of larger encoders. Those of tweets are from TweetEval; those of science are
rounded."""
_UNSEEN = """Some test examples stand, or nearly stand, in training data; the scores count them, as
others do."""
_FOOT = """Made by `python -m benchmarks.best` and `python -m benchmarks.best.table`. Every record,
with every answer, is in `best.jsonl.gz`."""
_COLUMNS = (
    *("set", "examples", "metric", "seeds", "untuned", "tuned", "chosen", "gain (90%)"),
    *("used", "worse", "dropped", "published"),
)


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="*", type=Path)
    parser.add_argument("--page", type=Path, default=PAGE, help="Where the page is.")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    kept = options.page.with_suffix(".jsonl.gz")
    if options.check:
        same = page(kept_records(kept)) == options.page.read_text(encoding="utf-8")
        raise SystemExit(0 if same else f"{options.page} is not what its records say")
    lines = [line for path in options.records for line in path.read_text().splitlines()]
    with gzip.GzipFile(kept, "wb", mtime=0) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
    options.page.write_text(page(kept_records(kept)), encoding="utf-8")


def kept_records(path: Path) -> list[dict[str, Any]]:
    """The records beside the page."""
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def page(records: Sequence[Mapping[str, Any]]) -> str:
    """The whole page.

    Raises:
        ValueError: There are no records, or those of several settings.
    """
    settings = {json.dumps(_settings(record), sort_keys=True) for record in records}
    if len(settings) != 1:
        raise ValueError(f"a page is about records of one setting; got {len(settings)}")
    found = groups(records)
    parts = [
        _HEAD.format(answer=_answer(found), examples=_sizes(found), **_settings(records[0])),
        _TABLE,
        "\n".join(_rows(found)),
        *_of_unseen(records),
        _FOOT,
    ]
    return "\n\n".join(parts) + "\n"


def _settings(record: Mapping[str, Any]) -> dict[str, Any]:
    """What all searches have in common."""
    own = ("target", "seed", "examples")
    return {key: value for key, value in record["spec"].items() if key not in own}


def _answer(found: Sequence[Group]) -> str:
    """The mean gain, and whether any set loses."""
    said = []
    for is_all in (False, True):
        some = [group for group in found if (group.examples is None) == is_all]
        if some:
            said.append(_gain_in_words(some))
    worse = [f"{group.title} ({_gain(group)})" for group in found if group.interval[1] < 0]
    losing = ", ".join(worse) if worse else "none"
    return f"{' '.join(said)} Sets that lose beyond doubt (90% interval below zero): {losing}."


def _gain_in_words(some: Sequence[Group]) -> str:
    gains = [group.gain for group in some]
    ends = interval(gains, level=0.9)
    known = "" if ends is None else f" (90% interval {ends[0]:+.1f} to {ends[1]:+.1f})"
    over = f", the mean of {len(some)} sets" if len(some) > 1 else ""
    searches = sum(len(group.records) for group in some)
    used = sum(group.used for group in some)
    return (
        f"With {_sizes(some)}, what `tawt best` chooses is {mean(gains):+.1f} points{known} beside "
        f"the tuned target alone{over}; sources are used in {used} of {searches} searches."
    )


def _sizes(some: Sequence[Group]) -> str:
    sizes = dict.fromkeys(group.examples for group in some)
    said = ["all examples" if size is None else f"{size} labelled examples" for size in sizes]
    return " or ".join(said)


def _rows(found: Sequence[Group]) -> Iterator[str]:
    yield f"| {' | '.join(_COLUMNS)} |"
    yield "|" + "---|" * len(_COLUMNS)
    for group in found:
        about = SETS[group.name]
        chances = [record["worse"] for record in group.records if record["worse"] is not None]
        dropped = mean(record["dropped"] / record["candidates"] for record in group.records)
        cells = [
            group.title,
            str(group.examples or "all"),
            about.metric if group.is_whole else about.metric.removesuffix(", over five"),
            str(group.seeds),
            *(f"{group.score(model):.1f}" for model in MODELS),
            _gain(group),
            f"{group.used} of {len(group.records)}",
            f"{mean(chances):.0%}" if chances else "",
            f"{dropped:.0%}",
            _published(group),
        ]
        yield f"| {' | '.join(cells)} |"


def _published(group: Group) -> str:
    if not group.is_whole:
        return ""
    return SETS[group.name].published + ("" if group.examples is None else " †")


def _gain(group: Group) -> str:
    low, high = group.interval
    return f"{group.gain:+.1f} ({low:+.1f} to {high:+.1f})"


def _of_unseen(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How many test examples are known, by set."""
    most: dict[str, tuple[int, int]] = {}
    for record in records:
        seen = record["unseen"].get("best")
        if seen is not None:
            target = record["spec"]["target"]
            before = most.get(target, (0, 0))
            most[target] = max(before, (seen["seen"], seen["of"]))
    if most:
        listed = ", ".join(f"{name} {seen} of {of}" for name, (seen, of) in most.items())
        yield f"{_UNSEEN} At most, by set: {listed}."


if __name__ == "__main__":
    main()
