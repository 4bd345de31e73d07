"""Whatever a file holds, a reader gives examples or says what is wrong with it."""

import contextlib
import json

import datasets
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tawt.errors import TawtError
from tawt.text.reading import (
    KINDS,
    LabelledText,
    ReadOptions,
    SplitFiles,
    TaggedSentence,
    guess_format,
    load,
    read,
)

FILE_FORMATS = ("columns", "conllu", "ontonotes", "jsonl", "csv", "tsv")
CELLS = st.one_of(
    st.sampled_from(["", " ", "#", "-", "_", "*", "*)", "(X*", "(X)", "1", "1-2", "1.1", "2", '"']),
    st.sampled_from(["B-X", "I-X", "O", "text", "label", "tokens", "tags", "-DOCSTART-"]),
    st.sampled_from(["#begin document", "\ufeff", "\0", "\xa0"]),
    st.text(max_size=4),
)
LINES = st.builds(
    lambda cells, between: between.join(cells),
    st.lists(CELLS, max_size=14),
    st.sampled_from(["\t", " ", ",", "  "]),
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["tokens", "tags", "text", "second", "label", "premise", "hypothesis"])
OBJECTS = st.dictionaries(NAMES, JSON, max_size=5).map(json.dumps)
BYTES = st.one_of(
    st.binary(max_size=120),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
    *(
        st.builds(
            lambda lines, end: end.join(lines).encode("utf-8", "surrogatepass"),
            st.lists(rows, max_size=6),
            st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
        )
        for rows in (LINES, OBJECTS)
    ),
    st.lists(LINES, max_size=5).map(
        lambda rows: "\n".join(["text,label,tokens,tags", *rows]).encode("utf-8", "replace")
    ),
)
OPTIONS = st.builds(
    dict,
    encoding=st.sampled_from(["utf-8", "latin-1", "utf-16", "ascii", "utf-7"]),
    separator=st.sampled_from([None, "tab", " ", ",", "whitespace"]),
    tag=st.sampled_from(["upos", "xpos", "misc:X"]),
    layer=st.sampled_from(["pos", "predicate", "ner"]),
    quote=st.sampled_from(['"', ""]),
    word_column=st.integers(-3, 3),
)

fuzz = settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def check(example, kind):
    if kind == "tagging":
        assert isinstance(example, TaggedSentence)
        assert len(example.words) == len(example.tags)
        assert all(text.strip() for text in (*example.words, *example.tags))
        "".join(example.words).encode()
    else:
        assert isinstance(example, LabelledText)
        assert isinstance(example.label, float if kind == "regression" else str)
        assert (example.second is not None) or kind != "pair"
        (example.text + (example.second or "")).encode()
    assert example.line >= 1


@pytest.mark.parametrize("format_name", FILE_FORMATS)
@fuzz
@given(content=BYTES, kind=st.sampled_from(KINDS), options=OPTIONS)
def test_any_bytes(tmp_path, format_name, content, kind, options):
    path = tmp_path / "train"
    path.write_bytes(content)
    if format_name in FILE_FORMATS[:3]:
        kind = "tagging"
    with contextlib.suppress(TawtError):
        for example in read(path, kind=kind, options=ReadOptions(format=format_name, **options)):
            check(example, kind)


@pytest.mark.parametrize("name", ["train", "train.tsv"])
@fuzz
@given(content=BYTES, kind=st.sampled_from(KINDS), seed=st.integers(0, 3))
def test_any_file_is_guessed_and_loaded(tmp_path, name, content, kind, seed):
    path = tmp_path / name
    path.write_bytes(content)
    with contextlib.suppress(TawtError):
        guess_format(path)
    with contextlib.suppress(TawtError):
        splits = load(SplitFiles(train=path, held_out={"dev": 0.3}), kind=kind, seed=seed)
        for example in splits.train:
            check(example, kind)


@settings(fuzz, max_examples=25)
@given(
    damaged=st.sampled_from(["dataset_info.json", "state.json", "data-00000-of-00001.arrow", None]),
    content=st.one_of(st.binary(max_size=60), JSON.map(lambda value: json.dumps(value).encode())),
    labels=st.lists(st.integers(-2, 3), min_size=1, max_size=3),
    kind=st.sampled_from(KINDS),
)
def test_any_saved_folder(tmp_path_factory, damaged, content, labels, kind):
    path = tmp_path_factory.mktemp("saved") / "one"
    names = datasets.ClassLabel(names=["a", "b", "c", "d"])
    features = datasets.Features({"text": datasets.Value("string"), "label": names})
    values = {"text": ["x"] * len(labels), "label": [max(x, -1) for x in labels]}
    datasets.disable_progress_bars()
    datasets.Dataset.from_dict(values, features=features).save_to_disk(path)
    if damaged:
        (path / damaged).write_bytes(content)
    with contextlib.suppress(TawtError):
        for example in read(path, kind=kind):
            check(example, kind)
