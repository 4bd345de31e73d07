"""Weights on the sentences and texts of a source, and on groups of them."""

from collections import Counter

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.nn.functional import cross_entropy

from tawt.errors import Interrupted
from tawt.per_example import ExampleNorms
from tawt.per_example.each import Each
from tawt.runs import RunFolder, units
from tawt.runs.auditing import audit
from tawt.runs.building import build_parts
from tawt.runs.run import Options, run
from tawt.text.kinds.tagging import Tagging
from tawt.text.tokens import NO_TAG
from tawt.training.each import ExampleLosses
from tests.text.studies import TextStudy, reviews, tagged, tagging_study


def with_units(study, unit, **weighting):
    study.set("weighting", {"unit": unit, **weighting})
    return study.set("training.update_every", 4)


@pytest.mark.parametrize("alignment", ["cosine", "curvature"])
def test_sentences_are_audited_with_their_words_and_lines(tiny, tmp_path, alignment):
    study = tagging_study(tmp_path / "study", tiny, paradigm="joint")
    run(with_units(study, "example", alignment=alignment).config, tmp_path / "run")
    rows = audit(tmp_path / "run", most=36)
    assert [row["deviation"] for row in rows] == sorted(row["deviation"] for row in rows)
    tasks, *_ = build_parts(study.config)
    source = next(task for task in tasks if task.name == "pos")
    row = next(row for row in rows if row["source"] == "pos")
    sentence = source.train.sentences[row["example"] - 1]
    assert row["text"] == " ".join(sentence.words)
    assert row["line"] == sentence.line
    assert row["label"] == " ".join(sentence.tags)
    weights = units.read(tmp_path / "run").weights
    factors = weights.relative("pos", np.arange(len(source.train))).tolist()
    tags = {tag for sentence in source.train.sentences for tag in sentence.tags}
    having = {
        tag: [f for f, s in zip(factors, source.train.sentences, strict=True) if tag in s.tags]
        for tag in tags
    }
    shown = RunFolder(tmp_path / "run").shown_units()["labels"]["pos"]
    assert {each["label"]: each["examples"] for each in shown} == {
        tag: len(found) for tag, found in having.items()
    }
    for each in shown:
        assert each["weight"] == pytest.approx(np.mean(having[each["label"]]), rel=1e-6)
    assert shown == sorted(shown, key=lambda each: (-each["examples"], each["label"]))


@pytest.mark.parametrize(("unit", "alone"), [("example", True), ("group", True), ("task", False)])
def test_the_loss_of_a_weighed_sentence_is_the_mean_over_its_words(
    tiny, tmp_path, monkeypatch, unit, alone
):
    """In every step and every measuring; the target's, and those of whole tasks, are of words."""
    study = tagging_study(tmp_path / "study", tiny, paradigm="joint")
    study.set("model.max_length", 12)  # some sentences are several rows
    tasks, *_ = build_parts(study.config)
    of_kind = {task.kind: task for task in tasks}
    seen = Counter()
    made = Tagging.losses

    def checked(kind, outputs, labels):
        task = of_kind[kind]
        words = [outputs[row][tags != NO_TAG] for row, tags in enumerate(labels.tags)]
        gold = [tags[tags != NO_TAG].long() for tags in labels.tags]
        sums = [cross_entropy(*pair, reduction="sum") for pair in zip(words, gold, strict=True)]
        owners = labels.sentence.tolist()
        average = np.mean([len(sentence.words) for sentence in task.train.sentences])
        own = [sum(len(g) for g, o in zip(gold, owners, strict=True) if o == k) for k in owners]
        counts = own if alone and task.name == "pos" else [average] * len(owners)
        found = made(kind, outputs, labels)
        assert found.tolist() == pytest.approx(
            [total.item() / count for total, count in zip(sums, counts, strict=True)], rel=1e-4
        )
        seen[task.name] += 1
        return found

    monkeypatch.setattr(Tagging, "losses", checked)
    run(with_units(study, unit).config, tmp_path / "run")
    assert min(seen["pos"], seen["chunks"]) > 3


@pytest.fixture
def in_windows(tiny, tmp_path):
    """A source with sentences of one row and of several, its model, and the losses of each."""
    study = TextStudy(tmp_path / "study", tiny, paradigm="joint")
    study.task("goal", "tagging", train=tagged(12, seed=1), test=tagged(5, seed=2))
    study.task("source", "tagging", source=True, train=tagged(30, seed=3))
    study.set("model.max_length", 12)
    tasks, model, *_ = build_parts(study.config)
    source = next(task for task in tasks if task.name == "source")
    assert source.train.rows.min() == 1
    assert source.train.rows.max() > 1
    each = ExampleLosses(
        model=model,
        tasks={task.name: task for task in tasks},
        examples={"source": source.train},
        at_once=7,
        most=None,
        draw=np.random.default_rng(0),
        device=torch.device("cpu"),
    )
    return source, model, each


def test_losses_of_sentences_in_windows_are_those_of_whole_sentences(in_windows):
    """A sentence in several rows has one loss, and rows of one batch do not mix."""
    source, model, each = in_windows
    seen = []
    for indices, losses in each("source"):
        found = losses()
        for index, loss in zip(indices.tolist(), found.tolist(), strict=True):
            batch = source.train.batch(np.array([index]))
            with torch.no_grad():
                alone = source.kind.losses(model(batch.inputs, "source"), batch.labels).sum()
            assert loss == pytest.approx(float(alone), rel=1e-4)
            seen.append(index)
    assert sorted(seen) == list(range(30))


def test_only_sentences_in_several_rows_need_a_backward_pass_each(in_windows, monkeypatch):
    source, model, each = in_windows
    parameters, alone = list(model.representation.parameters()), []
    slow = Each.__call__

    def counted(self, losses):
        found = slow(self, losses)
        alone.append(len(found))
        return found

    monkeypatch.setattr(Each, "__call__", counted)
    norms, several = ExampleNorms(model, parameters), source.train.rows > 1
    for indices, losses in each("source"):
        found = norms(losses)
        assert len({*several[indices].tolist()}) == 1
        for loss, norm in zip(losses(), found, strict=True):
            gradients = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
            exact = sum(float(g.square().sum()) for g in gradients if g is not None)
            assert float(norm) == pytest.approx(exact, rel=1e-3)
    assert 0 < several.sum() < 30
    assert sum(alone) == several.sum()


@pytest.mark.parametrize(
    ("by", "expected"), [("label", {"good", "bad"}), ("column", {"1", "2"}), ("length", None)]
)
def test_texts_are_grouped(tiny, tmp_path, by, expected):
    study = TextStudy(tmp_path / "study", tiny, paradigm="pre-training")
    study.task("goal", "classification", train=reviews(12, seed=1), test=reviews(6, seed=2))
    domains = [{**each, "year": 1 + k % 2} for k, each in enumerate(reviews(40, seed=3))]
    study.task("source", "classification", source=True, train=domains)
    study.set("data.tasks.source.fields", {"group": "year"})
    study = with_units(study, "group", group={"by": by, "count": 3})
    run(study.config, tmp_path / "run")
    groups = RunFolder(tmp_path / "run").shown_units()["groups"]["source"]
    assert sum(group["examples"] for group in groups) == 40
    if expected is not None:
        assert {group["group"] for group in groups} == expected
    else:
        assert len(groups) == 3
        assert max(group["examples"] for group in groups) < 25


def test_a_measured_sample_is_of_the_size_asked_for(tiny, tmp_path):
    study = tagging_study(tmp_path / "study", tiny, paradigm="joint")
    study = with_units(study, "example").set("training.unit_examples", 5)
    record = run(study.config, tmp_path / "run")
    assert sum(record["weights"].values()) == pytest.approx(1, abs=1e-5)
    first = RunFolder(tmp_path / "run").updates()[0]
    assert first["units"]["quantiles"]["0.05"] == pytest.approx(
        first["units"]["quantiles"]["0.5"], rel=0.1
    )  # most were not measured, and stay where they were


def test_a_stopped_run_with_weights_on_sentences_goes_on_to_the_same_weights(tiny, tmp_path):
    study = with_units(tagging_study(tmp_path / "study", tiny, paradigm="joint"), "example")
    unbroken = tmp_path / "whole"
    steps = run(study.config, unbroken)["steps"]
    for stop in (2, steps - 1):
        path = tmp_path / f"stopped-{stop}"
        with pytest.raises(Interrupted):
            run(study.config, path, should_stop=iter([False] * (stop - 1) + [True]).__next__)
        run(study.config, path, options=Options(resume=True))
        lines, expected = ((folder / "weights.jsonl").read_text() for folder in (path, unbroken))
        assert lines == expected
        found, expected = (load_file(folder / units.VECTORS) for folder in (path, unbroken))
        assert found.keys() == expected.keys()
        assert all(torch.equal(found[name], expected[name]) for name in found)
