"""Draw the pictures of the results pages from the records beside them.

    python docs/figures.py

Reads docs/results/*.json, which `tawt reproduce` and `benchmarks` leave, and writes
docs/images/*.svg. A picture whose record is missing is skipped. Colours are middling, so that
they can be read on a light page and on a dark one.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Point = tuple[float, float]

RESULTS = Path(__file__).parent / "results"
IMAGES = Path(__file__).parent / "images"
WIDTH = 760
# Okabe and Ito's, and grey.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7a7f85"
MAIN = "table-main-minilm"
# Viridis from 0.3 to 0.8: its ends are lost on a dark or on a light page.
VIRIDIS = (
    *("#355f8d", "#2f6c8e", "#2a788e", "#25848e", "#21918c", "#1e9c89"),
    *("#22a884", "#2fb47c", "#44bf70", "#5ec962", "#7ad151"),
)


@dataclass(frozen=True)
class Axis:
    """From numbers to pixels."""

    low: float
    high: float
    start: float
    end: float
    step: float = 1
    """Between ticks."""

    def __call__(self, value: float) -> float:
        """The pixel of a number."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Pixels and labels of the multiples of the step."""
        first, last = math.ceil(self.low / self.step), math.floor(self.high / self.step)
        numbers = [self.step * tick for tick in range(first, last + 1)]
        return [(self(number), f"{number:g}".replace("-", "−")) for number in numbers]


@dataclass(frozen=True)
class Row:
    """A mean with the scores that it is of, in a panel."""

    y: float
    mean: float
    scores: Sequence[float]
    colour: str
    said: str
    """To the right of the panel."""


def fitted(values: Iterable[float], *, start: float, end: float, step: float) -> Axis:
    """The axis that all values are on."""
    low, *_, high = sorted(values)
    return Axis(step * math.floor(low / step), step * math.ceil(high / step), start, end, step)


def text(x: float, y: float, words: str, *, anchor: str = "start") -> str:
    """Words."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{GREY}">{escape(words)}</text>'


def line(start: Point, end: Point, *, colour: str = GREY, width: float = 1, fade: float = 1) -> str:
    """A straight one."""
    ends = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}" stroke-opacity="{fade}"/>'


def curve(points: Iterable[Point], *, colour: str, dashes: str = "none") -> str:
    """A line through points."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    look = f'fill="none" stroke="{colour}" stroke-width="2.2" stroke-dasharray="{dashes}"'
    return f'<polyline points="{path}" {look}/>'


def dot(x: float, y: float, *, colour: str, radius: float = 2.2, filled: bool = True) -> str:
    """A disc or a ring."""
    look = f'fill="{colour if filled else "none"}" stroke="{colour}" stroke-width="1.4"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" {look}/>'


def diamond(x: float, y: float, *, colour: str) -> str:
    """For numbers of the paper."""
    return f'<path d="M{x:.1f},{y - 6:.1f} l6,6 l-6,6 l-6,-6 z" fill="{colour}"/>'


def box(x: float, y: float, *, width: float, height: float, colour: str, fade: float = 1) -> str:
    """A rectangle."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{colour}" fill-opacity="{fade}"/>'


def legend(x: float, entries: Iterable[tuple[str, str]]) -> list[str]:
    """Squares and what they stand for, from left to right."""
    parts = []
    for colour, words in entries:
        parts += [box(x, 10, width=11, height=11, colour=colour), text(x + 17, 20, words)]
        x += 39 + 7 * len(words)
    return parts


def notes(y: float, *lines: str) -> list[str]:
    """A line below the other."""
    return [text(12, y + 17 * place, words) for place, words in enumerate(lines)]


def signed(number: float, digits: int) -> str:
    """With its sign, and a minus as wide as a plus."""
    return f"{number:+.{digits}f}".replace("-", "−")


def upwards(axis: Axis, *, left: float, right: float) -> list[str]:
    """The ticks of an axis from below to above, left of a panel."""
    parts = []
    for y, label in axis.ticks():
        parts += [line((left, y), (right, y), fade=0.9 if label == "0" else 0.25)]
        parts += [text(left - 8, y + 4, label, anchor="end")]
    return parts


def panel(axis: Axis, rows: Sequence[Row], *, top: float, base: float | None = None) -> list[str]:
    """A row below the other: a tick for the mean, a dot for a score, a bar if it has a base."""
    bottom, parts = max(row.y for row in rows) + 14, []
    for x, label in axis.ticks():
        parts += [line((x, top), (x, bottom), fade=0.25)]
        parts += [text(x, bottom + 16, label, anchor="middle")]
    if base is not None:
        parts += [line((axis(base), top), (axis(base), bottom))]
    for row in rows:
        end, y = axis(row.mean), row.y
        if base is not None:
            left, width = min(end, axis(base)), abs(end - axis(base))
            parts += [box(left, y - 7, width=width, height=14, colour=row.colour, fade=0.3)]
        parts += [line((end, y - 8), (end, y + 8), colour=row.colour, width=2.5)]
        for seed, score in enumerate(row.scores):
            # The same seed is at the same height in every row.
            shift = 12 * (seed / max(len(row.scores) - 1, 1) - 0.5)
            parts += [dot(axis(score), y + shift, colour=row.colour, radius=1.6)]
        parts += [text(axis.end + 8, y + 4, row.said)]
    return parts


def weighted_samples(names: dict[str, Any], senses: dict[str, Any]) -> list[str]:
    """Accuracy of plain training and of training with weights on tasks, groups and examples."""
    colours = {"single-task": GREY, "plain": BLUE, "weighted": ORANGE}
    parts = legend(180, [(colour, kind) for kind, colour in colours.items()])
    places, y = [], 56.0
    for row in names["rows"]:
        y += 36 if row["name"].endswith(", plain") else 24
        places.append(y)
        words = row["name"].split(", ")[-1] if row["against"] else row["name"]
        parts.append(text(168, y + 4, words, anchor="end"))
    titles = ("words in names, 3 types", "supersenses, 40 types")
    for record, title, left in zip((names, senses), titles, (180, 474), strict=True):
        rows = []
        for y, row in zip(places, record["rows"], strict=True):
            kind = "weighted" if row["against"] else row["name"].split(", ")[-1]
            gain = f" ({signed(row['gain'], 2)})" if row["against"] else ""
            rows += [Row(y, row["mean"], row["scores"], colours[kind], f"{row['mean']:.1f}{gain}")]
        base = 100 * record["majority"]
        high = max(score for row in rows for score in row.scores)
        axis = Axis(base, high + 0.5, left, left + 190, 10 if high - base > 20 else 5)
        parts += [text(left, 46, title), *panel(axis, rows, top=64, base=base)]
        parts += [text(left, places[-1] + 50, f"test accuracy in %, from {base:.1f}, not from 0")]
    said = "Bars start at what always naming the commonest type would score. "
    said += f"A dot is one of {len(names['seeds'])} seeds."
    end = "At the right: the mean and, in parentheses, its points over plain."
    return [*parts, *notes(places[-1] + 78, said, end)]


def task_distance(record: dict[str, Any]) -> list[str]:
    """Accuracy over the target's size, a line for each flip rate of the source."""
    sizes, rates = record["settings"]["target_sizes"], record["settings"]["flip_rates"]
    runs, left, right = record["records"], 56, 610
    x = Axis(math.log(sizes[0]), math.log(sizes[-1]), left, right)
    y = Axis(0, 75, 360, 40, 10)

    def points(runs: list[dict[str, float]]) -> list[Point]:
        means = [mean(run[str(size)] for run in runs) for size in sizes]
        return [(x(math.log(size)), y(100 * m)) for size, m in zip(sizes, means, strict=True)]

    parts = [*upwards(y, left=left, right=right), text(12, 20, "test accuracy on the target in %")]
    parts += [text(x(math.log(size)), 379, f"{size:,}", anchor="middle") for size in sizes]
    words = "examples of the target (log scale)"
    parts += [text((left + right) / 2, 402, words, anchor="middle")]
    parts += [text(right + 34, 34, "flip rate"), text(right + 34, 50, "of the source")]
    for place, rate in enumerate(rates):
        path = points([run["learning_to_learn"][str(rate)] for run in runs])
        colour = VIRIDIS[-1 - round(place * (len(VIRIDIS) - 1) / max(len(rates) - 1, 1))]
        at = 72 + 17 * place
        parts += [curve(path, colour=colour), text(right + 62, at + 4, f"{rate:.1f}")]
        parts += [line((right + 34, at), (right + 56, at), colour=colour, width=4)]
        parts += [line((right + 3, path[-1][1]), (right + 31, at), colour=colour, fade=0.6)]
    at = 72 + 17 * len(rates) + 16
    parts += [curve(points([run["single_task"] for run in runs]), colour=ORANGE, dashes="7 5")]
    parts += [curve([(right + 34, at), (right + 60, at)], colour=ORANGE, dashes="7 5")]
    said = "Solid: representation from the source, head from the target; single-task: both from "
    said += f"the target. Mean of {len(record['seeds'])} seeds."
    return [*parts, text(right + 66, at + 4, "single-task"), *notes(428, said)]


def source_ratio(record: dict[str, Any]) -> list[str]:
    """What weights add to normalized joint training, over how many times more source there is."""
    columns, [target] = record["columns"], record["rows"][0]["numbers"][0]["sizes"]  # it alone
    numbers = next(row for row in record["rows"] if row["against"])["numbers"][: len(columns)]
    every = [gain for number in numbers for gain in (*number["gains"], number["paper_gain"])]
    left, right = 56, 740
    x = Axis(-0.3, math.log2(float(columns[-1])) + 0.3, left, right)
    y = fitted([0, *every], start=330, end=64, step=5)
    ticks = [x(math.log2(float(column))) for column in columns]

    def sources(number: dict[str, Any]) -> list[int]:
        return [size for name, size in number["sizes"].items() if name != target]

    def place(number: dict[str, Any]) -> Point:
        return x(math.log2(min(sources(number)) / number["sizes"][target])), y(number["gain"])

    parts = upwards(y, left=left, right=right)
    words = f"points of F1 on {target} that learned weights add to normalized joint training"
    parts += [text(12, 20, words), dot(70, 42, colour=ORANGE, radius=5)]
    parts += [text(82, 46, f"here, MiniLM, 3e-4: mean and range of {len(record['seeds'])} seeds")]
    parts += [diamond(400, 42, colour=BLUE), text(412, 46, "the paper, BERT, 5e-5")]
    parts += [text(at, 349, name, anchor="middle") for at, name in zip(ticks, columns, strict=True)]
    words = "sentences of each source for one of the target (log scale)"
    parts += [text((left + right) / 2, 372, words, anchor="middle")]
    paper = [(at, y(n["paper_gain"])) for at, n in zip(ticks, numbers, strict=True)]
    parts += [curve(paper, colour=BLUE, dashes="6 4")]
    parts += [diamond(*point, colour=BLUE) for point in paper]
    whole = [number for number in numbers if not number["capped"]]
    capped = [number for number in numbers if number["capped"]]
    parts += [curve([place(number) for number in whole], colour=ORANGE)]
    for number in (*whole, *capped[:1]):
        at, middle = place(number)
        for edge, rim in ((min(number["gains"]), 5), (max(number["gains"]), -5)):
            parts += [line((at, middle + rim), (at, y(edge)), colour=ORANGE, width=1.6)]
        parts += [dot(at, middle, colour=ORANGE, radius=5, filled=not number["capped"])]
    if capped:
        most = " and ".join(f"{size:,}" for size in sources(capped[0]))
        said = f"Ring: all sentences that the data has for the sources ({most}), at its own ratio."
        end = f"The paper’s last {len(capped)} ratios would all be this run."
        parts += notes(398, said, end)
    return parts


def main_gains(*records: dict[str, Any]) -> list[str]:
    """What weights add to a way of training, by target: here, and in the paper."""
    names, colours = ("MiniLM, 3e-4", "MiniLM, 5e-5", "MPNet, 5e-5"), (ORANGE, GREEN, PURPLE)
    words = [f"{name}, {_of_seeds(of)}" for name, of in zip(names, records, strict=True)]
    parts = legend(12, [*zip(colours, words, strict=True), (BLUE, "the paper, BERT, 5e-5")])
    targets, apart = records[0]["columns"], 17
    places = [84 + place * (apart * 4 + 18) for place in range(len(targets))]
    for y, name in zip(places, targets, strict=True):
        parts += [text(78, y + 1.5 * apart + 4, name, anchor="end")]
    tables = [[row for row in record["rows"] if row["against"]] for record in records]
    every = [
        gain
        for table in tables
        for row in table
        for number in row["numbers"][: len(targets)]
        for gain in (*number["gains"], number["paper_gain"])
    ]
    for place, ways in enumerate(zip(*tables, strict=True)):
        left = 90 + 224 * place
        axis = fitted([0, *every], start=left, end=left + 160, step=20)
        rows = []
        for column, y in enumerate(places):
            ours = [way["numbers"][column] for way in ways]
            for shift, (number, colour) in enumerate(zip(ours, colours, strict=True)):
                at, gain = y + apart * shift, number["gain"]
                scores = number["gains"] if len(number["gains"]) > 1 else ()
                rows += [Row(at, gain, scores, colour, signed(gain, 1))]
            paper = ours[0]["paper_gain"]
            rows += [Row(y + 3 * apart, paper, (), BLUE, signed(paper, 2))]
        parts += [text(left, 52, ways[0]["name"].removesuffix(" training"))]
        parts += panel(axis, rows, top=66, base=0)
        parts += [text(left, places[-1] + 3 * apart + 52, "points over the plain row")]
    return parts


def _of_seeds(record: dict[str, Any]) -> str:
    count = len(record["seeds"])
    return f"{count} seeds" if count > 1 else "one seed"


def corrupted_labels(record: dict[str, Any]) -> list[str]:
    """Accuracy of the ways of training when 40% of the source's labels are wrong."""
    ways = {
        "target alone": (BLUE, "target alone"),
        "corrupted": (BLUE, "corrupted, all alike"),
        "learned": (ORANGE, "learned weights"),
        "best by alignment": (ORANGE, "best 60% by alignment"),
        "as many wrong, at random": (GREEN, "as many wrong, at random"),
        "known": (GREEN, "known wrong ones left out"),
        "clean": (GREEN, "clean source"),
    }
    kinds = [(BLUE, "plain"), (ORANGE, "by alignment"), (GREEN, "knowing which labels are wrong")]
    places = {way: 100.0 + 28 * place for place, way in enumerate(ways)}
    parts = legend(190, kinds)
    parts += [text(178, places[way] + 4, words, anchor="end") for way, (_, words) in ways.items()]
    runs = record["runs"]
    every = [
        100 * score for of in runs.values() for run in of for score in run["accuracy"].values()
    ]
    for place, (name, of) in enumerate(runs.items()):
        left, setting, rows = 190 + 194 * place, record["settings"][name], []
        axis = fitted(every, start=left, end=left + 144, step=5)
        for way in of[0]["accuracy"]:
            scores = [100 * run["accuracy"][way] for run in of]
            average = mean(scores)
            rows += [Row(places[way], average, scores, ways[way][0], f"{average:.1f}")]
        absent = [way for way in ways if way not in of[0]["accuracy"]]
        parts += [text(left + 4, places[way] + 4, "not run") for way in absent]
        words = f"{setting['labels']} labels, target of {setting['target_size']}"
        parts += [text(left, 50, name), text(left, 66, words), *panel(axis, rows, top=78)]
        parts += [text(left, places["clean"] + 50, "test accuracy in %")]
    said = f"A dot is one of {len(of)} seeds; a tick, and the number at the right, is their mean. "
    end = "“As many wrong, at random”: as many right and wrong examples as the best 60% has."
    return [*parts, *notes(places["clean"] + 78, f"{said}Axes do not start at 0.", end)]


SAMPLES = "figure-weighted-samples"
# Its function, its height, and the records that it is of.
PICTURES: dict[str, tuple[Callable[..., list[str]], int, tuple[str, ...]]] = {
    "weighted-samples": (weighted_samples, 374, (SAMPLES, f"{SAMPLES}-supersense")),
    "task-distance": (task_distance, 438, ("figure-task-distance",)),
    "source-ratio": (source_ratio, 426, ("table-source-ratio-minilm",)),
    "main-gains": (main_gains, 462, (MAIN, f"{MAIN}-5e-5", "table-main-mpnet")),
    "corrupted-labels": (corrupted_labels, 374, ("corrupted-labels",)),
}


def main() -> None:
    """Draw what there are records for."""
    IMAGES.mkdir(exist_ok=True)
    for name, (draw, height, records) in PICTURES.items():
        paths = [RESULTS / f"{record}.json" for record in records]
        missing = [path.name for path in paths if not path.exists()]
        if missing:
            sys.stdout.write(f"{name}.svg skipped: no {', no '.join(missing)} in {RESULTS}\n")
            continue
        parts = draw(*(json.loads(path.read_text(encoding="utf-8")) for path in paths))
        size = f'viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-size="12.5" role="img">'
        title = f"<title>{escape(draw.__doc__ or name)}</title>"
        picture = "\n".join([head, title, *parts, "</svg>", ""])
        (IMAGES / f"{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
