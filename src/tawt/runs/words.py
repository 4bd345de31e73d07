"""What a run came to, in sentences and numbers that follow from its record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tawt.report.parts import Fact
from tawt.report.sources import SourceShare, verdict_on
from tawt.report.words import largest_and_smallest, metric_in_words, times, verdict_and_chance
from tawt.tasks import Measure

if TYPE_CHECKING:
    from collections.abc import Mapping

_SENTENCES = 3  # targets that have one of their own


@dataclass(frozen=True, kw_only=True)
class Headline:
    """The score that counts, of a target."""

    target: str
    metric: str
    split: str
    score: float | None
    measure: Measure

    @property
    def shown(self) -> str:
        """The score as a person reads it."""
        if self.score is None:
            return "no finite score"
        unit = self.measure.title
        return f"{self.measure.shown(self.score)}{unit if unit == '%' else ''}"

    @property
    def what(self) -> str:
        """What it is."""
        return metric_in_words(self.metric)


def headlines(record: Mapping[str, Any]) -> list[Headline]:
    """The score that counts of each target, on test examples or, without any, on dev examples."""
    found = []
    for target, splits in record["scores"].items():
        split = next((name for name in ("test", "dev") if splits.get(name)), None)
        if split is None:
            continue
        metric = record.get("metric", {}).get(target)
        if metric not in splits[split]:
            metric = next(iter(splits[split]))
        measure = Measure(**record.get("measure", {}).get(target, {}))
        score = splits[split][metric]
        found.append(
            Headline(target=target, metric=metric, split=split, score=score, measure=measure)
        )
    return found


def sources_of(record: Mapping[str, Any]) -> list[SourceShare]:
    """The sources of a run: what each counts, and whether it helps."""
    named = record.get("target", [])
    targets = {*record["scores"], *([named] if isinstance(named, str) else named)}
    known = record.get("findings", {})
    found = []
    for name, share in record["weights"].items():
        if name in targets and name not in known:
            continue
        verdict, sure = verdict_and_chance(known.get(name))
        ends = (known.get(name) or {}).get("weight_interval")
        interval = (ends[0], ends[1]) if ends else None
        found.append(
            SourceShare(name=name, share=share, interval=interval, verdict=verdict, sure=sure)
        )
    return found


def opening_words(record: Mapping[str, Any]) -> list[str]:
    """The verdict: how good the model is, and what of the data helped."""
    scores = headlines(record)
    said = [
        f"{score.target}: {score.what} of {score.shown} on {score.split} examples."
        for score in scores[:_SENTENCES]
    ]
    if len(scores) > _SENTENCES:
        said.append(f"{len(scores) - _SENTENCES} more targets are in the table of scores.")
    sources = sources_of(record)
    if sources:
        said += [sentence for sentence in [verdict_on(sources)] if sentence]
        shares = {source.name: source.share for source in sources}
        if sum(shares.values()) > 0:
            said.append(largest_and_smallest(shares, what="weights"))
    return said or ["The run left no scores."]


def warnings_of(record: Mapping[str, Any]) -> list[str]:
    """What training has warned of, and what it left out."""
    skipped = record["skipped_updates"] + sum(record["skipped_steps"].values())
    said = [f"{skipped} steps or updates were skipped for numbers not finite."] if skipped else []
    return [*said, *(text[:1].upper() + text[1:] for text in record.get("warnings", []))]


def facts_of(record: Mapping[str, Any]) -> list[Fact]:
    """The run in numbers."""
    facts = [
        Fact(value=score.shown, said=f"{score.what}, {score.split} examples of {score.target}")
        for score in headlines(record)[:1]
    ]
    counts = Counter(source.verdict for source in sources_of(record) if source.verdict)
    if counts:
        verdict = "helps" if counts["helps"] else "unclear"
        value = f"{counts['helps']} of {sum(counts.values())}"
        unclear = f"{counts['cannot tell']} cannot be told"
        facts.append(
            Fact(
                value=value,
                said=f"sources help; {counts['hurts']} hurt, {unclear}",
                verdict=verdict,
            )
        )
    passes = {name: record.get("passes", {}).get(name) for name in record["scores"]}
    known = {name: count for name, count in passes.items() if count is not None}
    if known:
        name, count = next(iter(known.items()))
        facts.append(Fact(value=times(count), said=f"passes over the training examples of {name}"))
    return facts
