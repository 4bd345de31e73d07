"""Unlabelled text in every form, and where a problem with it is."""

import io
from pathlib import Path

import pytest

from tawt.errors import ConfigError, DataError
from tawt.text.predicting import Sentence, Text, lines_of, read_unlabelled
from tawt.text.predicting.guessing import guess_form


def read(content, kind="tagging", *, name="a.txt", **more):
    path = Path(name)
    data = content if isinstance(content, bytes) else content.encode()
    return list(
        read_unlabelled(lines_of(io.BytesIO(data), path=path), path=path, kind=kind, **more)
    )


# Tagging


def test_raw_sentences_keep_their_places():
    assert read("It's so.\n\n  \nNo!\n") == [
        Sentence(("It's", "so", "."), 1),
        Sentence((), 2),
        Sentence((), 3),
        Sentence(("No", "!"), 4),
    ]


def test_tokens_are_as_they_are_given():
    assert read("It 's  so.\t!\n\n10\u00a0000 kr\n", form="tokens") == [
        Sentence(("It", "'s", "so.", "!"), 1),
        Sentence((), 2),
        Sentence(("10\u00a0000", "kr"), 3),
    ]


@pytest.mark.parametrize("form", [None, "columns"])
def test_the_first_column_is_the_word(form):
    content = (
        "-DOCSTART-\t-X-\n\n# sent_id = 3\nEU\tNNP\tB-ORG\n#\tSYM\tO\n\n\n-DOCSTART-\tX\n!\t.\tO"
    )
    assert read(content, form=form) == [Sentence(("EU", "#"), 4), Sentence(("!",), 9)]


def test_columns_may_be_separated_by_blanks_if_one_says_so():
    assert read("EU NNP\nrejects VBZ\n", form="columns") == [Sentence(("EU", "rejects"), 1)]
    assert [len(sentence.words) for sentence in read("EU NNP\nrejects VBZ\n")] == [2, 2]


CONLLU = (
    "# text = Du pain\n1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDe\tde\tADP\t_\t_\t_\t_\t_\t_\n"
    "2\tle\tle\tDET\t_\t_\t_\t_\t_\t_\n2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "3\tpain\tpain\tNOUN\t_\t_\t_\t_\t_\t_\n\n"
)


@pytest.mark.parametrize("name", ["a.conllu", "a.txt"])
def test_conllu_is_known_by_name_and_by_sight(name):
    assert read(CONLLU, name=name) == [Sentence(("De", "le", "pain"), 3)]


def test_json_has_tokens_or_a_text():
    content = (
        '{"tokens": ["a b", "c"]}\n\n{"words": ["d"], "tags": ["X"]}\n{"text": "No!"}\n'
        '{"tokens": []}\n'
    )
    assert read(content, name="a.jsonl") == [
        Sentence(("a b", "c"), 1),
        Sentence(("d",), 3),
        Sentence(("No", "!"), 4),
        Sentence((), 5),
    ]
    assert read('{"toks": ["a"]}', fields={"tokens": "toks"}) == [Sentence(("a",), 1)]


# Texts


def test_texts_are_lines():
    assert read("\ufeffGood.\r\n\n b\tc ", "classification") == [
        Text("Good.", None, 1),
        Text("", None, 2),
        Text(" b\tc ", None, 3),
    ]


def test_pairs_have_a_tab_between_them():
    assert read("a b\tc d\n\n", "pair") == [Text("a b", "c d", 1), Text("", None, 2)]
    assert read("a b\n", "regression") == [Text("a b", None, 1)]
    assert read("a\tb\n\nc\td\n", "regression")[2] == Text("c", "d", 3)


def test_json_has_the_fields_that_training_files_had():
    assert read('{"premise": "a", "hypothesis": "b"}', "pair") == [Text("a", "b", 1)]
    fields = {"text": "review", "label": "stars"}
    assert read('{"review": "a", "id": 3}', "classification", fields=fields) == [Text("a", None, 1)]
    assert read('{"text": "a", "second": null}', "regression") == [Text("a", None, 1)]


# Problems


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (b"fine\n\xff\xfe\n", {}, ["a.txt:2", "UTF-8"]),
        ("fine\nnot\0fine\n", {}, ["a.txt:2", "NUL"]),
        ("EU\tX\n\tO\n", {"form": "columns"}, ["a.txt:2", "blank"]),
        ("EU \u00a0 x\n", {"form": "tokens"}, ["a.txt:1", "blank"]),
        ("1 EU\n", {"form": "conllu"}, ["a.txt:1", "tabs"]),
        ('{"tokens": ["a"]}\n{"half\n', {"form": "jsonl"}, ["a.txt:2", "JSON"]),
        ('{"tokens": "a"}\n', {}, ["a.txt:1", "list"]),
        ('{"tokens": ["a", 3]}\n', {}, ["a.txt:1", "string"]),
        ('{"tokens": ["a", ""]}\n', {}, ["a.txt:1", "blank"]),
        ('{"sentence": "a"}\n', {}, ["a.txt:1", "tokens", "text"]),
        ("[1]\n", {"form": "jsonl"}, ["a.txt:1", "object"]),
        ("a\tb\nonly one\n", {"kind": "pair"}, ["a.txt:2", "tab"]),
        ("a\tb\tc\n", {"kind": "pair"}, ["a.txt:1", "2 tabs"]),
        ("a\tb\nc\n", {"kind": "regression"}, ["a.txt:2", "two texts", "line 1"]),
        ("a\nb\tc\n", {"kind": "regression"}, ["a.txt:2", "one text", "line 1"]),
        ('{"text": "a", "second": null}', {"kind": "pair"}, ["a.txt:1", "second"]),
        ('{"text": 3}', {"kind": "classification"}, ["a.txt:1", "string"]),
        ('{"body": "a"}', {"kind": "classification"}, ["a.txt:1", "'text'", "'body'"]),
    ],
)
def test_a_problem_is_at_its_line(content, options, words):
    with pytest.raises(DataError) as raised:
        read(content, **options)
    for word in words:
        assert word in str(raised.value)


@pytest.mark.parametrize("form", ["columns", "conllu"])
def test_columns_hold_words_alone(form):
    with pytest.raises(ConfigError, match=form):
        read("a\tb\n", "classification", form=form)


def test_no_line_is_read_before_it_is_wanted():
    def lines():
        for number in range(1, 10_000):
            taken.append(number)
            yield number, "a b"

    taken = []
    stream = read_unlabelled(lines(), path=Path("a.txt"), kind="tagging")
    assert next(stream) == Sentence(("a", "b"), 1)
    assert len(taken) <= 100


@pytest.mark.parametrize(
    ("head", "kind", "form"),
    [
        ([], "tagging", "text"),
        (["", "  "], "tagging", "text"),
        (["EU rejects\tX"], "tagging", "text"),
        (["EU\tX", "a sentence"], "tagging", "text"),
        (["{not json}"], "tagging", "text"),
        (['{"a": 1}'], "classification", "jsonl"),
        (["a\tb", ""], "pair", "text"),
    ],
)
def test_what_is_guessed(head, kind, form):
    assert guess_form(head, path=Path("a"), kind=kind) == form
