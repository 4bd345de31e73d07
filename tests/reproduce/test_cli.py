"""`tawt reproduce`: what it lists, what it prints, and one line for every mistake."""

import json

import pytest

from tawt.cli import console
from tawt.reproduce import EXPERIMENTS
from tawt.reproduce.paper import TASKS
from tests.reproduce.made_up import FILES, SIZES

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_an_encoder_that_cannot_be_had_is_refused_before_any_run(refused, data):
    given = ("table-main", "--data", str(data), "--cap", "--encoder", "package:nowhere")
    assert "nowhere" in refused(*given)


# Listing


def test_the_list_names_nine_experiments_with_what_they_need(call):
    status, out, err = call("reproduce", "--list")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    for name, experiment in EXPERIMENTS.items():
        [line] = [line for line in lines if line.split()[:1] == [name]]
        for said in (experiment.title, experiment.needs, experiment.runs):
            assert said in line
    assert "--scale tiny" in out
    assert len(EXPERIMENTS) == 9


def test_the_list_as_json(call):
    status, out, err = call("reproduce", "--list", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert list(found) == list(EXPERIMENTS)
    assert all(set(each) == {"title", "needs", "runs"} for each in found.values())


def test_listing_writes_nothing(call, tmp_path, listing):
    before = listing(tmp_path)
    call("reproduce", "--list")
    assert listing(tmp_path) == before


def test_help_names_the_options(call):
    status, out, _ = call("reproduce", "--help")
    assert status == 0
    for option in ("--list", "--data", "--layout", "--encoder", "--seeds", "--cap", "--part"):
        assert option in out


# Mistakes


def test_no_experiment(refused):
    assert "Name an experiment; `tawt reproduce --list`" in refused()


def test_an_unknown_experiment(refused):
    assert "did you mean 'table-main'?" in refused("table-mian", "--scale", "tiny")


@pytest.mark.parametrize("experiment", ["table-main", "table-final-weights"])
def test_a_table_needs_data_and_an_encoder(refused, data, experiment):
    said = f"{experiment} trains encoders: give --data and --encoder, or --scale tiny"
    assert said in refused(experiment)
    assert said in refused(experiment, "--encoder", "bert-base-cased")
    assert said in refused(experiment, "--data", data)
    assert said in refused(experiment, "--layout", "nowhere.yaml")


def test_samples_need_data_and_vectors(refused, data):
    assert "needs --data" in refused("figure-weighted-samples", "--vectors", "v.txt")
    assert "needs --vectors" in refused("figure-weighted-samples", "--data", data)


def test_sizes_that_the_data_has_not_are_refused_with_the_largest_possible(refused, data):
    err = refused("table-main", "--data", data, "--encoder", "e")
    for task in TASKS:
        assert f"9000 sentences of {task} (the largest possible is {SIZES[task]})" in err
    assert "Use --cap to take the largest possible" in err


def test_only_what_is_too_small_is_named(refused, data):
    err = refused("table-source-ratio", "--data", data, "--encoder", "e")
    assert "64000 sentences of pos (the largest possible is 40)" in err
    assert "64500 sentences of ner (the largest possible is 10)" in err
    assert "chunking" not in err


def test_a_task_that_the_layout_lacks(refused, data, tmp_path):
    layout = tmp_path / "layout.yaml"
    files = ", ".join(f"{split}: ewt/ner.{split}.tsv" for split in ("train", "dev", "test"))
    layout.write_text(f"about: mine\ntasks: {{ner: {{{files}}}}}")
    err = refused("table-main", "--data", data, "--layout", layout, "--encoder", "e", "--cap")
    assert "table-main needs the task 'pos', which the layout lacks" in err


def test_a_target_that_has_no_test(refused, data, tmp_path):
    layout = tmp_path / "layout.yaml"
    tasks = {
        task: {"train": f"{name}.train.tsv", "dev": f"{name}.dev.tsv"}
        for task, name in FILES.items()
    }
    layout.write_text(json.dumps({"about": "mine", "tasks": tasks}))
    err = refused("table-main", "--data", data, "--layout", layout, "--encoder", "e", "--cap")
    assert f"{layout}:1: The target task 'pos' has no test examples" in err


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("test: ewt/ner.tset.tsv", "`test` names ewt/ner.tset.tsv; "),
        ("kind: taging", "There is no kind of task 'taging'; "),
        ("format: tvs", "There is no format 'tvs'; "),
        ("tag: pos", "`tag` must be upos, "),
        ("metric: acuracy", "No metric 'acuracy' for tagging; "),
    ],
)
def test_a_mistake_in_a_layout_that_shows_late_is_named_by_line(
    refused, data, tmp_path, wrong, said
):
    lines = ["about: mine", "tasks:"]
    for task, name in FILES.items():
        files = [f"    {split}: {name}.{split}.tsv" for split in ("train", "dev")]
        lines += [f"  {task}:", *files, f"    test: {name}.test.tsv"]
    if wrong.startswith("test"):
        lines.pop()
    lines.append(f"    {wrong}")
    layout = tmp_path / "layout.yaml"
    layout.write_text("\n".join(lines))
    err = refused("table-main", "--data", data, "--layout", layout, "--encoder", "e", "--cap")
    assert err.startswith(f"error: {layout}:{len(lines)}: Task 'ner': {said}")


def test_what_a_layout_is_not_to_blame_for_is_told_without_its_line(refused, data, tmp_path):
    layout = tmp_path / "layout.yaml"
    tasks = {
        task: {split: f"{name}.{split}.tsv" for split in ("train", "dev", "test")}
        for task, name in FILES.items()
    }
    layout.write_text(json.dumps({"about": "mine", "tasks": tasks}))
    err = refused("table-main", "--data", data, "--layout", layout, "--encoder", "e")
    assert err.startswith("error: table-main wants 9000 sentences")


def test_a_layout_that_is_not_there(refused, data):
    err = refused("table-main", "--data", data, "--layout", "ontnotes", "--encoder", "e")
    assert "There is no layout 'ontnotes'" in err


def test_a_folder_that_is_not_there(refused, tmp_path):
    err = refused("table-main", "--data", tmp_path / "nowhere", "--encoder", "e")
    assert "nowhere is no folder" in err


@pytest.mark.parametrize("part", ["0/2", "3/2", "1", "1/", "/2", "a/b", "1/0", "-1/2", "²/2", ""])
@pytest.mark.parametrize("experiment", ["table-main", "figure-task-distance"])
def test_a_part_that_is_none(refused, experiment, part):
    assert "K/N" in refused(experiment, "--scale", "tiny", f"--part={part}")


@pytest.mark.parametrize(
    "options",
    [
        ("--seeds", 0),
        ("--scale", "huge"),
        ("--epochs", 0),
        ("--precision", "fp8"),
    ],
)
def test_options_out_of_range(call, tmp_path, listing, options):
    before = listing(tmp_path)
    status, _, err = call("reproduce", "table-main", *options)
    assert status == 2
    assert options[0] in err
    assert listing(tmp_path) == before


# What comes out


def test_capped_sizes_are_taken_and_told(call, data, nothing_trained):
    status, out, err = call(
        "reproduce", "table-main", "--data", data, "--encoder", "e", "--cap", "--seeds", 2
    )
    assert (status, err) == (0, "")
    limits = {
        task.limit for config in nothing_trained.configs for task in config.data.tasks.values()
    }
    assert limits == {40, 30, 20, 10}
    assert "†: fewer sentences than the paper took" in out
    assert "English Web Treebank" in out
    assert "runs/reproduce/table-main/report.html" in out


def test_options_reach_the_runs_and_the_caption(call, data, nothing_trained, tmp_path):
    options = ("--learning-rate", 1e-3, "--epochs", 2, "--batch-size", 8, "--sampling", "weight")
    arguments = ("--data", data, "--encoder", data, "--cap", "--out", tmp_path / "out", *options)
    status, out, _ = call("reproduce", "table-fewer-sources", *arguments)
    assert status == 0
    for config in nothing_trained.configs:
        assert (config.epochs, config.training.batch_size) == (2, 8)
        assert (config.training.learning_rate, config.training.sampling) == (1e-3, "weight")
        assert config.model.encoder == str(data)
    for said in ("epochs 2", "batches of 8", "learning rate 0.001", "steps drawn by weight"):
        assert said in out
    assert (tmp_path / "out" / "table-fewer-sources" / "table.md").exists()


def test_tiny_takes_changed_settings_too(call, nothing_trained):
    options = ("--epochs", 1, "--learning-rate", 0.5)
    status, out, _ = call("reproduce", "table-fewer-sources", "--scale", "tiny", *options)
    assert status == 0
    for config in nothing_trained.configs:
        assert (config.epochs, config.training.learning_rate) == (1, 0.5)
        assert config.weighting.preset == "paper"
    assert "learning rate 0.5" in out


def test_json_is_the_table(call, data, nothing_trained):
    arguments = ("table-source-ratio", "--data", data, "--encoder", "e", "--cap", "--json")
    status, out, err = call("reproduce", *arguments)
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["experiment"] == "table-source-ratio"
    assert str(data) not in out


def test_quiet_is_silent(call, data, nothing_trained, tmp_path):
    arguments = ("table-main", "--data", data, "--encoder", "e", "--cap", "--quiet")
    assert call("reproduce", *arguments) == (0, "", "")
    assert call("reproduce", *arguments, "--out", tmp_path / "other", "--part", "1/2") == (
        0,
        "",
        "",
    )


def test_parts_and_then_the_table(call, data, nothing_trained):
    arguments = ("table-main", "--data", data, "--encoder", "e", "--cap")
    for part in ("1/3", "2/3"):
        status, out, _ = call("reproduce", *arguments, "--part", part)
        assert status == 0
        assert "This part is made." in out
    status, out, _ = call("reproduce", *arguments, "--part", "3/3")
    assert status == 0
    assert "table-main: Four targets" in out
    assert len(nothing_trained.configs) == 44
    status, again, _ = call("reproduce", *arguments)
    assert (status, again) == (0, out)
    assert len(nothing_trained.configs) == 44


def test_a_wide_table_is_turned_on_a_terminal(call, data, nothing_trained, monkeypatch):
    monkeypatch.setattr(console.out, "width", 80)
    _, out, _ = call("reproduce", "table-source-ratio", "--data", data, "--encoder", "e", "--cap")
    assert max(map(len, out.partition("Test scores")[0].splitlines())) <= 80
    first = [line.split()[0] for line in out.splitlines() if line[:4].strip().isdigit()]
    assert first == ["1", "2", "4", "8", "16", "32", "64", "128"]


def test_a_bad_setting_is_refused_before_tiny_data_is_written(refused):
    assert "learning_rate" in refused("table-main", "--scale", "tiny", "--learning-rate", "-1")
