"""What a table's caption owns up to: every departure from the paper, and nothing else."""

import pytest

from tawt.reproduce.captions import departures, encoder_name
from tests.reproduce.made_up import result_of, setup

SAME = "bert-base-cased (the paper: BERT)"


def test_the_papers_own_settings_are_no_departure():
    result = result_of("table-main")
    here = result.caption.partition("Here: ")[2]
    assert here == (
        f"data: a corpus; encoder: {SAME}; 1 seed; the epoch with the best dev score is kept."
    )
    assert "†" not in "".join([result.caption, *map(str, result.rows)])
    given = {"learning_rate": 5e-5, "batch_size": 32, "precision": "fp32", "sampling": "size"}
    assert departures(setup(training=given), [0]) == departures(setup(), [0])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"about": "my corpus"}, ["data: my corpus"]),
        ({"encoder": "/home/me/minilm"}, ["encoder: minilm (the paper: BERT)"]),
        ({"max_length": 64}, ["max length 64 (the paper: 128)"]),
        ({"epochs": 2}, ["epochs 2 (the paper: 4)"]),
        ({"training": {"learning_rate": 3e-4}}, ["learning rate 0.0003 (the paper: 5e-05)"]),
        ({"training": {"batch_size": 8}}, ["batches of 8 (the paper: 32)"]),
        ({"training": {"precision": "bf16"}}, ["precision bf16 (the paper: fp32)"]),
        ({"training": {"sampling": "weight"}}, ["steps drawn by weight (the paper: size)"]),
        ({"training": {"gradient_examples": 9}}, ["examples a gradient: 9 (the paper: 64)"]),
        ({"training": {"warmup": 0.1}}, ["warmup 0.1"]),
        ({"tiny": True}, ["tiny sizes, which show that all works and nothing else"]),
    ],
)
@pytest.mark.parametrize("experiment", ["table-fewer-sources", "table-final-weights"])
def test_every_departure_is_in_the_caption_and_in_the_data(changes, said, experiment):
    result = result_of(experiment, **changes)
    usual = departures(setup(), [0])
    assert [each for each in result.data["departures"] if each not in usual] == said
    for each in said:
        assert each in result.caption


def test_a_metric_that_is_not_the_papers_is_a_departure():
    tasks = {name: dict(task) for name, task in setup().tasks.items()}
    tasks["ner"]["metric"] = "token_f1"
    result = result_of("table-fewer-sources", tasks=tasks)
    assert "token F1 for ner (the paper: span F1)" in result.data["departures"]
    assert "(token F1 for ner, token F1 for predicate), mean" in result.caption


def test_several_seeds_are_told():
    assert "3 seeds" in result_of("table-main", seeds=3).caption
    assert "± standard deviation" in result_of("table-main", seeds=3).caption
    assert "± standard deviation" not in result_of("table-main", seeds=1).caption


def test_capped_numbers_are_marked_and_their_sizes_told():
    available = {"pos": 20_000, "chunking": 8042, "predicate": 20_000, "ner": 20_000}
    result = result_of("table-main", available=available, cap=True)
    alone, *_ = result.rows
    assert not any("†" in cell for cell in alone)
    plain = next(row for row in result.rows if row[0] == "joint training")
    assert ["†" in cell for cell in plain[1:]] == [True, False, True, True, False]
    assert "†: fewer sentences than the paper took" in result.caption
    assert "all that the data has: 8042 of chunking." in result.caption
    assert result.data["available"] == available


def test_final_weights_say_too_what_was_capped():
    available = {"pos": 20_000, "chunking": 8042, "predicate": 20_000, "ner": 20_000}
    result = result_of("table-final-weights", available=available, cap=True)
    assert "all that the data has (chunking 8042)" in result.caption
    assert "all that" not in result_of("table-final-weights").caption


def test_what_an_encoder_is_called_has_no_folder_in_it():
    assert encoder_name("/home/me/minilm/") == "minilm"
    assert encoder_name("google-bert/bert-base-cased") == "bert-base-cased"
