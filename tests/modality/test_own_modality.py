"""A kind of data from outside the package, from its section to its page."""

import json
import subprocess
import sys
from dataclasses import dataclass, replace

import pytest
import torch
import yaml

from tawt.best import examined
from tawt.best.recipes import Recipe
from tawt.config import load
from tawt.errors import ConfigError
from tawt.modality import Modality, known_modalities, modality_named, register
from tawt.modality.facts import FactTable, SplitFacts, TaskFacts
from tawt.runs.building import build_parts
from tests.modality.sequences import SEQUENCES, SIZES, SequenceModality, drawn

VALUES = {
    "name": "rising",
    "data": {"kind": "sequences", "longest": 6},
    "target": "rises",
    "model": {"width": 6},
    "epochs": 1,
    "target_epochs": 2,
    "training": {"batch_size": 8, "update_every": 2, "gradient_examples": 8},
}


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(VALUES, sort_keys=False))
    return path


@pytest.fixture
def rows(tmp_path):
    """Sequences in a file, one a line."""
    path = tmp_path / "asked.jsonl"
    path.write_text("".join(json.dumps(each.tolist()) + "\n" for each in drawn(5, 6, seed=9)))
    return path


def test_it_trains_predicts_and_is_reported(study, rows, tmp_path, call):
    run = tmp_path / "run"
    status, _, err = call("train", study, "--out", run, "--quiet")
    assert (status, err) == (0, "")
    record = json.loads((run / "record.json").read_text())
    assert record["weights"].keys() == {"positive", "rises"}
    assert record["data"]["rises"]["test"]["examples"] == 30
    header, first, *_ = (run / "predictions.test.tsv").read_text().splitlines()
    assert header.split("\t") == ["task", "example", "input", "gold", "predicted", "score"]
    tested = (
        modality_named("sequences")
        .tasks(load(study).data, None, names=["rises"], targets=["rises"], seed=0)[0]
        .test
    )
    assert first.split("\t")[2:4] == [tested.show(0).text, tested.label(0)]

    status, out, err = call("predict", run, rows, "--probabilities", "--device", "cpu")
    assert (status, err) == (0, "")
    answers = [line.split("\t") for line in out.splitlines()]
    assert [answer[0] for answer in answers] == ["1", "2", "3", "4", "5"]
    assert all(label in ("no", "yes") and float(share) >= 0.5 for _, label, share in answers)

    (run / "report.html").unlink(missing_ok=True)
    status, _, _ = call("report", run)
    assert status == 0
    assert "rising" in (run / "report.html").read_text()


def test_predictions_of_the_run_and_of_predict_are_the_same(study, tmp_path, call):
    call("train", study, "--out", tmp_path / "run", "--quiet")
    config = load(study)
    [task] = SEQUENCES.tasks(config.data, config.model, names=["rises"], targets=["rises"], seed=0)
    asked = tmp_path / "test.jsonl"
    asked.write_text("".join(json.dumps(each.tolist()) + "\n" for each in task.test.sequences))
    _, out, _ = call("predict", tmp_path / "run", asked, "--output", "jsonl")
    rows = (tmp_path / "run" / "predictions.test.tsv").read_text().splitlines()[1:]
    assert [json.loads(line)["label"] for line in out.splitlines()] == [
        row.split("\t")[4] for row in rows
    ]


def test_processes_that_compare_know_it_too(study, rows, tmp_path, call):
    folder = tmp_path / "compared"
    names = ("--row", "single-task", "--row", "weighted joint")
    status, out, err = call(
        "compare", study, "--out", folder, *names, "--seeds", 1, "--jobs", 2, "--json"
    )
    assert status == 0, err
    assert [row["name"] for row in json.loads(out)["rows"]] == ["single-task", "weighted joint"]
    assert "<html" in (folder / "report.html").read_text()[:200]
    status, _, err = call("predict", folder, rows)
    assert status == 2
    assert f"holds several runs; give the folder of one of them, such as {folder}/single" in err
    assert call("predict", folder / "single-task" / "0", rows)[0] == 0


def test_it_can_be_looked_into(study, call):
    status, out, _ = call("data", "inspect", study, "--json")
    assert status == 0
    target, source = json.loads(out)["tasks"]
    assert (target["name"], target["role"], target["kind"]) == ("rises", "target", "classification")
    assert target["splits"]["train"]["examples"] == 24
    assert {each["label"] for each in target["splits"]["train"]["labels"]} == {"no", "yes"}
    assert source["name"] == "positive"
    assert json.loads(out)["warnings"][0] == "They were drawn, not seen."


@dataclass(frozen=True, kw_only=True)
class SequenceFacts(SplitFacts):
    """Facts with a name for examples and a column of their own."""

    numbers_in: int

    @property
    def noun(self):
        return "sequence"

    @property
    def columns(self):
        return {"numbers": str(self.numbers_in)}

    @property
    def tables(self):
        return (FactTable(title="Signs", columns={"minus": "7"}, note="minus: below zero."),)


class SequenceTaskFacts(TaskFacts):
    def remarks(self):
        yield "half of the numbers are below zero."


def test_a_table_has_the_columns_that_its_facts_name(study, call, monkeypatch):
    def inspect(self, data, model, **options):
        found, _ = Modality.inspect(self, data, model, **options)
        splits = {"train": SequenceFacts(examples=24, numbers_in=144)}
        return [
            replace(
                each,
                facts=SequenceTaskFacts(
                    name=each.facts.name, kind="sequences", role=each.facts.role, splits=splits
                ),
            )
            for each in found
        ], []

    monkeypatch.setattr(SequenceModality, "inspect", inspect)
    status, out, _ = call("data", "inspect", study)
    assert status == 0
    assert out.startswith("Sequences\n")
    assert [line.split() for line in out.splitlines() if " sequences" in line] == [
        ["task", "split", "sequences", "numbers", "twice", "train"]
    ]
    assert ["rises", "train", "24", "144", "0"] in [line.split() for line in out.splitlines()]
    assert "Signs\n" in out
    assert ["rises", "train", "7"] in [line.split() for line in out.splitlines()]
    assert "minus: below zero." in out
    assert "warning: 'rises': half of the numbers are below zero." in out
    assert (
        json.loads(call("data", "inspect", study, "--json")[1])["tasks"][0]["splits"]["train"][
            "numbers_in"
        ]
        == 144
    )


def test_its_fields_are_checked_with_their_lines(study):
    study.write_text(study.read_text().replace("longest: 6", "longst: 6"))
    with pytest.raises(
        ConfigError, match=r"study.yaml:4: there is no field `data.longst`; did you mean 'longest'"
    ):
        load(study)
    study.write_text(study.read_text().replace("longst: 6", "longest: 1"))
    with pytest.raises(ConfigError, match=r"study.yaml:4: `data.longest`: .* got 1"):
        load(study)


def test_its_examples_can_be_weighed_and_audited(study, tmp_path, call):
    unit = ("-o", "weighting.unit=example")
    status, _, err = call("train", study, *unit, "--out", tmp_path / "run", "--quiet")
    assert (status, err) == (0, "")
    status, out, _ = call("audit", tmp_path / "run", "--most", 2, "--json")
    assert status == 0
    shown = json.loads(out)
    found = shown["examples"] if isinstance(shown, dict) else shown
    assert all(row["label"] in ("no", "yes") and row["text"] for row in found)


def test_it_says_what_it_is_to_be_given(study, tmp_path, call, monkeypatch):
    columns = ("-o", "weighting.unit=group", "-o", "weighting.group.by=column")
    status, _, err = call("train", study, *columns, "--out", tmp_path / "run")
    assert status == 2
    assert "which group each example is in; give it the names of those who drew." in err
    monkeypatch.setattr(SequenceModality, "groups_wanted", "")
    _, _, err = call("train", study, *columns, "--out", tmp_path / "run")
    assert "which group each example is in; group it by something else." in err
    monkeypatch.delitem(SIZES, "dev")
    status, _, err = call("train", study, "-o", "training.patience=2", "--out", tmp_path / "run")
    assert status == 2
    assert "no dev examples; give it more draws, or leave `patience` out." in err


def test_what_it_remarks_is_said_and_kept_in_the_record(study, tmp_path, call, caplog):
    assert call("train", study, "-o", "data.limit=9", "--out", tmp_path / "run")[0] == 0
    assert "'rises' has few draws." in caplog.messages
    record = json.loads((tmp_path / "run" / "record.json").read_text())
    assert record["warnings"] == ["'rises' has few draws."]


def test_a_head_that_it_can_share_is_a_candidate_for_the_best_model(study):
    config = load(study)
    found = examined(config)
    assert set(found.sharers) == set(found.sources)
    recipe = Recipe(order="together", weights="equal", sources=found.sources, sharing=found.sharers)
    changed = recipe.applied(config, found.fold(1), name="shared")
    heads = build_parts(changed).model.heads
    assert heads[found.target] is heads[found.sources[0]]
    assert examined(load(study, {"data.one_head": True})).sharers == ()


def test_all_that_is_asked_of_it_is_answered_from_outside():
    asked = {name for name in vars(Modality) if not name.startswith("_")}
    asked |= {name for name in Modality.__annotations__ if not name.startswith("_")}
    assert asked <= vars(SequenceModality).keys()


def test_its_defaults_stand_where_a_configuration_gives_none(study):
    config = load(study)
    assert (config.weighting.step_size, config.training.update_growth) == (0.75, 0.5)
    assert config.training.learning_rate == 0.02
    assert load(study, {"weighting.step_size": 0.5}).weighting.step_size == 0.5
    assert load(study, {"weighting.preset": "paper"}).training.update_growth == 0
    assert load(study, {"model.width": 7}).training.learning_rate == 0.01


def test_its_sections_are_placed_and_fitted(study):
    assert load(study, {"data.diary": "a.txt"}).data.diary == study.parent / "a.txt"
    with pytest.raises(ConfigError, match=r"study.yaml:\d+: .*too narrow for what is so long"):
        load(study, {"data.longest": 60, "model.width": 2})
    with pytest.raises(ConfigError, match=r"`data\.kind: sequences` needs a `width`"):
        load(study, {"model": {"encoder": "x"}})


def test_what_takes_less_memory_is_named(study, tmp_path, call, monkeypatch):
    def full(*args, **options):
        raise torch.OutOfMemoryError("full")

    monkeypatch.setattr(sys.modules["tawt.runs.run"], "train", full)
    status, _, err = call("train", study, "--out", tmp_path / "run", "--quiet")
    assert status == 2
    assert "Lower `training.batch_size` (8)" in err
    assert "or `model.width` (6); or choose a smaller model" in err


def test_distances_of_it_are_measured(study, tmp_path, call, monkeypatch):
    out = ("--out", tmp_path / "far", "--seeds", 1, "--jobs", 1, "--device", "cpu")
    monkeypatch.setattr(SequenceModality, "depends_on_roles", True)
    status, _, err = call("distance", study, *out, "--matrix")
    assert status == 2
    assert "`data.kind: sequences`, a task has other examples as the target" in err
    monkeypatch.setattr(SequenceModality, "is_pretrained", True)
    status, shown, err = call("distance", study, *out, "--json")
    assert status == 0, err
    assert json.loads(shown)["telling"] == "leep"


def test_a_name_that_is_taken_is_refused():
    taken = type("Other", (SequenceModality,), {"name": "text", "__module__": "elsewhere"})
    with pytest.raises(ConfigError, match="There is a kind of data 'text' already"):
        register(taken())
    register(SEQUENCES)  # the same again is no other


# From the entry points of another package

MODULE = """
from tests.modality.sequences import SequenceData, SequenceModality
from typing import Literal

class Data(SequenceData):
    kind: Literal["{name}"]

class Elsewhere(SequenceModality):
    name = "{name}"
    data_section = Data

MODALITY = Elsewhere()
"""


def installed(folder, *, name, value="elsewhere:MODALITY"):
    """A package with an entry point, as an installer leaves it."""
    (folder / "elsewhere.py").write_text(MODULE.format(name=name))
    about = folder / "elsewhere-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[tawt.modalities]\n{name} = {value}\n")


def test_entry_points_bring_it(study, tmp_path, monkeypatch, call):
    folder = tmp_path / "site"
    folder.mkdir()
    installed(folder, name="installed")
    monkeypatch.syspath_prepend(folder)
    assert "installed" in known_modalities()
    study.write_text(study.read_text().replace("kind: sequences", "kind: installed"))
    options = ("--row", "single-task", "--seeds", 2, "--jobs", 2, "--quiet")
    status, _, err = call("compare", study, "--out", tmp_path / "runs", *options)
    assert (status, err) == (0, "")


def test_an_entry_point_that_leads_nowhere_is_named(tmp_path, monkeypatch):
    folder = tmp_path / "site"
    folder.mkdir()
    installed(folder, name="lost", value="elsewhere_lost:MODALITY")
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(ConfigError, match="'lost' cannot be loaded from elsewhere_lost:MODALITY"):
        modality_named("lost")


# Built-in ones


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        ("import tawt.cli.app", ["torch", "transformers"]),
        (
            "from tawt.config import parsed; import tawt.runs.run;"
            "c = parsed({'data': {'kind': 'digits'}, 'target': 'digit'});"
            "from tawt.runs import building; building.model(c, building.tasks(c))",
            ["transformers"],
        ),
        (
            "from tawt.config import parsed;"
            "parsed({'data': {'kind': 'text', 'tasks': {'a': {'train': 'a.txt'}}}, 'target': 'a',"
            "'model': {'encoder': 'x'}})",
            ["transformers"],
        ),
    ],
)
def test_what_is_not_needed_is_not_imported(code, forbidden):
    asked = f"import sys; {code}; print([n for n in {forbidden!r} if n in sys.modules])"
    found = subprocess.check_output([sys.executable, "-c", asked], text=True)
    assert found.strip() == "[]"
