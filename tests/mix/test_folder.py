"""The folder of a mixture: one configuration, one plan, whoever comes first."""

import json

import pytest

from tawt.config.schema import parsed
from tawt.errors import FolderInUse, Interrupted, RunError
from tawt.files.locks import locked
from tawt.mix.amounts import MixBudget
from tawt.mix.folder import MixFolder
from tests.mix.cases import plan

CONFIG = parsed(
    {"data": {"kind": "corpora", "corpora": {"goal": {"train": "goal.txt"}}}, "target": "goal"}
)
TEN = MixBudget.parsed("10m")


def folder(path, *, config=CONFIG, overwrite=False):
    return MixFolder(path, config, overwrite=overwrite)


def claimed(path, made, *, budget=TEN, overwrite=False):
    return folder(path, overwrite=overwrite).claim(made, budget, should_stop=lambda: False)


def test_the_plan_of_whoever_came_first_holds(tmp_path):
    first, second = plan(steps=100, budget="10m"), plan(steps=120, budget="10m")
    assert claimed(tmp_path, first) == first
    assert claimed(tmp_path, second) == first
    assert claimed(tmp_path, second, budget=None) == first
    assert claimed(tmp_path, second, overwrite=True) == second
    assert folder(tmp_path).plan(TEN) == second


def test_starting_again_takes_the_old_answer_away(tmp_path):
    claimed(tmp_path, plan(budget="10m"))
    (tmp_path / "mix.json").write_text("{}")
    claimed(tmp_path, plan(budget="10m"))
    assert (tmp_path / "mix.json").exists()
    claimed(tmp_path, plan(budget="10m"), overwrite=True)
    assert not (tmp_path / "mix.json").exists()


def test_a_damaged_plan_is_said_to_be(tmp_path):
    claimed(tmp_path, plan(budget="10m"))
    kept = json.loads((tmp_path / "plan.json").read_text())
    (tmp_path / "plan.json").write_text(json.dumps({**kept, "steps": 7}))
    with pytest.raises(RunError, match="checksum"):
        folder(tmp_path).plan(TEN)
    del kept["steps"], kept["sha256"]
    (tmp_path / "plan.json").write_text(json.dumps(kept))
    with pytest.raises(RunError, match=r"damaged: .*--overwrite"):
        folder(tmp_path).plan(TEN)


def test_a_run_is_no_mixture(tmp_path):
    (tmp_path / "config.yaml").write_text("")
    with pytest.raises(RunError, match="holds no mixture"):
        folder(tmp_path).check(resume=False)


def test_a_stop_is_heard_while_another_process_writes(tmp_path, monkeypatch):
    def in_use(*arguments, **options):
        raise FolderInUse("another process") if options.get("wait_unless") is None else Interrupted

    monkeypatch.setattr("tawt.mix.folder.locks.locked", in_use)
    with pytest.raises(Interrupted):
        claimed(tmp_path, plan())


def test_the_writer_of_the_folder_may_claim_it(tmp_path):
    with locked(tmp_path):
        assert claimed(tmp_path, plan(budget="10m")).steps == 100
