"""What a run leaves in `model/` is anyone's: it loads, and says the same, where tawt is not."""

import json
import re
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from transformers import AutoModelForSequenceClassification

from tawt.runs.run import run
from tawt.text.decoding import best_tags
from tawt.text.encoding.loading import quietly
from tawt.text.reading import TagCounts, TaggedSentence, check_tags
from tests.text.encoders import write_encoder
from tests.text.studies import (
    ODD,
    TextStudy,
    grammar_study,
    tagging_study,
    text_study,
    two_targets_study,
)

ELSEWHERE = r"""
import json, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "tawt":
            raise ModuleNotFoundError("tawt is not to be had here")

sys.meta_path.insert(0, Blocked())
try:
    import tawt
except ModuleNotFoundError:
    pass
else:
    raise SystemExit("tawt can be imported")

import torch
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification
from transformers import AutoTokenizer, pipeline
from transformers.utils import logging

torch.set_num_threads(1)
logging.set_verbosity_error()
logging.disable_progress_bar()

def scored_tags(folder, sentences):
    model = AutoModelForTokenClassification.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    found = []
    for words in sentences:
        encoded = tokenizer(words, is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            scores = model(**encoded).logits[0].tolist()
        owners = encoded.word_ids()
        found.append([
            scores[owners.index(word)] if word in owners else None for word in range(len(words))
        ])
    return [list(model.config.id2label.values()), found]

def piped_tags(folder, sentences):
    tagger = pipeline("token-classification", folder, ignore_labels=[])
    found = []
    for words in sentences:
        text = " ".join(words)
        begins = [len(" ".join(words[:k])) + (k > 0) for k in range(len(words))]
        named = {each["start"]: each["entity"] for each in reversed(tagger(text))}
        # Byte-level pieces take in the blank before them.
        found.append([named.get(begin - 1, named.get(begin)) for begin in begins])
    return found

def labels(folder, texts):
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        found = [model(**tokenizer(*text, return_tensors="pt")).logits[0] for text in texts]
    if model.config.problem_type == "regression":
        return [each.item() for each in found]
    return [model.config.id2label[each.argmax().item()] for each in found]

def piped_labels(folder, texts):
    classifier = pipeline("text-classification", folder)
    given = [dict(zip(("text", "text_pair"), text)) for text in texts]
    found = [classifier(each) for each in given]
    found = [each[0] if isinstance(each, list) else each for each in found]
    if classifier.model.config.problem_type == "regression":
        return [each["score"] for each in found]
    return [each["label"] for each in found]

wanted = json.load(sys.stdin)
print(json.dumps({
    name: {
        "loaded": (scored_tags if level == "words" else labels)(folder, inputs),
        "piped": (piped_tags if level == "words" else piped_labels)(folder, inputs),
        "tawt": [name for name in sys.modules if name.partition(".")[0] == "tawt"],
    }
    for name, (folder, level, inputs) in wanted.items()
}))
"""


def rows_of(run_folder, task):
    """The lines of a task in predictions.test.tsv, split at tabs."""
    text = (run_folder / "predictions.test.tsv").read_text(encoding="utf-8")
    assert text.endswith("\n")
    lines = [line.split("\t") for line in text.removesuffix("\n").split("\n")]
    assert lines[0] == ["task", "example", "input", "gold", "predicted", "score"]
    assert {len(line) for line in lines} == {6}
    return [line for line in lines if line[0] == task]


def sentences_of(run_folder, task):
    """Words, gold and predicted tags of every sentence."""
    found = {}
    for _, number, word, gold, predicted, _ in rows_of(run_folder, task):
        for part, value in zip(
            found.setdefault(number, ([], [], [])), (word, gold, predicted), strict=True
        ):
            part.append(value)
    return list(found.values())


STUDIES = {
    "grammar": lambda folder, tiny: grammar_study(folder, tiny, paradigm="joint"),
    "mixed kinds": lambda folder, tiny: tagging_study(folder, tiny, paradigm="pre-training"),
    "byte-level": lambda folder, _: tagging_study(
        folder, write_encoder("modernbert", folder / "encoder"), paradigm="joint"
    ),
    "classification": lambda folder, tiny: text_study(folder, tiny, "classification"),
    "pair": lambda folder, tiny: text_study(folder, tiny, "pair"),
    "regression": lambda folder, tiny: text_study(folder, tiny, "regression"),
    "two targets": lambda folder, tiny: two_targets_study(folder, tiny, paradigm="joint"),
}
TAGGERS = {
    "grammar": ("grammar", "chunk", ""),
    "mixed kinds": ("mixed kinds", "chunks", ""),
    "byte-level": ("byte-level", "chunks", ""),
    "two targets, words": ("two targets", "chunks", "chunks"),
}
CLASSIFIERS = {
    "classification": ("classification", "goal", ""),
    "pair": ("pair", "goal", ""),
    "regression": ("regression", "goal", ""),
    "two targets, texts": ("two targets", "mood", "mood"),
}


@pytest.fixture(scope="module")
def runs(tiny, tmp_path_factory):
    """Every study, run; its folder and its record."""
    base = tmp_path_factory.mktemp("runs")
    found = {}
    for name, study_of in STUDIES.items():
        study = study_of(base / name.replace(" ", "-"), tiny)
        path = study.folder / "run"
        found[name] = (path, run(study.config, path))
    return found


@pytest.fixture(scope="module")
def elsewhere(runs):
    """What the models say in a process that cannot import tawt."""
    wanted = {}
    for name, (study, task, inside) in TAGGERS.items():
        path, _ = runs[study]
        sentences = [words for words, _, _ in sentences_of(path, task)[-20:]]
        wanted[name] = (str(path / "model" / inside), "words", sentences)
    for name, (study, task, inside) in CLASSIFIERS.items():
        path, _ = runs[study]
        texts = [row[2].split(" ||| ") for row in rows_of(path, task)]
        wanted[name] = (str(path / "model" / inside), "text", texts)
    done = subprocess.run(
        [sys.executable, "-I", "-c", ELSEWHERE],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def has_pieces(sentence):
    return not set(sentence[0]) & set(ODD[-1])


@pytest.mark.parametrize("name", TAGGERS)
def test_a_tagger_says_the_same_elsewhere(runs, elsewhere, name):
    study, task, _ = TAGGERS[name]
    path, _ = runs[study]
    sentences = sentences_of(path, task)[-20:]
    expected = [predicted for _, _, predicted in sentences]
    assert elsewhere[name]["tawt"] == []
    assert len({tag for tags in expected for tag in tags}) > 1  # it has learned to tell apart
    labels, found = elsewhere[name]["loaded"]
    for ours, scores, sentence in zip(expected, found, sentences, strict=True):
        if has_pieces(sentence) or study == "byte-level":
            best = best_tags(torch.tensor(scores), [len(scores)], tuple(labels))
            assert [labels[tag] for tag in best] == ours


def as_iob2(tags):
    sentence = TaggedSentence(("word",) * len(tags), tuple(tags), line=1)
    path, counts = Path("some.tsv"), TagCounts()
    return list(check_tags(sentence, path=path, invalid="repair", counts=counts).tags)


@pytest.mark.parametrize("name", TAGGERS)
def test_a_tagging_pipeline_says_the_same(runs, elsewhere, name):
    study, task, _ = TAGGERS[name]
    path, _ = runs[study]
    odd = {word for words in ODD for word in words}
    compared = 0
    sentences = sentences_of(path, task)[-20:]
    for sentence, theirs in zip(sentences, elsewhere[name]["piped"], strict=True):
        if not set(sentence[0]) & odd:  # the pipeline splits a text its own way
            if theirs == as_iob2(theirs):  # the pipeline asks each word by itself
                assert theirs == sentence[2]
            else:
                assert sentence[2] == as_iob2(sentence[2])
            compared += 1
    assert compared >= 10


@pytest.mark.parametrize("how", ["loaded", "piped"])
@pytest.mark.parametrize("name", ["classification", "pair", "two targets, texts"])
def test_a_classifier_says_the_same_elsewhere(runs, elsewhere, name, how):
    study, task, _ = CLASSIFIERS[name]
    path, _ = runs[study]
    assert elsewhere[name][how] == [row[4] for row in rows_of(path, task)]


@pytest.mark.parametrize("how", ["loaded", "piped"])
def test_a_regression_says_the_same_elsewhere(runs, elsewhere, how):
    path, _ = runs["regression"]
    expected = [float(row[4]) for row in rows_of(path, "goal")]
    assert elsewhere["regression"][how] == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_gold_numbers_are_written_as_they_are(runs):
    path, _ = runs["regression"]
    lines = (path.parent / "goal.test.jsonl").read_text().splitlines()
    assert [float(row[3]) for row in rows_of(path, "goal")] == [
        json.loads(line)["label"] for line in lines
    ]


def printed_by_card(model, folder, monkeypatch):
    """What the card's example prints, run as it stands."""
    card = (model / "README.md").read_text()
    (code,) = re.findall(r"^```python\n(.*?)^```$", card, re.MULTILINE | re.DOTALL)
    place = folder / "path" / "to" / "this"
    place.mkdir(parents=True)
    (place / "folder").symlink_to(model, target_is_directory=True)
    monkeypatch.chdir(folder)
    printed = []
    with quietly(), warnings.catch_warnings():
        # Of byte-level pieces the pipeline can only guess which begin a word.
        warnings.filterwarnings("ignore", "Tokenizer does not support real words", UserWarning)
        exec(compile(code, "README.md", "exec"), {"print": printed.append})
    (found,) = printed
    return code, found if isinstance(found, list) else [found]


@pytest.mark.parametrize("name", TAGGERS)
def test_the_example_of_a_taggers_card_finds_spans(runs, name, tmp_path, monkeypatch):
    study, _, inside = TAGGERS[name]
    model = runs[study][0] / "model" / inside
    code, found = printed_by_card(model, tmp_path, monkeypatch)
    assert 'aggregation_strategy="first"' in code
    types = {label[2:] for label in json.loads((model / "config.json").read_text())["label2id"]}
    assert found
    assert {each["entity_group"] for each in found} <= types


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_example_of_a_classifiers_card_runs(runs, name, tmp_path, monkeypatch):
    study, _, inside = CLASSIFIERS[name]
    model = runs[study][0] / "model" / inside
    code, (found,) = printed_by_card(model, tmp_path, monkeypatch)
    assert ("text_pair" in code) == (name == "pair")
    assert found["label"] in json.loads((model / "config.json").read_text())["label2id"]


def test_the_example_of_a_card_leaves_tags_of_words_apart(tiny, tmp_path, monkeypatch):
    study = TextStudy(tmp_path / "study", tiny, paradigm="single-task", target_epochs=1)
    nouns = [{"tokens": ["the", "council"], "tags": ["DT", "NN"]}] * 8
    study.task("pos", "tagging", train=nouns, test=nouns)
    run(study.config, tmp_path / "run")
    model = tmp_path / "run" / "model"
    code, found = printed_by_card(model, tmp_path, monkeypatch)
    assert "aggregation_strategy" not in code
    assert {each["entity"] for each in found} <= {"DT", "NN"}


# What is in the folder


@pytest.mark.parametrize("name", [*TAGGERS, *CLASSIFIERS])
def test_the_folder_has_all_that_is_needed(runs, name):
    study, task, inside = {**TAGGERS, **CLASSIFIERS}[name]
    path, record = runs[study]
    folder = path / "model" / inside
    config = json.loads((folder / "config.json").read_text())
    names = {file.name for file in folder.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "README.md"} <= names
    assert not {name for name in names if name.endswith((".bin", ".pkl", ".pt"))}
    for file in folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(
            (folder / "config.json").stat().st_mode
        )
    if study == "regression":
        assert config["id2label"] == {"0": "goal"}
    else:
        predicted = {row[4] for row in rows_of(path, task)}
        assert predicted <= set(config["id2label"].values())
        assert {str(v): k for k, v in config["label2id"].items()} == config["id2label"]
    card = (folder / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: transformers\n")
    level = "token-classification" if name in TAGGERS else "text-classification"
    assert f"pipeline_tag: {level}" in card
    metric = record["metric"][task]
    score = record["scores"][task]["test"][metric]
    assert f"| test | {metric} | {score:.4f} |" in card
    for source, share in record["weights"].items():
        assert f"| {source} | {share:.4f} |" in card


def test_several_targets_have_a_folder_each_and_nothing_else(runs):
    path, _ = runs["two targets"]
    assert sorted(each.name for each in (path / "model").iterdir()) == ["chunks", "mood"]
    assert not list(path.glob(".model*"))


def test_the_weights_of_other_tasks_are_not_in_it(runs):
    path, _ = runs["mixed kinds"]
    with safe_open(path / "model" / "model.safetensors", "pt") as file:
        names = set(file.keys())
        shape = file.get_slice("classifier.weight").get_shape()
    config = json.loads((path / "model" / "config.json").read_text())
    assert shape == [len(config["id2label"]), 16]
    assert not {name for name in names if "pooler" in name or "bodies" in name or "heads" in name}


def test_words_are_written_as_they_are(runs):
    for study in ("mixed kinds", "byte-level"):
        path, _ = runs[study]
        sentences = [tuple(words) for words, _, _ in sentences_of(path, "chunks")]
        assert sentences[-len(ODD) :] == ODD


def test_a_model_of_one_label_loads_too(tiny, tmp_path, monkeypatch):
    # A run refuses such a target, since there is nothing to learn; the model is valid all the same.
    monkeypatch.setattr("tawt.text.building.only_label", lambda examples: None)
    study = text_study(tmp_path / "study", tiny, "classification", target_epochs=1)
    alike = [{"text": "The film was fine.", "label": "good"}] * 4
    study.task("goal", "classification", train=alike, test=alike)
    run(study.config, tmp_path / "run")
    with quietly():
        loaded = AutoModelForSequenceClassification.from_pretrained(tmp_path / "run" / "model")
    assert loaded.config.id2label == {0: "good"}
