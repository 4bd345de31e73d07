"""The cells of the two tables."""

from tawt.mix.study import BY_SIZE, EQUAL, LEARNED
from tawt.mix.tables import CORPORA, LOSSES, corpus_cells, loss_cells
from tests.mix.cases import COURSES, answer, course
from tests.mix.test_answering import SURE


def test_a_source_is_shown_with_what_is_used_and_what_was_learned():
    found = answer(scores=SURE, courses=[COURSES[0]] * 3)
    assert corpus_cells(found.corpora[0]) == ("near", "80%", "× 8.0", "16", "80%", "80% to 80%")
    assert len(CORPORA) == 6


def test_what_is_held_shows_what_it_would_have_been():
    lowest = [course(0.5, 10 / 12, 10 / 12)] * 3
    found = answer(scores=SURE, courses=lowest, wanted=2500, bound=10, most_passes=4)
    cells = {corpus.name: corpus_cells(corpus) for corpus in found.corpora}
    assert cells["near"][3] == "4.0, not 5.0"
    assert cells["far"][4] == "8.3% (floor)"


def test_a_loss_is_shown_beside_equal_weights_and_by_seed():
    found = answer(scores=SURE)
    rows = {row.name: loss_cells(row, found) for row in found.losses}
    assert rows[LEARNED] == (
        LEARNED,
        "3.100",
        "0.467 (0.323 to 0.610) less",
        "3.000, 3.200, 3.100",
    )
    assert rows[EQUAL][2] == ""
    assert rows[BY_SIZE][2] == "0.100 (0.100 to 0.100) less"
    assert len(LOSSES) == 4
