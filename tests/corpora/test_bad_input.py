"""Mistakes in a study of corpora: one line that says what is wrong and where, nothing written."""

import gzip
import json
import logging
import os

import pytest
import torch

from tawt.corpora.building import cache_folder
from tawt.corpora.windows import clustering
from tawt.errors import ConfigError
from tawt.runs.building import build_parts
from tawt.runs.run import run
from tests.corpora.files import sentences, write_lines, write_parquet, write_records
from tests.corpora.models import write_causal, write_masked
from tests.corpora.studies import CorpusStudy
from tests.corpora.tokenizers import write_tokenizer


@pytest.fixture
def study(tmp_path):
    return CorpusStudy(tmp_path / "study")


@pytest.fixture
def refused(call, listing, tmp_path):
    """What `tawt train` says of a study that it must not run; the same as `data inspect`."""

    def said(study, *, inspected=True):
        before = listing(study.folder)
        status, out, err = call("train", study.path, "--out", tmp_path / "run")
        assert (status, out) == (2, "")
        assert len(err.strip().splitlines()) == 1
        assert "Traceback" not in err
        assert not (tmp_path / "run").exists()
        assert listing(study.folder) == before
        left = [each.name for each in (tmp_path / "cache").glob(".*") if each.name != ".locks"]
        assert left == []
        assert err.startswith("error: ")
        if inspected:
            assert call("data", "inspect", study.path) == (2, "", err)
        return err.removeprefix("error: ").strip()

    return said


def place_of(study, *keys):
    """Where the YAML file says a thing: path and line."""
    lines = study.path.read_text().splitlines()
    number = 0
    for key in keys:
        number = next(n for n in range(number, len(lines)) if lines[n].strip().startswith(key)) + 1
    return f"{study.path}:{number}: "


def test_more_steps_than_passes_are_enough_for(study, refused):
    study.set("training.most_passes", 0.1)
    said = refused(study, inspected=False)
    assert "`steps` (24) of 8 examples need 192, but `most_passes` (0.1) over all" in said
    assert said.startswith(place_of(study, "training:", "most_passes:"))


# Files


BROKEN = {
    "empty": ("a.txt", b"", "a.txt is empty; expected text."),
    "blank": ("a.txt", b"\n \n\t\n", "a.txt has no text: all of its 3 documents are empty."),
    "no utf8": ("a.txt", b"fine\n\xff\n", "a.txt:2: byte 6 of the text is not utf-8; set `invalid"),
    "damaged gz": ("a.txt.gz", gzip.compress(b"x" * 99)[:-9], "a.txt.gz is damaged: "),
    "no json": ("a.jsonl", b'{"text": "a"}\nnone\n', "a.jsonl:2: expected a JSON object"),
    "no field": ("a.jsonl", b'{"txt": "a"}\n', "a.jsonl:1: there is no field 'text'; did you"),
    "no text": ("a.jsonl", b'{"text": 1}\n', "a.jsonl:1: the field 'text' must be text; got 1."),
    "no parquet": ("a.parquet", b"PAR1", "a.parquet cannot be read as Parquet: "),
    "packed": ("a.zip", b"PK", "a.zip is packed; unpack it"),
    "a table": ("a.csv", b"text\na\n", "corpora are not read from .csv files"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_read(study, refused, name):
    file, content, words = BROKEN[name]
    (study.folder / file).write_bytes(content)
    message = refused(study.set("data.corpora.near.train", file))
    assert "Corpus 'near': " in message
    assert words in message


def test_a_file_that_is_not_there_is_missed_before_anything_is_tokenised(study, refused, tmp_path):
    message = refused(study.set("data.corpora.goal.test", "nowhere.txt"))
    assert "Corpus 'goal': " in message
    assert "nowhere.txt" in message
    assert not (tmp_path / "cache").exists()


def test_a_folder_of_several_formats(study, refused):
    (study.folder / "mixed").mkdir()
    write_lines(study.folder / "mixed/a.txt", ["text"])
    write_records(study.folder / "mixed/b.jsonl", [{"text": "text"}])
    message = refused(study.set("data.corpora.near.train", "mixed"))
    assert "has files of several formats (jsonl, text); give a pattern" in message


def test_a_column_that_there_is_not(study, refused):
    write_parquet(study.folder / "a.parquet", body=["text"])
    message = refused(study.set("data.corpora.near.train", "a.parquet"))
    assert "a.parquet: there is no field 'text'; known: body" in message


def test_a_folder_that_cannot_be_looked_into(study, refused):
    folder = study.folder / "closed"
    folder.mkdir()
    os.mkfifo(folder / "pipe.txt")
    assert "pipe.txt" in refused(study.set("data.corpora.near.train", "closed"))


def test_bytes_that_are_replaced_are_counted_and_warned_of(study, tmp_path, caplog):
    (study.folder / "a.txt").write_bytes(b"\xff and \xff\n" * 20)
    study.set("data.corpora.near", {"train": "a.txt", "invalid": "replace"})
    record = run(study.config, tmp_path / "run")
    assert record["data"]["near"]["notes"]["replaced"] == 40
    assert "'near': bytes of train that could not be decoded became the sign U+FFFD: 40." in (
        caplog.text
    )


# Amounts


def test_a_corpus_of_one_window_works_and_is_warned_of(study, tmp_path, caplog, call):
    study.text("near", train=["tiny"])
    record = run(study.config, tmp_path / "run")
    assert record["data"]["near"]["train"]["examples"] == 1
    warning = "These corpora have a single window to train on: 'near'; lower `data.window`, or give"
    assert warning in caplog.text
    status, out, _ = call("data", "inspect", study.path)
    assert status == 0
    assert warning in " ".join(out.split())


@pytest.mark.parametrize("paradigm", ["sources only", "single-task", "joint"])
def test_a_target_shorter_than_a_window_works(study, tmp_path, caplog, paradigm):
    study.text("goal", train=["a cat"], dev=["the cat"], test=["the dog"])
    study.set("paradigm", paradigm).set("training.sampling", "size").set("training.steps", None)
    record = run(study.config, tmp_path / "run")
    assert record["scores"]["goal"]["test"]["bits_per_byte"] > 0
    assert "a single window to train on: 'goal' (the target); lower" in caplog.text


def test_held_out_text_of_one_window_is_warned_of(study, tmp_path, caplog, call):
    study.text("goal", train=sentences(40, seed=3), dev=sentences(40, seed=4), test=["tiny"])
    study.text("near", train=sentences(40, seed=1), test=["tiny"])  # of a source: nobody scores it
    record = run(study.config, tmp_path / "run")
    warning = "The test text of 'goal' is a single window (5 bytes): its score says little."
    assert record["warnings"] == [warning]
    assert warning in caplog.text
    status, out, _ = call("data", "inspect", study.path)
    assert status == 0
    assert " ".join(out.split()).count("is a single window") == 1


def test_corpora_of_one_window_are_warned_of_in_one_line(study, caplog):
    study.text("far", train=sentences(120, seed=2)).set("data.window", 2000)
    build_parts(study.config)
    said, *_ = [each.getMessage() for each in caplog.records if "window" in each.getMessage()]
    assert said == (
        "These corpora have a single window to train on: 'near', 'goal' (the target); lower "
        "`data.window`, or give them more text."
    )


@pytest.mark.parametrize("objective", ["causal", "masked"])
def test_a_window_longer_than_every_corpus(study, refused, objective):
    study.set("model.objective", objective)
    size = max((study.folder / f"{name}.train.txt").stat().st_size for name in ("near", "far"))
    study.set("data.window", 100_000)
    said = refused(study)
    assert said.startswith(place_of(study, "data:", "window:"))
    assert "`data.window` (100,000) is more than any corpus has to train on" in said
    assert f"has {size:,} tokens. Lower `data.window`, or give more text." in said
    study.set("data.window", size + 1)
    assert "more than any corpus" in refused(study)
    study.set("data.window", size)
    assert len(build_parts(study.config).tasks) == 3


@pytest.mark.parametrize("objective", ["causal", "masked"])
def test_text_that_sources_share_with_held_out_text_is_counted_and_named(
    study, caplog, call, objective
):
    test = (study.folder / "goal.test.txt").read_text().splitlines()
    study.set("model.objective", objective)
    study.text("near", train=[*sentences(40, seed=1), *test[:3]])
    build_parts(study.config)
    shares = "3 of test (20.0%): scores on those are not scores on unseen text."
    wanted = f"'near' trains on documents of the target 'goal' that are held out, {shares}"
    assert wanted in caplog.text
    assert "'far' trains on" not in caplog.text
    status, out, _ = call("data", "inspect", study.path)
    assert status == 0
    assert "held" in out or "test" in out


def test_text_that_sources_share_with_held_out_text_is_in_the_record_and_on_the_page(
    study, tmp_path
):
    test = (study.folder / "goal.test.txt").read_text().splitlines()
    study.text("near", train=[*sentences(40, seed=1), *test[:3]])
    record = run(study.config, tmp_path / "run")
    [said] = record["warnings"]
    assert said.startswith("'near' trains on documents of the target 'goal' that are held out, 3")
    page = (tmp_path / "run" / "report.html").read_text()
    assert "trains on documents of the target" in page


def test_copies_with_other_white_space_and_case_are_noticed(study, caplog):
    test = (study.folder / "goal.test.txt").read_text().splitlines()
    copies = [f"{test[0]}  ", test[1].replace(" ", "  "), f"\t{test[2].upper()}"]
    study.text("near", train=[*sentences(40, seed=1), *copies])
    build_parts(study.config)
    assert "'near' trains on documents of the target 'goal' that are held out, 3 of test" in (
        caplog.text
    )


def long_lines(count, *, seed):
    """Such as are not alike by chance."""
    found = sentences(6 * count, seed=seed)
    return [" ".join(found[6 * k : 6 * k + 6]) for k in range(count)]


def test_lines_of_longer_documents_are_noticed(study, caplog):
    test = long_lines(12, seed=7)
    study.text("goal", train=sentences(40, seed=3), test=test)
    book = "\n".join([*long_lines(20, seed=1), *test[:3], *long_lines(20, seed=2)])
    path = study.folder / "near.jsonl"
    path.write_text(json.dumps({"text": book}) + "\n")
    study.set("data.corpora.near", {"train": str(path)})
    build_parts(study.config)
    assert "'near' trains on documents of the target 'goal' that are held out, 3 of test" in (
        caplog.text
    )


def test_documents_of_which_only_lines_are_shared_are_noticed(study, caplog):
    test = long_lines(12, seed=7)
    path = study.folder / "goal.test.jsonl"
    halves = ("\n".join(part) for part in (test[:8], test[8:]))
    path.write_text("".join(json.dumps({"text": half}) + "\n" for half in halves))
    study.set("data.corpora.goal.test", str(path))
    study.text("near", train=[*sentences(40, seed=1), *test[:3]])
    build_parts(study.config)
    assert (
        "'near' trains on lines of the target 'goal' that are held out, 3 of the lines of test "
        "(25.0%)" in caplog.text
    )


def test_a_target_that_trains_on_its_own_test_text_is_warned_of(study, caplog):
    test = (study.folder / "goal.test.txt").read_text().splitlines()
    study.text("goal", train=test[:4], dev=sentences(9, seed=4), test=test)
    build_parts(study.config)
    assert "'goal' trains on documents of the target 'goal' that are held out, 4 of test" in (
        caplog.text
    )


def test_text_cut_off_by_held_out_is_in_one_split_alone(study, caplog):
    texts = sentences(80, seed=7)
    study.text("goal", train=texts)
    study.set("data.corpora.goal.held_out", {"dev": 0.2, "test": 0.2})
    with caplog.at_level(logging.WARNING):
        build_parts(study.config)
    assert caplog.text == ""


def test_a_fraction_that_leaves_nothing(study, refused):
    study.set("data.corpora.goal", {"train": "goal.train.txt", "held_out": {"dev": 1e-9}})
    assert "`held_out` leaves none of them for dev; give more text" in refused(study)


# The section


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        (
            "data.corpora.near.felid",
            "x",
            "there is no field `data.corpora.near.felid`; did you mean",
        ),
        ("data.windw", 3, "there is no field `data.windw`; did you mean"),
        ("data.window", 1, "`data.window`"),
        ("data.corpora.near.train", [], "`train` names no files; give at least one."),
        ("data.corpora.near.held_out", {"dev": 1.5}, "a fraction of the documents, between 0 and"),
        ("data.corpora.goal.held_out", {"dev": 0.5}, "leave out one."),
        ("data.corpora.near.encoding", "utf-9", "utf-9"),
        ("data.corpora.near.limit", 0, "`data.corpora.near.limit`"),
        ("data.corpora", {}, "`data.corpora` is empty; name at least one corpus."),
        ("model.heads", 3, "`model.heads` must divide `model.width` (16); got 3."),
        ("model.layer", 3, "did you mean"),
        ("model.lora", {"rank": 2}, "`model.lora` adds to a model that has learned something"),
        ("model.objective", "clausal", "`model.objective`"),
        ("sources", ["nera"], "There is no task 'nera' in the data"),
    ],
)
def test_a_field_that_is_wrong(study, refused, name, value, words):
    message = refused(study.set(name, value))
    assert words in message
    assert message.startswith(f"{study.path}:")


def test_a_group_of_plain_text(study, refused):
    message = refused(study.set("data.corpora.near.group", "g"))
    assert message.startswith("Corpus 'near': `group: g` names a field, and plain text has none")


def test_a_size_beside_a_checkpoint(study, refused, tmp_path):
    study.set("model", {"checkpoint": str(write_causal(tmp_path / "model")), "layers": 3})
    assert "`model.layers` is the size of a small model from nothing" in refused(study)


def test_a_target_with_nothing_to_be_measured_on(study, refused):
    study.text("goal", train=sentences(9))
    assert "neither dev nor test" in refused(study, inspected=False)


# Tokenizers and models


@pytest.fixture
def beside(tmp_path):
    """A folder that is not the study's."""
    return tmp_path / "models"


def test_a_tokenizer_without_a_mask_for_a_masked_model(study, refused, beside):
    place = write_tokenizer(beside, specials=("<end>",), eos_token="<end>")
    study.set("model.objective", "masked").set("data.tokenizer", str(place))
    message = refused(study)
    assert "needs a tokenizer with a mask token" in message
    assert message.startswith(place_of(study, "data:", "tokenizer:"))


def test_a_vocabulary_larger_than_the_models(study, refused, beside):
    place = write_causal(beside, tokens=100)
    study.set("model", {"checkpoint": str(place)})
    assert "The tokenizer has 260 tokens, and the language model" in refused(study, inspected=False)
    study.set("data.tokenizer", "bytes")
    message = refused(study, inspected=False)
    assert message.startswith(place_of(study, "data:", "tokenizer:"))


@pytest.mark.parametrize("field", ["checkpoint", "config"])
def test_a_window_longer_than_the_model_sees(study, refused, beside, tmp_path, field):
    study.set("model", {field: str(write_causal(beside, positions=16))})
    message = refused(study)
    assert "`data.window` is 24, and the language model" in message
    assert message.startswith(place_of(study, "data:", "window:"))
    assert not (tmp_path / "cache").exists()  # nothing was tokenised for it


@pytest.mark.parametrize(
    ("objective", "write", "other"),
    [("causal", write_masked, "masked"), ("masked", write_causal, "causal")],
)
def test_a_model_of_another_objective(study, refused, beside, objective, write, other):
    study.set("model", {"checkpoint": str(write(beside)), "objective": objective})
    message = refused(study, inspected=False)
    assert f"is no {objective} language model; set `model.objective` to {other}" in message


def test_a_model_that_is_a_pickle(study, refused, beside):
    place = write_causal(beside)
    (place / "model.safetensors").unlink()
    torch.save({"transformer.wte.weight": torch.zeros(2)}, place / "pytorch_model.bin")
    message = refused(study.set("model", {"checkpoint": str(place)}), inspected=False)
    assert "There is no language model" in message


def test_a_model_with_half_its_parameters(study, refused, beside):
    place = write_causal(beside, layers=1)
    about = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps({**about, "n_layer": 2}))
    message = refused(study.set("model", {"checkpoint": str(place)}), inspected=False)
    assert "its model.safetensors has no parameters for transformer.h.1" in message


def test_code_that_a_model_brings_is_not_run(study, refused, beside, tmp_path):
    place = write_causal(beside)
    about = json.loads((place / "config.json").read_text())
    about |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Evil"}}
    (place / "config.json").write_text(json.dumps(about))
    mark = tmp_path / "ran"
    (place / "evil.py").write_text(f"open({str(mark)!r}, 'w').close()\nclass Evil: ...\n")
    refused(study.set("model", {"checkpoint": str(place)}).set("data.tokenizer", "bytes"))
    assert not mark.exists()


@pytest.mark.parametrize("name", ["./nowhere", "package:no-such-package"])
@pytest.mark.parametrize("field", ["model.checkpoint", "model.config", "data.tokenizer"])
def test_a_model_or_a_tokenizer_that_is_not_there(study, refused, name, field):
    if field.startswith("model"):
        study.set("model", {})
    message = refused(study.set(field, name))
    assert "There is no " in message
    assert message.startswith(place_of(study, *(f"{key}:" for key in field.split("."))))


# Weights


def test_groups_need_a_field(study, refused):
    study.set("weighting", {"unit": "group", "group": {"by": "column"}})
    message = refused(study, inspected=False)
    assert "does not say which group each example is in" in message
    assert "give it a field that names them (`group: NAME`)" in message


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("label", "are no names, so they make no groups; group it by column"),
        ("length", "are all of one length"),
    ],
)
def test_windows_have_neither_labels_nor_lengths(study, refused, by, words):
    study.set("weighting", {"unit": "group", "group": {"by": by}})
    message = refused(study, inspected=False)
    assert words in message
    assert message.startswith(place_of(study, "weighting:", "group:", "by:"))


def test_there_are_no_more_clusters_than_windows_are_looked_at(study, refused, monkeypatch):
    monkeypatch.setattr(clustering, "_SAMPLE", 3)
    study.set("weighting", {"unit": "group", "group": {"by": "cluster", "count": 4}})
    message = refused(study, inspected=False)
    assert "there can be no more; got 4. Lower `weighting.group.count`" in message
    assert message.startswith(place_of(study, "weighting:", "group:", "count:"))


def test_a_paradigm_for_models_that_targets_share_is_theirs_alone(study):
    assert study.config.paradigm == "sources only"


def test_where_tokenised_text_is_kept_by_default(study, monkeypatch, tmp_path):
    del study.values["data"]["cache"]
    data = study.write().config.data
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert cache_folder(data) == tmp_path / "home/tawt/corpora"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder(data) == tmp_path / ".cache/tawt/corpora"


def test_errors_are_of_the_configuration_where_it_is_at_fault(study):
    study.set("model.heads", 3)
    with pytest.raises(ConfigError):
        _ = study.config


def test_distances_are_refused_in_a_line(study, call, tmp_path):
    status, out, err = call("distance", study.path, "--out", tmp_path / "distances")
    assert (status, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert "'goal' has none" in err
    assert "tawt mix" in err
    assert not (tmp_path / "distances").exists()
