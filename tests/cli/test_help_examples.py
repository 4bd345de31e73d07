"""Examples at the end of every command's help, made of options that there are."""

import shlex

import pytest
import typer.main

from tawt.cli.app import app
from tawt.cli.help_examples import EXAMPLES


def commands(group, *before):
    """Every command with its words: those of groups too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *before, name)
        else:
            yield (*before, name), command


EVERY = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_help_ends_with_examples(call, words):
    status, out, _ = call(*words, "--help")
    assert status == 0
    shown = [line.strip() for line in out.rstrip().splitlines()]
    lines = EXAMPLES[words[-1]]
    assert 1 <= len(lines) <= 2
    assert shown[-len(lines) :] == list(lines)
    assert shown[-len(lines) - 1] == ("Example:" if len(lines) == 1 else "Examples:")


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_examples_are_of_the_command_and_its_options(words):
    parameters = EVERY[words].params
    options = {option for each in parameters for option in (*each.opts, *each.secondary_opts)}
    for line in EXAMPLES[words[-1]]:
        typed = shlex.split(line)
        assert tuple(typed[: len(words) + 1]) == ("tawt", *words)
        assert {word for word in typed if word.startswith("-")} <= options


def test_every_example_is_of_a_command():
    assert EXAMPLES.keys() == {words[-1] for words in EVERY}
