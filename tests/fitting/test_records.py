"""Rows in memory, whatever holds them."""

import numpy as np
import pandas as pd
import pytest

from tawt.errors import DataError
from tawt.fitting import fit
from tawt.fitting.records import records_of

TEXTS, LABELS = ["good film", "bad film"], ["good", "bad"]
RECORDS = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]


class Dataset:
    """As `datasets` has it: rows by one method, and columns by another."""

    def to_list(self):
        return RECORDS

    def to_dict(self):
        return {"text": TEXTS, "label": LABELS}


@pytest.mark.parametrize(
    "given",
    [
        (TEXTS, LABELS),
        (np.array(TEXTS), np.array(LABELS)),
        list(zip(TEXTS, LABELS, strict=True)),
        RECORDS,
        {"text": TEXTS, "label": LABELS},
        pd.DataFrame(RECORDS),
        Dataset(),
        (record for record in RECORDS),
    ],
    ids=["pair", "arrays", "rows", "records", "columns", "frame", "dataset", "generator"],
)
def test_every_holder_gives_the_same_records(given):
    assert records_of(given, "films") == RECORDS


def test_words_pairs_and_numbers():
    assert records_of([(["a", "b"], ["X", "O"])], "t") == [
        {"tokens": ["a", "b"], "tags": ["X", "O"]}
    ]
    assert records_of([(("a", "b"), "same")], "t") == [
        {"text": "a", "second": "b", "label": "same"}
    ]
    [record] = records_of((["a"], np.array([3])), "t")
    assert record == {"text": "a", "label": 3}
    assert type(record["label"]) is int


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "expected a file, a table.*got int"),
        ([1], "row 1 is 1"),
        (["a text"], "row 1 is 'a text'"),
        ([("a", None)], "row 1"),
        ([], "there are no rows"),
        ((["a"], ["x", "y"]), "one label for each text; got 1 texts and 2 labels"),
        ({"text": ["a"], "label": []}, "got 1 'text' and 0 'label'"),
    ],
)
def test_what_is_no_rows_is_refused_by_its_name(given, said):
    with pytest.raises(DataError, match=f"^films: .*{said}"):
        records_of(given, "films")


def test_nothing_at_all_is_refused_in_a_line():
    with pytest.raises(DataError):
        fit(target={}, sources={"a": (["x"], ["y"])})
