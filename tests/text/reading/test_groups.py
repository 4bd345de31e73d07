"""Groups on their way from a file to a task, and to an answer."""

from pathlib import Path

import pytest

from tawt.text.kinds import Cutting, TaskOptions, kind_named
from tawt.text.predicting.inputs import read_unlabelled
from tawt.text.reading import ReadOptions, SplitFiles, load
from tests.text.encoders import letters_tokenizer

LINE = '{{"tokens": ["a"], "tags": ["X"], "text": "a", "label": "{label}", "site": "{site}"}}\n'
FIELDS = {"group": "site"}


@pytest.mark.parametrize("kind", ["tagging", "classification"])
@pytest.mark.parametrize("fields", [FIELDS, {}])
def test_a_tasks_examples_have_groups_in_their_order(file, kind, fields):
    sites = ["web", "news", "web", "mail"]
    lines = [LINE.format(label=i % 2, site=site) for i, site in enumerate(sites)]
    files = SplitFiles(train=file("train.jsonl", "".join(lines)))
    splits = load(files, kind=kind, options=ReadOptions(fields=fields), seed=0)
    cutting = Cutting(tokenizer=letters_tokenizer(), max_length=8)
    task = kind_named(kind).make("task", splits, cutting, TaskOptions())
    assert task.train.groups() == (sites if fields else None)


@pytest.mark.parametrize(
    ("kind", "line"), [("tagging", '{"tokens": ["a"]}'), ("classification", '{"text": "a"}')]
)
def test_predicting_needs_no_groups(kind, line):
    found = read_unlabelled([(1, line)], path=Path("a.jsonl"), kind=kind, fields=FIELDS)
    assert next(found).line == 1
