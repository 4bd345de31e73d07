"""What a terminal is shown: nothing that it would obey."""

import io
import logging

import pytest
from rich.table import Table

from tawt.cli import console, time_left
from tawt.cli.plain import PlainFormatter
from tests.hostile import UNSAFE, obeyed


def shown(printed):
    text = io.StringIO()
    screen = type(console.out)(file=text, force_terminal=True, color_system=None, width=200)
    screen.print(printed)
    return text.getvalue()


@pytest.mark.parametrize("character", UNSAFE, ids=ascii)
def test_what_a_terminal_obeys_becomes_visible(character):
    found = console.plain(f"a{character}b")
    assert not obeyed(found)
    assert "\n" not in found
    assert "\t" not in found
    assert found[0] + found[-1] == "ab"
    found.encode()


def test_other_text_is_as_it_is():
    text = "naïve café 日本語 😀 👩‍👩‍👧 e\u0301 שלום \\x1b [bold]"
    assert console.plain(text) == text
    assert console.plain_lines(f"{text}\n\t{text}\n") == f"{text}\n\t{text}\n"


def test_tables_are_safe_whoever_filled_them():
    table = Table(title="title\x1b[2J")
    table.add_column("head\x9b31m")
    table.add_row("cell\x1b]0;owned\x07\u202e")
    assert not obeyed(shown(table))


def test_a_sentence_is_safe(capsys):
    console.say("gain\x1b[31m\r of\nfoo")
    assert capsys.readouterr().out == "gain\\u001b[31m\\r of\nfoo\n"


def test_tables_of_tasks_show_names(capsys):
    console.out.print(console.weights_table(*({"a\x1b[1m\nb": 1.0} for _ in range(3))))
    assert "a\\u001b[1m\\nb" in capsys.readouterr().out


def test_a_table_of_final_weights_says_how_often_each_task_was_passed_over():
    found = shown(console.weights_table({"a": 0.5, "b": 0.5}, {"a": 1, "b": 1}, {"a": 20.6}))
    [a, b] = [line for line in found.splitlines() if "0.5000" in line]
    assert "21" in a
    assert "21" not in b


def test_what_was_found_of_sources_stands_beside_their_weights():
    equal = {"a": 0.5, "b": 0.5}
    told = {"verdict": "helps", "probability": 0.97, "weight_interval": [0.25, 0.75]}
    findings = {"a": told, "b": {"verdict": "cannot tell", "probability": 0.6}}
    found = shown(console.weights_table(equal, {"a": 1, "b": 1}, {}, findings))
    assert "effect" in found
    first, second, third, fourth = [line for line in found.splitlines() if "│" in line]
    assert "helps" in first
    assert "0.250 to 0.750" in second
    assert "97%" in second
    assert "cannot tell" in third
    assert "60% helps" in fourth
    assert "effect" not in shown(console.weights_table(equal, {"a": 1, "b": 1}, {}))


def test_a_log_message_is_safe():
    message = logging.makeLogRecord({"msg": "task \x1b[31m%s", "args": ("a\x07",)})
    assert PlainFormatter().format(message) == "task \\u001b[31ma\\u0007"


def test_an_error_is_safe(call):
    status, _, err = call("report", "no\x1b[31m\u202esuch\x9bfolder")
    assert status == 2
    assert not obeyed(err)
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize(
    "progress", [console.progress, time_left.measured_progress, time_left.runs_progress]
)
def test_progress_writes_nothing_into_a_pipe(progress, quiet, capsys):
    with progress(quiet=quiet):
        pass
    assert capsys.readouterr() == ("", "")
