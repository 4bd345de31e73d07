"""`tawt data inspect`: what it counts, what it warns of, what it shows."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tawt.config import load
from tawt.errors import DataError
from tawt.modality.inspecting import shared
from tawt.runs.inspecting import inspect_config
from tawt.text.encoding import load_tokenizer
from tawt.text.inspecting import inspect_file
from tests.text.trained import tiny_encoder


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def columns(name, sentences):
    """A column file from lists of word/tag."""
    lines = [" ".join(item.rsplit("/", 1)) for s in sentences for item in [*s.split(), "/"]]
    Path(name).write_text("\n".join("" if line == " " else line for line in lines) + "\n")


NER = {
    "train": ["EU/B-ORG rejects/O it/O", "EU/B-ORG rejects/O it/O", "Ann/I-PER came/O"],
    "dev": ["Bob/B-PER left/O", "EU/O rejects/O it/O"],
    "test": ["Oslo/B-LOC won/O", "Ann/B-PER came/O", "Bob/B-PER left/O", "We/O saw/O it/O all/O"],
}
POS = {"train": ["We/P saw/V it/P all/D", "We/P saw/V it/P all/D", "Oslo/N won/V", "New/J words/N"]}


@pytest.fixture
def config(encoder):
    for task, splits in (("ner", NER), ("pos", POS)):
        for split, sentences in splits.items():
            columns(f"{task}.{split}.txt", sentences)
    values = {
        "data": {
            "kind": "text",
            "tasks": {
                "pos": {"train": "pos.train.txt"},
                "ner": {split: f"ner.{split}.txt" for split in NER},
            },
        },
        "target": "ner",
        "model": {"encoder": str(encoder), "max_length": 8},
    }
    Path("study.yaml").write_text(yaml.safe_dump(values))
    return Path("study.yaml")


def test_sizes_labels_and_lengths(config):
    facts = inspect_config(load(config))
    assert [(task.name, task.role, task.kind) for task in facts.tasks] == [
        ("ner", "target", "tagging"),
        ("pos", "source", "tagging"),
    ]
    train = facts.tasks[0].splits["train"]
    assert (train.examples, train.words) == (3, 8)
    assert (train.lengths.mean, train.lengths.median, train.lengths.longest) == (2.67, 3, 3)
    assert [(x.label, x.count, x.share) for x in train.labels] == [
        ("O", 5, 5 / 8),
        ("B-ORG", 2, 2 / 8),
        ("B-PER", 1, 1 / 8),
    ]
    assert facts.tasks[0].repaired == 1  # I-PER at the start


def test_what_is_there_twice(config):
    ner, pos = inspect_config(load(config)).tasks
    assert (ner.splits["train"].repeated, pos.splits["train"].repeated) == (1, 1)
    assert ner.splits["train"].also_in == {}
    assert ner.splits["dev"].also_in == {"train": 1}
    assert ner.splits["test"].also_in == {"train": 1, "dev": 1}


def test_labels_that_training_never_shows(config):
    test = inspect_config(load(config)).tasks[0].splits["test"]
    assert [(x.label, x.count) for x in test.unseen_labels] == [("B-LOC", 1)]


def test_what_tasks_share(config):
    found = {
        (x.train_of, x.task, x.split): (x.of_train, x.of_split, x.share)
        for x in inspect_config(load(config)).overlaps
    }
    assert found == {
        ("pos", "ner", "train"): (0, 0, 0),
        ("pos", "ner", "dev"): (0, 0, 0),
        ("pos", "ner", "test"): (3, 2, 0.5),  # one of them twice in training
        ("ner", "pos", "train"): (0, 0, 0),
    }


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
def test_shared_examples_are_those_that_are_in_both(one, other):
    wanted = sum(number in other for number in one)
    assert shared(np.array(one, np.uint64), np.array(other, np.uint64)) == wanted


def test_warnings(config):
    leak, *others = inspect_config(load(config)).warnings
    for word in ("'pos'", "'ner'", "2 test (50.0%)"):
        assert word in leak
    assert any("B-LOC" in warning for warning in others)
    assert any("repaired" in warning for warning in others)
    assert any("of dev, 1 (50.0%) are in train" in warning for warning in others)
    assert not any("'pos'" in warning for warning in others)


def test_pieces_are_those_of_the_tokenizer(config, encoder):
    tokenizer = load_tokenizer(str(encoder))
    words = [[item.rsplit("/", 1)[0] for item in sentence.split()] for sentence in NER["test"]]
    lengths = [len(ids) for ids in tokenizer(words, is_split_into_words=True)["input_ids"]]
    pieces = inspect_config(load(config)).tasks[0].splits["test"].pieces
    assert pieces.max_length == 8
    assert pieces.lengths.longest == max(lengths)
    assert pieces.lengths.mean == pytest.approx(np.mean(lengths), abs=0.01)
    assert pieces.too_long == sum(length > 8 for length in lengths)


def test_what_truncation_cuts_and_what_windows_make(encoder):
    long_one = " ".join(["the/D"] * 20)
    columns("a.txt", [long_one, "the/D the/D"])
    facts = inspect_file(Path("a.txt"), encoder=str(encoder), max_length=10)
    pieces = facts.tasks[0].splits["all"].pieces
    assert len(load_tokenizer(str(encoder)).tokenize("the")) == 1
    assert (pieces.too_long, pieces.too_long_share) == (1, 0.5)
    assert (pieces.cut_words, pieces.cut_words_share) == (12, 12 / 22)  # 8 of 20 have room
    assert pieces.rows == 1 + 3  # windows of 8 that share 2: at 0, 6 and 12


def test_an_encoder_that_cannot_be_had_is_no_reason_to_stop(config):
    values = yaml.safe_load(config.read_text())
    values["model"]["encoder"] = "./none"
    config.write_text(yaml.safe_dump(values))
    facts = inspect_config(load(config))
    assert facts.warnings[0].startswith("Pieces are not counted: There is no encoder")
    assert facts.tasks[0].splits["train"].pieces is None


def test_texts_and_numbers(encoder):
    lines = [("Good fun .", 1.0), ("Bad", 3.0), ("Good  fun .", 2.0)]
    Path("a.jsonl").write_text(
        "".join(json.dumps({"text": t, "label": n}) + "\n" for t, n in lines)
    )
    split = inspect_file(Path("a.jsonl"), kind="regression", encoder=str(encoder)).tasks[0].splits
    numbers = split["all"].numbers
    assert (numbers.mean, numbers.smallest, numbers.largest) == (2, 1, 3)
    assert numbers.deviation == pytest.approx((2 / 3) ** 0.5)
    assert split["all"].labels == ()
    assert split["all"].repeated == 1  # blanks count as one
    assert (split["all"].pieces.cut_words, split["all"].pieces.rows) == (None, None)
    split = inspect_file(Path("a.jsonl"), kind="classification").tasks[0].splits
    assert {x.label for x in split["all"].labels} == {"1", "2", "3"}


def test_a_sentence_and_the_same_text_are_the_same(encoder):
    columns("pos.txt", ["Good/J fun/N ./."])
    for split in ("train", "test"):
        Path(f"{split}.jsonl").write_text('{"text": "Good fun .", "label": "pos"}\n')
    values = {
        "data": {
            "kind": "text",
            "tasks": {
                "pos": {"train": "pos.txt"},
                "mood": {"kind": "classification", "train": "train.jsonl", "test": "test.jsonl"},
            },
        },
        "target": "mood",
        "model": {"encoder": str(encoder)},
    }
    Path("study.yaml").write_text(yaml.safe_dump(values))
    found = {
        (x.task, x.split): x.of_split for x in inspect_config(load(Path("study.yaml"))).overlaps
    }
    assert found == {("mood", "train"): 1, ("mood", "test"): 1, ("pos", "train"): 1}


def test_a_folder_has_its_splits():
    for split, sentences in NER.items():
        columns(f"ner.{split}.txt", sentences)
    (task,) = inspect_file(Path()).tasks
    assert list(task.splits) == ["train", "dev", "test"]
    assert task.role == "file"


def test_arrays_have_sizes_labels_and_repetitions(study):
    study.save("far.train", **dict(np.load(study.folder / "goal.test.npz")))
    facts = inspect_config(load(study.path))
    goal = facts.tasks[0]
    assert (goal.name, goal.kind, goal.role) == ("goal", "classification", "target")
    assert {split: found.examples for split, found in goal.splits.items()} == {
        "train": 20,
        "dev": 15,
        "test": 25,
    }
    assert sum(x.count for x in goal.splits["test"].labels) == 25
    # Nothing of what only text or corpora have.
    assert asdict(goal.splits["test"]).keys() == {
        *("examples", "labels", "numbers", "unseen_labels", "repeated", "also_in")
    }
    assert "25 test (100.0%)" in facts.warnings[0]
    study.save("goal.train", inputs=np.eye(4)[[0, 1, 0]], labels=np.array([0.5, 1.5, 2.5]))
    study.set("data.tasks.goal", {"train": "goal.train.npz", "kind": "regression"})
    split = inspect_config(load(study.path)).tasks[0].splits["train"]
    assert (split.numbers.mean, split.repeated, split.labels) == (1.5, 1, ())


# The command


def test_arrays_have_no_words(call, study, config):
    assert call("data", "inspect", config)[1].count("lengths in words") == 1
    assert "lengths in words" not in call("data", "inspect", study.path)[1]


def test_json_is_all_of_it(call, config):
    status, out, err = call("data", "inspect", config, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert set(found) == {"tasks", "overlaps", "warnings"}
    assert found["tasks"][0]["splits"]["test"]["also_in"] == {"train": 1, "dev": 1}
    assert found["tasks"][0]["splits"]["train"]["pieces"]["max_length"] == 8


def test_tables(call, config):
    status, out, err = call("data", "inspect", config)
    assert (status, err) == (0, "")
    assert all(len(line) <= 80 for line in out.split("warning")[0].splitlines() if "─" in line)
    assert re.search(r"ner +train +3 +8 +2\.7 +3 +3 +3 +1", out)
    assert re.search(r"B-ORG +2 +25\.0% +0 +0\.0% +0 +0\.0%", out)
    assert re.search(r"pos +2 +50\.0%", out)
    assert "warning: 'pos' trains on" in out
    assert call("data", "inspect", config, "--quiet") == (0, "", "")


def test_rare_labels_are_summed(call):
    columns("a.txt", [" ".join(f"w/T{n:02}" for n in range(1, 16) for _ in range(n))])
    status, out, _ = call("data", "inspect", "a.txt")
    assert status == 0
    assert re.search(r"T15 +15 +12\.5%", out)
    assert re.search(r"5 more +15 +12\.5%", out)
    assert "T05" not in out.partition("Labels of")[2]


def test_options_of_a_file(call, encoder):
    Path("a.csv").write_text("review;stars\nGood fun;x\nBad;y\n")
    options = ["--kind", "classification", "--separator", ";", "--field", "text=review"]
    options += ["--field", "label=stars", "--encoder", encoder, "--max-length", 9]
    status, out, err = call("data", "inspect", "a.csv", *options, "--json")
    assert (status, err) == (0, "")
    split = json.loads(out)["tasks"][0]["splits"]["all"]
    assert (split["words"], split["pieces"]["max_length"]) == (3, 9)
    columns("b.txt", ["EU/B-ORG"])
    status, out, _ = call("data", "inspect", "b.txt", "--word-column", 1, "--tag-column", 0)
    assert status == 0
    assert re.search(r"EU +1 +100\.0%", out)


def test_names_that_look_like_markup_are_shown_as_they_are(call):
    columns("[red]a[-red].txt", ["EU/[bold]x[-bold]"])
    status, out, _ = call("data", "inspect", "[red]a[-red].txt")
    assert status == 0
    assert "[red]a[-red]" in out
    assert "[bold]x[-bold]" in out


def test_help(call):
    assert "inspect" in call("data", "--help")[1]
    status, out, err = call("data", "inspect", "--help")
    assert (status, err) == (0, "")
    for option in ("--json", "--kind", "--encoder", "--override"):
        assert option in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.yaml"], ["none.yaml", "no such file"]),
        (["none.txt"], ["none.txt", "no such file"]),
        (["study.yaml", "--kind", "pair"], ["--kind", "configuration"]),
        (["study.yaml", "--word-column", "0"], ["--word-column"]),
        (["study.yaml", "-o", "target=nre"], ["nre", "ner"]),
        (["ner.dev.txt", "-o", "seed=1"], ["-o", "ner.dev.txt"]),
        (["ner.dev.txt", "--field", "text"], ["--field", "'text'"]),
        (["ner.dev.txt", "--field", "txt=a"], ["txt", "text"]),
        (["ner.dev.txt", "--encoder", "./none"], ["./none"]),
        (["ner.dev.txt", "--kind", "classification"], ["ner.dev.txt"]),
        (["bad.txt"], ["bad.txt:2"]),
        (["goal.npz"], ["goal.npz", "give the configuration"]),
    ],
)
@pytest.mark.usefixtures("config")
def test_a_mistake_is_one_line(call, arguments, words):
    Path("bad.txt").write_text("EU B-ORG\nrejects\n")
    status, out, err = call("data", "inspect", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err, err


def test_a_task_that_cannot_be_read_is_named(config):
    Path("pos.train.txt").write_text("one\n")
    with pytest.raises(DataError, match=r"'pos'.*pos\.train\.txt:1"):
        inspect_config(load(config))


@pytest.mark.parametrize("digest", [0, 7, 2**63 - 1, 2**63, 2**64 - 1])
def test_examples_are_shared_whatever_their_digest(digest):
    same, other = np.array([digest] * 2, np.uint64), np.array([12345], np.uint64)
    assert shared(same, same[:1]) == 2
    assert shared(same, other) == 0
    assert shared(np.concatenate([other, same]), same[:1]) == 2
