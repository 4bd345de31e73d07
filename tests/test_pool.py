"""Worker processes: they end with their parent, at once on a second Ctrl-C, and each alone."""

import contextlib
import json
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
from tawt.sweeps import Plan, RecordStore, Sweep, Work, stop_on_signals

def work(context):
    Path(sys.argv[1], "worker").write_text(str(os.getpid()))
    while not context.should_stop():
        time.sleep(0.01)
    Path(sys.argv[1], "asked").touch()
    time.sleep(120)  # in the middle of something long

if __name__ == "__main__":
    with stop_on_signals() as should_stop:
        Sweep(should_stop=should_stop).make(
            lambda: Plan([Work("1", "one", work)]), RecordStore(Path(sys.argv[1]), "{}.json")
        )
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


PICKY = """
import os, sys, time
from pathlib import Path
from tawt.errors import DataError
from tawt.sweeps import Plan, RecordStore, Sweep, Work

here = Path(sys.argv[1])

class Unpicklable(DataError):
    def __init__(self, one, two):
        super().__init__(one + two)

def work(context, key):
    if key == "wrong":
        raise Unpicklable("not ", "good")
    if key == "dead":
        os.kill(os.getpid(), 9)
    if key == "exits":
        os._exit(3)
    RecordStore(here, "{}.json").keep(key, {"process": os.getpid()})

if __name__ == "__main__":
    from functools import partial
    keys = ["dead", "a", "wrong", "b", "exits", "c"]
    plan = Plan([Work(key, key, partial(work, key=key)) for key in keys])
    try:
        Sweep(workers=2).make(lambda: plan, RecordStore(here, "{}.json"))
    except Exception as error:
        print(type(error).__name__, error)
"""


def test_work_that_fails_or_dies_costs_itself_and_is_named(tmp_path):
    script = tmp_path / "picky.py"
    script.write_text(PICKY)
    done = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, text=True, check=True, timeout=240
    )
    assert {path.stem for path in tmp_path.glob("*.json")} == {"a", "b", "c"}
    assert done.stdout.startswith("TawtError 3 of 6 runs failed; the first: ")
    for name in ("dead", "wrong", "exits"):
        assert name in done.stdout
    assert done.stderr == ""


SPREAD = """
import os, signal, sys, time
from pathlib import Path
from tawt.sweeps import Plan, RecordStore, Sweep, Work

here = Path(sys.argv[1])

def work(context, key):
    from tawt.launch import this_launch
    if key == "0":
        os.kill(os.getpid(), signal.SIGKILL)  # another worker takes the place of this one
    seen = os.environ.get("CUDA_VISIBLE_DEVICES")
    RecordStore(here, "{}.json").keep(key, {"gpu": seen, "processes": this_launch().processes})
    limit = time.monotonic() + 60
    while len(list(here.glob("?.json"))) < 4 and time.monotonic() < limit:
        time.sleep(0.01)  # so that each worker does one piece

if __name__ == "__main__":
    from functools import partial
    from tawt.errors import TawtError
    plan = Plan([Work(key, key, partial(work, key=key)) for key in "01234"])
    try:
        Sweep(workers=4, gpus=["3", "GPU-5"]).make(lambda: plan, RecordStore(here, "{}.json"))
    except TawtError as error:
        print(error)
"""


def test_workers_are_spread_over_gpus(tmp_path):
    """Each process sees one, as CUDA would find it; none is taken for one of a launcher's."""
    script = tmp_path / "spread.py"
    script.write_text(SPREAD)
    done = subprocess.run(
        [sys.executable, script, tmp_path],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
        env={**os.environ, "OMP_NUM_THREADS": "1", "RANK": "0", "WORLD_SIZE": "2"},
    )
    assert done.stdout.startswith("1 of 5 runs failed; the first: 0: its process was killed")
    seen = [json.loads(path.read_text()) for path in tmp_path.glob("?.json")]
    assert sorted(each["gpu"] for each in seen) == ["3", "3", "GPU-5", "GPU-5"]
    assert {each["processes"] for each in seen} == {1}


ODD_DEATHS = """
import os, signal, sys, time
from pathlib import Path
from tawt.errors import Interrupted
from tawt.sweeps import Plan, RecordStore, Sweep, Work

here = Path(sys.argv[1])

def work(context, key):
    with (here / f"{key}.begun").open("a") as file:
        file.write("begun\\n")
    if key == "parent":  # of a process that outlives it, as one that loads data does for a while
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)
    if key == "asked":
        os.kill(os.getpid(), signal.SIGTERM)
        while not context.should_stop():
            time.sleep(0.01)
        raise Interrupted("Stopped as asked.")
    if key == "unnamed":
        os.kill(os.getpid(), signal.SIGRTMIN + 3)
    RecordStore(here, "{}.json").keep(key, {"process": os.getpid()})

if __name__ == "__main__":
    from functools import partial
    plan = Plan([Work(key, key, partial(work, key=key)) for key in (sys.argv[2], "a", "b")])
    try:
        Sweep().make(lambda: plan, RecordStore(here, "{}.json"))
    except Exception as error:
        print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("key", "cause"),
    [
        ("parent", "its process was killed by SIGKILL"),
        ("asked", "Stopped as asked"),
        ("unnamed", "its process was killed by signal"),
    ],
)
def test_a_worker_loses_the_run_that_it_was_making_and_no_other(key, cause, tmp_path):
    script = tmp_path / "odd.py"
    script.write_text(ODD_DEATHS)
    done = subprocess.run(
        [sys.executable, script, tmp_path, key],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=240,
    )
    assert done.stdout.startswith(f"TawtError 1 of 3 runs failed; the first: {key}: {cause}")
    assert {path.stem for path in tmp_path.glob("*.json")} == {"a", "b"}
    assert (tmp_path / f"{key}.begun").read_text() == "begun\n"
