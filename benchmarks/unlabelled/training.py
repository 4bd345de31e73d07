"""Trains what a spec says, in this process."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from benchmarks.unlabelled.spec import RULE, UPDATES
from benchmarks.unlabelled.texts import OTHER_DOMAINS, POSITIVE, metric_of
from tawt.config import parsed
from tawt.runs.building import build_parts
from tawt.training import train
from tawt.training.devices import accelerator_for

if TYPE_CHECKING:
    from benchmarks.unlabelled.spec import Spec
    from tawt.config import RunConfig

DOMAIN = "domain"
BY_EVIDENCE = "weights by evidence, then target"
_PARADIGMS = {
    "target alone": "single-task",
    "domain beside target": "joint then fine-tuning",
}
_TARGET_SHARE = 0.2  # of the steps that train on text and target together


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where things are on this machine; no part of what is trained."""

    encoder: str
    data: str
    corpora: str
    texts: str
    """Folder with the text of each domain."""
    device: str
    precision: str


def prepare() -> None:
    """A process for trainings, one of several."""
    torch.set_num_threads(1)
    logging.getLogger("tawt.data").setLevel(logging.ERROR)  # few examples lack some labels


def trained(spec: Spec, place: Place) -> dict[str, Any]:
    """Train, and score on the target's test examples."""
    began = time.perf_counter()
    config = configuration(spec, place)
    parts = build_parts(config)
    # Without dev examples: the model at the end is what is scored.
    tasks = [replace(task, dev=None) for task in parts.tasks]
    found = train(
        parts.model,
        tasks=tasks,
        target=spec.target,
        paradigm=parts.paradigm,
        weighting=parts.weighting,
        settings=config.training,
        seed=spec.seed,
        accelerator=accelerator_for(config.training.precision, device=place.device),
    )
    scores = found.scores[spec.target]["test"]
    return {
        "spec": spec.to_json(),
        "score": scores[metric_of(spec.target)],
        "scores": scores,
        "weights": found.weights,
        "course": [[update.step, update.weights, update.alignments] for update in found.history],
        "losses": [[entry["phase"], entry["loss"]] for entry in found.epochs],
        "texts": {name: about.get("notes", {}) for name, about in parts.data.items()},
        "passes": found.passes,
        "steps": found.steps,
        "seconds": round(time.perf_counter() - began, 2),
    }


def configuration(spec: Spec, place: Place) -> RunConfig:
    """The same as a file would have it."""
    sources = _sources(spec)
    values: dict[str, Any] = {
        "data": {
            "kind": "text",
            "cache": str(Path(place.texts) / "tokenised"),
            "tasks": {**_texts(sources, spec, place), spec.target: _target(spec, place)},
        },
        "target": spec.target,
        "sources": sources,
        "seed": spec.seed,
        "model": {"encoder": place.encoder, "max_length": spec.max_length},
        "paradigm": _PARADIGMS.get(spec.method, "pre-training"),
        "epochs": 1,
        "target_epochs": spec.epochs,
        "weighting": _weighting(spec),
        "training": {
            "batch_size": spec.batch_size,
            "learning_rate": spec.text_rate if sources else spec.rate,
            "warmup": 0.06,
            "precision": place.precision,
            "sampling": "weight",
            "select": "last",
        },
    }
    if sources:
        values["fine_tune_learning_rate"] = spec.rate
        values["training"]["steps"] = spec.text_steps
        if spec.method != BY_EVIDENCE:
            values["training"] |= UPDATES
    return parsed(values)


def _sources(spec: Spec) -> list[str]:
    if spec.method == "target alone":
        return []
    if spec.method in ("domain, then target", "domain beside target"):
        return [DOMAIN]
    return [DOMAIN, *OTHER_DOMAINS]


def _texts(sources: list[str], spec: Spec, place: Place) -> dict[str, Any]:
    own = ".own" if spec.own_text else ""
    paths = {
        name: Path(place.texts) / f"{spec.target}{own}.txt"
        if name == DOMAIN
        else Path(place.corpora) / "sources" / f"{name}.txt"
        for name in sources
    }
    return {name: {"kind": "unlabelled", "train": str(path)} for name, path in paths.items()}


def _target(spec: Spec, place: Place) -> dict[str, Any]:
    folder = Path(place.data) / spec.target
    return {
        "kind": "classification",
        **{split: str(folder / f"{split}.jsonl") for split in ("train", "dev", "test")},
        "metric": metric_of(spec.target),
        "positive": POSITIVE.get(spec.target),
        "limit": spec.examples,
    }


def _weighting(spec: Spec) -> dict[str, Any]:
    if spec.method == "learned weights, then target":
        return {"kind": "target-aware", "step_size": spec.step_size, **RULE}
    if spec.method == BY_EVIDENCE:
        return {"kind": "target-aware"}
    if spec.method == "domain beside target":
        initial = {DOMAIN: 1 - _TARGET_SHARE, spec.target: _TARGET_SHARE}
        return {"kind": "fixed", "initial": initial}
    return {"kind": "fixed"}
