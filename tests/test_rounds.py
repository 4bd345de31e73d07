"""Where rounds begin and end, against the plain reading of it."""

from itertools import islice, pairwise, takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.training.rounds import rounds, update_steps

EVERY, GROWTH = st.integers(1, 40), st.sampled_from([0.0, 0.1, 0.25, 1.0])


@given(every=EVERY, growth=GROWTH)
@settings(deadline=None, max_examples=50)
def test_updates_are_never_closer_than_asked_and_grow_by_the_share(every, growth):
    steps = list(islice(update_steps(every, growth=growth), 30))
    assert steps[0] == every
    for before, after in pairwise(steps):
        assert after - before == max(every, int(growth * before))


@given(every=EVERY, growth=GROWTH, length=st.integers(1, 200), epochs=st.integers(1, 4))
@settings(deadline=None, max_examples=50)
def test_rounds_of_all_epochs_close_at_the_updates_and_cover_every_step(
    every, growth, length, epochs
):
    closed, covered = [], []
    for epoch in range(epochs):
        before = epoch * length
        for part in rounds(length, every, start=0, before=before, growth=growth):
            covered += range(before + part.first, before + part.last)
            closed += [before + part.last] if part.closes else []
    total = epochs * length
    assert covered == list(range(total))
    expected = takewhile(lambda step: step <= total, update_steps(every, growth=growth))
    assert closed == list(expected)


@pytest.mark.parametrize("start", range(10))
def test_a_round_that_was_interrupted_ends_where_it_would_have(start):
    whole = list(rounds(10, 4, start=0, before=3, growth=0.5))
    rest = list(rounds(10, 4, start=start, before=3, growth=0.5))
    ends = [(part.last, part.closes) for part in whole if part.last > start]
    assert [(part.last, part.closes) for part in rest] == ends
    assert rest[0].first == start
