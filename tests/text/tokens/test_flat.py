"""Rows end to end, against a loop over lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tawt.text.tokens.flat import FlatRows
from tawt.text.tokens.widths import padded_width

ROWS = st.lists(st.lists(st.integers(0, 99), max_size=9), min_size=1, max_size=8)


def padded_by_hand(rows, chosen, *, width, filler):
    made = []
    for index in chosen:
        row = list(rows[index])
        while len(row) < width:
            row.append(filler)
        made.append(row)
    return made


@given(rows=ROWS, data=st.data())
def test_padding_is_what_a_loop_does(rows, data):
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=6))
    longest = max(len(rows[index]) for index in chosen)
    width = data.draw(st.integers(max(longest, 1), longest + 5))
    flat = FlatRows.of(rows, dtype=np.int32)
    if not flat.values.size:
        return  # texts have at least their special pieces
    found = flat.padded(np.array(chosen), width=width, filler=-7)
    assert found.tolist() == padded_by_hand(rows, chosen, width=width, filler=-7)
    assert found.dtype == np.int32


@given(rows=ROWS)
def test_rows_are_kept_as_they_are(rows):
    flat = FlatRows.of(rows, dtype=np.int32)
    assert len(flat) == len(rows)
    assert [flat[index].tolist() for index in range(len(rows))] == rows
    assert flat.lengths.tolist() == [len(row) for row in rows]


def test_padding_leaves_the_rows_alone():
    flat = FlatRows.of([[1, 2], [3]], dtype=np.int32)
    flat.padded(np.array([1, 0]), width=4, filler=9)[:] = 0
    assert flat.values.tolist() == [1, 2, 3]


def test_a_batch_is_as_wide_as_its_longest_row_and_no_wider_than_an_encoder_takes():
    flat = FlatRows.of([[1] * 3, [1] * 17, [1] * 29], dtype=np.int32)
    assert flat.width(np.array([0]), most=30) == 8
    assert flat.width(np.array([0, 1]), most=30) == 20
    assert flat.width(np.array([1, 2]), most=30) == 30


def test_widths_are_long_enough_and_waste_little():
    for length in [*range(1, 600), 1000, 4096, 8192]:
        width = padded_width(length)
        assert width >= length
        assert width - length <= max(3, length / 4) or width == 8
        assert padded_width(width) == width


def test_there_are_few_widths():
    assert len({padded_width(length) for length in range(1, 513)}) == 15 + 4 + 4
