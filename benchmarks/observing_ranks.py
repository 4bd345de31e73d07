"""Whether training steps rank the sources as fresh batches do, on digits and on text.

The demonstrations of `tawt demo` are trained with weights learned from fresh batches and from
training steps, over the same seeds. Of every pair of runs with different seeds the final
weights of the sources are compared by Spearman's rank correlation:

- **noise**: both by fresh batches; how far two seeds agree at all;
- **training steps**: one by training steps, the other by fresh batches.

If steps rank as fresh batches do, the second is as high as the first. Scores of the target on its
test examples are beside it.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from scipy.stats import spearmanr

from benchmarks.finding import Finding
from tawt.compare.demo import demo_config, tagging_config
from tawt.config import RunConfig, parsed
from tawt.runs.building import build_parts
from tawt.training import train
from tawt.training.devices import accelerator_for

if TYPE_CHECKING:
    import torch

_MEASURES = ("fresh batches", "training steps")


def run(*, device: torch.device, quick: bool) -> list[Finding]:
    """Both demonstrations, joint training and pre-training."""
    with tempfile.TemporaryDirectory() as folder:
        cases = {
            "digits": (demo_config(), 1 if quick else 8),
            "tagging": (tagging_config(Path(folder, "encoder")), 1 if quick else 3),
        }
        if quick:
            del cases["tagging"]
        return [
            finding
            for name, (config, seeds) in cases.items()
            for paradigm in ("joint", "pre-training")
            for finding in _findings(
                f"{name}, {paradigm}", _runs(config, paradigm, seeds=max(seeds, 2), device=device)
            )
        ]


def _runs(
    config: RunConfig, paradigm: str, *, seeds: int, device: torch.device
) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {measure: [] for measure in _MEASURES}
    for seed, measure in itertools.product(range(seeds), _MEASURES):
        values = config.model_dump(mode="json")
        values |= {"paradigm": paradigm, "seed": seed, "target_epochs": 20}
        values["training"] = {**values["training"], "measure": measure}
        found[measure].append(_trained(parsed(values), device))
    return found


def _trained(config: RunConfig, device: torch.device) -> dict[str, Any]:
    parts = build_parts(config)
    result = train(
        parts.model,
        tasks=parts.tasks,
        target=config.target,
        paradigm=parts.paradigm,
        weighting=parts.weighting,
        settings=config.training,
        seed=config.seed,
        accelerator=accelerator_for(config.training.precision, device=device.type),
    )
    [target] = result.metric
    weights = {name: share for name, share in result.weights.items() if name != target}
    score = result.predictions[target]["test"].scores[result.metric[target]]
    return {"weights": weights, "score": 100 * score}


def _findings(name: str, runs: dict[str, list[dict[str, Any]]]) -> list[Finding]:
    fresh, steps = (runs[measure] for measure in _MEASURES)
    others = [(i, j) for i in range(len(fresh)) for j in range(len(fresh)) if i != j]
    noise = [_agreement(fresh[i], fresh[j]) for i, j in others]
    found = [_agreement(steps[i], fresh[j]) for i, j in others]
    scores = {measure: mean(run["score"] for run in made) for measure, made in runs.items()}
    return [
        Finding(
            benchmark="observing_ranks",
            what=f"{name}: rank correlation with fresh batches of another seed",
            value=mean(found),
            unit="x",
            spread=(min(found), max(found)),
            note=f"between two seeds of fresh batches {mean(noise):.2f}; test score "
            f"{scores['training steps']:.1f}, by fresh batches {scores['fresh batches']:.1f}",
            numbers={
                "noise": noise,
                "training_steps": found,
                "scores_by_training_steps": [run["score"] for run in steps],
                "scores_by_fresh_batches": [run["score"] for run in fresh],
                "mean_weights_by_training_steps": _mean_weights(steps),
                "mean_weights_by_fresh_batches": _mean_weights(fresh),
            },
        )
    ]


def _agreement(one: dict[str, Any], other: dict[str, Any]) -> float:
    names = sorted(one["weights"])
    return float(
        spearmanr(
            [one["weights"][name] for name in names], [other["weights"][name] for name in names]
        ).statistic
    )


def _mean_weights(runs: list[dict[str, Any]]) -> dict[str, float]:
    return {name: mean(run["weights"][name] for run in runs) for name in runs[0]["weights"]}
