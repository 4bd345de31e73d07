"""Malformed data files: a right result, or one line and exit status 2.

`TAWT_FUZZ_SEED` and `TAWT_FUZZ_CASES` change which cases are tried, and how many.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import random
import re
import shutil
import types
from collections import Counter
from pathlib import Path

import pytest
import typer
import yaml

from tawt.errors import TawtError
from tawt.text.predicting import lines_of, read_unlabelled
from tawt.text.reading import LabelledText, ReadOptions, TaggedSentence, read, write_jsonl
from tests.fuzz import data_files
from tests.fuzz.harness import broken_rule, listing, run_cli
from tests.text.encoders import write_tiny_bert

SEED = int(os.environ.get("TAWT_FUZZ_SEED", "0"))
CASES = int(os.environ.get("TAWT_FUZZ_CASES", "700"))
SECONDS = 10
CONTENTS = [each.content for each in data_files.FORMATS]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_tiny_bert(tmp_path_factory.mktemp("encoder") / "tiny")


_command = functools.cache(typer.main.get_command)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.setattr("typer.main.get_command", _command)  # made anew, it is most of a case
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def attempt(*arguments, stdin=b"", folder=Path()):
    """Run it, hold it to the rule, and see that nothing was left behind by a mistake."""
    before = listing(folder)
    outcome = run_cli(arguments, seconds=SECONDS, stdin=stdin)
    wrong = broken_rule(outcome)
    assert wrong is None, f"{wrong}: {arguments}\n{outcome.err[-3000:]}"
    if outcome.code or arguments[0] == "data":
        assert listing(folder) == before, f"something was written: {arguments}"
    return outcome


def share(part):
    """How many of the cases are of this kind."""
    return range(max(1, int(CASES * part)))


def drawn(name, number):
    """Randomness of one case, whatever the others are."""
    return random.Random(f"{SEED} {name} {number}")


@pytest.mark.parametrize("of", range(len(data_files.FORMATS)))
def test_data_files_are_read_rightly_or_refused(of):
    accepted = 0
    for number in share(0.72 / len(data_files.FORMATS)):
        draw = drawn(f"file {of}", number)
        found = data_files.FORMATS[of]
        content = data_files.mutated(draw, found.content, CONTENTS)
        path = Path(found.name)
        path.write_bytes(content)
        kind, options = found.kind, found.options
        if draw.random() < 0.1:
            kind = draw.choice(["tagging", "classification", "pair", "regression"])
        if draw.random() < 0.1:
            options = ("--format", draw.choice(["columns", "conllu", "jsonl", "csv", "tsv", "hub"]))
        outcome = attempt("data", "inspect", path, "--kind", kind, *options, "--json")
        if outcome.code == 0:
            accepted += 1
            check_facts(path, kind, options, json.loads(outcome.out))
    assert accepted or CASES < 200, "every case was refused: nothing is tested"


OPTIONS = {"--tag-column": "tag_column", "--tag": "tag", "--layer": "layer", "--quote": "quote"}


def check_facts(path, kind, options, facts):
    """What is said of a file agrees with its examples, and those with a slow, obvious reading."""
    given = dict(zip(options[::2], options[1::2], strict=True))
    named = {OPTIONS.get(name, name[2:]): value for name, value in given.items()}
    if "tag_column" in named:
        named["tag_column"] = int(named["tag_column"])
    examples = list(read(path, kind=kind, options=ReadOptions(**named)))
    filled = [each for each in examples if is_filled(each)]
    split = facts["tasks"][0]["splits"]["all"]
    assert split["examples"] == len(filled)
    assert len(facts["tasks"][0]["first"]) == min(3, len(filled))
    if kind == "tagging":
        assert split["words"] == sum(len(each.words) for each in filled)
    if kind in ("classification", "pair"):
        counted = Counter(each.label for each in filled)
        assert {each["label"]: each["count"] for each in split["labels"]} == counted
    if path.suffix == ".txt" and (expected := plainly_read(path, named)) is not None:
        assert [(each.words, each.tags) for each in examples] == expected
    round_trip(examples, kind)


def is_filled(example):
    if isinstance(example, TaggedSentence):
        return bool(example.words)
    return bool(example.text.strip()) and (example.second is None or bool(example.second.strip()))


def plainly_read(path, options):
    """Words and tags of a column file that has no comments; the obvious way."""
    if set(options) - {"tag_column", "encoding"}:
        return None
    text = path.read_bytes().decode(options.get("encoding", "utf-8"))
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if "#" in text or "-DOCSTART-" in text or text.lstrip().startswith("{"):
        return None
    if any(name in text.partition("\n")[0] for name in ("text", "label", "tokens", "tags")):
        return None  # may be the header of a table
    found = []
    for block in re.split(r"\n(?:[ \t\f\v]*\n)+", f"\n\n{text}\n\n"):
        rows = [re.split(r"[ \t]+", line.strip(" \t\f\v")) for line in block.split("\n")]
        rows = [row for row in rows if row != [""]]
        if rows:
            words, tags = (
                [row[0] for row in rows],
                [row[options.get("tag_column", -1)] for row in rows],
            )
            found.append((tuple(words), tuple(tags)))
    return found


def round_trip(examples, kind):
    write_jsonl(Path("again.jsonl"), examples)
    again = list(read(Path("again.jsonl"), kind=kind))
    Path("again.jsonl").unlink()
    assert [content_of(each) for each in again] == [content_of(each) for each in examples]


def content_of(example):
    if isinstance(example, LabelledText):
        return example.text, example.second, example.label
    return example.words, example.tags


def test_folders_of_files():
    for number in share(0.06):
        draw = drawn("folder", number)
        shutil.rmtree("data", ignore_errors=True)
        folder = Path("data")
        folder.mkdir()
        found = draw.choice(data_files.FORMATS[:15])
        for split in draw.sample(["train", "dev", "test", "valid", "train.test", "x"], k=3):
            name = draw.choice([found.name, found.name.replace("train", split)])
            path = folder / name.replace("train", split)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data_files.mutated(draw, found.content, CONTENTS))
        if draw.random() < 0.2:
            (folder / "dataset_info.json").write_bytes(draw.choice(data_files.SPECIAL))
        if draw.random() < 0.2:
            os.mkfifo(folder / "train.fifo")
        if draw.random() < 0.2:
            (folder / "train.loop").symlink_to("train.loop")
        attempt("data", "inspect", folder, "--kind", found.kind, *found.options)


def test_what_datasets_saved(tmp_path):
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"text": ["good", "bad", "ok"], "label": ["p", "n", "p"]})
    rows.save_to_disk("saved")
    for number in share(0.04):
        draw = drawn("saved", number)
        folder = tmp_path / f"copy-{number}"  # a new one: the last may still be mapped
        shutil.copytree("saved", folder)
        path = draw.choice(sorted(folder.iterdir()))
        path.write_bytes(data_files.mutated(draw, path.read_bytes(), CONTENTS))
        attempt("data", "inspect", folder, "--kind", "classification", folder=folder)


def test_arrays(tmp_path):
    started = 0
    for number in share(0.1):
        draw = drawn("arrays", number)
        for name in ("train", "test"):
            content = (
                data_files.arrays(draw)
                if draw.random() < 0.5
                else data_files.archive(
                    inputs=[[0.5, 1, 2, 3], [1, 1, 0, 0], [2, 1, 2, 1]], labels=[0, 1, 2]
                )
            )
            if draw.random() < 0.3:
                content = data_files.mutated(draw, content, CONTENTS)
            Path(f"{name}.npz").write_bytes(content)
        kind = draw.choice(["classification", "regression"])
        tasks = {"goal": {"train": "train.npz", "test": "test.npz", "kind": kind}}
        values = {"data": {"kind": "arrays", "tasks": tasks}, "target": "goal"}
        values |= {"paradigm": "single-task", "model": {"widths": [4]}}
        Path("study.yaml").write_text(yaml.safe_dump(values))
        attempt("data", "inspect", "study.yaml")
        outcome = attempt("train", "study.yaml", "--out", "run", "--device", "cpu")
        started += outcome.started
        shutil.rmtree("run", ignore_errors=True)
    assert started or CASES < 200


def test_text_that_would_be_trained_on(encoder):
    for number in share(0.03):
        draw = drawn("train", number)
        found = draw.choice(data_files.FORMATS[:15])
        test = found.name.replace("train", "test")
        Path(found.name).write_bytes(data_files.mutated(draw, found.content, CONTENTS))
        Path(test).write_bytes(found.content)
        task = {"kind": found.kind, "train": found.name, "test": test}
        task |= {name[2:].replace("-", "_"): value for name, value in pairs(found.options)}
        values = {"data": {"kind": "text", "tasks": {"goal": task}}, "target": "goal"}
        values |= {"paradigm": "single-task", "model": {"encoder": encoder}}
        Path("study.yaml").write_text(yaml.safe_dump(values, allow_unicode=True))
        outcome = attempt("train", "study.yaml", "--out", "run", "--device", "cpu")
        if outcome.started:
            assert "goal: " in outcome.err  # the first examples, as they were read
        shutil.rmtree("run", ignore_errors=True)
        for path in Path().glob("t*"):
            path.unlink()


def pairs(options):
    return [
        (name, int(value) if name == "--tag-column" else value)
        for name, value in zip(options[::2], options[1::2], strict=True)
    ]


def test_damaged_encoders(encoder, tmp_path):
    Path("a.txt").write_text("EU B-ORG\nrejects O\n")
    task = {"train": "a.txt", "test": "a.txt"}
    values = {"data": {"kind": "text", "tasks": {"goal": task}}, "target": "goal"}
    values |= {"paradigm": "single-task", "model": {"encoder": "copy"}}
    Path("study.yaml").write_text(yaml.safe_dump(values))
    for number in share(0.03):
        draw = drawn("encoder", number)
        shutil.rmtree("copy", ignore_errors=True)
        shutil.copytree(encoder, "copy")
        path = draw.choice(sorted(Path("copy").iterdir()))
        path.write_bytes(data_files.mutated(draw, path.read_bytes(), CONTENTS))
        folder = tmp_path / "copy"
        attempt("data", "inspect", "a.txt", "--encoder", "./copy", folder=folder)
        attempt("train", "study.yaml", "--out", "run", "--device", "cpu", folder=folder)
        shutil.rmtree("run", ignore_errors=True)


class Echo:
    """Stands in for a trained model: its answer to anything is that it was asked."""

    has_probabilities = True

    def __init__(self, kind):
        self.kind = kind

    def read(self, handle, *, path, form, typed):
        return read_unlabelled(
            lines_of(handle, path=path), path=path, kind=self.kind, form=form, fields={}
        )

    def answers(self, asked):
        return (types.SimpleNamespace(tsv=lambda *, probabilities: "x\n") for _ in asked)


def test_what_is_to_be_predicted(monkeypatch):
    for number in share(0.06):
        draw = drawn("predict", number)
        found = draw.choice([*data_files.FORMATS, data_files.Format("a.txt", b"One line.\nTwo!\n")])
        kind = draw.choice([found.kind, "tagging", "classification", "pair", "regression"])
        monkeypatch.setattr("tawt.cli.predicting.load_predictor", lambda *_, k=kind, **__: Echo(k))
        content = data_files.mutated(draw, found.content, CONTENTS)
        form = draw.choice([None, None, "text", "tokens", "columns", "conllu", "jsonl"])
        chosen = ["--format", form] if form else []
        Path(found.name).write_bytes(content)
        outcome = run_cli(["predict", "run", found.name, *chosen], seconds=SECONDS)
        outcome = types.SimpleNamespace(code=outcome.code, err=outcome.err, out="")
        assert broken_rule(outcome) is None, outcome.err[-3000:]
        before = listing(Path())
        outcome = attempt("predict", "run", "-", "--out", "answers.tsv", *chosen, stdin=content)
        if outcome.code == 0:
            Path("answers.tsv").unlink()
        assert listing(Path()) == before


def test_readers_never_take_time_quadratic_in_a_line():
    """Twice the length takes about twice the time; a line of a megabyte is no attack."""
    long = 1_000_000
    for name, content, kind in [
        ("a.txt", "w " * (long // 2) + "O\n", "tagging"),
        ("a.txt", "w O\n" * (long // 10), "tagging"),
        ("a.tsv", "w\t" * (long // 2) + "O\n", "tagging"),
        ("a.txt", "w" + " " * long + "O\n", "tagging"),
        ("a.txt", "#" + " " * long + "\nw O\n", "tagging"),
        ("a.txt", "# newdoc" + " " * long + "x\nw O\n", "tagging"),
        ("a.conllu", "# newdoc" + " " * long + "x\n" + data_files.CONLLU, "tagging"),
        ("a.conllu", data_files.CONLLU.replace("SpaceAfter=No", "|a=b" * (long // 4)), "tagging"),
        ("a.jsonl", json.dumps({"text": "[" * long, "label": "x"}) + "\n", "classification"),
        ("a.jsonl", "{" * long, "classification"),
        ("a.jsonl", '{"text": ' + "9" * long + "}", "classification"),
        ("a.jsonl", "{" + ",".join(f'"{n}": 1' for n in range(long // 20)) + "}", "classification"),
        ("a.jsonl", '{"a": 1' + ', "b": 1' * (long // 20) + "}", "classification"),
        ("a.csv", 'text,label\n"' + '""' * (long // 2) + '",x\n', "classification"),
        ("a.csv", 'text,label\n"' + "\n" * (long // 10) + '",x\n', "classification"),
        ("a.csv", ",".join(f"c{n}" for n in range(long // 50)) + "\n", "classification"),
        ("a.gold_conll", data_files.ONTONOTES.replace("(GPE*", "(" * long), "tagging"),
        ("a.gold_conll", "#begin document" + " " * long + "(x\n" + data_files.ONTONOTES, "tagging"),
    ]:
        Path(name).write_text(content)
        attempt("data", "inspect", name, "--kind", kind)


def test_refusals_are_errors_of_ours():
    """The rule is not kept by the command line alone."""
    for number in share(0.05):
        draw = drawn("library", number)
        found = draw.choice(data_files.FORMATS)
        path = Path(found.name)
        path.write_bytes(data_files.mutated(draw, found.content, CONTENTS))
        with contextlib.suppress(TawtError):
            assert list(read(path, kind=found.kind))
