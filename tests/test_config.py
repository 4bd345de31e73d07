"""Configurations: what a file may say, and the one line that answers a mistake."""

import pytest
import yaml

from tawt.config.presets import PRESETS
from tawt.config.schema import RunConfig, difference, dumped, load, parsed
from tawt.errors import ConfigError, DataError, TawtError
from tawt.runs import building
from tawt.weighting import Fixed

BASE = {"data": {"kind": "digits"}, "target": "digit"}


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "study.yaml"
        path.write_text(text)
        return path

    return written


def refused(path, overrides=None):
    """The message, which is one line."""
    with pytest.raises(ConfigError) as error:
        load(path, overrides)
    message = str(error.value)
    assert "\n" not in message
    return message


# Mistakes in a file

GOOD = """\
name: study
data:
  kind: digits
  target_size: 40
target: digit
model:
  widths: [16, 8]
weighting:
  preset: paper
  curvature:
    kind: conjugate-gradient
training:
  batch_size: 16
  learning_rate: 1e-3
"""


@pytest.mark.parametrize(
    ("right", "wrong", "line", "words"),
    [
        ("name: study", "nmae: study", 1, ["`nmae`", "'name'"]),
        ("  target_size: 40", "  target_sise: 40", 4, ["`data.target_sise`", "'target_size'"]),
        ("  widths: [16, 8]", "  width: [16, 8]", 7, ["`model.width`", "'widths'"]),
        ("  preset: paper", "  presett: paper", 9, ["`weighting.presett`", "'preset'"]),
        (
            "    kind: conjugate-gradient",
            "    dampning: 1",
            11,
            ["`weighting.curvature.dampning`", "'damping'"],
        ),
        ("  batch_size: 16", "  batchsize: 16", 13, ["`training.batchsize`", "'batch_size'"]),
        ("name: study", "zzz: study", 1, ["`zzz`", "known:", "paradigm"]),
    ],
)
def test_a_misspelt_field_is_named_with_its_line_and_the_right_one(
    write, right, wrong, line, words
):
    path = write(GOOD.replace(right, wrong))
    assert load(write(GOOD)).name == "study"
    message = refused(write(GOOD.replace(right, wrong)))
    assert message.startswith(f"{path}:{line}:")
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("right", "wrong", "line", "field"),
    [
        ("name: study", "name: [a]", 1, "name"),
        ("name: study", "name: a/b", 1, "name"),
        ("name: study", "name: ..", 1, "name"),
        ("name: study", "name: .", 1, "name"),
        ("name: study", "name: ''", 1, "name"),
        ("name: study", "seed: -1", 1, "seed"),
        ("name: study", "seed: 1.5", 1, "seed"),
        ("name: study", "epochs: 0", 1, "epochs"),
        ("name: study", "epochs: many", 1, "epochs"),
        ("name: study", "sources: parity", 1, "sources"),
        ("name: study", "paradigm: jiont", 1, "paradigm"),
        ("name: study", "fine_tune_learning_rate: 0", 1, "fine_tune_learning_rate"),
        ("name: study", "split_target: perhaps", 1, "split_target"),
        ("  kind: digits", "  kind: letters", 3, "data.kind"),
        ("  target_size: 40", "  target_size: 9", 4, "data.target_size"),
        ("target: digit", "target: [digit]", 5, "target"),
        ("  widths: [16, 8]", "  widths: []", 7, "model.widths"),
        ("  widths: [16, 8]", "  widths: [16, 0]", 7, "model.widths.1"),
        ("  widths: [16, 8]", "  dropout: 1.0", 7, "model.dropout"),
        ("  preset: paper", "  preset: papre", 9, "weighting.preset"),
        ("  preset: paper", "  step_size: 0", 9, "weighting.step_size"),
        ("  preset: paper", "  step_size: .nan", 9, "weighting.step_size"),
        ("  preset: paper", "  anchor: 1", 9, "weighting.anchor"),
        ("  preset: paper", "  ratio_bound: 0.5", 9, "weighting.ratio_bound"),
        ("    kind: conjugate-gradient", "    kind: newton", 11, "weighting.curvature.kind"),
        ("    kind: conjugate-gradient", "    iterations: 0", 11, "weighting.curvature.iterations"),
        ("    kind: conjugate-gradient", "    rank: 5", 11, "weighting.curvature.rank"),
        ("    kind: conjugate-gradient", "    kind: nystrom", 11, "weighting.curvature.kind"),
        ("    kind: conjugate-gradient", "    kind: kfac", 11, "weighting.curvature.kind"),
        ("    kind: conjugate-gradient", "    labels: true", 11, "weighting.curvature.labels"),
        (
            "    kind: conjugate-gradient",
            "    {kind: adam, damping: 0}",
            11,
            "weighting.curvature.damping",
        ),
        ("  batch_size: 16", "  batch_size: sixteen", 13, "training.batch_size"),
        ("  batch_size: 16", "  batch_size: 1.5", 13, "training.batch_size"),
        ("  batch_size: 16", "  precision: fp8", 13, "training.precision"),
    ],
)
def test_a_wrong_value_is_named_with_its_line(write, right, wrong, line, field):
    path = write(GOOD.replace(right, wrong))
    message = refused(path)
    assert message.startswith(f"{path}:{line}:")
    assert f"`{field}`" in message


@pytest.mark.parametrize(
    ("wrong", "field"),
    [("batch_size: 0", "batch_size"), ("warmup: 2", "warmup"), ("clip_norm: -1", "clip_norm")],
)
def test_settings_out_of_bounds_name_file_and_field(write, wrong, field):
    path = write(GOOD.replace("batch_size: 16", wrong))
    message = refused(path)
    assert message.startswith(f"{path}:13:")
    assert f"`{field}`" in message


@pytest.mark.parametrize(
    ("weighting", "others", "line", "field"),
    [
        ("{kind: fixed, unit: example}", "", 4, "weighting.unit"),
        ("{kind: fixed, unit: group}", "", 4, "weighting.unit"),
        ("{unit: example}", "paradigm: single-task", 4, "weighting.unit"),
        ("{unit: group}", "paradigm: single-task", 4, "weighting.unit"),
        ("{group: {by: label}}", "", 4, "weighting.group"),
        ("{unit: example, group: {by: cluster}}", "", 4, "weighting.group"),
        ("{way: differences}", "", 4, "weighting.way"),
        ("{unit: task}", "training: {unit_examples: 9}", 5, "training.unit_examples"),
    ],
)
def test_what_would_have_no_effect_on_units_is_refused(write, weighting, others, line, field):
    path = write(f"data:\n  kind: digits\ntarget: digit\nweighting: {weighting}\n{others}\n")
    message = refused(path)
    assert message.startswith(f"{path}:{line}: `{field}`")


@pytest.mark.parametrize(
    "weighting", [{}, {"unit": "example", "way": "mixed"}, {"unit": "group"}, {"kind": "fixed"}]
)
def test_what_is_said_of_units_is_read_again(weighting):
    fine = weighting.get("unit") is not None
    training = {"unit_examples": 9} if fine else {}
    config = parsed({**BASE, "weighting": weighting, "training": training})
    assert parsed(yaml.safe_load(dumped(config))) == config
    assert (config.weighting.group is not None) == (config.weighting.unit == "group")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("learning_rate: 0.1", "training.learning_rate"),
        ("batchsize: 8", "training.batch_size"),
        ("target_share: 0.5", "weighting.target_share"),
        ("widths: [8]", "model.widths"),
        ("weighting: {gradient_examples: 8}", "training.gradient_examples"),
        ("training: {fine_tune_learning_rate: 0.1}", "fine_tune_learning_rate"),
    ],
)
def test_a_field_of_another_section_is_sent_there(write, line, meant):
    path = write(f"data: {{kind: digits}}\ntarget: digit\n{line}\n")
    message = refused(path)
    assert message.startswith(f"{path}:3: there is no field")
    assert message.endswith(f"did you mean `{meant}`?")


def test_a_mistake_that_shows_when_it_is_put_to_work_carries_its_place():
    config = parsed({**BASE, "sources": ["parity", "odd"]})
    with pytest.raises(ConfigError, match="no task 'odd'") as error:
        building.used_names(config)
    assert error.value.place == ("sources", 1)


def test_what_is_missing_is_named(write):
    assert "`target` is missing" in refused(write("data: {kind: digits}\n"))
    assert "`data` is missing" in refused(write("target: digit\n"))
    message = refused(write("data:\n  kind: arrays\n  tasks:\n    a: {}\ntarget: a\n"))
    assert ":4:" in message
    assert "`data.tasks.a.train` is missing" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "data: {kind: digits}\ntagret: digit\n",
            ":2: there is no field `tagret`; did you mean 'target'",
        ),
        (
            "data: {kind: arrays, tasks: {a: {trian: a.npz}}}\ntarget: a\n",
            ":1: there is no field `data.tasks.a.trian`; did you mean 'train'",
        ),
        ("data: {kind: digits}\nlayers: 3\n", "`target` is missing"),
        (
            "data: {kind: digits}\ntarget: digit\nmodel: {kind: mlp, learning_rate: 3}\n",
            ":3: there is no field `model.learning_rate`; did you mean `training.learning_rate`",
        ),
    ],
)
def test_a_field_that_is_missing_since_it_is_misspelled_is_named(write, text, words):
    assert words in refused(write(text))


@pytest.mark.parametrize("name", ["digits", "arrays", "float", "str", "a.b"])
def test_a_task_of_any_name_is_named_in_the_message(write, name):
    text = f"data:\n  kind: arrays\n  tasks:\n    {name}:\n      trian: x.npz\ntarget: a\n"
    message = refused(write(text.replace("trian", "train: y.npz\n      trian")))
    assert ":6:" in message
    assert f"`data.tasks.{name}.trian`" in message
    assert "'train'" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: [1, 2\ntarget: x\n", [":2", "is not YAML"]),
        ("name: a\n\tb: c\n", [":2", "is not YAML"]),
        ("name: 'unclosed\n", ["is not YAML"]),
        ("a: b: c\n", [":1", "is not YAML"]),
        ("- a\n- b\n", ["key: value"]),
        ("just words\n", ["key: value"]),
        ("", ["key: value"]),
        ("name: !!python/object:os.system x\n", [":1", "is not YAML"]),
        ("name: 2020-13-45\n", ["2020-13-45"]),
        ("? [a, b]\n: c\n", [":1"]),
        ("1: 2\ntarget: digit\ndata: {kind: digits}\n", ["1"]),
    ],
)
def test_what_is_not_a_configuration_is_refused(write, text, words):
    path = write(text)
    message = refused(path)
    assert str(path) in message
    for word in words:
        assert word in message


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    assert "no such file" in refused(tmp_path / "none.yaml")
    assert "is a folder" in refused(tmp_path)
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00name")
    assert "UTF-8" in refused(tmp_path / "binary.yaml")


# Presets


def test_the_robust_preset_is_the_default():
    assert parsed(BASE) == parsed({**BASE, "weighting": {"preset": "robust"}})
    assert parsed(BASE).weighting.own_alignment == "held-out"


@pytest.mark.parametrize("preset", list(PRESETS))
def test_a_preset_fills_what_is_not_given_and_nothing_else(preset):
    filled = parsed({**BASE, "weighting": {"preset": preset}})
    for name, value in PRESETS[preset].weighting.items():
        assert getattr(filled.weighting, name) == value
    for name, value in PRESETS[preset].training.items():
        assert getattr(filled.training, name) == value
    given = {
        **BASE,
        "weighting": {
            "preset": preset,
            "target_share": 0.123,
            "own_alignment": "itself" if preset == "robust" else "held-out",
            "ratio_bound": 7.0,
        },
        "training": {"sampling": "weight" if preset == "paper" else "size", "gradient_examples": 7},
    }
    kept = parsed(given)
    assert kept.weighting.target_share == 0.123
    assert kept.weighting.own_alignment == given["weighting"]["own_alignment"]
    assert kept.weighting.ratio_bound == 7
    assert kept.training.sampling == given["training"]["sampling"]
    assert kept.training.gradient_examples == 7


def test_the_papers_preset_is_the_papers():
    paper = parsed({**BASE, "weighting": {"preset": "paper"}})
    assert paper.weighting.target_share == "learned"
    assert paper.weighting.own_alignment == "itself"
    assert paper.weighting.anchor == 0
    assert paper.training.sampling == "size"


def test_empty_sections_are_defaults(write):
    path = write("data: {kind: digits}\ntarget: digit\ntraining:\nweighting:\n")
    assert load(path) == parsed(BASE)
    assert load(path, {"training.batch_size": 4}).training.batch_size == 4


# Overrides


def test_overrides_replace_and_add(write):
    config = load(
        write(GOOD),
        {
            "seed": 7,
            "training.batch_size": 4,
            "weighting.curvature.damping": 0.5,
            "model.kind": "cnn",
        },
    )
    assert config.seed == 7
    assert config.training.batch_size == 4
    assert config.weighting.curvature.damping == 0.5
    assert config.weighting.curvature.kind == "conjugate-gradient"
    assert config.model.kind == "cnn"
    assert config.model.widths == [16, 8]


def test_a_preset_can_be_overridden(write):
    config = load(write(GOOD), {"weighting.preset": "robust"})
    assert config.weighting.ratio_bound == PRESETS["robust"].weighting["ratio_bound"] is None
    assert config.weighting.step == PRESETS["robust"].weighting["step"] == "evidence"


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"training.batchsize": 4}, "'batch_size'"),
        ({"trainin.batch_size": 4}, "'training'"),
        ({"name.x": 4}, "`name` is not a section"),
        ({"training.batch_size": "many"}, "`training.batch_size`"),
        ({"training": 3}, "`training`"),
        ({"weighting": "robust"}, "`weighting`"),
    ],
)
def test_overrides_are_checked_too(write, overrides, words):
    assert words in refused(write(GOOD), overrides)


# Round trips

FULL = {
    **BASE,
    "name": "full-1.2_x",
    "seed": 2**40,
    "target": {"digit": 0.75, "parity": 0.25},
    "sources": ["shape", "noise"],
    "paradigm": "joint then fine-tuning",
    "fine_tune_learning_rate": 1e-05,
    "weighting": {
        "initial": {"shape": 1 / 3, "noise": 2 / 3},
        "target_share": [0.1, 0.5],
        "curvature": {"kind": "dense", "damping": 1e-9},
        "ratio_bound": 3.5,
    },
    "training": {"learning_rate": 0.1 + 0.2, "clip_norm": None, "patience": 3, "warmup": 0.1},
}


@pytest.mark.parametrize("values", [BASE, FULL], ids=["bare", "full"])
def test_a_dumped_configuration_loads_back_equal(write, values):
    config = parsed(values)
    again = load(write(dumped(config)))
    assert again == config
    assert difference(again, kept=config) is None
    assert dumped(again) == dumped(config)


def test_a_dumped_array_configuration_loads_back_equal_from_anywhere(study, tmp_path):
    study.rename("near", "näh & <b>: 'x'")
    config = load(study.path)
    elsewhere = tmp_path / "elsewhere" / "config.yaml"
    elsewhere.parent.mkdir()
    elsewhere.write_text(dumped(config))
    assert load(elsewhere) == config


def test_every_default_is_written_out():
    values = yaml.safe_load(dumped(parsed(BASE)))
    assert set(values) == set(RunConfig.model_fields)
    assert values["training"]["clip_norm"] == 1.0
    assert values["weighting"]["step"] == "evidence"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 3}, "`seed` is 3 now and was 0 in the folder"),
        ({"training": {"batch_size": 4}}, "`training.batch_size` is 4 now and was 32 in"),
        ({"model": {"widths": [64]}}, "model.widths"),
        ({"weighting": {"initial": {"parity": 1.0}}}, "weighting.initial"),
        ({"sources": ["parity"]}, "`sources` is ['parity'] now and was not given in the folder"),
        (
            {"data": {"kind": "digits", "target_size": 99}},
            "size` is 99 now and was 30 in",
        ),
    ],
)
def test_a_difference_names_the_field(changes, words):
    changed = parsed({**BASE, **changes})
    assert words in difference(changed, kept=parsed(BASE))
    assert difference(changed, kept=parsed({**BASE, **changes})) is None


# Paths


def test_paths_are_relative_to_the_file(study, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    config = load(study.path.relative_to(tmp_path))
    assert config.data.tasks["goal"].train == study.folder / "goal.train.npz"
    assert config.data.tasks["near"].dev is None
    assert [task.name for task in building.tasks(config)] == ["near", "far", "goal"]


def test_absolute_paths_stay(study, tmp_path):
    away = tmp_path / "away.npz"
    away.write_bytes((study.folder / "far.train.npz").read_bytes())
    study.set("data.tasks.far.train", str(away))
    assert load(study.path).data.tasks["far"].train == away


# From configuration to objects


def test_sources_default_to_all_other_tasks(study):
    assert [task.name for task in building.tasks(load(study.path))] == ["near", "far", "goal"]
    study.set("sources", ["far"])
    assert [task.name for task in building.tasks(load(study.path))] == ["far", "goal"]


def weighting_of(config):
    tasks = building.tasks(config)
    return building.weighting(config, tasks, building.model(config, tasks))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("sources", ["near", "goal"], "'goal' is the target and also a source"),
        ("sources", ["near", "fra"], "did you mean 'far'"),
        ("target", "gaol", "did you mean 'goal'"),
        ("sources", [], "no source"),
        ("split_target", True, "single-task"),
    ],
)
def test_roles_that_do_not_fit_are_refused(study, name, value, words):
    study.set(name, value)
    if name == "split_target":
        study.set("paradigm", "single-task")
    config = load(study.path)
    with pytest.raises(TawtError, match=words):
        weighting_of(config), building.paradigm(config)


def test_the_same_source_twice_is_refused(study):
    config = load(study.set("sources", ["near", "near"]).path)
    with pytest.raises(TawtError, match="'near'"):
        weighting_of(config)


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_fixed_weights_are_the_ones_given(study, preset):
    """A preset fills in what is not given; a whole mapping of weights is given."""
    given = {"near": 0.2, "far": 0.1, "goal": 0.7}
    study.set("weighting", {"kind": "fixed", "initial": given, "preset": preset})
    config = load(study.path)
    weighting = weighting_of(config)
    assert isinstance(weighting, Fixed)
    assert weighting.weights.shares() == pytest.approx(given)


def test_models_depend_on_the_seed_alone(study):
    config = load(study.path)
    tasks = building.tasks(config)
    one, same = (building.model(config, tasks).state_dict() for _ in range(2))
    other = building.model(config.model_copy(update={"seed": 1}), tasks).state_dict()
    assert all(one[name].equal(same[name]) for name in one)
    assert not one["representation.layers.1.weight"].equal(other["representation.layers.1.weight"])


def test_tasks_of_different_shapes_are_refused(study):
    import numpy as np

    study.save("far.train", inputs=np.zeros((5, 3)), labels=np.zeros(5, int))
    config = load(study.path)
    with pytest.raises(DataError, match=r"'near' has \(4,\) and 'far' has \(3,\)"):
        building.model(config, building.tasks(config))


def test_fingerprints_tell_data_apart(study):
    import numpy as np

    before = building.fingerprints(building.tasks(load(study.path)))
    assert before["goal"].keys() == {"train", "dev", "test"}
    assert before["goal"]["dev"]["examples"] == 15
    with np.load(study.folder / "far.train.npz") as arrays:
        inputs, labels = arrays["inputs"].copy(), arrays["labels"]
    assert building.fingerprints(building.tasks(load(study.path))) == before
    inputs[0, 0] = np.nextafter(inputs[0, 0], np.float32(9))
    study.save("far.train", inputs=inputs, labels=labels)
    after = building.fingerprints(building.tasks(load(study.path)))
    assert {name for name in before if before[name] != after[name]} == {"far"}


BY_STEPS = {"data": {"kind": "digits"}, "target": "digit"}


@pytest.mark.parametrize(
    "given", [{"target_from": "halves in turn"}, {"measure_through": "fitted heads"}]
)
def test_what_training_steps_do_not_ask_for_is_refused(given):
    with pytest.raises(ConfigError, match="has no effect with `measure: training steps`") as found:
        parsed({**BY_STEPS, "training": {"measure": "training steps", **given}})
    assert len(str(found.value).splitlines()) == 1


def test_what_the_preset_would_have_given_gives_way_to_training_steps():
    config = parsed({**BY_STEPS, "training": {"measure": "training steps"}})
    assert config.training.target_from == "all"
    assert parsed(yaml.safe_load(dumped(config))) == config
    assert parsed(BY_STEPS).training.target_from == "halves in turn"


@pytest.mark.parametrize(
    ("data", "preset", "paradigm"),
    [
        ("text", "robust", "pre-training"),
        ("text", "paper", "joint"),
        ("digits", "robust", "joint"),
    ],
)
def test_sources_come_first_by_default_where_the_data_is_text(data, preset, paradigm):
    text = {"kind": "text", "tasks": {"goal": {"train": "goal.tsv"}, "aid": {"train": "aid.tsv"}}}
    found = parsed(
        {
            "data": text if data == "text" else BASE["data"],
            "target": "goal" if data == "text" else BASE["target"],
            "weighting": {"preset": preset},
            **({"model": {"encoder": "some"}} if data == "text" else {}),
        }
    )
    assert found.paradigm == paradigm
