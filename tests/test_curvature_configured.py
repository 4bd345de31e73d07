"""Every curvature by its name in a configuration, as far as a finished run."""

import dataclasses
import json
from pathlib import Path

import pytest
import yaml

from tawt.config import parsed
from tawt.curvature import AdamDiagonal, ConjugateGradient, Dense, Identity
from tawt.demos.grammar import generate
from tawt.demos.tiny import write_tiny_encoder
from tawt.errors import ConfigError, RunError
from tawt.runs import Options, RunFolder, run
from tawt.runs.building import rule
from tawt.runs.predicting import load_predictor

KINDS = {
    "identity": ({"scale": 5.0}, Identity(scale=5.0)),
    "adam": ({"damping": 0.5}, AdamDiagonal(damping=0.5)),
    "conjugate-gradient": (
        {"iterations": 3, "damping": 0.0},
        ConjugateGradient(iterations=3, damping=0.0),
    ),
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


@pytest.mark.parametrize(
    ("curvature", "answer"),
    [
        ({"kind": "nystrom", "rank": 5}, "`kind`: nystrom was removed; use conjugate-gradient "),
        *(
            (
                {"kind": kind, "labels": "given"},
                f"`kind`: {kind} was removed; use .*`weighting.alignment: cosine`",
            )
            for kind in ("kfac", "ekfac", "neumann")
        ),
        ({"rank": 5}, "`rank` belonged to .*`iterations`"),
        ({"labels": "given"}, "`labels` belonged to .*leave it out"),
    ],
)
def test_what_to_use_for_what_was_removed_is_said(curvature, answer):
    with pytest.raises(ConfigError, match=answer.replace("`", "`weighting.curvature.", 1)):
        configuration("identity", weighting={"curvature": curvature})


def written(folder, **curvature):
    """Change the configuration that a run left, as an earlier version would have written it."""
    values = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    values["weighting"]["curvature"] |= curvature
    (folder / "config.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")


SMALL = {"epochs": 1, "model": {"widths": [4]}}


def test_a_folder_that_has_the_defaults_of_fields_that_are_gone_is_gone_on_with(tmp_path, call):
    config = configuration("adam", **SMALL)
    record = run(config, tmp_path / "run")
    written(tmp_path / "run", rank=20, labels="sampled")
    assert RunFolder(tmp_path / "run").config() == config
    assert run(config, tmp_path / "run", options=Options(resume=True))["scores"] == record["scores"]
    again = ("--out", tmp_path / "run", "--resume", "--quiet")
    assert call("train", tmp_path / "run" / "config.yaml", *again)[0] == 0


@pytest.mark.parametrize("kind", ["nystrom", "kfac", "ekfac", "neumann"])
def test_a_finished_run_of_a_curvature_that_is_gone_is_read_and_not_gone_on_with(
    kind, tmp_path, call
):
    config = configuration("identity", **SMALL)
    record = run(config, tmp_path / "run")
    written(tmp_path / "run", kind=kind, rank=5, labels="given")
    assert RunFolder(tmp_path / "run").record()["scores"] == record["scores"]
    assert call("report", tmp_path / "run")[0] == 0
    assert load_predictor(tmp_path / "run") is not None
    line = rf"`weighting.curvature.kind: {kind}`, which was removed.*--overwrite"
    with pytest.raises(RunError, match=line):
        run(config, tmp_path / "run", options=Options(resume=True))
    (tmp_path / "run" / "record.json").unlink()
    with pytest.raises(RunError, match=line):
        RunFolder(tmp_path / "run").record()
    code, _, error = call("train", tmp_path / "run" / "config.yaml", "--resume", "--quiet")
    assert code == 2
    assert len(error.splitlines()) == 1
    assert f"{kind} was removed; " in error


@pytest.mark.parametrize("kind", ["adam", "conjugate-gradient"])
@pytest.mark.parametrize("model", [{"kind": "cnn"}, {"widths": [8]}], ids=["cnn", "mlp"])
def test_a_run_uses_it(kind, model, tmp_path):
    small = {"batch_size": 256, "update_every": 3}
    run(configuration(kind, model=model, epochs=1, training=small), tmp_path / "run")
    assert_measured(tmp_path / "run")


@pytest.mark.parametrize("kind", ["adam", "conjugate-gradient"])
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
    removed = ("| K-FAC ", "| EKFAC ", "| Neumann", "| Nyström")
    assert [row for row in rows if row not in page and not row.startswith(removed)] == []
    evidence = [line for line in page if line.startswith(removed)]
    assert len(evidence) == 2 * len(removed)  # gain and cost
    assert [row for row in evidence if row not in rows] == []
