"""The runs behind every table: their settings field by field, their sizes, their number."""

import pytest

from tawt.reproduce.choices import BestOf, Held, Once
from tawt.reproduce.paper import SCALES, TASKS, paper
from tawt.reproduce.plan import AGAINST, runs_of
from tawt.reproduce.store import key
from tests.reproduce.made_up import TABLES, metric, plan, row, setup

SCORES = [name for name in TABLES if name != "table-final-weights"]
KINDS = {
    "single-task": ("single-task", "fixed", "uniform"),
    "pre-training": ("pre-training", "fixed", "proportional"),
    "weighted pre-training": ("pre-training", "target-aware", "proportional"),
    "joint": ("joint", "fixed", "proportional"),
    "weighted joint": ("joint", "target-aware", "proportional"),
    "normalized joint": ("joint", "fixed", "uniform"),
    "weighted normalized joint": ("joint", "target-aware", "uniform"),
}
"""Paradigm, weighting, and where weights start."""


def sizes(choice):
    """Sentences of sources and target; the same for every run of a number."""
    [found] = {run.sizes for run in runs_of(choice)}
    return dict(found)


@pytest.mark.parametrize("experiment", TABLES)
def test_every_run_has_the_papers_settings(experiment):
    for run in plan(experiment).runs():
        config = run.config(7)
        assert config.seed == 7
        assert (config.epochs, config.target_epochs) == (4, 4)
        assert config.fine_tune_learning_rate is None
        assert config.sources is None
        assert not config.split_target
        assert config.model.encoder == "bert-base-cased"
        assert config.model.max_length == 128
        training = config.training
        assert (training.batch_size, training.learning_rate) == (32, 5e-5)
        assert (training.gradient_examples, training.update_every) == (64, None)
        assert (training.precision, training.sampling) == ("fp32", "size")
        assert (training.warmup, training.decay, training.weight_decay) == (0, "linear", 0)
        assert (training.accumulation, training.patience) == (1, None)


@pytest.mark.parametrize("experiment", TABLES)
def test_weights_move_by_the_papers_rule(experiment):
    for run in plan(experiment).runs():
        config = run.config(0)
        weighting = config.weighting
        assert (config.paradigm, weighting.kind, weighting.initial) == KINDS[run.row]
        assert weighting.preset == "paper"
        assert (weighting.unit, weighting.alignment) == ("task", "cosine")
        assert (weighting.step, weighting.step_size) == ("mirror", 1)
        assert (weighting.own_alignment, weighting.target_share) == ("itself", "learned")
        assert (weighting.anchor, weighting.ratio_bound) == (0, None)
        if run.row != "weighted pre-training":
            assert weighting.scale == 1


@pytest.mark.parametrize("experiment", TABLES)
def test_a_run_reads_its_tasks_and_draws_the_sizes_that_it_names(experiment):
    for run in plan(experiment).runs():
        config, tasks = run.config(0), dict(run.sizes)
        assert config.target == run.target == list(tasks)[-1]
        assert list(config.data.tasks) == list(tasks)
        for name, task in config.data.tasks.items():
            assert task.limit == tasks[name]
            assert (task.limit_dev, task.limit_test) == (None, None)
            assert str(task.train) == f"/data/{name}.train.tsv"
            assert task.metric == metric(name)


@pytest.mark.parametrize("experiment", TABLES)
def test_weighted_pre_training_is_the_best_of_five_scales(experiment):
    for each in plan(experiment).rows:
        for cell in filter(None, each.cells):
            if each.name.startswith("weighted pre-training"):
                choice = cell.of if isinstance(cell, Held) else cell
                assert isinstance(choice, BestOf)
                assert [run.config(0).weighting.scale for run in choice.runs] == [*SCALES]
            else:
                assert isinstance(cell, Once | Held)


@pytest.mark.parametrize("experiment", SCORES)
def test_a_table_has_the_papers_rows_and_columns(experiment):
    printed, planned = paper()[experiment], plan(experiment)
    assert [row.name for row in planned.rows] == [*printed["rows"]]
    assert [*planned.columns, "avg"] == [*map(str, printed["columns"])]
    assert len(planned.columns) == len(planned.targets)
    for each in planned.rows:
        assert len(each.cells) == len(planned.columns)
        numbers = printed["rows"][each.name][:-1]
        assert [cell is None for cell in each.cells] == [number is None for number in numbers]


@pytest.mark.parametrize("experiment", SCORES)
def test_a_weighted_row_is_set_against_the_plain_one_with_the_same_sizes(experiment):
    planned = plan(experiment)
    for each in planned.rows:
        kind = each.name.partition(" (")[0].removesuffix(", dynamic weights")
        assert (each.against is not None) == (kind in AGAINST)
        if each.against is not None:
            plain = row(planned, each.against)
            assert [*map(sizes, each.cells)] == [*map(sizes, plain.cells)]


def test_the_main_tables_sizes():
    targets = {"pos": 100, "chunking": 100, "predicate": 300, "ner": 500}
    for each in plan("table-main").rows:
        for target, cell in zip(TASKS, each.cells, strict=True):
            sources = {} if each.name == "single-task" else dict.fromkeys(TASKS, 9000)
            assert sizes(cell) == {**sources, target: targets[target]}


def test_sizes_with_more_target_data():
    targets = {"pos": 500, "predicate": 600, "ner": 1000}
    planned = plan("table-more-target-data")
    assert planned.columns == planned.targets == tuple(targets)
    for each in planned.rows:
        for target, cell in zip(targets, each.cells, strict=True):
            sources = {} if each.name == "single-task" else dict.fromkeys(targets, 20_000)
            assert sizes(cell) == {**sources, target: targets[target]}


def test_sizes_with_fewer_sources():
    planned = plan("table-fewer-sources")
    assert planned.targets == ("ner", "ner", "predicate")
    wanted = [
        {"pos": 20_000, "ner": 2000},
        {"pos": 20_000, "chunking": 9000, "ner": 2000},
        {"pos": 20_000, "chunking": 9000, "predicate": 2000},
    ]
    assert [*map(sizes, row(planned, "joint training").cells)] == wanted
    assert [*map(sizes, row(planned, "weighted joint training").cells)] == wanted
    alone = [{"ner": 2000}, {"ner": 2000}, {"predicate": 2000}]
    assert [*map(sizes, row(planned, "single-task").cells)] == alone


def test_sizes_by_ratio():
    planned = plan("table-source-ratio")
    assert set(planned.targets) == {"ner"}
    ratios = [1, 2, 4, 8, 16, 32, 64, 128]
    for name in ("normalized joint training", "weighted normalized joint training"):
        for ratio, cell in zip(ratios, row(planned, name).cells, strict=True):
            assert sizes(cell) == {"pos": ratio * 500, "predicate": ratio * 500, "ner": 500}
    assert {sizes(cell)["ner"] for cell in row(planned, "single-task").cells} == {500}
    *bounds, last = row(planned, "upper bound").cells
    assert last is None
    assert [*map(sizes, bounds)] == [{"ner": 500 * (1 + 2 * ratio)} for ratio in ratios[:-1]]
    assert sizes(bounds[-1]) == {"ner": 64_500}


def test_sizes_by_target():
    planned, targets = plan("table-target-size"), [500, 1000, 2000, 4000, 8000]
    assert set(planned.targets) == {"ner"}
    alone = [*map(sizes, row(planned, "single-task").cells)]
    assert alone == [{"ner": size} for size in targets]
    for ratio in (8, 10):
        for name in ("normalized joint training", "weighted normalized joint training"):
            cells = row(planned, f"{name} (ratio {ratio})").cells
            for size, cell in zip(targets, cells, strict=True):
                assert sizes(cell) == {"pos": ratio * size, "predicate": ratio * size, "ner": size}
        *bounds, last = row(planned, f"upper bound (ratio {ratio})").cells
        assert last is None
        assert [*map(sizes, bounds)] == [{"ner": size * (1 + 2 * ratio)} for size in targets[:-1]]


def test_an_upper_bound_is_the_target_alone():
    for cell in row(plan("table-source-ratio"), "upper bound").cells[:-1]:
        [run] = cell.runs
        assert (run.row, run.target) == ("single-task", "ner")


def test_held_rows_are_the_plain_way_with_the_weights_that_were_learned():
    planned, main = plan("table-dynamic-weights"), plan("table-main")
    for kind in ("weighted pre-training", "weighted normalized joint training"):
        for dynamic, cell, learned, plain in zip(
            row(planned, f"{kind}, dynamic weights").cells,
            row(planned, f"{kind}, fixed final weights").cells,
            row(main, kind).cells,
            row(main, AGAINST[kind]).cells,
            strict=True,
        ):
            assert dynamic == learned == cell.of
            assert cell.run == plain.run
            names = [*dict(cell.run.sizes)]
            weights = {name: 1 / len(names) for name in names}
            config = cell.run.holding(3, weights)
            assert config.weighting.kind == "fixed"
            assert config.weighting.initial == weights
            assert config.seed == 3
            simple = plain.run.config(3)
            assert (config.paradigm, config.data) == (simple.paradigm, simple.data)


@pytest.mark.parametrize(
    ("experiment", "number"),
    [
        ("table-main", 44),
        ("table-more-target-data", 27),
        ("table-fewer-sources", 8),
        ("table-source-ratio", 24),
        ("table-target-size", 33),
        ("table-final-weights", 44),
        ("table-dynamic-weights", 24),
    ],
)
def test_how_many_runs_a_seed_takes(experiment, number):
    assert len({key(run.config(0)) for run in plan(experiment).runs()}) == number
    held = [each for each in plan(experiment).choices if isinstance(each, Held)]
    assert len(set(held)) == (8 if experiment == "table-dynamic-weights" else 0)


def test_tables_share_runs():
    keys = {name: {key(run.config(0)) for run in plan(name).runs()} for name in TABLES}
    assert keys["table-final-weights"] == keys["table-main"]
    assert keys["table-dynamic-weights"] < keys["table-main"]
    assert len(keys["table-source-ratio"] & keys["table-target-size"]) == 4
    assert len(set().union(*keys.values())) == 129


def test_equal_runs_are_called_the_same():
    """A run's folder refuses a run of another name."""
    names = {}
    for experiment in TABLES:
        for run in plan(experiment, tiny=True).runs():
            config = run.config(0)
            assert names.setdefault(key(config), config.name) == config.name


def test_capped_sizes_are_all_that_there_is():
    available = {"pos": 10_000, "chunking": 8000, "predicate": 50, "ner": 600}
    small = setup(available=available, cap=True)
    for run in plan("table-main", available=available, cap=True).runs():
        for name, task in run.config(0).data.tasks.items():
            assert task.limit == small.capped(name, dict(run.sizes)[name])
            assert task.limit <= available[name]


def test_settings_that_are_changed_reach_every_run():
    changes = {
        "encoder": "/encoders/small",
        "max_length": 64,
        "epochs": 2,
        "training": {"learning_rate": 1e-3, "batch_size": 8, "precision": "bf16"},
    }
    for run in plan("table-fewer-sources", **changes).runs():
        config = run.config(0)
        assert (config.model.encoder, config.model.max_length) == ("/encoders/small", 64)
        assert (config.epochs, config.target_epochs) == (2, 2)
        assert (config.training.learning_rate, config.training.batch_size) == (1e-3, 8)
        assert (config.training.precision, config.training.sampling) == ("bf16", "size")


def test_tiny_sizes_keep_their_order_and_stay_tiny():
    tiny = setup(tiny=True)
    found = [tiny.size(wanted) for wanted in (100, 300, 500, 1000, 2000, 9000, 20_000, 84_000)]
    assert found == sorted(found)
    assert max(found) < 100
