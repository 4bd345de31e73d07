"""Every format of text, recognised from the file alone."""

import json
from pathlib import Path

import pytest
from datasets import Dataset, DatasetDict

from tawt.errors import DataError
from tawt.modality.recognising import Commented, FileGroup
from tawt.text.recognising import recognise_text


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def seen(name, text, *, encoding="utf-8", **splits):
    """What a file with that text is taken for."""
    Path(name).write_text(text, encoding=encoding)
    files = {"train": (Path(name),), **{split: (Path(path),) for split, path in splits.items()}}
    return recognise_text(FileGroup(name="it", files=files))


def plain(section):
    """The section without its comments and files."""
    return {
        name: value.value if isinstance(value, Commented) else value
        for name, value in section.items()
        if name not in ("train", "dev", "test")
    }


def records(*fields, count=24):
    return "".join(
        json.dumps({name: made(number) for name, made in fields}) + "\n" for number in range(count)
    )


def sentence(number):
    return f"This is sentence number {number}."


def label(number):
    return ("good", "bad", "fair")[number % 3]


SENTENCES = "".join(f"Anna{n}\tNNP\tB-PER\nsleeps\tVBZ\tO\n.\t.\tO\n\n" for n in range(12))
CONLLU = "".join(
    f"# text = {n}\n1\tAnna{n}\t_\tPROPN\t_\t_\t0\t_\t_\tNER=B-PER\n"
    "2\tsleeps\t_\tVERB\t_\t_\t0\t_\t_\tNER=O\n\n"
    for n in range(12)
)


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a.conll", "a"])
def test_columns(name):
    found = seen(name, SENTENCES)
    assert (found.task_kind, found.sizes, found.labels) == ("tagging", {"train": 12}, ("PER",))
    assert plain(found.section) == {}
    assert found.first[0] == "Anna0/B-PER sleeps/O ./O"


def test_columns_with_numbers_before_the_word():
    numbered = "".join(f"1\tÅsa{n}\tB-PER\t_\n2\tsover\tO\t_\n3\t.\tO\t_\n\n" for n in range(12))
    found = seen("a.txt", numbered)
    assert plain(found.section) == {"word_column": 1, "tag_column": 2}


def test_columns_whose_last_one_is_always_the_same():
    found = seen("a.tsv", SENTENCES.replace("\tO\n", "\tO\t_\n").replace("PER\n", "PER\t_\n"))
    assert plain(found.section) == {"tag_column": 2}


def test_conllu_by_the_first_column_of_tags_that_is_filled():
    assert plain(seen("a.conllu", CONLLU).section) == {"tag": "upos"}
    empty = CONLLU.replace("PROPN", "_").replace("VERB", "_")
    found = seen("b.conllu", empty)
    assert plain(found.section) == {"tag": "misc:NER"}
    assert found.labels == ("PER",)


def test_ontonotes():
    row = "nw/a 0 {n} {word} {tag} * - - - - * -"
    rows = [row.format(n=n, word=w, tag=t) for n, (w, t) in enumerate([("A", "DT"), ("b", "NN")])]
    text = "#begin document (nw/a); part 000\n" + "\n".join(rows) + "\n\n#end document\n"
    assert plain(seen("a.gold_conll", text).section) == {"layer": "pos"}


def test_json_lines_of_words_and_tags_of_any_name():
    text = records(("id", str), ("w", lambda n: ["a", f"b{n}"]), ("t", lambda _: ["O", "B-X"]))
    found = seen("a.jsonl", text)
    assert plain(found.section) == {"fields": {"tokens": "w", "tags": "t"}}
    assert found.task_kind == "tagging"


def test_json_lines_of_texts_with_usual_names():
    found = seen("a.jsonl", records(("text", sentence), ("label", label)))
    assert plain(found.section) == {"kind": "classification"}
    assert found.labels == ("good", "bad", "fair")
    assert found.first[0] == "This is sentence number 0. → good"


def test_json_lines_of_texts_with_other_names():
    text = records(("uid", lambda n: n), ("utterance", sentence), ("intent", label))
    found = seen("a.txt", text)
    assert plain(found.section) == {
        "kind": "classification",
        "fields": {"text": "utterance", "label": "intent"},
    }
    assert "'uid' not read" in found.taken_for


def test_pairs_and_numbers():
    pair = [("premise", sentence), ("hypothesis", sentence)]
    assert seen("a.jsonl", records(*pair, ("label", label))).task_kind == "pair"
    number = ("similarity", lambda n: n / 7)
    found = seen("a.jsonl", records(*pair, number))
    assert found.task_kind == "regression"
    assert found.section["fields"].value["second"] == "hypothesis"
    assert seen("a.jsonl", records(("text", sentence), number)).task_kind == "regression"


def test_whole_numbers_are_labels_where_they_are_few():
    few, many = ("stars", lambda n: n % 5 + 1), ("stars", lambda n: n)
    assert seen("a.jsonl", records(("text", sentence), few)).task_kind == "classification"
    assert seen("a.jsonl", records(("text", sentence), many)).task_kind == "regression"


@pytest.mark.parametrize(
    ("name", "separator", "options"),
    [
        ("a.csv", ",", {}),
        ("a.csv", ";", {"separator": ";"}),
        ("a.tsv", "\t", {}),
        ("a.txt", "\t", {"format": "tsv"}),
    ],
)
def test_tables(name, separator, options):
    rows = "".join(f"{n}{separator}{sentence(n)}{separator}{label(n)}\n" for n in range(24))
    found = seen(name, separator.join(["id", "review", "verdict"]) + "\n" + rows)
    assert plain(found.section) == {
        "kind": "classification",
        "fields": {"text": "review", "label": "verdict"},
        **options,
    }
    assert found.sizes == {"train": 24}


def test_quotes_that_mean_themselves():
    rows = "".join(f'"Well {n}\t{label(n)}\n' for n in range(25))
    assert plain(seen("a.tsv", f"text\tlabel\n{rows}").section)["quote"] == ""
    quoted = "".join(f'"He said, ""{n}"""\t{label(n)}\n' for n in range(25))
    assert "quote" not in plain(seen("a.tsv", f"text\tlabel\n{quoted}").section)


def test_a_table_without_names_of_columns_is_refused():
    rows = "".join(f"{sentence(n)}\t{label(n)}\n" for n in range(24))
    with pytest.raises(DataError, match=r"a\.tsv:1: the first line is an example"):
        seen("a.tsv", rows)


def test_plain_text_by_lines_and_by_paragraphs():
    found = seen("a.txt", "".join(f"{sentence(n)}\n" for n in range(24)))
    assert (found.task_kind, found.may_be_target) == ("unlabelled", False)
    assert plain(found.section) == {"kind": "unlabelled"}
    paragraphs = "".join(f"{sentence(n)}\nIt goes on for a line.\n\n" for n in range(24))
    found = seen("b.txt", paragraphs)
    assert plain(found.section) == {"kind": "unlabelled", "documents": "blank line"}
    assert found.sizes == {"train": 24}


def test_text_without_labels_in_json_lines():
    found = seen("a.jsonl", records(("abstract", sentence), ("doi", lambda n: f"10.1/{n}")))
    assert plain(found.section) == {"kind": "unlabelled", "fields": {"text": "abstract"}}


def test_a_saved_dataset():
    rows = {"review": [sentence(n) for n in range(24)], "stars": [n % 3 for n in range(24)]}
    DatasetDict({"train": Dataset.from_dict(rows), "test": Dataset.from_dict(rows)}).save_to_disk(
        "film"
    )
    found = recognise_text(FileGroup(name="it", files={"train": (Path("film"),)}))
    assert plain(found.section) == {
        "kind": "classification",
        "folder": Path("film"),
        "fields": {"text": "review", "label": "stars"},
    }
    assert found.sizes == {"train": 24, "test": 24}


def test_splits_are_read_and_compared():
    Path("dev.jsonl").write_text(records(("text", sentence), ("label", label), count=6))
    found = seen("a.jsonl", records(("text", sentence), ("label", label)), dev="dev.jsonl")
    assert found.sizes == {"train": 24, "dev": 6}
    assert found.of_held_out == ("6 examples of dev (100.0%) are in train too.",)


@pytest.mark.parametrize(("encoding", "read_as"), [("latin-1", "cp1252"), ("utf-16", "utf-16")])
def test_other_encodings(encoding, read_as):
    text = (
        records(("text", lambda n: f"été {n}"), ("label", label)).encode().decode("unicode_escape")
    )
    found = seen("a.jsonl", text, encoding=encoding)
    assert plain(found.section)["encoding"] == read_as
    assert found.first[0] == "été 0 → good"


@pytest.mark.parametrize(
    "content", [bytes(range(256)), b"\x00\x01\x02", b"PK\x03\x04\x00", b"\x07a"]
)
def test_binary_data_is_no_text(content):
    Path("a.bin").write_bytes(content)
    assert recognise_text(FileGroup(name="a", files={"train": (Path("a.bin"),)})) is None


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", '[\n{"text": "a"}\n]', "expected JSON lines"),
        ("a.jsonl", '{"text": "a", "label": "b"}\n{"text": ', r"a\.jsonl:2"),
        ("a.jsonl", '{"x": 1}\n', "none of its fields is a text"),
        ("a.tsv", "Anna\tB-PER\nsleeps\tO\n\n" * 20 + "torn\n", r"a\.tsv:61: expected 2 columns"),
        ("a.conllu", "1\ta\tb\n", r"a\.conllu:1: expected 10 columns"),
        ("a.txt", "\n \n", "blank lines alone"),
        ("a.tsv", "A line.\nAnother.\n", "if it is plain text, call it .txt"),
    ],
)
def test_damage_is_said_with_its_line(name, text, said):
    with pytest.raises(DataError, match=said):
        seen(name, text)
