"""Where the data is: our layouts, one's own, and one clear line for every mistake."""

import pytest

from tawt.errors import ConfigError, DataError, TawtError
from tawt.reproduce.layout import (
    check_held_out,
    check_metrics,
    layouts,
    load_layout,
    placed,
    training_sizes,
)
from tawt.reproduce.paper import TASKS
from tawt.text.building import read_task
from tawt.text.sections import TextTask
from tests.reproduce.made_up import metric

DOCUMENT = """#begin document (bc/cnn/{name}); part 000
bc/cnn/{name} 0 0 Ann NNP (S* - - - - (PERSON) -
bc/cnn/{name} 0 1 visited VBD * visit 01 1 - * -
bc/cnn/{name} 0 2 New NNP * - - - - (GPE* -
bc/cnn/{name} 0 3 York NNP *) - - - - *) -

bc/cnn/{name} 0 0 It PRP * - - - - * -
bc/cnn/{name} 0 1 rained VBD * rain 01 1 - * -

#end document
"""
CHUNKED = "Ann NNP B-NP\nslept VBD B-VP\n. . O\n\n"


def read(fields):
    return read_task(TextTask.model_validate(fields))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def ontonotes(tmp_path):
    """Two training files in folders of different depth, one each of the others."""
    for place in ("train/bc/cnn/00/a", "train/nw/b", "development/bc/c", "test/bc/d"):
        path = tmp_path / "ontonotes" / f"{place}.v4_gold_conll"
        write(path, DOCUMENT.format(name=path.name[0]))
        write(path.with_suffix(".v4_auto_conll"), "not to be read")
    write(tmp_path / "conll2000" / "train.txt", CHUNKED * 20)
    write(tmp_path / "conll2000" / "test.txt", CHUNKED * 3)
    return tmp_path


@pytest.fixture
def layout(tmp_path):
    def made(text):
        path = tmp_path / "layout.yaml"
        path.write_text(text)
        return load_layout(str(path))

    return made


# Ours


def test_there_are_two():
    assert layouts() == ["ontonotes", "open"]


@pytest.mark.parametrize("name", ["ontonotes", "open"])
def test_ours_have_the_papers_tasks_and_metrics(name):
    found = load_layout(name)
    assert tuple(found.tasks) == TASKS
    assert {task: fields.metric for task, fields in found.tasks.items()} == {
        task: metric(task) for task in TASKS
    }


def test_the_open_layout_finds_its_files(tmp_path):
    for task in ("ewt/pos", "conll2000/chunk", "ewt/predicate", "ewt/ner"):
        for split, count in (("train", 5), ("dev", 2), ("test", 3)):
            write(tmp_path / f"{task}.{split}.tsv", "word\tO\n\n" * count)
    found = placed(load_layout("open"), tmp_path)
    assert training_sizes(found) == dict.fromkeys(TASKS, 5)
    check_held_out(found, TASKS)
    assert found["chunking"]["dev"] == str(tmp_path / "conll2000" / "chunk.dev.tsv")
    splits = read(found["ner"])
    assert (len(splits.train), len(splits.dev), len(splits.test)) == (5, 2, 3)


def test_ontonotes_as_it_comes(ontonotes):
    found = placed(load_layout("ontonotes"), ontonotes)
    assert training_sizes(found) == {"pos": 4, "chunking": 18, "predicate": 4, "ner": 4}
    check_held_out(found, TASKS)
    tags = {task: read(found[task]).train[0].tags for task in TASKS}
    assert tags == {
        "pos": ("NNP", "VBD", "NNP", "NNP"),
        "chunking": ("B-NP", "B-VP", "O"),
        "predicate": ("O", "B-V", "O", "O"),
        "ner": ("B-PERSON", "O", "B-GPE", "I-GPE"),
    }
    for task in ("pos", "predicate", "ner"):
        splits = read(found[task])
        assert (len(splits.train), len(splits.dev), len(splits.test)) == (4, 2, 2)
        assert splits.train[0].words == ("Ann", "visited", "New", "York")
    chunks = read(found["chunking"])
    assert (len(chunks.train), len(chunks.dev), len(chunks.test)) == (18, 2, 3)


# One's own


def test_patterns_take_files_in_order(tmp_path, layout):
    for name in ("b", "a", "c"):
        write(tmp_path / "data" / name / "x.tsv", f"{name}\tX\n\n")
    found = placed(
        layout("about: mine\ntasks: {pos: {train: '*/x.tsv', dev: [c/x.tsv, a/x.tsv]}}"),
        tmp_path / "data",
    )
    folder = tmp_path / "data"
    assert found["pos"]["train"] == [str(folder / name / "x.tsv") for name in "abc"]
    assert found["pos"]["dev"] == [str(folder / name / "x.tsv") for name in "ca"]
    assert [each.words for each in read(found["pos"]).train] == [("a",), ("b",), ("c",)]


def test_a_folder_of_splits(tmp_path, layout):
    for split in ("train", "dev", "test"):
        write(tmp_path / "data" / "pos" / f"{split}.tsv", "word\tX\n\n")
    found = placed(layout("about: mine\ntasks: {pos: {folder: pos}}"), tmp_path / "data")
    assert found["pos"]["folder"] == str(tmp_path / "data" / "pos")
    assert training_sizes(found) == {"pos": 1}
    check_held_out(found, ["pos"])


def test_a_dataset_of_the_hub_is_no_folder(tmp_path, layout):
    found = placed(layout("about: mine\ntasks: {pos: {folder: 'hub:some/name'}}"), tmp_path)
    assert found["pos"]["folder"] == "hub:some/name"


def test_a_task_without_a_metric_has_the_papers(tmp_path, layout):
    write(tmp_path / "a.tsv", "word\tX\n\n")
    text = "about: mine\ntasks: {predicate: {train: a.tsv}, ner: {train: a.tsv, metric: accuracy}}"
    found = placed(layout(text), tmp_path)
    assert found["predicate"]["metric"] == "token_f1"
    assert found["ner"]["metric"] == "accuracy"


def test_what_the_data_is_becomes_one_line(layout):
    assert layout("about: |\n  My corpus,\n\n  second part\ntasks: {}").about == (
        "My corpus, second part"
    )


def test_held_out_shares_count_as_dev_and_test(tmp_path, layout):
    write(tmp_path / "a.tsv", "word\tX\n\n" * 20)
    text = "about: mine\ntasks: {pos: {train: a.tsv, held_out: {dev: 0.1, test: 0.2}}}"
    found = placed(layout(text), tmp_path)
    check_held_out(found, ["pos"])
    assert training_sizes(found) == {"pos": 14}


# Mistakes


@pytest.mark.parametrize("missing", ["dev", "test"])
def test_a_target_needs_dev_and_test(tmp_path, layout, missing):
    write(tmp_path / "a.tsv", "word\tX\n\n")
    given = {"dev": "test", "test": "dev"}[missing]
    found = placed(
        layout(f"about: mine\ntasks: {{pos: {{train: a.tsv, {given}: a.tsv}}}}"), tmp_path
    )
    with pytest.raises(ConfigError, match=f"'pos' has no {missing} examples"):
        check_held_out(found, ["pos"])
    check_held_out(found, [])  # a source needs neither


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("about: [", r"layout.yaml:1 is not YAML"),
        ("- a\n- b", "must hold `key: value` lines"),
        ("tasks: {}", "layout.yaml: `about` is missing"),
        ("about: ''\ntasks: {}", "layout.yaml:1: `about`"),
        ("about: x", "layout.yaml: `tasks` is missing"),
        ("about: x\ntasks: [pos]", "layout.yaml:2: `tasks`"),
        (
            "about: x\ntasks: {}\nencoder: y",
            "layout.yaml:3: there is no field `encoder`; known: about, tasks",
        ),
        (
            "about: x\ntasks:\n  ner: {train: a}\n  pos:\n    trian: a.tsv",
            r"layout.yaml:5: there is no field `tasks\.pos\.trian`; did you mean 'train'\?",
        ),
        (
            "about: x\ntasks:\n  pos:\n    train: a\n    limit: 0",
            r"layout.yaml:5: `tasks\.pos\.limit`: .* greater than or equal to 1; got 0",
        ),
        (
            "about: x\ntasks:\n  pos:\n    held_out:\n      dev: some",
            r"layout.yaml:5: `tasks\.pos\.held_out\.dev`",
        ),
        (
            "about: x\ntasks:\n  pos: {train: a}\n  tags: {train: a}",
            "layout.yaml:4: there is no task 'tags'; the paper's: pos, chunking",
        ),
        (
            "about: x\ntasks:\n  <<: {tags: {train: a}}",
            "layout.yaml:2: there is no task 'tags'",
        ),
    ],
)
def test_what_is_wrong_with_a_layout(layout, text, said):
    with pytest.raises(ConfigError, match=said) as error:
        layout(text)
    assert "layout.yaml" in str(error.value)


def test_a_target_needs_a_metric_of_tagging(tmp_path, layout):
    write(tmp_path / "a.tsv", "word\tX\n\n")
    text = "about: x\ntasks: {pos: {train: a.tsv, metric: acuracy}, ner: {train: a.tsv}}"
    found = placed(layout(text), tmp_path)
    with pytest.raises(ConfigError, match=r"Task 'pos': No metric 'acuracy'.*'accuracy'"):
        check_metrics(found, ["pos"])
    check_metrics(found, ["ner"])  # the paper's


def test_a_layout_that_is_not_there():
    with pytest.raises(ConfigError, match=r"no layout 'opne'.*one of ontonotes, open"):
        load_layout("opne")


def test_a_file_that_is_not_there_is_named_with_its_task(tmp_path):
    with pytest.raises(ConfigError, match=r"Task 'pos': `train` names ewt/pos.train.tsv; "):
        placed(load_layout("open"), tmp_path)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="nowhere is no folder; --data must be"):
        placed(load_layout("open"), tmp_path / "nowhere")


@pytest.mark.parametrize("pattern", ["/etc/passwd", "''", "a**b/c"])
def test_a_pattern_that_is_none(tmp_path, layout, pattern):
    with pytest.raises(ConfigError, match="Task 'pos': `train` must be files or patterns"):
        placed(layout(f"about: x\ntasks: {{pos: {{train: {pattern}}}}}"), tmp_path)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("dev: a.tsv", "Give either `folder` or the `train` files"),
        ("train: a.tsv, kind: taging", "no kind of task 'taging'"),
        ("train: a.tsv, format: ontonotes", "a.tsv:1"),
        ("folder: nowhere", "nowhere is no folder"),
    ],
)
def test_a_task_that_cannot_be_read_is_named(tmp_path, layout, fields, said):
    write(tmp_path / "a.tsv", "word\tX\n\n")
    found = placed(layout(f"about: x\ntasks: {{ner: {{{fields}}}}}"), tmp_path)
    with pytest.raises(TawtError, match=said) as error:
        training_sizes(found)
    assert str(error.value).startswith("Task 'ner': ")
