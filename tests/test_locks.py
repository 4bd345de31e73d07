"""One writer a folder, in real processes."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tawt import files
from tawt.config import load
from tawt.errors import FolderInUse, Interrupted, RunError
from tawt.files.locks import locked
from tawt.runs import Options, run

HOLD = """
import os, sys, time
from pathlib import Path
from tawt.files.locks import locked

with locked(Path(sys.argv[1])):
    with_child = len(sys.argv) > 2
    if with_child and os.fork() == 0:
        print("held", flush=True)  # by the parent: the child has let go of it when it gets here
        time.sleep(60)  # a child that outlives its parent, as a worker that loads data may
        os._exit(0)
    if not with_child:
        print("held", flush=True)
    time.sleep(60)
"""
HOLD_AT_ONCE = """
import sys, time
from filelock import FileLock

with FileLock(sys.argv[1] + "/.lock", blocking=False):
    print("held", flush=True)
    time.sleep(60)
"""  # the same lock, without the seconds in which tawt is imported


@contextlib.contextmanager
def held(folder, *more, by=HOLD_AT_ONCE):
    """Another process has the lock."""
    Path(folder).mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-c", by, str(folder), *more],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_a_second_process_is_refused_with_the_name_of_the_first(tmp_path):
    with held(tmp_path, by=HOLD) as other, pytest.raises(FolderInUse) as error, locked(tmp_path):
        pass
    assert f"process {other.pid} on" in str(error.value)
    assert str(tmp_path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.crash
@pytest.mark.parametrize("more", [(), ("child",)], ids=["alone", "with a child left behind"])
def test_the_lock_of_a_dead_owner_is_taken_over(tmp_path, more):
    with held(tmp_path, *more, by=HOLD) as other:
        other.kill()
        other.wait()
        with locked(tmp_path):
            assert (tmp_path / ".writer").exists()
    assert names(tmp_path) == {".lock"}


@pytest.mark.crash
def test_one_who_waits_comes_next(tmp_path):
    with held(tmp_path) as other:
        asked = []

        def never():
            asked.append(time.monotonic())
            if len(asked) == 2:
                other.kill()
            return False

        with locked(tmp_path, wait_unless=never):
            assert len(asked) >= 2


def test_one_who_waits_can_be_stopped(tmp_path):
    with held(tmp_path), pytest.raises(Interrupted), locked(tmp_path, wait_unless=lambda: True):
        pass


def test_blocks_of_one_process_are_nested(tmp_path):
    with locked(tmp_path / "run"):
        with locked(tmp_path / "run"):
            pass
        assert (tmp_path / "run" / ".writer").exists()
        with pytest.raises(AssertionError), held(tmp_path / "run"):
            pass  # the other could not get it
    with held(tmp_path / "run"):
        pass


def test_it_ends_with_an_error_too(tmp_path):
    with pytest.raises(ValueError, match="mine"), locked(tmp_path):
        raise ValueError("mine")
    with held(tmp_path):
        pass


def test_what_a_killed_writer_left_half_written_is_removed(tmp_path):
    (tmp_path / ".record.json.x1y2.partial").write_text("{")
    (tmp_path / ".bashrc").write_text("mine")
    with locked(tmp_path):
        assert not (tmp_path / ".record.json.x1y2.partial").exists()
    assert names(tmp_path) == {".lock", ".bashrc"}


def test_a_file_that_is_being_written_is_hidden_and_can_be_swept(tmp_path):
    with files.whole(tmp_path / "note.txt") as file:
        file.write(b"half")
        [partial] = tmp_path.iterdir()
        assert partial.name.startswith(".note.txt.")
    assert names(tmp_path) == {"note.txt"}
    (tmp_path / partial.name).write_text("left by another")
    files.sweep(tmp_path)
    assert names(tmp_path) == {"note.txt"}


@pytest.mark.parametrize("kind", ["file", "under a file"])
def test_what_cannot_be_a_folder_is_one_line(tmp_path, kind):
    (tmp_path / "file").write_text("mine")
    folder = tmp_path / "file" if kind == "file" else tmp_path / "file" / "run"
    with pytest.raises(RunError, match="Cannot lock"), locked(folder):
        pass
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("options", [Options(), Options(resume=True), Options(overwrite=True)])
def test_a_run_folder_that_is_being_written_is_left_alone(study, tmp_path, listing, options):
    path, config = tmp_path / "run", load(study.path)
    if options != Options():
        run(config, path)
        (path / "record.json").unlink()
    with held(path):
        before = listing(path)
        with pytest.raises(FolderInUse):
            run(config, path, options=options)
        assert listing(path) == before
