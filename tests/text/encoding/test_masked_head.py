"""The head that predicts hidden words, held to transformers' own masked language models."""

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer

from tawt.corpora import CorpusFiles, tokenised, vocabulary_named
from tawt.corpora.windows.framed import Frame, FramedWindows
from tawt.errors import ConfigError
from tawt.gradients import trainable
from tawt.tasks import Task
from tawt.text.encoding import MaskedHead, TextRepresentation, load_tokenizer
from tawt.text.encoding.loading import quietly
from tawt.text.kinds import MaskedWords, TextClassification
from tawt.text.kinds.masking import NOT_ASKED
from tawt.text.model import text_model
from tests.text.encoders import ARCHITECTURES, WORDS, write_encoder

TRIED = ["bert", "mpnet", "roberta", "modernbert", "electra"]
LENGTH = 24


def with_masked_head(name, folder):
    """A tiny checkpoint that has such a head, all of it random."""
    encoder = write_encoder(name, folder)
    with torch.random.fork_rng(devices=[]), quietly():
        torch.manual_seed(1)
        model = AutoModelForMaskedLM.from_config(AutoConfig.from_pretrained(encoder))
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
        model.save_pretrained(folder)
    return encoder


@pytest.fixture(scope="module", params=TRIED)
def encoder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("masked") / request.param
    return with_masked_head(request.param, folder)


def windows_of(encoder, folder, *, length=LENGTH):
    (folder / "text.txt").write_text("\n".join(" ".join(words) for words in WORDS))
    vocabulary = vocabulary_named(encoder)
    shard = tokenised(CorpusFiles(train=folder / "text.txt"), vocabulary, cache=folder / "cache")
    return FramedWindows(
        shard, vocabulary, max_length=length, frame=Frame.of(load_tokenizer(encoder))
    )


def model_of(encoder, windows):
    tasks = [
        Task("papers", MaskedWords(windows.vocabulary.size), windows),
        Task("mood", TextClassification(("bad", "good")), windows),
    ]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return text_model(encoder, tasks).eval()


def as_transformers_wants_it(batch):
    """Labels at every place, and which places are no padding."""
    ids, lengths, places = batch.inputs
    labels = torch.full_like(ids, NOT_ASKED)
    asked = batch.labels != NOT_ASKED
    rows = torch.arange(len(ids))[:, None].expand_as(places)
    labels[rows[asked], places[asked]] = batch.labels[asked]
    mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def test_loss_and_gradients_are_those_of_transformers_own_model(encoder, tmp_path):
    windows = windows_of(encoder, tmp_path)
    model = model_of(encoder, windows).double()
    with quietly():
        theirs = AutoModelForMaskedLM.from_pretrained(encoder).double().eval()
    batch = windows.batch(np.arange(6))  # all full, so that the mean of means is the mean
    loss = MaskedWords(1).losses(model(batch.inputs, "papers"), batch.labels).mean()
    expected = theirs(**as_transformers_wants_it(batch)).loss
    # Some architectures compute their loss in float32, whatever they are in.
    bounds = {"rtol": 1e-10, "atol": 1e-10} if expected.dtype == torch.float64 else {}
    torch.testing.assert_close(loss.to(expected.dtype), expected, **bounds)
    loss.backward()
    expected.backward()
    # The table of pieces is used twice, as what is put in and what is predicted.
    ours = model.representation.embeddings.weight.grad
    bounds = {"rtol": 1e-5, "atol": 1e-6}
    torch.testing.assert_close(ours, theirs.get_input_embeddings().weight.grad, **bounds)
    own = dict(theirs.named_parameters())
    compared = 0
    for name, parameter in model.heads["papers"].model.named_parameters():
        if name in own and own[name].grad is not None:
            torch.testing.assert_close(parameter.grad, own[name].grad, **bounds)
            compared += 1
    assert compared


def test_the_table_of_pieces_is_a_parameter_of_the_representation_alone(encoder, tmp_path):
    model = model_of(encoder, windows_of(encoder, tmp_path))
    table = model.representation.embeddings.weight
    shared = trainable(model.representation)
    assert [parameter is table for parameter in shared].count(True) == 1
    own = list(model.heads["papers"].parameters())
    assert own
    assert not {id(parameter) for parameter in own} & {id(parameter) for parameter in shared}
    table.data.zero_()
    vectors = torch.randn(1, 2, model.representation.widths["pieces"])
    first, second = model.heads["papers"](vectors)[0]
    torch.testing.assert_close(first, second)  # nothing is left but the bias of each piece


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_checkpoint_without_such_a_head_gets_a_new_one(name, tmp_path, caplog):
    encoder = write_encoder(name, tmp_path / name)
    windows = windows_of(encoder, tmp_path)
    with caplog.at_level("WARNING", logger="tawt.data"):
        model = model_of(encoder, windows)
        again = model_of(encoder, windows)
    assert "comes without a head that predicts masked words" in caplog.text
    batch = windows.batch(np.arange(2))
    outputs = model(batch.inputs, "papers")
    assert outputs.shape == (*batch.labels.shape, model.representation.embeddings.num_embeddings)
    assert torch.equal(outputs, again(batch.inputs, "papers"))  # drawn by the seed alone


def test_one_with_a_head_is_not_warned_of(encoder, caplog):
    with caplog.at_level("WARNING", logger="tawt.data"):
        MaskedHead(TextRepresentation(encoder, levels={"text", "pieces"}))
    assert caplog.text == ""


def test_all_unlabelled_tasks_have_one_head(tmp_path):
    encoder = write_encoder("bert", tmp_path / "bert")
    windows = windows_of(encoder, tmp_path)
    kind = MaskedWords(windows.vocabulary.size)
    model = text_model(encoder, [Task("a", kind, windows), Task("b", kind, windows)])
    assert model.heads["a"] is model.heads["b"]


def test_an_architecture_without_a_masked_model_is_refused(tmp_path):
    encoder = write_encoder("t5", tmp_path / "t5")
    representation = TextRepresentation(encoder, levels={"words", "pieces"})
    with pytest.raises(ConfigError, match=r"\(t5\) has no masked language model"):
        MaskedHead(representation)


def test_a_head_that_wants_more_than_vectors_is_refused(tmp_path, monkeypatch):
    encoder = write_encoder("bert", tmp_path / "bert")
    representation = TextRepresentation(encoder, levels={"text", "pieces"})

    def forward(self, inputs_embeds):
        return self.bert.embeddings(inputs_embeds)

    monkeypatch.setattr("transformers.BertForMaskedLM.forward", forward)
    with pytest.raises(ConfigError, match="wants more than the encoder's vectors"):
        MaskedHead(representation)


def test_special_tokens_are_those_that_the_tokenizer_puts_there(encoder):
    frame = Frame.of(load_tokenizer(encoder))
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    assert frame.before == (tokenizer.cls_token_id,)
    assert frame.after == (tokenizer.sep_token_id,)
