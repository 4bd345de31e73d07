"""Options of `tawt reproduce` that would have no effect: refused, in one line."""

import pytest

from tawt.reproduce import EXPERIMENTS

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.mark.parametrize(
    "given",
    [("--data", "x"), ("--encoder", "x"), ("--layout", "open"), ("--layout", "x"), ("--cap",)],
)
def test_tiny_brings_its_own_data_and_encoder(refused, given):
    err = refused("table-main", "--scale", "tiny", *given)
    assert f"--scale tiny has data and an encoder of its own; leave out {given[0]}." in err


def test_all_that_tiny_has_no_use_for_is_named_at_once(refused):
    err = refused("table-main", "--scale", "tiny", "--cap", "--data", "x", "--layout", "open")
    assert "leave out --data, --layout, --cap." in err


@pytest.mark.parametrize("experiment", ["figure-task-distance", "figure-weighted-samples"])
@pytest.mark.parametrize("option", [("--learning-rate", 1), ("--epochs", 1)])
def test_figures_have_settings_of_their_own(refused, experiment, option):
    assert "settings of its own" in refused(experiment, "--scale", "tiny", *option)


@pytest.mark.parametrize(
    ("experiment", "option"),
    [
        ("table-main", "--vectors something"),
        ("figure-weighted-samples", "--encoder something"),
        ("figure-weighted-samples", "--cap"),
        ("figure-task-distance", "--data something"),
        ("figure-task-distance", "--layout open"),
        ("figure-task-distance", "--cap"),
        ("figure-task-distance", "--encoder something"),
        ("figure-task-distance", "--vectors something"),
        ("figure-task-distance", "--jobs 2"),
        ("figure-task-distance", "--keep-models"),
    ],
)
@pytest.mark.parametrize("scale", ["paper", "tiny"])
def test_options_without_effect_are_refused(refused, experiment, option, scale):
    name, *value = option.split()
    said = refused(experiment, "--scale", scale, name, *value)
    assert f"{experiment} has no use for {name}; leave that out." in said


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_what_an_experiment_needs_it_has_use_for(experiment):
    needed = EXPERIMENTS[experiment].needs.split(", ")
    assert not set(needed) & set(EXPERIMENTS[experiment].no_use_for)


def test_jobs_and_models_are_for_all_that_makes_runs(call, nothing_trained):
    given = ("--scale", "tiny", "--jobs", 2, "--keep-models")
    status, _, err = call("reproduce", "table-fewer-sources", *given)
    assert (status, err) == (0, "")
    assert nothing_trained.configs
    for name, experiment in EXPERIMENTS.items():
        unused = {"--jobs", "--keep-models"} & set(experiment.no_use_for)
        assert bool(unused) == (name == "figure-task-distance")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("--seeds", 2), "--seeds"),
        (("--cap",), "--cap"),
        (("--layout", "open"), "--layout"),
        (("--epochs", 2), "other settings of training"),
    ],
)
@pytest.mark.usefixtures("nothing_trained")
def test_a_table_made_again_from_records_is_as_it_was_asked_for(call, refused, data, given, named):
    arguments = ("--data", data, "--encoder", "e", "--cap")
    assert call("reproduce", "table-main", *arguments)[0] == 0
    assert call("reproduce", "table-main")[0] == 0
    err = refused("table-main", *given)
    assert f"Give --data and --encoder too, or leave out {named}." in err


@pytest.mark.usefixtures("nothing_trained")
def test_only_what_is_missing_is_asked_for(call, refused, data):
    given = ("--data", data, "--encoder", "e", "--cap")
    assert call("reproduce", "table-main", *given)[0] == 0
    assert "or leave out --part, --keep-models." in refused(
        "table-main", "--part", "1/2", "--keep-models"
    )
