"""Budgets and numbers of tokens, as people write them and as they do not."""

import pytest

from tawt.durations import duration
from tawt.errors import ConfigError
from tawt.mix.amounts import MixBudget, short, tokens_in


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("10min", 600), ("1.5h", 5400), ("1d", 86_400), (" 2 h ", 7200)],
)
def test_times(text, seconds):
    assert MixBudget.parsed(text) == MixBudget(text.strip(), seconds=seconds)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("500K", 500_000), ("500k", 500_000), ("20M", 20_000_000), ("1.5B", 1_500_000_000)],
)
def test_tokens(text, tokens):
    assert MixBudget.parsed(text) == MixBudget(text, tokens=tokens)
    assert tokens_in(text) == tokens


def test_small_and_large_m_are_minutes_and_millions():
    assert MixBudget.parsed("10m").seconds == 600
    assert MixBudget.parsed("10M").tokens == 10_000_000
    with pytest.raises(ConfigError, match="--tokens is a number of tokens"):
        tokens_in("10m")


@pytest.mark.parametrize(
    "text", ["", "10", "m", "-5m", "0m", "10x", "1e3s", "nan s", "10m 5s", "0.1K0", "9" * 400 + "s"]
)
def test_what_is_no_budget_is_refused_in_one_line(text):
    with pytest.raises(ConfigError, match=r"--budget is a time .* or a number of tokens") as found:
        MixBudget.parsed(text)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("text", ["", "0", "-1", "1m", "many", "2000000T"])
def test_what_is_no_number_of_tokens_is_refused(text):
    with pytest.raises(ConfigError, match=r"--tokens is a number of tokens, such as 500K"):
        tokens_in(text)


@pytest.mark.parametrize(
    ("count", "shown"),
    [(1, "1"), (999, "999"), (1000, "1K"), (30_712, "30.7K"), (4.24e6, "4.24M"), (2e12, "2T")],
)
def test_amounts_are_shown_in_three_digits(count, shown):
    assert short(count) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.2, "a second"), (59, "59 seconds"), (120, "2 minutes"), (7200, "2 hours")],
)
def test_times_are_shown_roughly(seconds, shown):
    assert duration(seconds) == shown
