"""Every curvature by its name in a configuration, as far as a finished run."""

import dataclasses
import json
from pathlib import Path

import pytest

from tawt.config import parsed
from tawt.curvature import (
    AdamDiagonal,
    ConjugateGradient,
    Dense,
    Identity,
    KroneckerFactored,
    Neumann,
)
from tawt.demos.grammar import generate
from tawt.demos.tiny import write_tiny_encoder
from tawt.errors import ConfigError
from tawt.runs import run
from tawt.runs.building import rule

KINDS = {
    "identity": ({"scale": 5.0}, Identity(scale=5.0)),
    "adam": ({"damping": 0.5}, AdamDiagonal(damping=0.5)),
    "kfac": (
        {"damping": 0.5, "labels": "given"},
        KroneckerFactored(damping=0.5, eigenvalues="products", labels="given"),
    ),
    "ekfac": ({"damping": 0.5}, KroneckerFactored(damping=0.5)),
    "conjugate-gradient": ({"iterations": 3}, ConjugateGradient(iterations=3)),
    "neumann": ({"iterations": 3, "damping": 0.0}, Neumann(terms=3, damping=0.0)),
    "dense": ({}, Dense(damping=0.01)),
}


def configuration(kind, **changes):
    curvature = {"kind": kind, **KINDS[kind][0]}
    return parsed(
        {
            "data": {"kind": "digits", "target_size": 30},
            "sources": ["parity", "noise"],
            "target": "digit",
            "weighting": {"alignment": "curvature", "curvature": curvature},
            **changes,
        }
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_configuration_builds_it(kind):
    built = rule(configuration(kind).weighting).alignment.curvature
    expected = KINDS[kind][1]
    assert type(built) is type(expected)
    assert dataclasses.asdict(built) == dataclasses.asdict(expected)


def test_what_replaced_nystrom_is_named():
    curvature = {"kind": "nystrom", "rank": 5}
    with pytest.raises(ConfigError, match=r"`weighting.curvature.kind`: nystrom was removed; use "):
        configuration("identity", weighting={"curvature": curvature})
    with pytest.raises(ConfigError, match=r"`weighting.curvature.rank` belonged to .*`iterations`"):
        configuration("identity", weighting={"curvature": {"rank": 5}})


def test_a_configuration_that_a_run_wrote_with_every_default_still_loads():
    now = configuration("neumann")
    written = now.model_dump(mode="json")
    written["weighting"]["curvature"]["rank"] = 20
    assert parsed(written) == now


@pytest.mark.parametrize("kind", ["adam", "kfac", "ekfac"])
@pytest.mark.parametrize("model", [{"kind": "cnn"}, {"widths": [8]}], ids=["cnn", "mlp"])
def test_a_run_uses_it(kind, model, tmp_path):
    small = {"batch_size": 256, "update_every": 3}
    run(configuration(kind, model=model, epochs=1, training=small), tmp_path / "run")
    assert_measured(tmp_path / "run")


@pytest.mark.parametrize("kind", ["adam", "ekfac", "conjugate-gradient"])
def test_a_run_on_text_uses_it(kind, tmp_path):
    """Encoders have fused attention, padding, embeddings and norms."""
    words = [sentence.words for sentence in generate(100, seed=0)]
    encoder = str(write_tiny_encoder(tmp_path / "tiny", words, width=16, layers=1))
    text = {
        "data": {"kind": "grammar", "source_size": 40, "target_size": 20},
        "sources": ["pos", "chunk"],
        "target": "entity",
        "model": {"encoder": encoder},
        "epochs": 1,
        "training": {"gradient_examples": 8, "batch_size": 32, "update_every": 1},
    }
    run(configuration(kind, **text), tmp_path / "run")
    assert_measured(tmp_path / "run")


def assert_measured(folder):
    lines = (folder / "weights.jsonl").read_text(encoding="utf-8").splitlines()
    updates = [json.loads(line) for line in lines]
    assert updates
    assert all(update["skipped"] is None for update in updates)
    assert all(all(update["alignments"].values()) for update in updates)


def test_the_documentation_has_the_numbers_of_the_record():
    root = Path(__file__).parents[1]
    record = (root / "benchmarks" / "reports" / "curvatures.md").read_text(encoding="utf-8")
    page = (root / "docs" / "curvature.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in record.splitlines() if line.startswith("|")]
    assert len(rows) > 40
    assert [row for row in rows if row not in page] == []
