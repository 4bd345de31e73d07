"""Hidden words as a kind of task, against numbers worked out by hand."""

import math
from dataclasses import replace

import pytest
import torch

from tawt.errors import ConfigError, DataError
from tawt.text.kinds import TAGGING, MaskedWords, kind_named, register
from tawt.text.kinds.masking import NOT_ASKED


def test_the_loss_of_a_row_is_the_mean_over_what_it_is_asked_about():
    outputs = torch.zeros(3, 2, 3)
    outputs[0, 0] = torch.tensor([math.log(2), 0.0, 0.0])  # 1/2, 1/4, 1/4
    outputs[1, 0] = torch.tensor([0.0, math.log(6), 0.0])  # 1/8, 3/4, 1/8
    labels = torch.tensor([[0, 2], [1, NOT_ASKED], [NOT_ASKED, NOT_ASKED]])
    found = MaskedWords(3).losses(outputs, labels)
    by_hand = [(math.log(2) + math.log(3)) / 2, math.log(4 / 3), 0.0]
    torch.testing.assert_close(found, torch.tensor(by_hand))


def test_what_is_not_asked_about_has_no_gradient():
    outputs = torch.randn(2, 2, 5, requires_grad=True)
    labels = torch.tensor([[3, NOT_ASKED], [NOT_ASKED, NOT_ASKED]])
    MaskedWords(5).losses(outputs, labels).sum().backward()
    assert outputs.grad[0, 0].abs().sum() > 0
    assert not outputs.grad[0, 1].any()
    assert not outputs.grad[1].any()


def test_scores_are_the_share_of_pieces_that_were_guessed():
    kind = MaskedWords(4)
    outputs = torch.nn.functional.one_hot(torch.tensor([[1, 2], [3, 0]]), 4).float()
    gold, predicted = kind.answers(outputs, torch.tensor([[1, 3], [3, NOT_ASKED]]))
    assert (gold, predicted) == ([[1, 3], [3]], [[1, 2], [3]])
    assert kind.scores(gold, predicted) == {"accuracy": pytest.approx(2 / 3)}
    assert kind.example_scores(gold, predicted) == [0.5, 1.0]
    assert kind.scores([[]], [[]]) == {"accuracy": 0.0}


def test_it_has_no_labels():
    kind = MaskedWords(4)
    assert not kind.is_labelled
    assert kind.labels == ()
    assert kind.head(6)(torch.zeros(2, 6)).shape == (2, 4)
    with pytest.raises(DataError, match="no labels"):
        kind.items(torch.zeros(2, 3, 6), torch.zeros(2, 3, dtype=torch.long))


def test_its_name_is_taken_and_suggested():
    with pytest.raises(ConfigError, match="already"):
        register(replace(TAGGING, name="unlabelled"))
    with pytest.raises(ConfigError, match="did you mean 'unlabelled'"):
        kind_named("unlabeled")
