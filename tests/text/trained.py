"""Tiny runs on text, trained in seconds, that the tests of several commands share."""

import json
from pathlib import Path

import yaml

from tawt.config import load
from tawt.demos.grammar import generate
from tawt.demos.tiny import write_tiny_encoder
from tawt.runs import run

GOOD = ["A fine film.", "Good fun!", "We loved it, all of us.", "What a great story it tells."]
BAD = ["A dull film.", "Bad jokes!", "We hated it, all of us.", "What a poor story it tells."]


def tiny_encoder(folder: Path) -> Path:
    sentences = [sentence.words for sentence in generate(200, seed=3, register="news")]
    texts = [text.split() for text in GOOD + BAD]
    return write_tiny_encoder(folder / "encoder", [*sentences, *texts], width=32, layers=1)


def trained(folder: Path, values: dict) -> Path:
    """Train as these values say; the run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump(values))
    run(load(config), folder / "run")
    return folder / "run"


def tagging_values(encoder: Path, **more) -> dict:
    return {
        "data": {"kind": "grammar", "target_size": 40, "source_size": 40},
        "target": "chunk",
        "sources": [],
        "paradigm": "single-task",
        "target_epochs": 3,
        "model": {"encoder": str(encoder), "max_length": 32},
        "training": {"batch_size": 8, "learning_rate": 0.003},
        **more,
    }


def records(kind: str) -> list[dict]:
    """Labelled texts of a kind that is not tagging."""
    texts = [(text, number) for number, of in enumerate((BAD, GOOD)) for text in of]
    if kind == "classification":
        return [{"review": text, "label": ("bad", "good")[number]} for text, number in texts]
    if kind == "pair":
        pairs = zip(texts, [*texts[1:], texts[0]], strict=True)
        return [
            {"text": text, "second": other, "label": "same" if a == b else "other"}
            for (text, a), (other, b) in pairs
        ]
    return [{"text": text, "label": number + len(text) / 100} for text, number in texts]


def text_values(folder: Path, encoder: Path, kind: str) -> dict:
    """A configuration whose files lie in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(record) + "\n" for record in records(kind))
    for split in ("train", "test"):
        (folder / f"{split}.jsonl").write_text(lines)
    task = {"kind": kind, "train": "train.jsonl", "test": "test.jsonl"}
    if kind == "classification":
        task["fields"] = {"text": "review"}
    return {
        "data": {"kind": "text", "tasks": {"goal": task}},
        "target": "goal",
        "sources": [],
        "paradigm": "single-task",
        "target_epochs": 2,
        "model": {"encoder": str(encoder), "max_length": 16},
        "training": {"batch_size": 4, "learning_rate": 0.003},
    }
