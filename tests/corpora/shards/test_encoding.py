"""Documents in chunks: nothing is lost, whatever the chunks and the workers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.corpora.reading import Document
from tawt.corpora.shards import encoding
from tawt.corpora.shards.encoding import Chunk, LongDigest, chunks, compared, encode, encoded
from tawt.corpora.vocabularies import Bytes
from tawt.tasks.examples import digests_of

DOCUMENT = st.tuples(st.text(st.sampled_from("aé \n"), max_size=6), st.booleans())
PARTS = st.lists(DOCUMENT, max_size=30).map(
    lambda found: [Document(text, ends=ends) for text, ends in found]
)


@settings(max_examples=60)
@given(PARTS, st.integers(1, 12), st.integers(1, 5))
def test_chunks_hold_all_that_is_not_blank_in_order(parts, characters, documents):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_CHARACTERS", characters)
        patch.setattr(encoding, "_DOCUMENTS", documents)
        found = list(chunks(parts))
    kept, begins, skipped = [], True, 0
    for part in parts:
        is_blank = begins and part.ends and not part.text.strip()
        skipped += is_blank
        kept += [] if is_blank else [part]
        begins = part.ends
    assert [part for chunk in found for part in chunk.parts] == kept
    assert sum(chunk.skipped for chunk in found) == skipped
    for chunk in found:
        assert len(chunk.parts) <= documents
        assert sum(len(part.text) for part in chunk.parts[:-1]) < characters


def test_a_chunk_by_hand():
    parts = [Document("ab"), Document("é", ends=False), Document("c")]
    found = encode(Chunk(parts, 0), Bytes())
    assert found.tokens.tolist() == [100, 101, 1, 198, 172, 102, 1]
    assert found.sizes.tolist() == [3, 2, 2]
    assert found.bytes.tolist() == [3, 2, 2]  # the end of a document counts as a byte
    assert found.ends.tolist() == [True, False, True]
    assert found.digests.tolist() == digests_of([b"ab", "é".encode(), b"c"]).tolist()
    assert found.contents.tolist() == found.digests.tolist()


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (" one  TWO\r\n\tthree ", True),
        ("onetwothree", True),
        ("one two three.", False),
        ("one two thrée", False),
        ("one\u00a0two three", False),
    ],
)
def test_copies_are_known_by_all_but_white_space_and_case(text, same):
    found = encode(Chunk([Document("one two three"), Document(text)], 0), Bytes())
    assert (found.contents[0] == found.contents[1]) == same
    assert found.digests[0] != found.digests[1]  # splits are decided by the text as it is
    long = LongDigest()
    for part in (text[:3], text[3:7], text[7:]):
        long.add(part)
    assert long.end() == found.contents[1]


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_chunks_come_back_in_their_order(monkeypatch, workers):
    monkeypatch.setattr(encoding, "_DOCUMENTS", 2)
    documents = [Document(f"{number} " * (number % 7 + 1)) for number in range(41)]
    found = list(encoded(documents, Bytes(), workers=workers))
    assert [part for each in found for part in each.chunk.parts] == documents
    tokens = np.concatenate([each.tokens for each in found])
    wanted = np.concatenate([[*Bytes().encode([each.text])[0], 1] for each in documents])
    np.testing.assert_array_equal(tokens, wanted)


def test_no_more_than_a_few_chunks_are_held(monkeypatch):
    monkeypatch.setattr(encoding, "_DOCUMENTS", 1)
    read = []

    def documents():
        for number in range(100):
            read.append(number)
            yield Document("text")

    for count, _ in enumerate(encoded(documents(), Bytes(), workers=2)):
        assert len(read) <= count + 6


def test_an_error_in_a_worker_is_the_readers_and_ends_the_others(monkeypatch):
    class Broken(Bytes):
        def encode_joined(self, texts):
            if "bad" in texts:
                raise ValueError("bad")
            return super().encode_joined(texts)

    monkeypatch.setattr(encoding, "_DOCUMENTS", 1)
    documents = [Document("fine")] * 5 + [Document("bad")] + [Document("fine")] * 50
    with pytest.raises(ValueError, match="bad"):
        list(encoded(documents, Broken(), workers=2))


@settings(max_examples=30)
@given(st.lists(st.text(max_size=5), min_size=1, max_size=5))
def test_the_digest_of_parts_is_that_of_the_whole(parts):
    long = LongDigest()
    for part in parts:
        long.add(part)
    assert long.has_begun
    assert long.end() == digests_of([compared("".join(parts).encode())])[0]
    assert not long.has_begun
