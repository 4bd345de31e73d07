"""All nine experiments end to end, tiny; then again from records alone, and after a crash."""

import fcntl
import json
import math
import os
import shutil

import pytest

from tawt.errors import Interrupted
from tawt.reproduce import EXPERIMENTS, Request, Store, contents, is_made, make
from tawt.reproduce.generated import tiny_setup
from tawt.reproduce.leaving import write_result
from tawt.reproduce.plan import TablePlan
from tawt.reproduce.request import save_request
from tawt.reproduce.store import key
from tawt.runs import RunFolder
from tawt.sweeps import Context, Sweep
from tests.reproduce.made_up import TABLES

IN_PROCESSES = "tawt.sweeps.workers.in_processes"
LEFT = ("table.md", "table.json", "table.tex", "report.html")
POOLED = "figure-weighted-samples"  # its runs are the shortest
EPOCHS = 2


class InProcess:
    """Runs one by one in this process, which spares the start of workers; and remembers them."""

    def __init__(self):
        self.keys = []

    def __call__(self, wanted, *, workers, wait, should_stop, on_end, on_share):
        for work in wanted:
            self.keys.append(work.key)
            work.make(Context(should_stop, wait))
            on_end(work, None)


def never(*arguments, **options):
    raise AssertionError("no run was to be made")


def request(folder):
    return Request(seeds=(0,), setup=tiny_setup(folder / "tiny"), tiny=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All nine, made once, whichever of pytest's processes comes first."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, finished = base / "tiny-reproduction", base / "tiny-reproduction.finished"
    with (base / "tiny-reproduction.lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if finished.exists():
            return folder
        for name, experiment in EXPERIMENTS.items():
            store, asked = Store(folder), request(folder)
            if name != POOLED:
                patch.setattr(IN_PROCESSES, InProcess())
            experiment.check(asked)
            assert make(experiment, asked, store, Sweep(workers=2), device="cpu")
            write_result(experiment.result(asked, store), folder)
            patch.undo()
        finished.touch()
    return folder


def plans(folder) -> dict[str, TablePlan]:
    return {name: EXPERIMENTS[name].plan(request(folder).setup) for name in TABLES}


# What is left


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_an_experiment_leaves_its_table_in_four_forms(folder, experiment):
    own = folder / experiment
    left = {path.name for path in own.iterdir()}
    assert left - {"request.json"} == set(LEFT)  # which another test may have saved meanwhile
    found = json.loads((own / "table.json").read_text(), parse_constant=never)
    assert found["experiment"] == experiment
    headings, rows = found["table"]["headings"], found["table"]["rows"]
    assert {len(row) for row in rows} == {len(headings)}
    markdown = (own / "table.md").read_text()
    assert markdown.startswith(f"# {experiment}: ")
    assert found["caption"] in markdown
    assert "tiny" in found["caption"]
    assert rf"\label{{{experiment}}}" in (own / "table.tex").read_text()
    assert "In numbers" in (own / "report.html").read_text()


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_no_file_names_a_folder_of_the_machine(folder, experiment):
    for name in LEFT:
        assert str(folder) not in (folder / experiment / name).read_text()


def test_weights_on_samples_say_how_many_examples_are_left(folder):
    rows = json.loads((folder / POOLED / "table.json").read_text())["rows"]
    said = {row["name"]: row["effective_examples"] for row in rows if "effective_examples" in row}
    assert set(said) == {
        f"{paradigm}, weights on {unit}s"
        for paradigm in ("pre-training", "joint training")
        for unit in ("group", "example")
    }
    assert all(1 <= value <= 60.001 for value in said.values())


def test_records_from_before_that_was_kept_still_make_the_figure(folder, tmp_path, call):
    copy = shutil.copytree(folder, tmp_path / "copy")
    for path in (copy / "records").iterdir():
        record = json.loads(path.read_text())
        for update in record.get("updates", []):
            update.get("units", {}).pop("effective_sample_size", None)
        path.write_text(json.dumps(record))
    status, _, err = call("reproduce", POOLED, "--scale", "tiny", "--out", copy)
    assert (status, err) == (0, "")
    rows = json.loads((copy / POOLED / "table.json").read_text())["rows"]
    assert not any("effective_examples" in row for row in rows)


def test_runs_are_shared_and_models_are_not_kept(folder):
    known = {key(run.config(0)) for plan in plans(folder).values() for run in plan.runs()}
    held, samples, simulations = 8, 8, 1
    records = {path.stem for path in (folder / "records").iterdir()}
    assert known <= records
    assert len(records) == len(known) + held + samples + simulations
    runs = {path.name for path in (folder / "runs").iterdir()}
    assert len(runs) == len(records) - simulations
    assert not [*(folder / "runs").glob("*/model"), *(folder / "runs").glob("*/checkpoints")]


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_finished_experiment_is_made_again_from_records_alone(
    folder, experiment, monkeypatch, call
):
    monkeypatch.setattr(IN_PROCESSES, never)
    monkeypatch.setattr("tawt.reproduce.distance_figure.simulated", never)
    before = {name: (folder / experiment / name).read_bytes() for name in LEFT}
    status, out, err = call("reproduce", experiment, "--scale", "tiny", "--out", folder)
    assert (status, err) == (0, "")
    assert experiment in out
    assert {name: (folder / experiment / name).read_bytes() for name in LEFT} == before


# The authors' weights, in runs that were really made


def weighted(folder):
    store, found = Store(folder), {}
    for plan in plans(folder).values():
        for run_ in plan.runs():
            config = run_.config(0)
            if config.weighting.kind == "target-aware":
                found[key(config)] = run_, config, store.get(config)
    assert len(found) > 60
    return found.values()


def initial(run_, config):
    """As the authors start: by size, or all equal; of pre-training the sources alone."""
    sizes = dict(run_.sizes)
    if config.paradigm == "pre-training":
        del sizes[run_.target]
    if config.weighting.initial == "uniform":
        return dict.fromkeys(sizes, 1 / len(sizes))
    return {task: size / sum(sizes.values()) for task, size in sizes.items()}


def test_weights_start_and_move_in_every_run_as_the_authors_do(folder):
    for run_, config, record in weighted(folder):
        weights = initial(run_, config)
        assert len(record["updates"]) == EPOCHS
        for update in record["updates"]:
            raised = {
                task: weight * math.exp(config.weighting.scale * update["alignments"][task])
                for task, weight in weights.items()
            }
            weights = {task: value / sum(raised.values()) for task, value in raised.items()}
            assert update["weights"] == pytest.approx(weights, abs=1e-6, rel=0)
            weights = update["weights"]
        assert record["weights"] == pytest.approx(weights)


def test_the_target_is_compared_with_itself_in_joint_runs(folder):
    for run_, config, record in weighted(folder):
        for update in record["updates"]:
            assert (run_.target in update["alignments"]) == (config.paradigm == "joint")
            assert update["alignments"].get(run_.target, 1.0) == pytest.approx(1, abs=1e-5)


# After a crash


CRASHED = "table-fewer-sources"


@pytest.fixture
def copied(folder, tmp_path, monkeypatch):
    """One experiment's runs in a store of their own, which can be broken."""
    configs = {key(each.config(0)): each.config(0) for each in plans(folder)[CRASHED].runs()}
    for name in configs:
        shutil.copytree(folder / "runs" / name, tmp_path / "runs" / name)
        (tmp_path / "records").mkdir(exist_ok=True)
        shutil.copy(folder / "records" / f"{name}.json", tmp_path / "records")
    made_again = InProcess()
    monkeypatch.setattr(IN_PROCESSES, made_again)
    return tmp_path, configs, made_again


def table(folder, store, **making):
    experiment, asked = EXPERIMENTS[CRASHED], request(folder)
    assert make(experiment, asked, Store(store), Sweep(**making), device="cpu")
    return (write_result(experiment.result(asked, Store(store)), store) / "table.md").read_bytes()


def test_only_what_a_crash_took_is_made_again(folder, copied):
    store, configs, made_again = copied
    record_gone, run_gone, *_ = configs
    untouched = (store / "runs" / record_gone / "record.json").read_bytes()
    (store / "records" / f"{record_gone}.json").unlink()  # it was done, and not yet kept
    (store / "records" / f"{run_gone}.json").unlink()
    (store / "runs" / run_gone / "record.json").unlink()  # it was not done
    assert table(folder, store) == (folder / CRASHED / "table.md").read_bytes()
    assert sorted(made_again.keys) == sorted([record_gone, run_gone])
    assert (store / "runs" / record_gone / "record.json").read_bytes() == untouched
    assert RunFolder(store / "runs" / run_gone).finished


def test_records_are_all_that_a_table_needs(folder, copied):
    store, _, made_again = copied
    shutil.rmtree(store / "runs")
    assert table(folder, store) == (folder / CRASHED / "table.md").read_bytes()
    assert made_again.keys == []


def test_a_run_that_was_stopped_goes_on_to_the_same_numbers(folder, copied):
    store, configs, made_again = copied
    stopped = next(name for name, config in configs.items() if config.paradigm == "joint")
    before = json.loads((store / "records" / f"{stopped}.json").read_text())
    (store / "records" / f"{stopped}.json").unlink()
    shutil.rmtree(store / "runs" / stopped)
    steps = iter(range(100))
    with pytest.raises(Interrupted):
        table(folder, store, should_stop=lambda: next(steps) >= 2)
    assert not RunFolder(store / "runs" / stopped).finished
    assert (store / "runs" / stopped / "checkpoints").exists()
    assert table(folder, store) == (folder / CRASHED / "table.md").read_bytes()
    assert made_again.keys == [stopped, stopped]
    after = json.loads((store / "records" / f"{stopped}.json").read_text())
    for name in ("scores", "weights", "updates", "examples", "steps"):
        assert after[name] == before[name]


# Without the data


@pytest.fixture
def moved(folder, tmp_path):
    """The records and what was asked for, elsewhere; neither corpus nor encoder nor run folders."""
    for part in ("records", "words"):
        shutil.copytree(folder / part, tmp_path / "moved" / part)
    asked = request(folder)
    for name in (*TABLES, POOLED):
        contents.forget()
        assert is_made(EXPERIMENTS[name], asked, Store(folder))
        save_request(asked, tmp_path / "moved" / name)
        path = tmp_path / "moved" / name / "request.json"
        path.write_text(path.read_text().replace(str(folder.resolve() / "tiny"), "/nowhere"))
    contents.forget()
    yield tmp_path / "moved"
    contents.forget()


@pytest.mark.parametrize("experiment", ["table-main", "table-dynamic-weights"])
def test_a_table_is_made_again_from_records_without_data(
    folder, moved, call, monkeypatch, experiment
):
    monkeypatch.setattr(IN_PROCESSES, never)
    status, _, err = call("reproduce", experiment, "--out", str(moved))
    assert (status, err) == (0, "")
    for name in LEFT:
        assert (moved / experiment / name).read_bytes() == (folder / experiment / name).read_bytes()


def test_missing_records_are_told(moved, call):
    for record in (moved / "records").iterdir():
        record.unlink()
    status, out, err = call("reproduce", "table-main", "--out", str(moved))
    assert (status, out) == (2, "")
    assert "Records of table-main are missing" in err
