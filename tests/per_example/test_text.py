"""Encoders of Hugging Face, with padding, by way of tawt's own tasks."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from tawt.per_example import ExampleNorms, ExampleProducts
from tawt.text.encoding import load_tokenizer
from tawt.text.kinds import KINDS, Cutting, TaskOptions
from tawt.text.model import text_model
from tawt.text.reading import Splits, TaggedSentence
from tawt.text.reading.report import ReadReport
from tawt.text.tokens import NO_TAG
from tests.per_example.cases import Case
from tests.per_example.test_products import TOLERANCES, assert_near
from tests.text.encoders import ARCHITECTURES, WORDS, write_encoder


def tagging_case(encoder):
    """Sentences of several lengths; an example's loss is the mean over its words."""
    sentences = [
        TaggedSentence(tuple(words), tuple("AB"[len(word) % 2] for word in words), line=1)
        for words in WORDS[:4]
    ]
    splits = Splits(sentences, None, None, ReadReport(sizes={}, duplicates={}))
    cutting = Cutting(tokenizer=load_tokenizer(encoder), max_length=64)
    task = KINDS["tagging"].make("words", splits, cutting, TaskOptions())
    model = text_model(encoder, [task]).double()
    batch = task.train.batch(np.arange(4))
    tags = batch.labels.tags.long()
    assert len({int(length) for length in batch.inputs.lengths}) > 1

    def losses_of(model):
        outputs = model(batch.inputs, "words")
        words = cross_entropy(
            outputs.flatten(0, 1), tags.flatten(), ignore_index=NO_TAG, reduction="none"
        )
        return words.view_as(tags).sum(1) / (tags != NO_TAG).sum(1)

    return Case(model, list(model.representation.parameters()), losses_of)


@pytest.fixture(scope="module", params=["bert", "distilbert", "modernbert"])
def case(request, tmp_path_factory):
    assert request.param in ARCHITECTURES
    return tagging_case(write_encoder(request.param, tmp_path_factory.mktemp(request.param)))


@pytest.mark.parametrize("way", TOLERANCES)
def test_products_of_sentences(case, way):
    direction = case.direction()
    products = ExampleProducts(case.module, case.parameters, direction, way=way)
    # Differences of encoders with random parameters hold a little less well on some machines.
    tolerance = TOLERANCES[way] * (1 if way == "forward" else 10)
    assert_near(products(case.losses), case.products(direction), tolerance)


@pytest.mark.parametrize("name", ["bert", "distilbert", "modernbert"])
def test_products_of_sentences_in_mixed_precision(name, tmp_path):
    case = tagging_case(write_encoder(name, tmp_path))
    direction = case.direction()
    exact = case.products(direction)
    case.module.float()
    narrowed = [v if v is None else v.float() for v in direction]
    products = ExampleProducts(case.module, case.parameters, narrowed, way="mixed")
    products(case.losses)
    found = products(case.losses)
    assert 1e-5 < (found - exact).norm() / exact.norm() <= 0.05


def test_norms_of_sentences(case):
    norms = ExampleNorms(case.module, case.parameters, way="ghost")
    assert_near(norms(case.losses), case.norms(), 1e-9)


def test_a_part_of_the_model_can_be_reached_by_two_names(tmp_path):
    """As the encoder is that tasks on words and on whole texts share."""
    encoder = write_encoder("bert", tmp_path)
    case = tagging_case(encoder)
    shared = torch.nn.ModuleList([case.module, case.module.representation])
    own = list(case.module.parameters())
    for way in TOLERANCES:
        products = ExampleProducts(shared, case.parameters, case.direction(), way=way)
        assert_near(products(case.losses), case.products(case.direction()), TOLERANCES[way])
    assert all(now is before for now, before in zip(case.module.parameters(), own, strict=True))
