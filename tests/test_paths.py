"""What a user names is looked at before it is opened: a pipe would block for ever."""

import os
import signal

import pytest

from tawt.config import load
from tawt.errors import ConfigError, DataError
from tawt.paths import check_file, home_expanded, resolved


@pytest.fixture(autouse=True)
def _not_for_ever():
    """Blocking is a failure after ten seconds, and no hang."""

    def give_up(number, frame):
        raise AssertionError("this blocks")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 10)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture
def loop(tmp_path):
    path = tmp_path / "loop"
    path.symlink_to(path)
    return path


def test_what_is_no_file(pipe, loop, tmp_path):
    (tmp_path / "train.tsv").touch()
    check_file(tmp_path / "train.tsv")
    for path, words in {
        pipe: "is not a regular file",
        loop: "symbolic links",
        tmp_path: "is a folder",
        tmp_path / "trian.tsv": "did you mean 'train.tsv'?",
        tmp_path / "train.tsv" / "x": "there is no such file",
        tmp_path / "nul\0": "null",
        tmp_path / ("x" * 5000): "too long",
        tmp_path / "\ud800": "surrogates not allowed",
    }.items():
        with pytest.raises(DataError) as raised:
            check_file(path)
        assert words in str(raised.value)
    with pytest.raises(ConfigError):
        check_file(pipe, error=ConfigError)


def test_paths_that_lead_nowhere(loop, tmp_path):
    for path, words in {loop / "x": "circle", tmp_path / "nul\0": "null"}.items():
        with pytest.raises(DataError, match=words):
            resolved(path)
    with pytest.raises(DataError, match="no user 'nosuchuser'"):
        home_expanded(type(tmp_path)("~nosuchuser/x"))


def said(call, *arguments):
    status, out, err = call(*arguments)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    return err


@pytest.mark.parametrize("command", ["train", "compare", "distance", "data inspect"])
def test_a_pipe_for_a_configuration(pipe, call, command):
    path = pipe.rename(pipe.with_suffix(".yaml"))
    assert "pipe.yaml is not a regular file" in said(call, *command.split(), path)


def test_a_pipe_for_a_data_file(pipe, call):
    assert "is not a regular file" in said(call, "data", "inspect", pipe)


@pytest.mark.parametrize("command", ["train", "data inspect"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../pipe", "is not a regular file"),
        ("../loop", "circle"),
        ("~nosuchuser/x", "there is no user"),
        ("nul\0", "NUL"),
    ],
)
@pytest.mark.usefixtures("pipe", "loop")
def test_arrays_that_cannot_be_read(study, call, tmp_path, command, name, words):
    study.set("data.tasks.near.train", name)
    out = ["--out", tmp_path / "run"] if command == "train" else []
    assert words in said(call, *command.split(), study.path, *out)
    assert not (tmp_path / "run").exists()


def test_a_configuration_in_a_circle(loop):
    with pytest.raises(ConfigError, match="symbolic links"):
        load(loop)
