"""The contract of vocabularies: text in, text out, and no text is a special token."""

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from tawt.corpora.vocabularies import Bytes, Pieces, vocabulary_named
from tawt.errors import ConfigError
from tests.corpora.tokenizers import write_tokenizer, write_word_pieces

ODD = ["", " ", "a", "naïve café 日本語 😀", "line\nbreak\ttab", "<end></s><pad><mask>[SEP]", "\0"]


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    place = tmp_path_factory.mktemp("tokenizers")
    return {
        "bytes": "bytes",
        "pieces": str(write_tokenizer(place / "pieces")),
        "word pieces": str(write_word_pieces(place / "words")),
    }


@pytest.fixture(params=["bytes", "pieces", "word pieces"])
def vocabulary(request, named):
    return vocabulary_named(named[request.param])


def test_text_is_never_a_special_token_and_numbers_are_in_range(vocabulary):
    unknown = {2} if isinstance(vocabulary, Bytes) else {vocabulary._tokenizer.unk_token_id}
    for text, ids in zip(ODD, vocabulary.encode(ODD), strict=True):
        assert not set(ids.tolist()) & (vocabulary.specials - unknown), text
        assert (ids < vocabulary.size).all()
        assert ids.dtype == vocabulary.dtype


def test_texts_together_are_texts_alone(vocabulary):
    together, counts = vocabulary.encode_joined(ODD)
    alone = [vocabulary.encode_joined([text])[0] for text in ODD]
    np.testing.assert_array_equal(together, np.concatenate(alone))
    assert counts.tolist() == [len(each) for each in alone]
    assert vocabulary.encode([]) == []


@pytest.mark.parametrize("which", ["bytes", "pieces"])
@settings(max_examples=40)
@given(text=st.text(max_size=30))
def test_what_was_encoded_is_decoded(named, which, text):
    vocabulary = vocabulary_named(named[which])
    assert vocabulary.decode(vocabulary.encode([text])[0].tolist()) == text


def test_special_tokens_stand_for_no_text(vocabulary):
    ids = vocabulary.encode(["the cat"])[0].tolist()
    among = [vocabulary.separator, *ids, vocabulary.padding, *vocabulary.specials]
    assert vocabulary.decode(among) == "the cat"


def test_specials_are_what_they_are_called(vocabulary):
    assert {vocabulary.separator, vocabulary.padding, vocabulary.mask} <= vocabulary.specials
    assert max(vocabulary.specials) < vocabulary.size


def test_a_saved_vocabulary_is_found_again_and_is_the_same(vocabulary, tmp_path):
    vocabulary.save(tmp_path)
    again = vocabulary_named(str(tmp_path))
    assert type(again) is type(vocabulary)
    for name in ("separator", "padding", "mask", "specials", "size", "fingerprint"):
        assert getattr(again, name) == getattr(vocabulary, name)


def test_a_saved_vocabulary_is_a_tokenizer_of_transformers_that_says_the_same(vocabulary, tmp_path):
    vocabulary.save(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    text = "The cat sat, naïve 日本語"
    wanted = vocabulary.encode([text])[0].tolist()
    assert tokenizer(text, add_special_tokens=False)["input_ids"] == wanted
    assert tokenizer.mask_token_id == vocabulary.mask
    assert vocabulary.separator in (tokenizer.eos_token_id, tokenizer.sep_token_id)


def test_bytes_are_those_of_utf8_plus_three():
    text = "é日\n"
    assert Bytes().encode([text])[0].tolist() == [byte + 3 for byte in text.encode()]
    assert Bytes().decode([0, 1, 2, 259]) == ""
    assert Bytes().decode([0xE6 + 3]) == "\ufffd"


def test_other_tokenizers_have_other_fingerprints(named, tmp_path):
    found = {vocabulary_named(name).fingerprint for name in named.values()}
    lower = write_tokenizer(tmp_path / "other", specials=("<end>",), eos_token="<end>")
    assert len(found | {Pieces(str(lower)).fingerprint}) == 4


def test_a_truncating_tokenizer_reads_the_whole_text(named, tmp_path):
    content = json.loads((write_tokenizer(tmp_path / "t") / "tokenizer.json").read_text())
    content["truncation"] = {
        "direction": "Right",
        "max_length": 3,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    (tmp_path / "t/tokenizer.json").write_text(json.dumps(content))
    text = "the cat sat on a mat " * 3
    ours = Pieces(str(tmp_path / "t")).encode([text])[0].tolist()
    assert ours == vocabulary_named(named["pieces"]).encode([text])[0].tolist()


def test_a_tokenizer_without_padding_is_padded_with_its_separator(tmp_path):
    found = Pieces(str(write_tokenizer(tmp_path, specials=("<end>",), eos_token="<end>")))
    assert found.padding == found.separator
    assert found.mask is None


def test_many_pieces_take_numbers_of_four_bytes():
    class Large(Bytes):
        size = 2**16 + 1

    assert Large().dtype == np.uint32
    assert Bytes().dtype == np.uint16


@pytest.mark.parametrize(
    ("specials", "named", "words"),
    [((), {"unk_token": None}, "has no token that ends a text (eos, sep or bos)")],
)
def test_a_tokenizer_that_cannot_separate_documents_is_refused(tmp_path, specials, named, words):
    place = write_tokenizer(tmp_path, specials=specials, **named)
    with pytest.raises(ConfigError) as raised:
        vocabulary_named(str(place))
    assert words in str(raised.value)


@pytest.mark.parametrize("name", ["./nowhere", "package:no-such-package", "", "a\0b"])
def test_no_tokenizer_is_said_in_one_line(name):
    with pytest.raises(ConfigError) as raised:
        vocabulary_named(name)
    assert_names_what_a_tokenizer_needs(str(raised.value), name)


@pytest.mark.parametrize("other", [None, "model.safetensors"])
def test_a_folder_without_a_tokenizer(tmp_path, other):
    if other is not None:
        (tmp_path / other).touch()
    with pytest.raises(ConfigError, match=r"the folder .* has no tokenizer\.json\. Give") as raised:
        vocabulary_named(str(tmp_path))
    assert_names_what_a_tokenizer_needs(str(raised.value), str(tmp_path))


def assert_names_what_a_tokenizer_needs(message, name):
    assert "\n" not in message
    assert message.startswith(f"There is no tokenizer {name!r}: ")
    assert "Give `bytes`, a name on the Hugging Face hub" in message
    assert "a folder with tokenizer.json" in message
    assert "safetensors" not in message


def test_a_tokenizer_with_code_of_its_own_is_not_run(tmp_path):
    place = write_tokenizer(tmp_path / "t")
    about = json.loads((place / "tokenizer_config.json").read_text())
    about["auto_map"] = {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}
    about["tokenizer_class"] = "Evil"
    (place / "tokenizer_config.json").write_text(json.dumps(about))
    mark = tmp_path / "ran"
    (place / "evil.py").write_text(f"open({str(mark)!r}, 'w').close()\nclass Evil: ...\n")
    with pytest.raises(ConfigError) as raised:
        vocabulary_named(str(place))
    assert "\n" not in str(raised.value)
    assert not mark.exists()


def test_a_fingerprint_of_bytes_never_changes():
    """Shards that were made before are found by it."""
    assert Bytes.fingerprint == hashlib.sha256(b"bytes of UTF-8, plus 3").hexdigest()
