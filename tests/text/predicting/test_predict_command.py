"""`tawt predict`: lines in, answers out, one line for every mistake."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tawt.runs import RunFolder
from tests.text.trained import tagging_values, trained


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


TEXT = "The council met.\n\nShe didn't see it, he said!\n"
WORDS = [["The", "council", "met", "."], [], ["She", "didn't", "see", "it", ",", "he", "said", "!"]]


def test_help(call):
    status, out, err = call("predict", "--help")
    assert (status, err) == (0, "")
    for option in ("--format", "--out", "--output", "--probabilities", "--target", "--device"):
        assert option in out


def test_a_line_per_word_and_a_blank_line_per_sentence(call, tagger):
    Path("a.txt").write_text(TEXT)
    status, out, err = call("predict", tagger, "a.txt")
    assert (status, err) == (0, "")
    sentences = out.removesuffix("\n").split("\n\n")
    assert out.endswith("\n\n")
    blocks = [block.split("\n") for block in sentences]
    assert [[line.split("\t")[0] for line in block if line] for block in blocks] == [
        WORDS[0],
        WORDS[2],
    ]
    assert out.count("\n") == 4 + 8 + 3
    assert out.split("\n")[4:6] == ["", ""]  # the blank line of the text keeps its place


def test_probabilities_are_a_third_column(call, tagger):
    Path("a.txt").write_text(TEXT)
    plain = call("predict", tagger, "a.txt")[1].split("\n")
    status, out, _ = call("predict", tagger, "a.txt", "--probabilities")
    assert status == 0
    rows = [line.split("\t") for line in out.split("\n")]
    assert ["\t".join(row[:2]) for row in rows] == plain
    assert all(0 < float(row[2]) <= 1 for row in rows if len(row) > 1)


def test_json_lines(call, tagger):
    Path("a.txt").write_text(TEXT)
    status, out, _ = call("predict", tagger, "a.txt", "--output", "jsonl", "--probabilities")
    assert status == 0
    found = [json.loads(line) for line in out.splitlines()]
    assert [record["tokens"] for record in found] == WORDS
    assert all(
        len(record["tokens"]) == len(record["tags"]) == len(record["probabilities"])
        for record in found
    )


def test_json_is_the_same_as_json_lines(call, tagger, run_of):
    Path("a.txt").write_text(TEXT)
    for run in (tagger, run_of("classification"), run_of("regression")):
        lines = call("predict", run, "a.txt", "--output", "jsonl")
        assert call("predict", run, "a.txt", "--json") == lines
        assert call("predict", run, "a.txt", "--json", "--output", "jsonl") == lines
        assert json.loads(lines[1].splitlines()[0])
    assert call("predict", tagger, "a.txt", "--json", "--out", "b.jsonl") == (0, "", "")
    assert len(Path("b.jsonl").read_text().splitlines()) == 3


def test_every_form_of_the_same_words_gets_the_same_answers(call, tagger, typed_in):
    Path("a.jsonl").write_text("".join(json.dumps({"tokens": words}) + "\n" for words in WORDS))
    expected = call("predict", tagger, "a.jsonl")[1]
    Path("a.txt").write_text("".join(" ".join(words) + "\n" for words in WORDS))
    assert call("predict", tagger, "a.txt", "--format", "tokens")[1] == expected
    Path("a.tsv").write_text(expected.replace("\tB-", "\tI-"))  # columns, tags and all
    without_blank = expected.replace("\n\n\n", "\n\n")
    assert call("predict", tagger, "a.tsv")[1] == without_blank
    typed_in(TEXT)
    assert call("predict", tagger, "-") == (0, expected, "")
    typed_in(Path("a.jsonl").read_text())
    assert call("predict", tagger, "-") == (0, expected, "")


def test_texts_labels_and_numbers(call, run_of, typed_in):
    typed_in("A fine\x1ffilm.\n\nBad jokes!\n")
    status, out, _ = call("predict", run_of("classification"), "-", "--probabilities")
    assert status == 0
    first, blank, third = out.removesuffix("\n").split("\n")
    assert (first.split("\t")[0], blank, third.split("\t")[0]) == (
        "A fine\x1ffilm.",
        "",
        "Bad jokes!",
    )
    assert third.split("\t")[1] in ("good", "bad")
    assert 0.5 <= float(third.split("\t")[2]) <= 1

    typed_in('{"review": "A fine\\nfilm."}\n{"review": ""}\n')
    _, out, _ = call("predict", run_of("classification"), "-", "--output", "jsonl")
    one, two = map(json.loads, out.splitlines())
    assert one["text"] == "A fine\nfilm."
    assert one["label"] in ("good", "bad")
    assert two == {"text": "", "label": None}

    typed_in('{"review": "A fine\\n\\tfilm."}\n')
    assert call("predict", run_of("classification"), "-")[1].startswith("A fine  film.\t")

    typed_in("Good.\tBad.\n")
    _, out, _ = call("predict", run_of("pair"), "-", "--output", "jsonl", "--probabilities")
    record = json.loads(out)
    assert (record["text"], record["second"]) == ("Good.", "Bad.")
    assert sum(record["probabilities"].values()) == pytest.approx(1, abs=2e-6)

    typed_in("Good.\n")
    _, out, _ = call("predict", run_of("regression"), "-")
    text, number = out.rstrip("\n").split("\t")
    assert text == "Good."
    assert float(number) == pytest.approx(float(number))


def test_a_file_is_written_whole_or_not_at_all(call, tagger):
    Path("a.txt").write_text(TEXT)
    expected = call("predict", tagger, "a.txt")[1]
    assert call("predict", tagger, "a.txt", "--out", "new/b.tsv") == (0, "", "")
    assert Path("new/b.tsv").read_text() == expected
    Path("a.jsonl").write_text('{"text": "fine"}\n' * 1500 + "{half\n")
    status, out, err = call("predict", tagger, "a.jsonl", "--out", "new/b.tsv")
    assert (status, out) == (2, "")
    assert "a.jsonl:1501" in err
    assert Path("new/b.tsv").read_text() == expected
    assert [path.name for path in Path("new").iterdir()] == ["b.tsv"]


def test_an_empty_file_has_no_answers(call, tagger, typed_in):
    typed_in("")
    assert call("predict", tagger, "-") == (0, "", "")


def test_a_reader_that_leaves_early_is_no_error(tagger):
    """And what it read is UTF-8, whatever the terminal thinks."""
    Path("a.txt").write_text("Zoë met him .\n" * 5000, encoding="utf-8")
    command = [sys.executable, "-m", "tawt", "predict", str(tagger), "a.txt"]
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout.readline().decode().startswith("Zoë\t")
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait()


# Mistakes


def mistake(call, *arguments, words=()):
    status, out, err = call(*arguments)
    assert (status, out) == (2, ""), err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err, err


def test_a_line_that_cannot_be_read(call, tagger, run_of, typed_in):
    Path("a.jsonl").write_text('{"tokens": ["a"]}\n{"tokens": 3}\n')
    mistake(call, "predict", tagger, "a.jsonl", words=["a.jsonl:2", "list"])
    typed_in(b"fine\n\xff\n")
    mistake(call, "predict", tagger, "-", words=["<stdin>:2", "UTF-8"])
    typed_in("one text\n")
    mistake(call, "predict", run_of("pair"), "-", words=["<stdin>:1", "two texts"])


def test_files_that_are_not_there(call, tagger):
    mistake(call, "predict", tagger, "none.txt", words=["none.txt", "No such file"])
    mistake(call, "predict", tagger, ".", words=["directory"])
    Path("a.txt").write_text(TEXT)
    mistake(call, "predict", "none", "a.txt", words=["none", "not a run folder"])
    mistake(call, "predict", ".", "a.txt", words=["not a run folder"])
    mistake(call, "predict", tagger, "a.txt", "--out", ".", words=["folder"])


def test_options_that_cannot_be(call, tagger, run_of):
    Path("a.txt").write_text(TEXT)
    mistake(call, "predict", tagger, "a.txt", "--target", "chnk", words=["chnk", "chunk"])
    mistake(call, "predict", tagger, "a.txt", "--device", "cuda:999", words=["cuda:999"])
    both = ("--json", "--output", "tsv")
    mistake(call, "predict", tagger, "a.txt", *both, words=["--json", "--output tsv"])
    mistake(call, "predict", tagger, "a.txt", "--device", "gpu", words=["gpu"])
    numbers = run_of("regression")
    mistake(call, "predict", numbers, "a.txt", "--probabilities", words=["probabilities"])
    labels = run_of("classification")
    mistake(call, "predict", labels, "a.txt", "--format", "columns", words=["columns"])


@pytest.mark.usefixtures("in_process")
def test_runs_that_cannot_be_asked(call, study, tagger, tmp_path):
    Path("a.txt").write_text(TEXT)
    call("train", study.path, "--out", "arrays", "--quiet")
    mistake(
        call, "predict", "arrays", "a.txt", words=["a.txt", ".npz file with the array `inputs`"]
    )
    call("compare", study.path, "--out", "compared", "--seeds", 1, "--row", "joint", "--quiet")
    mistake(call, "predict", "compared", "a.txt", words=["several runs", "compared/joint/0"])
    half = tmp_path / "half"
    half.mkdir()
    (half / "config.yaml").write_text((tagger / "config.yaml").read_text())
    mistake(call, "predict", "half", "a.txt", words=["unfinished", "--resume"])
    (half / "record.json").write_text((tagger / "record.json").read_text())
    mistake(call, "predict", "half", "a.txt", words=["half/model"])


def test_one_of_several_targets(call, encoder, tmp_path):
    values = tagging_values(
        encoder, target={"chunk": 0.5, "pos": 0.5}, paradigm="joint", epochs=1, sources=["entity"]
    )
    run = trained(tmp_path / "both", values)
    Path("a.txt").write_text(TEXT)
    mistake(call, "predict", run, "a.txt", words=["--target", "chunk", "pos"])
    status, out, _ = call("predict", run, "a.txt", "--target", "pos")
    assert status == 0
    tags = {line.split("\t")[1] for line in out.splitlines() if line}
    assert tags <= set(json.loads((run / "model/pos/config.json").read_text())["label2id"])
    assert RunFolder(run).finished


@pytest.mark.parametrize("name", ["record.json", "model/config.json", "model/tokenizer.json",
                                  "model/tokenizer_config.json"])  # fmt: skip
@pytest.mark.parametrize(
    "content", ["", "[]", "{}", "null", "3", '{"id2label": 3}', '{"model_type": []}', "[" * 100_000]
)
def test_a_damaged_file_is_one_line(tagger, call, tmp_path, name, content):
    run = tmp_path / "run"
    shutil.copytree(tagger, run)
    (run / name).write_text(content)
    (tmp_path / "in.txt").write_text("The council met.\n")
    status, _, err = call("predict", run, tmp_path / "in.txt", "--quiet")
    assert status in (0, 2)
    if status == 2:
        assert err.startswith("error: ")
        assert err.count("\n") == 1


DAMAGE = [
    *(("id2label", value) for value in ({}, {"x": "y"}, None, {"0": 3})),
    ("vocab_size", 3),
    ("hidden_size", "x"),
    ("num_hidden_layers", None),
    ("model_type", "x"),
]


@pytest.mark.parametrize(("key", "value"), DAMAGE)
def test_a_damaged_configuration_of_the_model_is_one_line(tagger, call, tmp_path, key, value):
    run = tmp_path / "run"
    shutil.copytree(tagger, run)
    path = run / "model" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    (tmp_path / "in.txt").write_text("The council met.\n")
    status, _, err = call("predict", run, tmp_path / "in.txt", "--quiet")
    assert status in (0, 2)
    if status == 2:
        assert err.startswith("error: ")
        assert err.count("\n") == 1


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tagger, call):
    os.mkfifo("pipe")
    status, out, err = call("predict", tagger, "pipe")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "pipe; redirect it" in err
