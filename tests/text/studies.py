"""Small studies of text on disk, one for each kind of task."""

import json

import numpy as np
import yaml

from tawt.config import load
from tawt.demos.grammar import generate

ODD = [
    ('"Quotes"', "'tis", "``", "''", "\\", "#", "a,b", "-DOCSTART-"),
    ("naïve", "café", "日本語", "😀", "ﬁ", "e\u0301", "\ufeffmark"),
    ("non\u00a0breaking", "thin\u2009space", "two  blanks"),
    ("zero", "\u200b", "width", "\u00ad"),
]
"""Words that tables, tokenizers and terminals stumble over; the last have no pieces."""


def tagged(count, *, seed, register="news", layer="chunks", prefix=""):
    made = generate(count, seed=seed, register=register)
    return [
        {"tokens": [prefix + word for word in each.words], "tags": list(getattr(each, layer))}
        for each in made
    ]


def reviews(count, *, seed):
    draw = np.random.default_rng(seed)
    words = {"good": ["fine", "great", "lovely"], "bad": ["dull", "poor", "sad"]}
    made = []
    for number in range(count):
        label = ("good", "bad")[number % 2]
        told = [str(draw.choice(words[label])) for _ in range(draw.integers(1, 9))]
        made.append({"text": f"The film was {', '.join(told)}.", "label": label})
    return made


def pairs(count, *, seed):
    some, others = reviews(count, seed=seed), reviews(count, seed=seed + 1)
    made = []
    for number, one in enumerate(some):
        two = others[number - number // 2 % 2]
        label = "same" if one["label"] == two["label"] else "other"
        made.append({"premise": one["text"], "hypothesis": two["text"], "label": label})
    return made


def ratings(count, *, seed):
    texts = [each["text"] for each in reviews(count, seed=seed)]
    return [{"text": text, "label": text.count(",") + 0.5} for text in texts]


class TextStudy:
    """A configuration, and its files beside it."""

    def __init__(self, folder, encoder, **values):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.path = folder / "study.yaml"
        self.values = {
            "name": "text",
            "model": {"encoder": str(encoder), "max_length": 96},
            "epochs": 1,
            "target_epochs": 2,
            "training": {"batch_size": 8, "learning_rate": 0.003, "gradient_examples": 8},
            **values,
        }
        self.write()

    def task(self, name, kind, *, source=False, **splits):
        """Add a task; each split is a list of records, written as JSON lines."""
        for split, records in splits.items():
            lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in records]
            (self.folder / f"{name}.{split}.jsonl").write_text("".join(lines), encoding="utf-8")
        data = self.values.setdefault("data", {"kind": "text", "tasks": {}})
        data["tasks"][name] = {
            "kind": kind,
            **{split: f"{name}.{split}.jsonl" for split in splits},
        }
        if not source:
            self.values.setdefault("target", name)
        self.write()
        return self

    def set(self, name, value):
        """Change a value by its dotted name."""
        *path, last = name.split(".")
        values = self.values
        for key in path:
            values = values.setdefault(key, {})
        values[last] = value
        self.write()
        return self

    def write(self):
        self.path.write_text(yaml.safe_dump(self.values, sort_keys=False, allow_unicode=True))

    @property
    def config(self):
        return load(self.path)


def grammar_study(folder, encoder, **values):
    data = {"kind": "grammar", "target_size": 24, "source_size": 24}
    return TextStudy(folder, encoder, data=data, target="chunk", sources=["pos"], **values)


def tagging_study(folder, encoder, **values):
    """Two sources, one of them of another kind, and a target with odd words in its test set."""
    odd = [{"tokens": list(words), "tags": ["O"] * len(words)} for words in ODD]
    study = TextStudy(folder, encoder, **values)
    study.task(
        "chunks",
        "tagging",
        train=tagged(20, seed=1, register="web"),
        dev=tagged(8, seed=2, register="web"),
        test=[*tagged(10, seed=3, register="web"), *odd],
    )
    study.task("pos", "tagging", source=True, train=tagged(20, seed=4, layer="pos"))
    study.task("reviews", "classification", source=True, train=reviews(16, seed=5))
    return study


def text_study(folder, encoder, kind, **values):
    """One task on whole texts."""
    make = {"classification": reviews, "pair": pairs, "regression": ratings}[kind]
    study = TextStudy(folder, encoder, paradigm="single-task", **values)
    parts = {"train": make(24, seed=0), "dev": make(8, seed=2), "test": make(12, seed=4)}
    return study.task("goal", kind, **parts)


def two_targets_study(folder, encoder, **values):
    study = tagging_study(folder, encoder, **values)
    study.task("mood", "classification", train=reviews(12, seed=6), test=reviews(8, seed=7))
    return study.set("target", {"chunks": 0.5, "mood": 0.5})


LINES = [" ".join(sentence.words) for sentence in generate(120, seed=0)]


def unlabelled_study(folder, encoder, *, lines=LINES, paradigm="pre-training", **values):
    """A target with labels, text of its domain, and other text."""
    study = TextStudy(folder, encoder, paradigm=paradigm, **values)
    (folder / "papers").mkdir()
    half = len(lines) // 2
    (folder / "papers" / "one.txt").write_text("\n".join(lines[:half]) + "\n", encoding="utf-8")
    (folder / "papers" / "two.txt").write_text("\n".join(lines[half:]) + "\n", encoding="utf-8")
    (folder / "odd.txt").write_text("\n".join(line[::-1] for line in lines), encoding="utf-8")
    study.task(
        "mood", "classification", train=reviews(16, seed=0), dev=reviews(6, seed=2),
        test=reviews(10, seed=4),
    )  # fmt: skip
    study.set("data.cache", str(folder.parent / "cache"))
    study.set("data.tasks.papers", {"kind": "unlabelled", "train": "papers/*.txt"})
    study.set("data.tasks.odd", {"kind": "unlabelled", "train": "odd.txt"})
    study.set("model.max_length", 64)
    return study.set("training.update_every", 2)
