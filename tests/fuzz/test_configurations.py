"""Malformed configurations through the command line: one line and exit status 2, or accepted.

`TAWT_FUZZ_SEED` and `TAWT_FUZZ_CASES` choose other cases, and more of them.
"""

import math
import os
import shutil

import pytest
import yaml

from tawt.config.schema import dumped, parsed
from tests.fuzz.configurations import cases
from tests.fuzz.good import GOOD, write_good_data
from tests.fuzz.harness import broken_rule, run_cli

SEED = os.environ.get("TAWT_FUZZ_SEED", "0")
COUNT = int(os.environ.get("TAWT_FUZZ_CASES", "1000"))
SECONDS = 10  # for one case; most take some hundredths


@pytest.fixture
def here(tmp_path, tmp_path_factory, monkeypatch):
    """A folder with good data, where commands are run; tokenised text is kept elsewhere."""
    write_good_data(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder):
    """Everything under a folder, with when it was changed."""
    return {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}


def finite(value):
    """Whether every number in it is one."""
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    if isinstance(value, list):
        return all(map(finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def check_accepted(config):
    """What was accepted says the same when it is written and read again, and is all numbers."""
    assert finite(config.model_dump(mode="json"))
    assert parsed(yaml.safe_load(dumped(config))) == config


@pytest.mark.parametrize("name", GOOD)
def test_what_is_mutated_is_good(here, name):
    (here / "study.yaml").write_text(yaml.safe_dump(GOOD[name]))
    outcome = run_cli(["train", "study.yaml", "--quiet"], seconds=60)
    assert (outcome.err, outcome.started) == ("", True)


def test_every_malformed_configuration_is_answered_in_one_line_or_accepted(here):
    ran, accepted, wrong = 0, 0, []
    for number, case in enumerate(cases(SEED, COUNT)):
        (here / "study.yaml").write_bytes(case.content)
        before = names(here)
        outcome = run_cli(case.arguments, seconds=SECONDS)
        ran += 1
        problem = broken_rule(outcome)
        if problem is None and outcome.code == 2 and names(here) != before:
            problem = "something was written"
        if outcome.code == 0:
            accepted += 1
            for config in outcome.configs:
                check_accepted(config)
        if problem is not None:
            wrong.append((number, problem, case, outcome))
        for path in set(names(here)) - set(before):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(
                missing_ok=True
            )
    assert not wrong, _told(wrong)
    assert ran >= min(COUNT, 1000)
    assert 0.02 < accepted / ran < 0.5  # neither refused out of hand, nor hardly malformed


def _remove(path):
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _told(wrong):
    """The first few, with what is needed to make them again."""
    told = [f"{len(wrong)} cases broke the rule (seed {SEED})."]
    for number, problem, case, outcome in wrong[:8]:
        told += [
            f"case {number}: {problem}; {case.notes}; tawt {str(case.arguments)[:300]}",
            outcome.out[-300:] + outcome.err[-1500:],
        ]
    return "\n".join(told)
