"""What was read, looked at: slips of a column or a field."""

import pytest

from tawt.text.reading import LabelledText, TaggedSentence, doubts, preview


def tagged(*sentences):
    split = ([item.rsplit("/", 1) for item in sentence.split()] for sentence in sentences)
    return [
        TaggedSentence(tuple(w for w, _ in pairs), tuple(t for _, t in pairs), line)
        for line, pairs in enumerate(split, start=1)
    ]


def texts(labels, words=None):
    words = words or [f"text {number}" for number in range(len(labels))]
    return [LabelledText(w, None, x, n) for n, (w, x) in enumerate(zip(words, labels, strict=True))]


GOOD = tagged("EU/B-ORG rejects/O", "Ann/B-PER Lee/I-PER came/O")

DOUBTFUL = {
    "every tag of train is 's'": {"train": tagged("a/s b/s", "c/s")},
    "every label of train is 'x'": {"train": texts(["x", "x"])},
    "every label of train is 2.5": {"train": texts([2.5, 2.5])},
    "every word of train is 'doc'": {"train": tagged("doc/A doc/B doc/A")},
    "every text of train is 'a'": {"train": texts(["x", "y", "x"], ["a", "a", "a"])},
    "the texts of train count": {"train": texts(["x", "y", "x"], ["1", "2", "3"])},
    "the labels of train count": {"train": texts([float(n) for n in range(1, 13)])},
    "12 examples of train has a label of its own": {"train": texts([f"id{n}" for n in range(12)])},
    "30 words of train have 30 different tags": {
        "train": tagged(" ".join(f"NN/word{n}" for n in range(30)), "VB/word0")[:1]
    },
    "'X' cannot; so these are taken for plain tags": {"train": tagged("a/B-PER b/O c/X")},
    "B, I and O without a type": {"train": tagged("a/B b/I c/O")},
    "train and test share no label but O": {
        "train": GOOD,
        "test": tagged("Oslo/B-LOC won/O"),
    },
    "train and dev share no label:": {"train": texts(["x", "y"]), "dev": texts(["p", "q"])},
}


@pytest.mark.parametrize("words", DOUBTFUL)
def test_a_slip_is_told(words):
    assert any(words in doubt for doubt in doubts(DOUBTFUL[words]))


@pytest.mark.parametrize(
    "splits",
    [
        {"train": GOOD, "test": tagged("Bob/B-PER left/O")},
        {"train": GOOD, "test": tagged("nothing/O here/O")},
        {"train": tagged("We/P saw/V it/P"), "dev": tagged("He/P ran/V")},
        {"train": texts(["x", "y", "x"]), "test": texts(["y"])},
        {"train": texts([1.0, 2.5, 1.0]), "test": texts([7.0])},
        {"train": texts([f"class {n}" for n in range(5)])},
    ],
)
def test_examples_that_are_as_they_should_be(splits):
    assert list(doubts(splits)) == []


def test_an_example_is_shown_on_one_short_line():
    long = LabelledText("word\n\n" * 10**6, "x" * 10**6, "label" * 1000, 1)
    sentence = TaggedSentence(("w" * 10**6, *["a"] * 10**5), ("O",) * (10**5 + 1), 1)
    for example in (long, sentence):
        line = preview(example)
        assert "\n" not in line
        assert len(line) < 200
    assert preview(LabelledText("a  b", "c", "yes", 1)) == "a b | c → yes"
