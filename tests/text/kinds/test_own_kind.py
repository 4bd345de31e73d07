"""A kind of text task that the package knows nothing of, from its files to its answers."""

import json
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from tawt.errors import ConfigError
from tawt.runs.run import run
from tawt.text.kinds import KINDS, TextAnswers, TextKind, register
from tawt.text.kinds.making import chosen_metric, last_layer, whole_task
from tawt.text.metrics import Metric, mae
from tawt.text.predicting.asking import Texts
from tests.text.studies import TextStudy, reviews, tagging_study


def within_one(gold, predicted):
    return sum(abs(g - p) <= 1 for g, p in zip(gold, predicted, strict=True)) / len(gold)


METRICS = {"within_one": Metric(within_one), "mae": Metric(mae, best="smallest")}


@dataclass(frozen=True)
class Rank(TextAnswers):
    """A place on a scale from 0: how many thresholds are passed, an output each."""

    labels: tuple[str, ...]
    metric: str
    level: ClassVar = "text"
    problem_type: ClassVar = "multi_label_classification"

    def head(self, width):
        return last_layer(width, len(self.labels))

    def losses(self, outputs, labels):
        passed = labels[:, None] > torch.arange(outputs.shape[1], device=outputs.device)
        return binary_cross_entropy_with_logits(
            outputs, passed.to(outputs.dtype), reduction="none"
        ).sum(dim=1)

    def answers(self, outputs, labels):
        return labels.tolist(), (outputs > 0).sum(dim=1).tolist()

    def scores(self, gold, predicted):
        return {name: each.score(gold, predicted) for name, each in METRICS.items()}

    def example_scores(self, gold, predicted):
        return [-float(abs(g - p)) for g, p in zip(gold, predicted, strict=True)]


@dataclass(frozen=True)
class RankAnswer:
    text: str
    rank: int | None

    def tsv(self, *, probabilities):
        return f"{self.text}\t{self.rank}\n"

    def record(self, *, probabilities):
        return {"text": self.text, "rank": self.rank}


def rank_task(name, splits, cutting, wanted):
    metric = chosen_metric(wanted.metric or "within_one", kind="rank", task=name, known=METRICS)
    highest = max(int(text.label) for text in splits.train)
    kind = Rank(tuple(f"above {place}" for place in range(highest)), metric)
    return whole_task(
        name, kind, splits, cutting, answer=lambda text: int(text.label), dtype=np.int64
    )


def ranked(asked, outputs, labels):
    return RankAnswer(asked.text, None if outputs is None else int((outputs > 0).sum()))


RANK = TextKind(
    name="rank",
    reads="regression",
    level="text",
    make=rank_task,
    asking=partial(Texts, says=ranked),
    has_probabilities=False,
)


def ranks(count, *, seed):
    texts = [each["text"] for each in reviews(count, seed=seed)]
    return [{"text": text, "label": text.count(",") % 4} for text in texts]


@pytest.fixture
def registered():
    register(RANK)
    yield
    del KINDS["rank"]


@pytest.fixture
def study(tmp_path, tiny):
    study = TextStudy(tmp_path / "study", tiny, paradigm="single-task")
    parts = {"train": ranks(24, seed=0), "dev": ranks(8, seed=2), "test": ranks(12, seed=4)}
    return study.task("stars", "rank", **parts)


@pytest.mark.usefixtures("registered")
def test_it_trains_and_predicts_from_a_configuration(study, tmp_path, call):
    record = run(study.config, tmp_path / "run")
    assert record["metric"] == {"stars": "within_one"}
    assert set(record["scores"]["stars"]["test"]) == set(METRICS)
    lines = (tmp_path / "run" / "predictions.test.tsv").read_text().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    assert [int(row[3]) for row in rows] == [each["label"] for each in ranks(12, seed=4)]
    saved = json.loads((tmp_path / "run" / "model" / "config.json").read_text())
    assert saved["problem_type"] == "multi_label_classification"
    assert list(saved["label2id"]) == ["above 0", "above 1", "above 2"]

    asked = tmp_path / "asked.txt"
    asked.write_text("".join(f"{row[2]}\n" for row in rows) + "\n")
    expected = [{"text": row[2], "rank": int(row[4])} for row in rows]
    status, out, err = call("predict", tmp_path / "run", asked, "--output", "jsonl")
    assert (status, err) == (0, "")
    assert [json.loads(line) for line in out.splitlines()] == [
        *expected,
        {"text": "", "rank": None},
    ]
    status, out, err = call("predict", tmp_path / "run", asked, "--probabilities")
    assert (status, out) == (2, "")
    assert "The answers of a rank task have no probabilities" in " ".join(err.split())


@pytest.mark.usefixtures("registered")
def test_it_is_a_source_like_any_other_and_can_be_looked_into(tmp_path, tiny, call):
    study = tagging_study(tmp_path / "study", tiny, paradigm="joint")
    study.task("stars", "rank", source=True, train=ranks(16, seed=5))
    assert "stars" in run(study.config, tmp_path / "run")["weights"]
    status, out, _ = call("data", "inspect", study.path)
    assert status == 0
    assert "Labels of stars (source, rank)" in out
    assert "largest" in out  # its labels are numbers


@pytest.mark.usefixtures("registered")
def test_its_metrics_are_its_own(study, tmp_path):
    study.set("data.tasks.stars.metric", "within_two")
    with pytest.raises(
        ConfigError,
        match=r"^Task 'stars': No metric 'within_two' for rank; did you mean 'within_one'\?$",
    ):
        run(study.config, tmp_path / "run")


def test_before_it_is_registered_there_is_no_such_kind(study):
    kind = 1 + [line.strip() for line in study.path.read_text().splitlines()].index("kind: rank")
    with pytest.raises(ConfigError) as raised:
        _ = study.config
    assert str(raised.value).startswith(
        f"{study.path}:{kind}: `data.tasks.stars.kind`: There is no kind of task 'rank'; known: "
        "tagging, classification, pair, regression"
    )


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(ConfigError, match="There is a kind of task 'pair' already"):
        register(KINDS["pair"])
