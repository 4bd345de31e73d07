"""A model asked about new text says what it said in its run, in the order it is asked."""

import itertools

import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
)

from tawt.errors import ConfigError, RunError
from tawt.runs import RunFolder
from tawt.runs.predicting import load_predictor
from tawt.text.decoding import best_tags
from tawt.text.kinds import KINDS
from tawt.text.predicting import Sentence, Text, TextPredictor
from tawt.training.devices import chosen_device
from tests.text.trained import records


def in_run(run):
    """Input and prediction of each example in the run's own table."""
    rows = [line.split("\t") for line in (run / "predictions.test.tsv").read_text().splitlines()]
    grouped = itertools.groupby(rows[1:], key=lambda row: row[1])
    return [[(row[2], row[4]) for row in group] for _, group in grouped]


def test_tags_are_those_of_the_run(tagger):
    config = RunFolder(tagger).config()
    splits = config.modality.read(config.data, "chunk", is_target=True, held_out=True, seed=0)
    sentences = [example.words for example in splits.test]
    answers = list(load_predictor(tagger).answers(map(Sentence, sentences)))
    assert [list(zip(a.words, a.tags, strict=True)) for a in answers] == in_run(tagger)
    assert len(answers) == 300


@pytest.mark.parametrize("kind", ["classification", "pair"])
def test_labels_are_those_of_the_run(run_of, kind):
    asked = [Text(r.get("text", r.get("review")), r.get("second")) for r in records(kind)]
    answers = list(load_predictor(run_of(kind)).answers(asked))
    assert [a.label for a in answers] == [group[0][1] for group in in_run(run_of(kind))]
    assert [(a.text, a.second) for a in answers] == [(a.text, a.second) for a in asked]


def test_numbers_are_those_of_the_run(run_of):
    answers = load_predictor(run_of("regression")).answers(
        Text(record["text"]) for record in records("regression")
    )
    expected = [float(group[0][1]) for group in in_run(run_of("regression"))]
    assert [a.number for a in answers] == pytest.approx(expected, abs=1e-5)


WORDS = "the council met in a small town and she said that they had seen it .".split()  # noqa: SIM905


def mixed(count):
    """Sentences of all lengths, also too long for a row, in no order of length."""
    return [Sentence(tuple((WORDS * 12)[i % 7 : i % 7 + (i * 37) % 150 + 1])) for i in range(count)]


@pytest.mark.parametrize(("batch_size", "buffer"), [(1, 1), (3, 7), (64, 1024)])
def test_order_is_kept_however_they_are_batched(tagger, batch_size, buffer):
    sentences = mixed(25)
    predictor = load_predictor(tagger, batch_size=batch_size, buffer=buffer)
    answers = list(predictor.answers(sentences))
    assert [a.words for a in answers] == [s.words for s in sentences]
    alone = [next(load_one(tagger).answers([s])) for s in sentences]
    assert [a.tags for a in answers] == [a.tags for a in alone]
    for one, other in zip(answers, alone, strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-5)


def load_one(run, cache={}):  # noqa: B006 - one model for all questions
    if run not in cache:
        cache[run] = load_predictor(run)
    return cache[run]


def test_every_word_of_a_long_sentence_is_answered_also_where_training_cut_it(tagger):
    """Short of the first window's edge, as the window alone says."""
    words = tuple(WORDS * 20)
    (answer,) = load_one(tagger).answers([Sentence(words)])
    assert len(answer.tags) == len(words)
    assert all(tag in load_one(tagger).labels for tag in answer.tags)
    tokenizer = AutoTokenizer.from_pretrained(tagger / "model")
    room = next(n for n in range(99) if pieces(tokenizer, words[: n + 1]) > 32)
    (first,) = load_one(tagger).answers([Sentence(words[:room])])
    assert pieces(tokenizer, words[:room]) == 32  # the words are such that windows end with one
    sure = room // 2
    assert answer.tags[:sure] == first.tags[:sure]
    assert answer.probabilities[:sure] == pytest.approx(first.probabilities[:sure], abs=1e-5)


def pieces(tokenizer, words):
    return len(tokenizer(list(words), is_split_into_words=True)["input_ids"])


def test_probabilities_are_the_softmax_of_the_model_alone(tagger):
    model = AutoModelForTokenClassification.from_pretrained(tagger / "model").eval()
    tokenizer = AutoTokenizer.from_pretrained(tagger / "model")
    encoded = tokenizer(WORDS, is_split_into_words=True, return_tensors="pt")
    owners = encoded.word_ids(0)
    with torch.no_grad():
        shares = model(**encoded).logits[0].softmax(-1)
    firsts = [owners.index(number) for number in range(len(WORDS))]
    (answer,) = load_one(tagger).answers([Sentence(tuple(WORDS))])
    best = best_tags(shares[firsts].log(), [len(firsts)], tuple(model.config.id2label.values()))
    assert list(answer.tags) == [model.config.id2label[index] for index in best]
    of_best = shares[firsts].gather(-1, torch.from_numpy(best)[:, None])[:, 0]
    assert answer.probabilities == pytest.approx(of_best.tolist(), abs=1e-6)


@pytest.mark.parametrize("kind", ["classification", "pair"])
def test_probabilities_of_labels_sum_to_one(run_of, kind):
    second = "Bad jokes, all of them!" if kind == "pair" else None
    (answer,) = load_predictor(run_of(kind)).answers([Text("A fine film.", second)])
    model = AutoModelForSequenceClassification.from_pretrained(run_of(kind) / "model").eval()
    tokenizer = AutoTokenizer.from_pretrained(run_of(kind) / "model")
    with torch.no_grad():
        logits = model(**tokenizer("A fine film.", second, return_tensors="pt")).logits[0]
    assert sum(answer.probabilities.values()) == pytest.approx(1, abs=1e-12)
    assert list(answer.probabilities.values()) == pytest.approx(logits.softmax(-1).tolist())
    assert answer.label == max(answer.probabilities, key=answer.probabilities.get)


def test_blank_examples_keep_their_places(tagger, run_of):
    some = [Sentence(()), Sentence(("a",)), Sentence(()), Sentence(("b",)), Sentence(())]
    assert [len(a.tags) for a in load_one(tagger).answers(some)] == [0, 1, 0, 1, 0]
    assert [len(a.tags) for a in load_one(tagger).answers([Sentence(())])] == [0]
    texts = [Text(" "), Text("Good"), Text("")]
    predictor = load_predictor(run_of("classification"))
    assert [a.label is None for a in predictor.answers(texts)] == [True, False, True]


def test_a_word_without_pieces_is_answered(tagger):
    words = ("the", "\u200b", "council")
    (answer,) = load_one(tagger).answers([Sentence(words)])
    assert len(answer.tags) == 3


def test_the_stream_is_read_as_it_is_answered(tagger):
    def stream():
        for sentence in itertools.cycle(mixed(5)):
            taken.append(sentence)
            yield sentence

    taken = []
    answers = load_predictor(tagger, buffer=10).answers(stream())
    next(answers)
    assert len(taken) == 10
    for _ in range(10):
        next(answers)
    assert len(taken) == 20


def test_a_model_without_its_parameters(tagger, tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    for path in (tagger / "model").iterdir():
        (model / path.name).write_bytes(path.read_bytes())
    assert TextPredictor(model, kind=KINDS["tagging"]).labels
    with pytest.raises(RunError, match="no parameters"):
        TextPredictor(model, kind=KINDS["classification"])  # a pooler is missing
    whole = (model / "model.safetensors").read_bytes()
    for content in (whole[: len(whole) // 2], b""):
        (model / "model.safetensors").write_bytes(content)
        with pytest.raises(RunError, match="cannot be loaded"):
            TextPredictor(model, kind=KINDS["tagging"])
    (model / "model.safetensors").unlink()
    with pytest.raises(RunError, match="cannot be loaded"):
        TextPredictor(model, kind=KINDS["tagging"])
    with pytest.raises(RunError, match="cannot be loaded"):
        TextPredictor(tmp_path / "none", kind=KINDS["tagging"])


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cpu:0", "", "cuda:999", "cuda:-1"])
def test_a_device_that_is_not_there(name):
    with pytest.raises(ConfigError, match="device"):
        chosen_device(name)


def test_devices(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert chosen_device("auto").type == "cpu"
    with pytest.raises(ConfigError, match="none here"):
        chosen_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [str(chosen_device(name)) for name in ("auto", "cuda", "cuda:1", "cpu")] == [
        "cuda",
        "cuda",
        "cuda:1",
        "cpu",
    ]
    with pytest.raises(ConfigError, match="there are 2"):
        chosen_device("cuda:2")


def test_a_step_computes_no_more_rows_than_asked_for(tagger, monkeypatch):
    """The rows of a long sentence count, and sentences are answered as each alone."""
    predictor = load_predictor(tagger, batch_size=4)
    sentences = [*mixed(9), Sentence(tuple(WORDS * 40)), *mixed(5)]
    sizes, batches = [], []
    forward, logits = predictor._model.forward, predictor._logits

    def counted(*, input_ids, **more):
        sizes.append(len(input_ids))
        return forward(input_ids=input_ids, **more)

    def held(inputs):
        batches.append(len(inputs.ids))
        return logits(inputs)

    monkeypatch.setattr(predictor._model, "forward", counted)
    monkeypatch.setattr(predictor, "_logits", held)
    answers = list(predictor.answers(sentences))
    assert max(sizes) <= 4
    alone = [next(load_one(tagger).answers([s])) for s in sentences]
    assert [a.tags for a in answers] == [a.tags for a in alone]
    # More rows at a time than a step computes only where one sentence has more.
    long = [len(s.words) > 32 for s in sentences]
    assert sum(size > 4 for size in batches) <= sum(long)


def test_of_long_examples_fewer_are_taken_at_a_time(tagger):
    def stream():
        while True:
            taken.append(0)
            yield Sentence(("council" * 100_000,))

    taken = []
    next(load_predictor(tagger).answers(stream()))
    assert len(taken) == 3
