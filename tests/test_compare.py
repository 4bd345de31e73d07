"""Comparisons: rows, seeds, the table by hand, significance, and many runs at a time."""

import io
import itertools
import json
import math
import multiprocessing
import tracemalloc
from dataclasses import asdict, replace

import numpy as np
import pytest
from rich.console import Console
from rich.progress import Progress
from scipy import stats

from tawt import significance
from tawt.cli import console
from tawt.cli.time_left import TimeLeft
from tawt.compare import Comparison, RowResult, compare, load_comparison
from tawt.compare.demo import DEMO_ROWS, demo_config
from tawt.compare.tables import markdown
from tawt.compare.words import in_words
from tawt.config import load
from tawt.config.rows import ROWS, chosen, every_row, slug
from tawt.config.schema import parsed
from tawt.errors import ConfigError, DataError, Interrupted, RunError, TawtError
from tawt.runs import Options, RunFolder
from tawt.runs.run import run
from tawt.significance import RESAMPLES, holm, paired_bootstrap, paired_t_test, verdicts
from tawt.sweeps import Plan, RecordStore, Sweep, TrainRun, Work
from tests.conftest import labelled
from tests.oracles import bootstrap_by_hand

HELD = "learned weights held"
TWO = ["single-task", "normalized joint", "weighted normalized joint"]


def compared(study, folder, *, rows=TWO, seeds=(0, 1), overwrite=False, **sweep):
    return compare(
        load(study.path),
        folder,
        rows=rows,
        seeds=list(seeds),
        options=Options(overwrite=overwrite),
        sweep=Sweep(**sweep),
    )


# Significance


def test_the_t_test_is_the_textbooks():
    ours, theirs = np.random.default_rng(0).random((2, 30))
    gaps = ours - theirs
    t = gaps.mean() / (gaps.std(ddof=1) / math.sqrt(30))
    assert paired_t_test(ours, theirs) == pytest.approx(2 * stats.t.sf(abs(t), 29))
    assert paired_t_test(ours, theirs) == pytest.approx(paired_t_test(theirs, ours))


def test_the_same_examples_seen_by_several_seeds_are_not_more_examples():
    ours, theirs = np.random.default_rng(1).random((2, 30)) + np.array([[0.2], [0.0]])
    once = paired_t_test(ours, theirs)
    assert paired_t_test([ours] * 5, [theirs] * 5) == pytest.approx(once)
    assert paired_t_test([ours, theirs], [theirs, ours]) == 1.0


def test_no_difference_is_no_evidence():
    assert paired_t_test([0.5] * 10, [0.5] * 10) == 1.0


@pytest.mark.parametrize("examples", [1, 2])
def test_a_handful_of_examples_is_never_significant(examples):
    """One example has no spread to test against, and two that agree by luck are hardly better."""
    assert paired_t_test([1.0] * examples, [0.0] * examples) > 0.05


def test_chance_is_significant_as_often_as_it_should_be():
    draw = np.random.default_rng(2)
    found = [
        paired_t_test(draw.integers(0, 2, 100), draw.integers(0, 2, 100)) < 0.05
        for _ in range(1000)
    ]
    assert 0.03 < np.mean(found) < 0.07


def right_or_wrong(examples, seeds=None, *, gain=0.0, seed=0):
    """Two ways' scores of examples that are right or wrong, and often alike."""
    draw = np.random.default_rng(seed)
    shape = (examples,) if seeds is None else (seeds, examples)
    theirs = draw.random(shape) < 0.6
    changed = draw.random(shape) < 0.3
    return np.where(changed, draw.random(shape) < 0.6 + gain, theirs).astype(float), theirs


@pytest.mark.parametrize("seeds", [None, 3])
@pytest.mark.parametrize("gain", [0.0, 0.2])
def test_the_bootstrap_is_a_loop_over_the_same_draws(seeds, gain):
    ours, theirs = right_or_wrong(40, seeds, gain=gain)
    draws = np.random.default_rng(0).integers(40, size=(RESAMPLES, 40))
    p_value, low, high = bootstrap_by_hand(
        np.atleast_2d(ours).tolist(), np.atleast_2d(theirs).tolist(), draws.tolist()
    )
    found = paired_bootstrap(ours, theirs)
    assert found.p_value == pytest.approx(p_value, abs=1e-12)
    assert found.interval == pytest.approx((low, high), abs=1e-12)


def test_the_bootstrap_of_a_few_examples_is_that_of_all_draws_there_are():
    gaps = [0.9, 0.4, -0.2, 0.7, -0.5]
    means = [np.mean(draw) for draw in itertools.product(gaps, repeat=5)]
    found = paired_bootstrap(gaps, np.zeros(5))
    assert found.p_value == pytest.approx(2 * np.mean(np.array(means) < 1e-9), abs=0.01)
    assert found.interval == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.03)


@pytest.mark.parametrize("shift", [0.02, 0.1, 0.15])
def test_the_bootstrap_of_normal_scores_is_normal_theory(shift):
    gaps = np.random.default_rng(3).normal(size=400)
    gaps += shift - gaps.mean()
    error = gaps.std() / 20
    found = paired_bootstrap(gaps, np.zeros(400))
    assert found.p_value == pytest.approx(2 * stats.norm.sf(shift / error), abs=0.02)
    assert found.p_value == pytest.approx(paired_t_test(gaps, np.zeros(400)), abs=0.02)
    expected = (shift - 1.96 * error, shift + 1.96 * error)
    assert found.interval == pytest.approx(expected, abs=0.1 * error)


def test_the_bootstrap_takes_no_side():
    ours, theirs = right_or_wrong(200, 3, gain=0.1)
    there, back = paired_bootstrap(ours, theirs), paired_bootstrap(theirs, ours)
    assert there.p_value == back.p_value
    assert there.interval == pytest.approx([-end for end in reversed(back.interval)])
    assert paired_bootstrap(ours, theirs) == there  # and says the same every time


def test_the_bootstrap_counts_examples_not_seeds_and_no_difference_as_none():
    ours, theirs = right_or_wrong(60, gain=0.2)
    once, again = paired_bootstrap(ours, theirs), paired_bootstrap([ours] * 5, [theirs] * 5)
    assert again.p_value == once.p_value
    assert again.interval == pytest.approx(once.interval)
    for same in ([ours], [theirs]):
        assert paired_bootstrap(same, same) == significance.Bootstrap(1.0, (0.0, 0.0))
    # 0.1 + 0.2 - 0.3 is not quite nothing, and is nothing all the same.
    split, whole = np.outer([0.1, 0.2], np.ones(50)), np.outer([0.3, 0.0], np.ones(50))
    assert (split - whole).mean(axis=0).all()
    assert paired_bootstrap(split, whole).p_value == paired_t_test(split, whole) == 1.0


@pytest.mark.parametrize("examples", [1, 2, 5])
def test_a_handful_of_examples_is_never_significant_to_the_bootstrap(examples):
    gaps = 1 + 0.1 * np.arange(examples)
    found = paired_bootstrap(gaps, np.zeros(examples))
    assert found.p_value == 2.0 ** (1 - examples)
    assert gaps.min() <= found.interval[0] <= found.interval[1] <= gaps.max()


def test_the_surest_bootstrap_is_as_sure_as_its_draws_are_many():
    found = paired_bootstrap(np.ones(500), np.zeros(500))
    assert found.p_value == 2 / (RESAMPLES + 1)
    assert found.interval == (1.0, 1.0)


def test_chance_is_significant_to_the_bootstrap_as_often_as_it_should_be():
    found = [paired_bootstrap(*right_or_wrong(60, seed=k)).p_value < 0.05 for k in range(300)]
    assert 0.02 < np.mean(found) < 0.09


def test_the_bootstrap_is_the_same_in_any_portions_and_holds_little(monkeypatch):
    ours, theirs = right_or_wrong(2001, gain=0.05)
    tracemalloc.start()
    found = paired_bootstrap(ours, theirs)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 25e6  # all draws at once would be 160 MB, and as much again
    for at_once in (1, 7 * 2001, 10**8):
        monkeypatch.setattr(significance, "_AT_ONCE", at_once)
        assert paired_bootstrap(ours, theirs) == found


@pytest.mark.parametrize("test", [paired_t_test, paired_bootstrap])
@pytest.mark.parametrize(
    ("ours", "theirs", "word"),
    [
        ([], [], "shapes"),
        ([1.0, 0.0], [1.0], "shapes"),
        ([1.0, 0.0], [[1.0, 0.0], [1.0, 1.0]], "shapes"),
        (1.0, 1.0, "shapes"),
        ([1.0, math.nan], [1.0, 0.0], "finite"),
        ([1.0, 0.0], [math.inf, 0.0], "finite"),
    ],
    ids=["none", "lengths", "seeds", "numbers", "not a number", "infinite"],
)
def test_what_cannot_be_paired_is_refused(test, ours, theirs, word):
    with pytest.raises(DataError, match=word):
        test(ours, theirs)


def test_a_table_is_corrected_for_each_test_and_its_intervals_are_not():
    pairs = {name: right_or_wrong(80, gain=gain) for name, gain in (("a", 0.1), ("b", 0.2))}
    found = verdicts(pairs)
    single = {name: paired_bootstrap(*pair) for name, pair in pairs.items()}
    t_tests = holm({name: paired_t_test(*pair) for name, pair in pairs.items()})
    bootstraps = holm({name: one.p_value for name, one in single.items()})
    assert list(found) == ["a", "b"]
    for name, row in found.items():
        assert (row.p_value, row.p_bootstrap) == (t_tests[name], bootstraps[name])
        assert row.interval == single[name].interval
    assert verdicts({}) == {}


def test_holm_by_hand():
    given = {"c": 0.04, "a": 0.001, "d": 0.5, "b": 0.02}
    assert holm(given) == pytest.approx({"a": 0.004, "b": 0.06, "c": 0.08, "d": 0.5})
    assert list(holm(given)) == list(given)
    assert holm({}) == {}
    assert holm({"a": 0.7, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert holm({"a": 0.04, "b": 0.03}) == pytest.approx({"a": 0.06, "b": 0.06})


# Rows

BASE = {"data": {"kind": "digits"}, "target": "digit"}
CONFIG = parsed(BASE)


def test_every_row_is_a_configuration_that_differs_where_it_says():
    for name, row in ROWS.items():
        learned = {"parity": 1.0} if row.weights_from else None
        applied = row.applied(CONFIG, seed=7, learned=learned)
        assert applied.seed == 7
        assert applied.paradigm == row.paradigm
        assert applied.weighting.kind == row.kind
        assert applied.weighting.initial == (learned or row.initial)
        assert applied.name == f"{slug(name)}-7"
        assert applied.training == CONFIG.training
        parsed(applied.model_dump(mode="json"))
        assert row.against is None or row.against in ROWS


def test_a_plain_row_beside_a_learned_one_differs_in_nothing_but_learning():
    config = parsed(
        {**CONFIG.model_dump(mode="json"), "weighting": {"preset": "paper", "scale": 2.0}}
    )
    plain = ROWS["normalized joint"].applied(config, seed=0)
    learned = ROWS["weighted normalized joint"].applied(config, seed=0)
    assert plain.weighting.model_copy(update={"kind": "target-aware"}) == learned.weighting
    assert plain.paradigm == learned.paradigm


@pytest.mark.parametrize("unit", ["example", "group"])
def test_only_rows_that_learn_weigh_units(unit):
    weighting = {"unit": unit, "way": "differences"}
    config = parsed(
        {**BASE, "weighting": weighting, "training": {"unit_examples": 9, "batch_size": 7}}
    )
    for row in every_row(config):
        applied = row.applied(config, seed=0)
        assert parsed(applied.model_dump(mode="json")) == applied  # as a run's folder reads it
        assert applied.weighting.unit == (unit if row.learns else "task")
        assert applied.training.unit_examples == (9 if row.learns else None)
        assert applied.training.batch_size == 7


def test_rows_by_name():
    assert [row.name for row in chosen(TWO, CONFIG)] == TWO
    with pytest.raises(ConfigError, match="did you mean 'single-task'"):
        chosen(["single task"], CONFIG)
    with pytest.raises(ConfigError, match="needs the row 'weighted normalized joint'"):
        chosen([HELD], CONFIG)


def test_the_rows_are_the_papers_and_a_critics():
    paper = [
        "single-task",
        "pre-training",
        "weighted pre-training",
        "joint",
        "weighted joint",
        "normalized joint",
        "weighted normalized joint",
    ]
    critic = [HELD, "joint then fine-tuning"]
    free, held = (
        parsed({**CONFIG.model_dump(mode="json"), "weighting": {"preset": preset}})
        for preset in ("paper", "robust")
    )
    assert [row.name for row in every_row(free)] == paper + critic
    balanced = {"balanced joint", "balanced joint by size"}
    assert {row.name for row in every_row(held)} == {*paper, *critic, *balanced}


def test_the_demonstration_makes_every_row_but_one():
    every = [row.name for row in every_row(demo_config())]
    assert [*DEMO_ROWS, "joint then fine-tuning"] == every


@pytest.mark.parametrize("preset", ["paper", "robust"])
@pytest.mark.parametrize(
    "paradigm", ["single-task", "joint", "pre-training", "joint then fine-tuning", "sources only"]
)
def test_three_rows_are_usual_alone_equal_and_learned(paradigm, preset):
    """Learned weights differ from equal ones in learning alone, and start where those are."""
    values = {**BASE, "paradigm": paradigm, "weighting": {"preset": preset}}
    config = CONFIG.model_copy(update={"paradigm": paradigm})
    if paradigm != "sources only":  # which digits are not for
        config = parsed(values)
    alone, equal, learned = chosen(None, config)
    assert alone.name == "single-task"
    assert (
        equal.paradigm == learned.paradigm == ("joint" if paradigm == "single-task" else paradigm)
    )
    assert equal.initial == learned.initial == "uniform"
    assert (equal.learns, learned.learns) == (False, True)
    names = {alone.name, equal.name, learned.name}
    assert learned.opponent(config, among=names) == equal.name
    assert equal.opponent(config, among=names) == alone.name
    assert names <= {row.name for row in every_row(config)}
    plain, moving = (row.applied(config, seed=0).weighting for row in (equal, learned))
    if preset == "robust" and "joint" in equal.paradigm:
        assert plain.target_share == moving.target_share == 0.3


# A comparison


@pytest.mark.usefixtures("in_process")
def test_the_table_is_what_the_runs_say(study, tmp_path):
    rows, told = [*TWO, HELD], []
    folder = tmp_path / "compared"
    found = compared(
        study, folder, rows=rows, on_progress=lambda now: told.append((now.done, now.total))
    )
    assert [row.name for row in found.rows] == rows
    assert told == [(done, 8) for done in range(9)]
    accuracy, examples = {}, {}
    for name in rows:
        runs = [RunFolder(folder / slug(name) / str(seed)) for seed in (0, 1)]
        accuracy[name] = [r.record()["scores"]["goal"]["test"]["accuracy"] for r in runs]
        examples[name] = np.mean([r.example_scores("goal") for r in runs], axis=0)
    raw, bootstraps = {}, {}
    for name in rows[1:]:
        gaps = examples[name] - examples[ROWS[name].against]
        raw[name] = 1.0 if not gaps.any() else float(stats.ttest_1samp(gaps, 0).pvalue)
        bootstraps[name] = paired_bootstrap(gaps, np.zeros(len(gaps)))
    p_bootstraps = holm({name: one.p_value for name, one in bootstraps.items()})
    for row in found.rows:
        assert row.scores == accuracy[row.name]
        assert row.mean == pytest.approx(np.mean(row.scores))
        assert row.spread == pytest.approx(np.std(row.scores, ddof=1))
    first = found.rows[0]
    assert (first.against, first.p_value, first.p_bootstrap, first.interval) == (None,) * 4
    for row in found.rows[1:]:
        against = accuracy[ROWS[row.name].against]
        assert row.against == ROWS[row.name].against
        assert row.difference == pytest.approx(row.mean - np.mean(against))
        assert row.wins == sum(a > b for a, b in zip(row.scores, against, strict=True))
        assert row.p_value == pytest.approx(holm(raw)[row.name])
        assert row.p_bootstrap == pytest.approx(p_bootstraps[row.name])
        assert row.interval == pytest.approx(bootstraps[row.name].interval)
        low, high = row.interval
        assert low <= row.difference <= high  # accuracy is the mean of its examples' scores
    assert found.target == "goal"
    assert found.metric == "accuracy"
    assert load_comparison(folder) == found
    for row in found.rows:
        runs = [RunFolder(folder / slug(row.name) / str(seed)) for seed in (0, 1)]
        assert row.passes == np.mean([run.record()["passes"]["goal"] for run in runs]) > 0
    assert found.best.name == max(found.rows, key=lambda row: row.mean).name
    against = verdicts(
        {row.name: (examples[found.best.name], examples[row.name]) for row in found.rows
         if row.name != found.best.name}
    )  # fmt: skip
    assert {rival.name: (rival.p_value, rival.p_bootstrap) for rival in found.best.rivals} == {
        name: pytest.approx((test.p_value, test.p_bootstrap)) for name, test in against.items()
    }

    # The held row trained with the weights that the weighted row of its own seed ended with.
    for seed in ("0", "1"):
        learned = RunFolder(folder / slug(TWO[2]) / seed).record()["weights"]
        held = RunFolder(folder / slug(HELD) / seed).record()["weights"]
        assert held == pytest.approx(learned)
    weights = [RunFolder(folder / slug(TWO[2]) / s).record()["weights"] for s in ("0", "1")]
    for name, share in found.row(TWO[2]).weights.items():
        assert share == pytest.approx(np.mean([w[name] for w in weights]))


@pytest.mark.usefixtures("in_process")
def test_finished_runs_are_not_made_again_and_others_are_refused(study, tmp_path, listing):
    folder = tmp_path / "compared"
    rows = ["single-task", "normalized joint"]
    first = compared(study, folder, rows=rows, seeds=[0])
    record = (folder / "single-task" / "0" / "record.json").read_bytes()
    more = compared(study, folder, rows=rows, seeds=[0, 1])
    assert (folder / "single-task" / "0" / "record.json").read_bytes() == record
    assert [row.scores[0] for row in more.rows] == [row.scores[0] for row in first.rows]

    before = listing(folder)
    study.set("epochs", 3)
    with pytest.raises(RunError, match="epochs"):
        compared(study, folder, rows=rows, seeds=[0, 1])
    assert listing(folder) == before
    again = compared(study, folder, rows=rows, seeds=[0], overwrite=True)
    assert again.seeds == [0]
    assert RunFolder(folder / "single-task" / "0").config().epochs == 3


@pytest.mark.usefixtures("in_process")
def test_nothing_is_written_when_a_later_run_must_not_be_touched(study, tmp_path, listing):
    folder = tmp_path / "compared"
    other = folder / "weighted-normalized-joint" / "1"
    other.mkdir(parents=True)
    (other / "mine.txt").write_text("dear")
    before = listing(folder)
    with pytest.raises(RunError, match="not a run folder"):
        compared(study, folder)
    assert listing(folder) == before


@pytest.mark.usefixtures("in_process")
def test_a_comparison_does_not_overwrite_a_run(study, tmp_path, listing):
    """`tawt train` and `tawt compare` write to the same folder by default."""
    folder = tmp_path / "runs"
    run(load(study.path, {"seed": 5}), folder)
    before = listing(folder)
    with pytest.raises(TawtError):
        compared(study, folder, rows=["single-task"], seeds=[0])
    assert listing(folder) == before


@pytest.mark.usefixtures("in_process")
def test_a_run_does_not_settle_in_a_comparison(study, tmp_path, listing):
    folder = tmp_path / "runs"
    compared(study, folder, rows=["single-task"], seeds=[0])
    before = listing(folder)
    for resume, overwrite in ((False, False), (True, False), (False, True)):
        with pytest.raises(RunError, match="another folder"):
            run(load(study.path), folder, options=Options(resume=resume, overwrite=overwrite))
        assert listing(folder) == before


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("data.tasks.far.train", "wide.npz"),
        ("target", {"goal": 0.5, "near": 0.5}),
        ("data.tasks.goal.test", None),
        ("sources", ["goal"]),
        ("sources", []),
        ("model.kind", "cnn"),
    ],
    ids=["shapes", "two targets", "no test", "target as source", "no source", "no images"],
)
def test_what_cannot_be_compared_is_refused_with_nothing_written(study, tmp_path, name, value):
    study.save("wide", inputs=np.zeros((9, 7)), labels=np.zeros(9, int))
    study.set(name, value)
    folder = tmp_path / "compared"
    with pytest.raises(TawtError):
        compared(study, folder)
    assert not folder.exists()


@pytest.mark.parametrize(
    "content", ["", "{half", "[]", "{}", '{"rows": []}', '{"rows": [{"name": "x"}]}', "3"]
)
def test_a_damaged_comparison_is_refused_in_one_line(tmp_path, content):
    (tmp_path / "comparison.json").write_text(content)
    with pytest.raises(RunError) as error:
        load_comparison(tmp_path)
    assert "\n" not in str(error.value)
    assert "comparison.json" in str(error.value)


def written(folder, **changes):
    """A comparison's folder, its last row changed; `None` takes a value out."""
    values = asdict(made())
    row = values["rows"][-1] | changes
    values["rows"][-1] = {name: value for name, value in row.items() if value is not None}
    (folder / "comparison.json").write_text(json.dumps(values))
    (folder / "comparison.yaml").write_text("")
    return folder


def test_a_table_made_before_there_was_a_bootstrap_is_read(tmp_path):
    read = load_comparison(written(tmp_path, interval=None, p_bootstrap=None))
    assert (read.rows[1].interval, read.rows[1].p_bootstrap) == (None, None)
    assert read.rows[1].p_value == made().rows[1].p_value
    assert "+20.0 |  | 2 of 2 | < 0.001 |  |  |" in markdown(read)


def test_an_interval_is_read_as_it_was_written(tmp_path):
    assert load_comparison(written(tmp_path)) == made()


def test_a_table_made_before_there_were_passes_and_a_best_row_is_read(tmp_path):
    folder = written(tmp_path)
    values = json.loads((folder / "comparison.json").read_text())
    del values["best"]
    for row in values["rows"]:
        del row["passes"]
    (folder / "comparison.json").write_text(json.dumps(values))
    read = load_comparison(folder)
    assert read.best is None
    assert [row.passes for row in read.rows] == [None, None]
    assert "best" not in in_words(read)[0]


@pytest.mark.parametrize(
    "best", [3, {}, {"name": "x"}, {"name": "x", "rivals": [{"name": "y", "interval": [1, 2, 3]}]}]
)
def test_a_damaged_best_row_is_refused(tmp_path, best):
    folder = written(tmp_path)
    values = {**json.loads((folder / "comparison.json").read_text()), "best": best}
    (folder / "comparison.json").write_text(json.dumps(values))
    with pytest.raises(RunError, match=r"comparison\.json is damaged"):
        load_comparison(folder)


@pytest.mark.parametrize("interval", [[], [0.1], [0.1, 0.2, 0.3], 0.1, "wide", ["a", "b"], {}])
def test_a_damaged_interval_is_refused(tmp_path, interval):
    with pytest.raises(RunError, match=r"comparison\.json is damaged"):
        load_comparison(written(tmp_path, interval=interval))


@pytest.mark.usefixtures("in_process")
def test_a_run_with_half_its_predictions_is_refused(study, tmp_path):
    folder = tmp_path / "compared"
    compared(study, folder, rows=TWO[:2])
    path = folder / "single-task" / "1" / "predictions.test.tsv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:10]))
    with pytest.raises(RunError, match=r"single-task/1"):
        compared(study, folder, rows=TWO[:2])


# In words


def made(**changes):
    rows = [
        RowResult("joint | odd", [0.5, 0.6], 0.55, 0.07, {"near": 0.5, "goal": 0.5}),
        RowResult(
            "weighted normalized joint",
            [0.7, 0.8],
            0.75,
            0.07,
            {"near": 0.6, "mid": 0.19, "far": 0.01, "goal": 0.2} | changes.get("weights", {}),
            against="joint | odd",
            difference=changes.get("difference", 0.2),
            wins=2,
            p_value=changes.get("p_value", 0.0001),
            p_bootstrap=changes.get("p_bootstrap", 0.0123),
            interval=(0.151, 0.249),
            learns=True,
            warnings=changes.get("warnings", {}),
            passes=12.3,
        ),
    ]
    return Comparison("goal", "accuracy", [0, 1], rows, {}, 1.0)


def test_sentences_follow_from_the_numbers():
    first, second = in_words(made())
    assert "20.0 points better than joint | odd (better on 2 of 2 seeds; p < 0.001 " in first
    assert "near (60%)" in second
    assert "smallest on far (1%)" in second
    assert "mid" not in second
    assert "goal" not in second
    assert "10.0 points worse than joint" in in_words(made(difference=-0.1))[0]
    assert "is as good as joint" in in_words(made(difference=0.0))[0]
    assert "p = 0.2" in in_words(made(p_value=0.2))[0]
    alike = in_words(made(weights={"near": 0.27, "mid": 0.27, "far": 0.26}))[1]
    assert "weights are about alike" in alike


def test_sources_that_have_nothing_are_not_told_apart():
    collapsed = made(weights={"near": 0.004, "mid": 0.003, "far": 0.001, "goal": 0.992})
    assert "largest" not in " ".join(in_words(collapsed))


def test_what_training_warned_of_is_said_with_the_rows_it_is_of():
    said = in_words(made(warnings={"'goal' is 30% of it.": 1, "'goal' is 31% of it.": 1}))
    assert said[-1] == "In 2 of 2 runs of weighted normalized joint: 'goal' is 30% of it."


@pytest.mark.usefixtures("in_process")
def test_a_comparison_that_collapses_says_why(tmp_path):
    """By the records of its runs; the table's file has it too."""
    values = {
        **BASE,
        "sources": ["parity", "shape"],
        "epochs": 1,
        "weighting": {"preset": "paper"},
        "training": {"learning_rate": 0.01},
    }
    found = compare(
        parsed(values),
        tmp_path / "compared",
        rows=TWO,
        seeds=[0, 1],
        options=Options(),
        sweep=Sweep(),
    )
    *_, said = [
        sentence for sentence in in_words(found) if "training is likely to fail" in sentence
    ]
    assert said.startswith("In 4 of 4 runs")
    assert "'digit' is 33% of the objective but only" in said
    assert load_comparison(tmp_path / "compared") == found
    [line] = json.loads((tmp_path / "compared" / "comparison.json").read_text())["rows"][-1][
        "warnings"
    ]
    assert line in said


def test_the_markdown_table_has_a_row_for_each_and_escapes_bars():
    lines = markdown(made()).splitlines()
    assert len([line for line in lines if line.startswith("|")]) == 4
    assert "joint \\| odd" in lines[2]
    assert "| 12 | joint \\| odd | +20.0 | +15.1 to +24.9 | 2 of 2 | < 0.001 | 0.012 |" in lines[3]
    assert {line.count(" | ") for line in lines[:1] + lines[2:4]} == {10}
    assert "10,000 resamples" in lines[-1]


def test_the_terminals_table_fits_eighty_columns_and_cuts_nothing():
    any_row = made().rows[1]
    rows = [
        replace(
            any_row,
            name=name,
            against=row.against_held or row.against,
            interval=(-1.0, -0.8),
            passes=1234.0,
        )
        for name, row in ROWS.items()
        if row.against
    ]
    shown = io.StringIO()
    Console(width=80, file=shown).print(console.comparison_table(replace(made(), rows=rows)))
    lines = [" ".join(line.split()) for line in shown.getvalue().splitlines()]
    for row in rows:
        at = lines.index(f"{row.name} 75.0 ± 7.0 +20.0 2 of 2 < 0.001")
        assert lines[at + 1] == f"over {row.against} 1,234 -100.0 to -80.0 0.012"


@pytest.mark.parametrize(
    ("changes", "clear"),
    [
        ({}, True),
        ({"p_bootstrap": 0.06}, False),
        ({"p_value": 0.06}, False),
        ({"difference": -0.1}, False),
    ],
)
def test_a_row_is_green_where_both_tests_find_a_gain(changes, clear):
    styles = [row.style for row in console.comparison_table(made(**changes)).rows]
    assert styles == [None, "green" if clear else None]


# Several at a time


def runs(study, folder, seeds, **options):
    """Work of one run for each seed, and its store."""
    config = load(study.path)
    wanted = [
        Work(
            str(seed),
            f"run-{seed}",
            TrainRun(
                config.model_copy(update={"seed": seed}), folder / str(seed), Options(**options)
            ),
        )
        for seed in seeds
    ]
    return wanted, RecordStore(folder, "{}/record.json", sealed=True)


def test_two_workers_make_the_runs_that_one_process_makes(study, tmp_path):
    """Also one of the runs cannot be made: the others are, and it is named."""
    wanted, store = runs(study, tmp_path / "pool", [0, 7, 1])
    taken, made_ones = wanted[1].make.path, [wanted[0], wanted[2]]
    taken.mkdir(parents=True)
    (taken / "mine.txt").write_text("dear")
    told = []
    with pytest.raises(TawtError, match=r"1 of 3 runs failed.*run-7.*not a run folder"):
        Sweep(workers=2, on_progress=told.append).make(lambda: Plan(wanted), store)
    assert {now.made.key for now in told if now.made} == {"0", "1"}
    for work in made_ones:
        path, other = work.make.path, tmp_path / "here" / work.key
        here = run(work.make.config, other)
        assert RunFolder(path).record()["scores"] == here["scores"]
        for name in ("weights.jsonl", "predictions.test.tsv", "model/model.safetensors"):
            assert (path / name).read_bytes() == (other / name).read_bytes()


def test_a_stop_reaches_the_workers_and_loses_nothing(study, tmp_path):
    study.set("epochs", 10_000).set("training.update_every", None)
    [work], store = runs(study, tmp_path, [0], checkpoint_seconds=0.2)
    state = work.make.path / "checkpoints" / "state.safetensors"
    told = []
    try:
        with pytest.raises(Interrupted):
            Sweep(should_stop=state.exists, on_progress=told.append).make(
                lambda: Plan([work]), store
            )
    finally:
        for process in multiprocessing.active_children():
            process.join(timeout=30)
            process.kill()  # no worker may outlive a failed test
    assert [now.made for now in told] == [None]  # it cannot have come to its end
    assert not RunFolder(work.make.path).finished
    assert state.exists()


@pytest.mark.usefixtures("in_process")
def test_the_comparison_on_disk_is_plain_json(study, tmp_path):
    compared(study, tmp_path / "c", rows=["single-task"], seeds=[3])
    values = json.loads((tmp_path / "c" / "comparison.json").read_text())
    assert values["seeds"] == [3]
    assert values["rows"][0]["spread"] == 0.0


# Rows that are the same by construction

BY_SIZE = ["weighted joint", "balanced joint by size"]
EQUAL = ["weighted normalized joint", "balanced joint"]


@pytest.fixture
def even(study):
    """A study whose sources have one size, and whose target's share is held."""
    study.save("far.train", **labelled(4, 32, noise=True))
    return study.set("weighting", {"preset": "robust"}).set("epochs", 1).set("target_epochs", 1)


def test_rows_that_would_be_the_same_runs_are_made_once(even, tmp_path, in_process):
    rows = ["single-task", *BY_SIZE, *EQUAL, HELD]
    found = compared(even, tmp_path, rows=rows, seeds=[0])
    assert [row.name for row in found.rows] == ["single-task", *EQUAL, HELD]
    assert found.left_out == dict(zip(BY_SIZE, EQUAL, strict=True))
    assert not any((tmp_path / slug(name)).exists() for name in BY_SIZE)
    assert len(in_process) == 4
    assert found.row(EQUAL[0]).against == EQUAL[1]
    assert load_comparison(tmp_path) == found
    [said] = [sentence for sentence in in_words(found) if "Left out" in sentence]
    assert said == (
        "Left out: weighted joint and balanced joint by size; at these sizes they would repeat "
        "weighted normalized joint and balanced joint."
    )
    assert said in (tmp_path / "report.html").read_text()


@pytest.mark.usefixtures("in_process")
def test_they_really_are_the_same_runs(even, tmp_path):
    for rows in (BY_SIZE, EQUAL):  # one by one, neither stands for another
        assert [row.name for row in compared(even, tmp_path / rows[0], rows=rows).rows] == rows
    for ours, theirs in zip(BY_SIZE, EQUAL, strict=True):
        for seed in ("0", "1"):
            one = RunFolder(tmp_path / BY_SIZE[0] / slug(ours) / seed)
            other = RunFolder(tmp_path / EQUAL[0] / slug(theirs) / seed)
            assert one.record()["scores"] == other.record()["scores"]
            assert one.example_scores("goal") == other.example_scores("goal")


@pytest.mark.usefixtures("in_process")
def test_sources_of_other_sizes_have_rows_of_their_own(study, tmp_path):
    study.set("weighting", {"preset": "robust"}).set("epochs", 1)
    found = compared(study, tmp_path, rows=[*BY_SIZE, *EQUAL], seeds=[0])
    assert [row.name for row in found.rows] == [*BY_SIZE, *EQUAL]
    assert found.left_out == {}
    assert found.row(BY_SIZE[0]).against == BY_SIZE[1]
    assert "Left out" not in " ".join(in_words(found))


@pytest.mark.usefixtures("in_process")
def test_a_row_left_out_is_still_an_opponent(even, tmp_path):
    """Of a row that stays, by the name of the row that stands for it."""
    found = compared(even, tmp_path, rows=[BY_SIZE[0], BY_SIZE[1], EQUAL[1]], seeds=[0])
    assert [row.name for row in found.rows] == [BY_SIZE[0], EQUAL[1]]
    assert found.row(BY_SIZE[0]).against == EQUAL[1]


@pytest.mark.usefixtures("in_process")
def test_a_folder_that_has_all_rows_opens_and_shows_them_once_when_asked_again(even, tmp_path):
    compared(even, tmp_path, rows=BY_SIZE, seeds=[0])
    values = json.loads((tmp_path / "comparison.json").read_text())
    del values["left_out"], values["sha256"]  # as older versions left it
    (tmp_path / "comparison.json").write_text(json.dumps(values))
    assert [row.name for row in load_comparison(tmp_path).rows] == BY_SIZE
    found = compared(even, tmp_path, rows=EQUAL, seeds=[0])
    assert [row.name for row in found.rows] == EQUAL
    assert found.left_out == dict(zip(BY_SIZE, EQUAL, strict=True))


@pytest.mark.usefixtures("in_process")
def test_a_comparison_leaves_its_table_and_page(study, tmp_path):
    found = compared(study, tmp_path, rows=TWO[:2], seeds=[0])
    assert (tmp_path / "comparison.md").read_text() == markdown(found)
    assert "Ways of training" in (tmp_path / "report.html").read_text()
    assert not (tmp_path / "single-task" / "0" / "report.html").exists()


@pytest.mark.usefixtures("in_process")
def test_progress_tells_what_was_there_before(study, tmp_path):
    compared(study, tmp_path, rows=TWO[:2], seeds=[0])
    told = []
    compared(study, tmp_path, rows=[*TWO, HELD], seeds=[0], on_progress=told.append)
    assert [(now.done, now.total, now.before) for now in told] == [(2, 4, 2), (3, 4, 2), (4, 4, 2)]


def test_time_left_is_measured_on_what_was_made_by_this_command():
    bar = Progress(get_time=lambda: clock[0])
    clock = [0.0]
    shown = bar.add_task("runs", total=10, completed=6, before=6)
    clock[0] = 30.0
    assert TimeLeft().render(bar.tasks[shown]).plain == "left -:--:--"
    bar.update(shown, completed=8)
    assert TimeLeft().render(bar.tasks[shown]).plain == "left 0:00:30"
