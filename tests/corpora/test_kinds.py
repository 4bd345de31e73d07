"""Losses and scores of language modelling, against numbers worked out by hand."""

import math

import pytest
import torch

from tawt.corpora.kinds import LanguageModelling, Size, bits_per_byte
from tawt.corpora.vocabularies import Bytes

KIND = LanguageModelling(Bytes(), window=4)
# Two windows: 4 tokens that stand for 6 bytes and take 8 nats; 1 token, 2 bytes, 3 nats.
OUTPUTS = torch.tensor([[8.0, 4.0], [3.0, 1.0]])
LABELS = torch.tensor([6.0, 2.0])


def test_a_loss_is_nats_a_token_of_each_window():
    assert KIND.losses(OUTPUTS, LABELS).tolist() == [2.0, 3.0]


def test_a_window_of_which_nothing_is_asked_has_no_loss():
    assert KIND.losses(torch.tensor([[0.0, 0.0]]), torch.zeros(1)).tolist() == [0.0]


def test_scores_are_of_the_text_as_a_whole_and_not_means_of_windows():
    found = KIND.scores(*KIND.answers(OUTPUTS, LABELS))
    assert found["loss"] == pytest.approx(11 / 5)
    assert found["perplexity"] == pytest.approx(math.exp(11 / 5))
    assert found["bits_per_byte"] == pytest.approx(11 / 8 / math.log(2))


def test_windows_that_take_more_bits_a_byte_score_lower():
    scores = KIND.example_scores(*KIND.answers(OUTPUTS, LABELS))
    assert scores == pytest.approx([-8 / 6 / math.log(2), -3 / 2 / math.log(2)])


def test_lower_bits_are_better():
    assert KIND.metric == "bits_per_byte"
    assert KIND.measure.gain(2.0, over=2.5) > 0


def test_gold_is_the_size_and_shows_its_bytes():
    (first, _), predicted = KIND.answers(OUTPUTS, LABELS)
    assert first == Size(6.0, 4)
    assert str(first) == "6"
    assert predicted == [8.0, 3.0]


def test_a_head_is_nothing_to_train():
    head = KIND.head(2)
    assert list(head.parameters()) == []
    assert head(OUTPUTS) is OUTPUTS


def test_a_loss_beyond_all_numbers_has_a_finite_perplexity():
    assert math.isfinite(KIND.scores([Size(1.0, 1)], [1e6])["perplexity"])


def test_no_text_takes_no_bits():
    assert bits_per_byte(0.0, 0) == 0.0
