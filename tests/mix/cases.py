"""Generated text of three languages, one of which is the target's, and answers made by hand."""

from dataclasses import replace
from pathlib import Path
from random import Random

from tawt.config.rows import ROWS
from tawt.config.schema import parsed
from tawt.mix.answering import MixEvidence, answered
from tawt.mix.planning import ProxyPlan
from tawt.mix.result import Point
from tawt.mix.speed import Speed
from tawt.mix.study import BY_SIZE, EQUAL, LEARNED, MixStudy
from tawt.tasks import Measure
from tests.conftest import Study as OnDisk

BITS = Measure(lower_is_better=True, unit="bits a byte")
SIZES = {"near": 10, "far": 30, "noise": 60}


def text(alphabet, *, lines, seed):
    """Lines of words of a language that its alphabet makes."""
    words = Random(alphabet)
    known = ["".join(words.choices(alphabet, k=words.randint(2, 6))) for _ in range(40)]
    draw = Random(seed)
    return "".join(" ".join(draw.choices(known, k=10)) + "\n" for _ in range(lines))


class Corpora(OnDisk):
    """A configuration with a target, a source like it, and two that are not, in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.write_text("near", "abcde", lines=150, seed=1)
        self.write_text("far", "fghij", lines=220, seed=2)
        self.write_text("noise", "0123456789", lines=100, seed=3)
        self.write_text("goal", "abcde", lines=60, seed=4)
        self.values = {
            "name": "toy",
            "data": {
                "kind": "corpora",
                "window": 24,
                "cache": "cache",
                "corpora": {
                    **{name: {"train": f"{name}.txt"} for name in ("near", "far", "noise")},
                    "goal": {"train": "goal.txt", "held_out": {"test": 0.3}},
                },
            },
            "target": "goal",
            "model": {"layers": 1, "width": 16, "heads": 2},
            "training": {
                "batch_size": 8,
                "learning_rate": 0.01,
                "steps": 60,
                "gradient_examples": 8,
            },
        }
        self.path = self.folder / "toy.yaml"
        self.write()

    def write_text(self, name, alphabet, *, lines, seed):
        (self.folder / f"{name}.txt").write_text(text(alphabet, lines=lines, seed=seed))


def study(sizes=SIZES, *, per_example=10, rows=(LEARNED, EQUAL, BY_SIZE), bound=None, **training):
    """What is known before anything is trained, of sources of these sizes."""
    config = parsed(
        {
            "data": {"kind": "corpora", "corpora": {"goal": {"train": "goal.txt"}}},
            "target": "goal",
            "weighting": {"ratio_bound": bound},
            "training": {"batch_size": 2, "most_passes": None, **training},
        }
    )
    return MixStudy(
        config=config,
        target="goal",
        rows=[ROWS[name] for name in rows],
        examples=sizes,
        amounts={name: per_example * size for name, size in sizes.items()},
        unit="tokens",
        all_sizes={**sizes, "goal": 5},
        data={},
        held_out={"test": 4},
        metric="bits_per_byte",
        measure=BITS,
    )


def plan(*, steps=100, per_step=20.0, budget=None):
    return ProxyPlan(
        budget=budget,
        steps=steps,
        update_every=5,
        unit="tokens",
        per_step=per_step,
        speed=Speed(step=0.1, update=1.0, around=5.0),
    )


def course(*shares, every=20):
    """After each update, the share of `near`; the two others have the rest alike."""
    return [
        Point(
            step=every * number,
            weights={"near": share, "far": (1 - share) / 2, "noise": (1 - share) / 2},
        )
        for number, share in enumerate(shares, start=1)
    ]


SCORES = {LEARNED: [3.0, 3.2], EQUAL: [3.5, 3.6], BY_SIZE: [3.9, 3.5]}
COURSES = [course(0.5, 0.8, 0.8, 0.8, 0.8), course(0.5, 0.7, 0.7, 0.7, 0.7)]


def answer(*, scores=SCORES, courses=COURSES, wanted=None, names=None, **given):
    """What these scores and courses come to; sources may be called otherwise."""
    names = names or {}
    sizes = {names.get(name, name): size for name, size in SIZES.items()}
    renamed = [
        [
            replace(point, weights={names.get(n, n): share for n, share in point.weights.items()})
            for point in each
        ]
        for each in courses
    ]
    evidence = MixEvidence(scores=scores, courses=renamed, seconds=9.0, circumstances={})
    examined = study(sizes, rows=list(scores), **given)
    if "goal" in names:
        examined = replace(examined, target=names["goal"])
    seeds = range(len(scores[EQUAL]))
    return answered(evidence, examined, plan(), seeds=seeds, wanted=wanted)
