"""Examples of different lengths: sorted to be computed, and back in order when it is told."""

import contextlib

import numpy as np
import pytest
import torch
from torch import nn

from tawt.tasks import Batch, Examples, MultiTaskModel, Task
from tawt.tasks.examples import Subset
from tawt.text.encoding import load_tokenizer
from tawt.text.kinds import KINDS, Cutting, TaskOptions
from tawt.text.model import text_model
from tawt.text.reading import LabelledText, Splits, TaggedSentence
from tawt.text.reading.report import ReadReport
from tawt.training.evaluation import evaluate
from tawt.training.fresh import FreshLosses
from tawt.weighting import Fixed
from tests.text.encoders import WORDS

CPU = torch.device("cpu")


class Numbered(Examples):
    """Example i is the number i; lengths are as they are."""

    def __init__(self, lengths):
        self.lengths = np.array(lengths)
        self.asked = []

    def __len__(self):
        return len(self.lengths)

    def batch(self, indices):
        self.asked.append(indices)
        rows = torch.as_tensor(indices)
        return Batch(rows, rows)


class Echo:
    """Answers with what it is given."""

    metric = "right"

    def head(self, width):
        return nn.Identity()

    def answers(self, outputs, labels):
        return labels.tolist(), [f"answer to {number}" for number in outputs.tolist()]

    def scores(self, gold, predicted):
        return {"right": float(len(gold))}

    def example_scores(self, gold, predicted):
        return [float(number) for number in gold]


def echo(examples):
    model = MultiTaskModel(nn.Identity(), {"echo": nn.Identity()})
    task = Task("echo", Echo(), examples)
    return evaluate(model, task, examples, batch_size=4, device=CPU)


def test_answers_come_in_the_order_of_the_examples():
    examples = Numbered([9, 2, 7, 2, 30, 1, 8, 8, 5, 11])
    found = echo(examples)
    assert found.gold == list(range(10))
    assert found.predicted == [f"answer to {number}" for number in range(10)]
    assert found.example_scores == [float(number) for number in range(10)]
    order = np.concatenate(examples.asked)
    assert examples.lengths[order].tolist() == sorted(examples.lengths)


def test_examples_of_many_rows_fill_a_batch_sooner():
    examples = Numbered([9, 2, 7, 2, 30, 1, 8, 8, 5, 11])
    examples.rows = np.array([1, 1, 1, 1, 9, 1, 1, 1, 1, 3])
    assert echo(examples).gold == list(range(10))
    filled = [int(examples.rows[part].sum()) for part in examples.asked]
    assert max(filled[:-1]) <= 4 + 2  # the last example may stick out
    assert sorted(np.concatenate(examples.asked).tolist()) == list(range(10))
    assert examples.asked[-1].tolist() == [4]


def test_answers_of_a_part_come_in_its_order():
    order = np.array([7, 1, 4])
    assert echo(Subset(Numbered([9, 2, 7, 2, 30, 1, 8, 8]), order)).gold == order.tolist()


@pytest.fixture(scope="module")
def parts(tiny):
    """Two tasks on words and on texts, and a model of both."""
    cutting = Cutting(tokenizer=load_tokenizer(tiny), max_length=12, overlap=2)
    report = ReadReport(sizes={}, duplicates={})
    draw = np.random.default_rng(0)
    sentences = [
        TaggedSentence(tuple(words), tuple(draw.choice(["A", "B"], len(words))), 1)
        for words in WORDS[:60]
    ]
    texts = [LabelledText(" ".join(words), None, str(len(words) % 3), 1) for words in WORDS[:60]]
    tasks = {
        "tags": KINDS["tagging"].make(
            "tags", Splits(sentences, None, None, report), cutting, TaskOptions()
        ),
        "texts": KINDS["classification"].make(
            "texts", Splits(texts, None, None, report), cutting, TaskOptions()
        ),
    }
    return text_model(tiny, list(tasks.values())), tasks


def fresh(parts, count):
    model, tasks = parts
    return FreshLosses(
        model,
        tasks,
        {name: task.train for name, task in tasks.items()},
        counts=dict.fromkeys(tasks, count),
        weighting=Fixed(list(tasks)),
        seed=3,
        update=1,
        device=CPU,
        autocast=contextlib.nullcontext,
    )


@pytest.mark.parametrize("name", ["tags", "texts"])
@pytest.mark.parametrize("count", [1, 8, 31, 40, 100])
def test_a_loss_in_parts_of_like_length_is_the_mean_over_the_draw(parts, name, count):
    model, tasks = parts
    model.train()  # dropout must be off all the same
    loss = fresh(parts, count)(name)
    batch, size = fresh(parts, count).batch(name)
    assert size == min(count, 60)
    model.eval()
    losses = tasks[name].kind.losses(model(batch.inputs, name), batch.labels)
    torch.testing.assert_close(loss, losses.sum() / size, rtol=1e-5, atol=1e-6)
    assert loss.requires_grad


def test_gradients_of_parts_are_those_of_the_draw_in_one_piece(parts):
    model, tasks = parts
    body = [p for p in model.representation.parameters() if p.requires_grad]
    ours = torch.autograd.grad(fresh(parts, 40)("tags"), body, allow_unused=True)
    batch, size = fresh(parts, 40).batch("tags")
    losses = tasks["tags"].kind.losses(model(batch.inputs, "tags"), batch.labels)
    theirs = torch.autograd.grad(losses.sum() / size, body, allow_unused=True)
    for one, other in zip(ours, theirs, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
