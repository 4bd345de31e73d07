"""YAML as configurations are read: no key twice, nothing without end, mistakes with their line."""

import time

import pytest

from tawt.config import yaml_file as yaml_lines
from tawt.config.yaml_loader import DEEPEST, MOST_BYTES, MOST_VALUES
from tawt.errors import ConfigError


@pytest.fixture
def refused(tmp_path):
    """The message that answers a file, which is one line and comes at once."""

    def message(text):
        path = tmp_path / "a.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        began = time.process_time()
        with pytest.raises(ConfigError) as error:
            yaml_lines.read(path)
        assert time.process_time() - began < 20
        assert "\n" not in str(error.value)
        return str(error.value).removeprefix(str(path))

    return message


@pytest.mark.parametrize(
    ("text", "key", "lines"),
    [
        ("a: 1\nb: 2\na: 3\n", "`a`", "lines 1 and 3"),
        ("b:\n  a: 1\n  'a': 3\n", "`a`", "lines 2 and 3"),
        ("b: {a: 1, c: 2,\n  a: 1}\n", "`a`", "lines 1 and 2"),
        ("b:\n- a: 1\n  c: 2\n  a: 1\n", "`a`", "lines 2 and 4"),
        ("1: a\n0x1: b\n", "`1`", "lines 1 and 2"),
        ("x: &x {a: 1}\ny:\n  <<: *x\n  <<: *x\n", "`<<`", "lines 3 and 4"),
    ],
)
def test_a_key_given_twice_is_named_with_both_lines(refused, text, key, lines):
    message = refused(text)
    assert key in message
    assert lines in message


def test_what_a_merge_brings_may_be_replaced(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  a: 3\n")
    values, lines = yaml_lines.read(path)
    assert values["y"] == {"a": 3, "b": 2}
    assert lines["y", "a"] == 4


def nested_anchors(first, line):
    lines = [f"a0: &a0 {first}"]
    for level in range(1, 30):
        inner = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} {line.format(inner)}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        nested_anchors("[x, x]", "[{}]"),
        nested_anchors("{k: 1}", "{{<<: [{}], k: 1}}"),
        "a: [" + "1," * (MOST_VALUES + 1) + "]",
    ],
    ids=["aliases", "merged keys", "written out"],
)
def test_more_values_than_anybody_means_are_refused_at_once(refused, text):
    assert f"more than {MOST_VALUES:,} values" in refused(text)


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a {<<: *a}"])
def test_an_alias_for_what_it_stands_in_is_refused(refused, text):
    assert refused(text).startswith(":1: an alias that refers to what it stands in")


@pytest.mark.parametrize("text", ["a: " + "[" * 5000, "a: " + "{a: " * 5000])
def test_nesting_is_bounded(refused, text):
    assert refused(text).startswith(f":1: more than {DEEPEST} levels deep")


def test_nesting_up_to_the_bound_is_read(tmp_path):
    depth = DEEPEST - 1
    (tmp_path / "a.yaml").write_text(f"a: {'[' * depth}{']' * depth}\n")
    assert yaml_lines.read(tmp_path / "a.yaml")


def test_a_file_that_is_no_configuration_by_its_size_is_not_read(refused):
    assert f"more than {MOST_BYTES:,} bytes" in refused("#" * (MOST_BYTES + 1))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("9" * 5000, "too large a number"),
        ("0x" + "f" * 5000, "too large a number"),
        ("2024-13-45", "'2024-13-45' looks like a date and is not a valid one; quote it"),
        ("!!bool x", "'x' is no bool"),
        ("!!int ''", "'' is no int"),
        ("!!timestamp x", "looks like a date"),
        ("!!python/object:os.system x", "could not determine a constructor"),
        ('"a\\0b"', "a NUL"),
        ('"\\ud800"', "half of a character"),
    ],
)
def test_a_value_that_cannot_be_is_named_with_its_line(refused, value, words):
    message = refused(f"b: 1\na: {value}\n")
    assert message.startswith(":2")
    assert words in message
    with pytest.raises(ConfigError) as error:
        yaml_lines.read_value(value)
    assert words in str(error.value)


@pytest.mark.parametrize(
    "content",
    ["a: 1".encode("utf-16"), b"\xff\xfe\0", b"a: \0", b"", b"- a", b"a: [1", b"PK\x03\x04"],
)
def test_what_is_no_mapping_in_yaml_is_refused(refused, content):
    assert refused(content)


def test_a_byte_order_mark_and_other_line_ends_are_read(tmp_path):
    (tmp_path / "a.yaml").write_bytes("\ufeffa: 1\r\nb: é\r\n".encode())
    assert yaml_lines.read(tmp_path / "a.yaml") == ({"a": 1, "b": "é"}, {("a",): 1, ("b",): 2})
