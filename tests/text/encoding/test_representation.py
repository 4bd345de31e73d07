"""φ is a Hugging Face model without its last layer, whatever its architecture."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from transformers import (
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
    T5EncoderModel,
)

from tawt.errors import ConfigError
from tawt.text.encoding import TextInputs, TextRepresentation, load_tokenizer, longest_input
from tawt.text.encoding.loading import OUTPUTS, quietly
from tawt.text.kinds import KINDS, Cutting, TaskOptions
from tawt.text.model import text_model
from tawt.text.reading import LabelledText, Splits, TaggedSentence
from tawt.text.reading.report import ReadReport
from tawt.text.saving import save_model
from tests.text.encoders import ARCHITECTURES, WORDS, write_encoder

LEVELS = {"words": AutoModelForTokenClassification, "text": AutoModelForSequenceClassification}


@pytest.fixture(scope="module", params=ARCHITECTURES)
def encoder(request, tmp_path_factory):
    return write_encoder(request.param, tmp_path_factory.mktemp("encoder") / request.param)


@pytest.fixture(scope="module")
def both(encoder):
    return TextRepresentation(encoder, levels={"words", "text"}).eval()


def inputs(encoder, sentences, level):
    tokenizer = load_tokenizer(encoder)
    found = tokenizer(sentences, is_split_into_words=True, padding=True, return_tensors="pt")
    lengths = found["attention_mask"].sum(dim=1)
    return TextInputs(found["input_ids"].int(), lengths, None, level)


@pytest.mark.parametrize("level", LEVELS)
def test_there_is_a_vector_for_every_piece_or_for_the_text(encoder, both, level):
    given = inputs(encoder, WORDS[:3], level)
    vectors = both(given)
    width = both.widths[level]
    assert vectors.shape == ((*given.ids.shape, width) if level == "words" else (3, width))
    assert width == 16
    assert vectors.dtype == torch.float32


@pytest.mark.parametrize("level", LEVELS)
def test_a_last_layer_on_top_is_the_architectures_own_model(encoder, level):
    """Body and head give the logits of Hugging Face's model with the same weights, to the bit."""
    ours = TextRepresentation(encoder, levels={level}).eval()
    with quietly():
        theirs = LEVELS[level].from_pretrained(encoder, num_labels=5).eval()
    body = ours.body(level)
    head = theirs.get_submodule(body.head_name)
    assert isinstance(head, nn.Linear)
    theirs.load_state_dict(body.state_dict(), strict=False)  # what is new was drawn twice
    given = inputs(encoder, WORDS[:4], level)
    mask = torch.arange(given.ids.shape[1]) < given.lengths[:, None]
    with torch.no_grad():
        expected = theirs(input_ids=given.ids, attention_mask=mask.long()).logits
        found = head(ours(given))
    assert found.shape[-1] == 5
    assert torch.equal(found, expected)


def test_both_levels_share_the_encoder(both):
    words, text = both.body("words"), both.body("text")
    prefix = text.base_model_prefix
    assert getattr(words, prefix) is getattr(text, prefix)
    names = [name for name, _ in both.named_parameters()]  # each parameter once
    inside = [name for name in names if f".{prefix}." in name]
    assert len(inside) == len(list(getattr(text, prefix).parameters()))
    assert all(OUTPUTS not in parameter.shape for parameter in both.parameters())


def test_sharing_changes_no_vector(encoder, both):
    for level in LEVELS:
        alone = TextRepresentation(encoder, levels={level}).eval()
        alone.body(level).load_state_dict(both.body(level).state_dict(), strict=False)
        given = inputs(encoder, WORDS[:2], level)
        with torch.no_grad():
            assert torch.equal(alone(given), both(given))


@pytest.mark.parametrize("level", LEVELS)
def test_padding_changes_no_vector(encoder, both, level):
    short, long = WORDS[0][:3], WORDS[1][:12]

    both = both.double()
    with torch.no_grad():
        together = both(inputs(encoder, [short, long], level))[0]
        alone = both(inputs(encoder, [short], level))[0]
    both.float()
    if level == "words":
        together = together[: len(alone)]
    torch.testing.assert_close(together, alone, rtol=1e-6, atol=1e-6)


def test_gradients_reach_the_encoder_from_both_levels(encoder, both):
    for level in LEVELS:
        both.zero_grad()
        both(inputs(encoder, WORDS[:2], level)).square().sum().backward()
        prefix = both.body(level).base_model_prefix
        embeddings = getattr(both.body(level), prefix).get_input_embeddings()
        assert embeddings.weight.grad.abs().sum() > 0
    both.zero_grad()


def test_a_saved_model_gives_the_same_logits(encoder, tmp_path):
    """Of two tasks that share an encoder, each is saved whole, and without the other's parts."""
    tokenizer = load_tokenizer(encoder)
    cutting = Cutting(tokenizer=tokenizer, max_length=32)
    report = ReadReport(sizes={}, duplicates={})
    sentences = [
        TaggedSentence(tuple(words[:8]), tuple("AB"[k % 2] for k in range(len(words[:8]))), 1)
        for words in WORDS[:6]
    ]
    texts = [
        LabelledText(" ".join(words[:8]), None, "xyz"[k % 3], 1)
        for k, words in enumerate(WORDS[:6])
    ]
    tasks = [
        KINDS["tagging"].make(
            "tags", Splits(sentences, None, None, report), cutting, TaskOptions()
        ),
        KINDS["classification"].make(
            "topics", Splits(texts, None, None, report), cutting, TaskOptions()
        ),
    ]
    torch.manual_seed(0)
    model = text_model(encoder, tasks).eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    for task, level in zip(tasks, LEVELS, strict=True):
        save_model(model, task, tokenizer, tmp_path / level, card="A card.")
        with quietly():
            loaded, found = LEVELS[level].from_pretrained(
                tmp_path / level, output_loading_info=True
            )
        assert not found["missing_keys"]
        assert not found["unexpected_keys"]
        batch = task.train.batch(np.arange(6))
        ids, lengths, types, _ = batch.inputs
        mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
        extra = {} if types is None else {"token_type_ids": types}
        with torch.no_grad():
            theirs = loaded.eval()(input_ids=ids, attention_mask=mask, **extra).logits
            ours = model(batch.inputs, task.name)
        assert torch.equal(theirs, ours)
        assert loaded.config.id2label == dict(enumerate(task.kind.labels))
        assert loaded.config.label2id == {label: k for k, label in enumerate(task.kind.labels)}
    after = model.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], before[name]) for name in before)


@pytest.mark.parametrize(
    ("name", "most"), [("bert", 70), ("roberta", 70), ("mpnet", 70), ("xlm-roberta", 70)]
)
def test_as_many_pieces_as_an_encoder_says_it_takes_can_be_read(name, most, tmp_path):
    encoder = write_encoder(name, tmp_path)
    assert longest_input(encoder) == most
    representation = TextRepresentation(encoder, levels={"words"}).eval()
    ids = torch.full((1, most), 7)
    found = representation(TextInputs(ids, torch.tensor([most]), None, "words"))
    assert found.isfinite().all()
    more = TextInputs(torch.full((1, most + 1), 7), torch.tensor([most + 1]), None, "words")
    with pytest.raises((IndexError, RuntimeError)):
        representation(more)


def test_a_checkpoint_with_a_head_of_its_own_loses_it(tmp_path):
    """A model that was trained for other labels is an encoder like any other."""
    plain = write_encoder("bert", tmp_path / "plain")
    with quietly():
        other = AutoModelForTokenClassification.from_pretrained(plain, num_labels=9)
    other.save_pretrained(tmp_path / "tagger")
    load_tokenizer(plain).save_pretrained(tmp_path / "tagger")
    ours = TextRepresentation(str(tmp_path / "tagger"), levels={"words", "text"}).eval()
    theirs = TextRepresentation(plain, levels={"words"}).eval()
    given = inputs(plain, WORDS[:2], "words")
    with torch.no_grad():
        assert torch.equal(ours(given), theirs(given))


@pytest.mark.parametrize("name", ["roberta", "modernbert", "in a sequence"])
def test_words_of_byte_level_tokenizers_have_a_blank_before_them(name, tmp_path):
    """Also when they are saved and loaded again, by anyone."""
    folder = write_encoder("modernbert" if name == "in a sequence" else name, tmp_path / "encoder")
    if name == "in a sequence":
        _put_in_a_sequence(Path(folder, "tokenizer.json"))
    tokenizer = load_tokenizer(folder)
    tokenizer.save_pretrained(tmp_path / "again")
    config = Path(folder, "config.json").read_bytes()
    (tmp_path / "again" / "config.json").write_bytes(config)
    for each in (tokenizer, AutoTokenizer.from_pretrained(tmp_path / "again")):
        for given, split in ((["the", "of", "the"], True), ("the of the", False)):
            pieces = each(given, is_split_into_words=split, add_special_tokens=False).tokens()
            assert pieces == ["Ġthe", "Ġof", "Ġthe"]


def _put_in_a_sequence(path):
    """As in tokenizers that split texts by an expression of their own."""
    settings = json.loads(path.read_text())
    split = {
        "type": "Split",
        "pattern": {"Regex": " ?[^ ]+"},
        "behavior": "Isolated",
        "invert": False,
    }
    byte_level = {**settings["pre_tokenizer"], "use_regex": False}
    settings["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, byte_level]}
    path.write_text(json.dumps(settings))


def test_an_architecture_that_does_not_end_in_a_linear_layer_is_refused(tiny, monkeypatch):
    monkeypatch.setattr("tawt.text.encoding.representation.OUTPUTS", 1010)
    with pytest.raises(ConfigError, match="does not end in a linear layer"):
        TextRepresentation(tiny, levels={"words"})


def refused(encoder, *levels):
    with pytest.raises(ConfigError) as raised:
        TextRepresentation(encoder, levels=set(levels))
    message = str(raised.value)
    assert message.startswith(f"The encoder {encoder!r} ")
    assert "\n" not in message
    return message


def test_an_encoder_with_a_decoder_is_not_shared_by_words_and_texts(tmp_path):
    encoder = write_encoder("t5", tmp_path)
    assert "cannot share it" in refused(encoder, "words", "text")
    for level in LEVELS:
        alone = TextRepresentation(encoder, levels={level}).eval()
        assert alone(inputs(encoder, WORDS[:3], level)).isfinite().all()


@pytest.mark.parametrize("says", [True, False], ids=["config says so", "weights are missing"])
def test_an_encoder_whose_decoder_is_not_there_reads_no_whole_texts(tmp_path, says):
    """Its decoder would be drawn at random."""
    whole = write_encoder("t5", tmp_path / "whole")
    with quietly():
        T5EncoderModel.from_pretrained(whole).save_pretrained(tmp_path / "half")
    config = tmp_path / "half" / "config.json"
    config.write_text(
        json.dumps({**json.loads(config.read_text()), "is_encoder_decoder": not says})
    )
    half = str(tmp_path / "half")
    assert "needs a decoder, and the checkpoint has none" in refused(half, "text")
    assert TextRepresentation(half, levels={"words"}).widths == {"words": 16}


def test_an_encoder_that_must_be_told_a_language(tmp_path):
    encoder = write_encoder("xmod", tmp_path)
    for level in LEVELS:
        message = refused(encoder, level)
        assert message.endswith("`default_language` in its config.json to one of en_XX, de_DE.")
    config = tmp_path / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "default_language": "de_DE"}))
    told = TextRepresentation(encoder, levels=set(LEVELS)).eval()
    for level in LEVELS:
        assert told(inputs(encoder, WORDS[:3], level)).isfinite().all()
