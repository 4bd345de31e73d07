"""Worker processes: they end with their parent, and at once on a second Ctrl-C."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.crash

STUBBORN = """
import os, sys, time
from pathlib import Path
from tawt.sweeps.queue import do_all
from tawt.sweeps.stopping import stop_on_signals

def work(item, should_stop):
    Path(sys.argv[1], "worker").write_text(str(os.getpid()))
    while not should_stop():
        time.sleep(0.01)
    Path(sys.argv[1], "asked").touch()
    time.sleep(120)  # in the middle of something long

if __name__ == "__main__":
    with stop_on_signals() as should_stop:
        do_all(work, [1], workers=1, called=str, should_stop=should_stop,
               on_done=lambda item, found: None)
"""


@pytest.fixture
def parent(tmp_path):
    """A process whose only worker is at work."""
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN)
    process = subprocess.Popen(
        [sys.executable, script, tmp_path],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    wait_for((tmp_path / "worker").exists)
    time.sleep(0.1)  # until the number is written
    yield process
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def wait_for(condition, seconds=60):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def alive(process):
    """Whether a process runs; one that is dead and not yet waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_second_ctrl_c_ends_workers_at_once(parent, tmp_path):
    worker = int((tmp_path / "worker").read_text())
    os.killpg(parent.pid, signal.SIGINT)  # as a terminal does
    wait_for((tmp_path / "asked").exists)
    assert parent.poll() is None
    os.killpg(parent.pid, signal.SIGINT)
    parent.wait(timeout=20)
    wait_for(lambda: not alive(worker), seconds=5)


def test_a_worker_ends_with_its_parent(parent, tmp_path):
    worker = int((tmp_path / "worker").read_text())
    assert alive(worker)
    parent.kill()
    parent.wait(timeout=20)
    wait_for(lambda: not alive(worker), seconds=20)
