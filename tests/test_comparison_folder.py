"""A folder that several comparisons share keeps the rows of all of them."""

import logging
import os
import subprocess
import sys

import pytest

from tawt.compare import compare, load_comparison
from tawt.config import load
from tawt.errors import FolderInUse, RunError
from tawt.files.locks import locked
from tawt.runs import Options
from tawt.sweeps import Sweep
from tests.conftest import labelled

ONE, OTHER = "single-task", "normalized joint"


def compared(study, folder, *, rows, seeds=(0,), **options):
    return compare(
        load(study.path),
        folder,
        rows=rows,
        seeds=list(seeds),
        options=Options(**options),
        sweep=Sweep(),
    )


def names(comparison):
    return [row.name for row in comparison.rows]


@pytest.mark.usefixtures("in_process")
def test_a_later_comparison_adds_its_rows(study, tmp_path):
    compared(study, tmp_path / "both", rows=[OTHER])
    found = compared(study, tmp_path / "both", rows=[ONE])
    whole = compared(study, tmp_path / "at-once", rows=[ONE, OTHER])
    assert names(found) == [ONE, OTHER]
    assert found.rows == whole.rows  # tests and corrections are those of the whole table
    assert load_comparison(tmp_path / "both") == found


@pytest.mark.usefixtures("in_process")
def test_a_row_without_a_run_for_every_seed_is_left_out_aloud(study, tmp_path, caplog):
    compared(study, tmp_path, rows=[OTHER], seeds=[0])
    with caplog.at_level(logging.WARNING):
        assert names(compared(study, tmp_path, rows=[ONE], seeds=[0, 1])) == [ONE]
    assert "normalized joint" in caplog.text
    assert "seed 1" in caplog.text
    assert names(compared(study, tmp_path, rows=[OTHER], seeds=[0, 1])) == [ONE, OTHER]


@pytest.mark.usefixtures("in_process")
def test_another_configuration_is_refused_untouched(study, tmp_path, listing):
    compared(study, tmp_path / "c", rows=[ONE])
    before = listing(tmp_path / "c")
    study.set("epochs", 3)
    with pytest.raises(RunError, match=r"`epochs` is 3 now and was 2 in the folder.*--overwrite"):
        compared(study, tmp_path / "c", rows=[OTHER])
    assert listing(tmp_path / "c") == before


@pytest.mark.usefixtures("in_process")
def test_overwriting_with_another_configuration_drops_what_no_longer_fits(study, tmp_path, caplog):
    compared(study, tmp_path, rows=[OTHER])
    study.set("epochs", 3)
    assert names(compared(study, tmp_path, rows=[ONE], overwrite=True)) == [ONE]
    assert "epochs" in caplog.text


@pytest.mark.usefixtures("in_process")
def test_runs_of_data_that_has_changed_since_are_refused(study, tmp_path):
    compared(study, tmp_path, rows=[ONE])
    study.save("goal.test", **labelled(77, 25))
    with pytest.raises(RunError, match="'goal'"):
        compared(study, tmp_path, rows=[ONE])
    assert names(compared(study, tmp_path, rows=[ONE], overwrite=True)) == [ONE]


@pytest.mark.usefixtures("in_process")
def test_a_table_that_is_none_is_refused(study, tmp_path):
    compared(study, tmp_path, rows=[ONE])
    (tmp_path / "comparison.json").write_text("[]")
    with pytest.raises(RunError, match=r"comparison\.json is damaged.*Delete it"):
        compared(study, tmp_path, rows=[ONE])


HOLD = """
import sys, time
from pathlib import Path
from tawt.files.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.usefixtures("in_process")
def test_a_run_that_another_process_is_making_is_not_overwritten(study, tmp_path):
    compared(study, tmp_path, rows=[ONE])
    run = tmp_path / ONE / "0"
    record = (run / "record.json").read_bytes()
    with subprocess.Popen([sys.executable, "-c", HOLD, run], stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(FolderInUse):
            compared(study, tmp_path, rows=[ONE], overwrite=True)
        other.kill()
    assert (run / "record.json").read_bytes() == record


@pytest.mark.crash
def test_two_commands_at_once_share_the_runs_and_the_table(study, tmp_path):
    """The second waits for the run that both want, and no row is lost."""
    folder = tmp_path / "shared"
    command = [sys.executable, "-m", "tawt", "compare", study.path, "--out", folder, "--seeds", "1",
               "--jobs", "1", "--quiet", "--row", "balanced joint", "--row"]  # fmt: skip
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    both = [
        subprocess.Popen(
            [*map(str, command), row], env=environment, stderr=subprocess.PIPE, text=True
        )
        for row in (ONE, OTHER)
    ]
    errors = [process.communicate(timeout=240)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], errors
    found = load_comparison(folder)
    assert names(found) == [ONE, OTHER, "balanced joint"]
    page = (folder / "comparison.md").read_text()
    assert ONE in page
    assert OTHER in page
    with locked(folder):
        assert not list(folder.rglob("*.partial"))
