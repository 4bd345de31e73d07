"""New text in rows: every token is asked for exactly once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.corpora.asking import RowLayout
from tawt.corpora.vocabularies import Bytes
from tawt.corpora.windows import NOT_ASKED

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


@settings(max_examples=40)
@given(TEXT, st.integers(2, 9))
def test_a_causal_model_is_asked_for_every_token_and_the_end(text, window):
    asking = RowLayout(vocabulary=Bytes(), objective="causal", window=window)
    ids = Bytes().encode([text])[0]
    rows = asking.rows(ids)
    assert [token for row in rows for token in row["tokens"][1:]] == [*ids, 1]
    assert rows[0]["tokens"][0] == 1
    assert all(len(row["tokens"]) <= window + 1 for row in rows)
    assert asking.size(text) == len(text.encode()) + 1 == len(ids) + 1


@settings(max_examples=40)
@given(TEXT, st.integers(2, 9), st.floats(0.01, 0.99))
def test_a_masked_model_is_asked_for_every_token_once(text, window, share):
    asking = RowLayout(vocabulary=Bytes(), objective="masked", window=window, masked_share=share)
    ids = Bytes().encode([text])[0]
    asked = []
    for row in asking.rows(ids):
        is_asked = row["answers"] != NOT_ASKED
        assert (row["tokens"][is_asked] == Bytes().mask).all()
        assert len(row["tokens"]) <= window
        asked += row["answers"][is_asked].tolist()
    assert sorted(asked) == sorted(ids.tolist())
    assert asking.size(text) == len(text.encode())


@pytest.mark.parametrize("objective", ["causal", "masked"])
def test_rows_together_are_padded_to_the_longest(objective):
    asking = RowLayout(vocabulary=Bytes(), objective=objective, window=8)
    rows = [*asking.rows(Bytes().encode(["abc"])[0]), *asking.rows(Bytes().encode(["é"])[0])]
    batch = asking.batch(rows)
    lengths = [len(row["tokens"]) for row in rows]
    assert batch["lengths"].tolist() == lengths
    for name, padding in (("tokens", 0), ("answers", NOT_ASKED)):
        for place, row in zip(batch.get(name, []), rows, strict=False):
            filled = np.full(max(lengths), padding)
            filled[: len(row[name])] = row[name]
            assert place.tolist() == filled.tolist()
