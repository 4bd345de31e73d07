"""Plain text as a source of a labelled target, from the configuration to what is left."""

import json
import logging

import numpy as np
import pytest
import torch

from tawt import TargetAware
from tawt.compare import compare
from tawt.errors import Interrupted
from tawt.per_example import ExampleNorms, ExampleProducts
from tawt.runs import Options, RunFolder
from tawt.runs.building import build_parts
from tawt.runs.predicting import load_predictor
from tawt.runs.run import run
from tawt.sweeps import Sweep
from tawt.text.predicting import Text
from tawt.training.each import ExampleLosses
from tests.text.studies import LINES, TextStudy, reviews, tagged, unlabelled_study


@pytest.fixture
def study(tmp_path, tiny):
    return unlabelled_study(tmp_path / "study", tiny)


def told(record):
    return {key: value for key, value in record.items() if key not in {"began", "seconds"}}


# Runs


@pytest.mark.parametrize("paradigm", ["pre-training", "joint", "joint then fine-tuning"])
def test_a_run_learns_weights_and_leaves_a_model_of_the_target(tiny, tmp_path, paradigm):
    study = unlabelled_study(tmp_path / "study", tiny, paradigm=paradigm)
    record = run(study.config, tmp_path / "run")
    assert set(record["weights"]) - {"mood"} == {"papers", "odd"}
    updates = RunFolder(tmp_path / "run").updates()
    assert len(updates) > 3
    for found in (update["alignments"] for update in updates):
        assert found["papers"] != found["odd"]  # too few to tell which is more
    assert record["data"]["papers"]["notes"]["documents"] == len(LINES)
    assert "papers" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    answers = list(load_predictor(tmp_path / "run").answers([Text("The film was fine.")]))
    assert answers[0].label in {"good", "bad"}


def test_hidden_words_of_a_sentence_that_recurs_are_learned(tiny, tmp_path):
    study = unlabelled_study(tmp_path / "study", tiny, lines=[LINES[0]] * 120)
    study.set("sources", ["papers"]).set("epochs", 8).set("training.learning_rate", 0.02)
    losses = [entry["loss"] for entry in run(study.config, tmp_path / "run")["epochs"]]
    assert losses[7] < losses[0] - 1


@pytest.mark.parametrize("paradigm", ["pre-training", "joint"])
def test_a_run_that_is_stopped_and_resumed_is_the_run_that_was_not(tiny, tmp_path, paradigm):
    study = unlabelled_study(tmp_path / "study", tiny, paradigm=paradigm)
    whole = run(study.config, tmp_path / "whole")
    for stop in (1, whole["steps"] // 2, whole["steps"] - 1):
        left = iter([False] * (stop - 1) + [True])
        path = tmp_path / f"stopped-{stop}"
        with pytest.raises(Interrupted):
            run(study.config, path, should_stop=lambda left=left: next(left))
        assert told(run(study.config, path, options=Options(resume=True))) == told(whole)
        for name in ("model/model.safetensors", "weights.jsonl", "predictions.test.tsv"):
            assert (path / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_words_and_texts_and_hidden_words_share_one_encoder(tiny, tmp_path):
    study = unlabelled_study(tmp_path / "study", tiny)
    study.task("pos", "tagging", source=True, train=tagged(12, seed=4, layer="pos"))
    parts = build_parts(study.config)
    shared = parts.model.representation.base
    assert {id(body.base_model) for body in parts.model.representation.bodies.values()} == {
        id(shared)
    }
    assert len(run(study.config, tmp_path / "run")["weights"]) == 3


def test_bf16_and_accumulation(study, tmp_path):
    study.set("training.precision", "bf16").set("training.accumulation", 2)
    record = run(study.config, tmp_path / "run")
    assert not any(record["skipped_steps"].values())
    assert np.isfinite([entry["loss"] for entry in record["epochs"]]).all()


def test_documents_of_a_field_are_weighed_in_groups(study, tmp_path):
    rows = [{"body": line, "site": f"site {place % 3}"} for place, line in enumerate(LINES)]
    (study.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    study.set(
        "data.tasks.papers",
        {"kind": "unlabelled", "train": "rows.jsonl", "fields": {"text": "body", "group": "site"}},
    )
    study.set("sources", ["papers"])
    study.set("weighting", {"unit": "group", "group": {"by": "column"}})
    record = run(study.config, tmp_path / "run")
    assert record["weights"]["papers"] == pytest.approx(1)
    update = json.loads((tmp_path / "run" / "weights.jsonl").read_text().splitlines()[-1])
    assert update["units"]


# Alignment


def test_an_alignment_goes_through_the_representation_alone(study):
    """As by two backward passes, on parameters that the representation has, each once."""
    tasks, model, *_ = build_parts(study.config)
    by_name = {task.name: task for task in tasks}
    batches = {name: task.train.batch(np.arange(6)) for name, task in by_name.items()}
    model.eval()

    def loss_of(name):
        outputs = model(batches[name].inputs, name)
        return by_name[name].kind.losses(outputs, batches[name].labels).mean()

    shared = list(model.representation.parameters())
    assert len({id(parameter) for parameter in shared}) == len(shared)

    def gradient(name):
        found = torch.autograd.grad(loss_of(name), shared, allow_unused=True)
        return torch.cat(
            [
                (torch.zeros_like(own) if grad is None else grad).flatten()
                for own, grad in zip(shared, found, strict=True)
            ]
        )

    target = gradient("mood")
    by_hand = {
        name: torch.cosine_similarity(target, gradient(name), dim=0).item()
        for name in ("papers", "odd")
    }
    assert by_hand["papers"] != pytest.approx(by_hand["odd"], rel=1e-3)
    weights = TargetAware(sources=["papers", "odd"], target="mood", target_share=None)
    weights.update(model.representation, loss_of=loss_of)
    assert weights.history[-1].alignments == pytest.approx(by_hand, rel=1e-4)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_norms_and_products_of_single_windows_are_those_of_their_gradients(study):
    """The table of pieces is used twice, which no layer by itself would tell."""
    tasks, model, *_ = build_parts(study.config)
    papers = next(task for task in tasks if task.name == "papers")
    each = ExampleLosses(
        model=model,
        tasks={task.name: task for task in tasks},
        examples={"papers": papers.train},
        at_once=8,
        most=8,
        draw=np.random.default_rng(0),
        device=torch.device("cpu"),
    )
    [(_, losses)] = each("papers")
    parameters = list(model.representation.parameters())
    direction = [torch.randn_like(own, requires_grad=False) for own in parameters]
    norms = ExampleNorms(model, parameters)(losses)
    products = ExampleProducts(model, parameters, direction)(losses)
    for loss, norm, product in zip(losses(), norms, products, strict=True):
        found = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
        pairs = [(g, v) for g, v in zip(found, direction, strict=True) if g is not None]
        assert float(norm) == pytest.approx(
            sum(float(g.square().sum()) for g, _ in pairs), rel=1e-4
        )
        inner = sum(float((g * v).sum()) for g, v in pairs)
        assert float(product) == pytest.approx(inner, rel=1e-3, abs=1e-3)


# Commands


@pytest.mark.usefixtures("in_process")
def test_a_comparison_has_its_usual_rows(study, tmp_path):
    rows = ["single-task", "pre-training", "weighted pre-training", "joint", "weighted joint"]
    found = compare(
        study.config, tmp_path / "out", rows=rows, seeds=[0], options=Options(), sweep=Sweep()
    )
    assert [row.name for row in found.rows] == rows


def test_inspecting_counts_documents_and_pieces(call, study):
    held_out = reviews(6, seed=2)[0]["text"]
    path = study.folder / "odd.txt"
    path.write_text(path.read_text() + f"\n{held_out}\n")
    status, out, err = call("data", "inspect", study.path, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    papers = next(task for task in found["tasks"] if task["name"] == "papers")
    assert (papers["kind"], papers["role"]) == ("unlabelled", "source")
    assert papers["splits"]["train"]["examples"] == len(LINES)
    assert papers["splits"]["train"]["corpus"]["tokens"] > len(LINES)
    said = "task 'odd': lines left out, since they stand in dev or test of the target 'mood': 1"
    assert said in found["warnings"]
    status, out, _ = call("data", "inspect", study.path)
    assert status == 0
    labelled, documents = out.index("Examples, and their lengths"), out.index("\nDocuments\n")
    sizes = {line.split()[0] for line in out[labelled:documents].splitlines() if " train " in line}
    assert sizes & {"mood", "papers", "odd"} == {"mood"}
    assert out.index(" papers", documents) < out.index("Lengths in pieces")


def test_inspecting_without_an_encoder_says_what_is_left_out(call, study):
    study.set("model.encoder", "./nowhere")
    status, out, _ = call("data", "inspect", study.path)
    assert status == 0
    assert "'papers' is left out here" in " ".join(out.split())


def test_a_distance_is_refused_in_one_line(call, study, tmp_path):
    status, out, err = call("distance", study.path, "--out", tmp_path / "distance")
    assert (status, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert "'papers' has none" in err
    assert not (tmp_path / "distance").exists()


# Held-out lines


def with_held_out_lines(study, **values):
    """Two lines of the target's dev and test, one of them in other type, and one of its train."""
    dev, test = reviews(6, seed=2)[1]["text"], reviews(10, seed=4)[3]["text"]
    own = reviews(16, seed=0)[0]["text"]
    lines = [*LINES, dev, test.upper().replace(",", " ,"), own]
    (study.folder / "odd.txt").write_text("\n".join(lines), encoding="utf-8")
    for name, value in values.items():
        study.set(f"data.tasks.odd.{name}", value)
    return study


def test_lines_that_the_target_holds_out_are_left_out_and_counted(study, caplog):
    with caplog.at_level(logging.WARNING, logger="tawt.data"):
        tasks, *_ = build_parts(with_held_out_lines(study).config)
    odd = next(task.train for task in tasks if task.name == "odd")
    held_out = {row["text"] for row in (*reviews(6, seed=2), *reviews(10, seed=4))}
    known = sum(row["text"] in held_out for row in reviews(16, seed=0)[:1])  # short texts recur
    assert odd.notes["held_out_lines_left_out"] == 2 + known
    assert odd.notes["documents"] == len(LINES) + 1 - known
    assert f"they stand in dev or test of the target 'mood': {2 + known}" in caplog.text
    papers = next(task.train for task in tasks if task.name == "papers")
    assert "held_out_lines_left_out" not in papers.notes


def test_they_are_kept_where_that_is_wanted_and_warned_of(study, caplog):
    with caplog.at_level(logging.WARNING, logger="tawt.data"):
        tasks, *_ = build_parts(with_held_out_lines(study, without_held_out=False).config)
    odd = next(task.train for task in tasks if task.name == "odd")
    assert odd.notes["held_out_lines"] >= 2
    assert odd.notes["documents"] == len(LINES) + 3
    assert "lines trained on although they stand in dev or test" in caplog.text
    assert "scores on those are not scores on unseen text" in caplog.text


# One after the other, by hand


def test_a_language_model_of_corpora_is_the_encoder_of_a_target(tiny, tmp_path):
    study = unlabelled_study(tmp_path / "study", tiny)
    corpora = TextStudy(
        tmp_path / "corpora",
        tiny,
        data={
            "kind": "corpora",
            "corpora": {"papers": {"train": "../study/papers/*.txt", "held_out": {"test": 0.1}}},
            "window": 32,
            "cache": "../cache",
        },
        target="papers",
        paradigm="single-task",
        target_epochs=1,
        model={"objective": "masked", "checkpoint": tiny},
    )
    run(corpora.config, tmp_path / "language")
    study.set("model.encoder", str(tmp_path / "language" / "model"))
    study.set("sources", []).set("paradigm", "single-task")
    record = run(study.config, tmp_path / "run")
    assert set(record["scores"]) == {"mood"}
    model = build_parts(study.config).model
    plain = build_parts(study.set("model.encoder", str(tiny)).config).model
    moved = model.representation.embeddings.weight - plain.representation.embeddings.weight
    assert moved.abs().max() > 0
