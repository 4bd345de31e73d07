"""From records to tables: means, spreads, gains, significance."""

import numpy as np
import pytest
from scipy import stats

from tawt.reproduce.choices import BestOf, score
from tawt.reproduce.paper import is_significant, paper, printed
from tawt.reproduce.plan import AGAINST
from tawt.reproduce.scores import Number, score_rows
from tests.reproduce.made_up import TABLES, filled, metric, plan, result_of, row, setup

SCORES = [name for name in TABLES if name != "table-final-weights"]
SEEDS = (0, 1, 2)


def rows_of(experiment="table-main", seeds=SEEDS, changed=lambda config: {}, **changes):
    planned, given = plan(experiment, **changes), setup(**changes)
    store = filled(planned.choices, seeds, changed)
    return planned, store, score_rows(experiment, planned, given, store, seeds)


def scored(value, examples=None):
    """Every run has this test score."""

    def changed(config):
        scores = {
            config.target: {split: {metric(config.target): value(config)} for split in SPLITS}
        }
        return {"scores": scores} | ({"examples": examples(config)} if examples else {})

    return changed


SPLITS = ("dev", "test")


@pytest.mark.parametrize("experiment", SCORES)
def test_numbers_are_those_of_the_records(experiment):
    planned, store, rows = rows_of(experiment)
    for wanted, found in zip(planned.rows, rows, strict=True):
        for cell, number in zip(wanted.cells, found.numbers[:-1], strict=True):
            if cell is None:
                assert (number.mean, number.spread, number.scores) == (None, None, [])
                continue
            records = [cell.record(seed, store) for seed in SEEDS]
            scores = [100 * score(record) for record in records]
            assert number.scores == pytest.approx(scores)
            assert number.mean == pytest.approx(np.mean(scores))
            assert number.spread == pytest.approx(np.std(scores, ddof=1))
            assert number.weights == [record["weights"] for record in records]
            assert number.seconds == [1.5] * 3


@pytest.mark.parametrize("experiment", SCORES)
def test_gains_are_seed_by_seed_over_the_plain_row(experiment):
    _, _, rows = rows_of(experiment)
    by_name = {row.name: row.numbers for row in rows}
    for found in rows:
        for at, number in enumerate(found.numbers):
            if found.against is None:
                assert (number.gain, number.gains, number.p_value) == (None, [], None)
                continue
            plain = by_name[found.against][at]
            expected = np.subtract(number.scores, plain.scores)
            assert number.gains == pytest.approx(expected)
            assert number.gain == pytest.approx(number.mean - plain.mean)


@pytest.mark.parametrize("seeds", [(0,), SEEDS])
def test_p_is_that_of_a_paired_t_test_on_sentences_averaged_over_seeds(seeds):
    planned, store, rows = rows_of(seeds=seeds)
    tested = 0
    for found in rows:
        if found.against is None:
            continue
        ours, theirs = row(planned, found.name).cells, row(planned, found.against).cells
        for mine, other, number in zip(ours, theirs, found.numbers[:-1], strict=True):
            averaged = [
                np.mean([cell.record(seed, store)["examples"] for seed in seeds], axis=0)
                for cell in (mine, other)
            ]
            assert number.p_value == pytest.approx(stats.ttest_rel(*averaged).pvalue, rel=1e-9)
            tested += 1
    assert tested == 12


@pytest.mark.parametrize("experiment", SCORES)
def test_the_paper_stands_beside_ours(experiment):
    planned, _, rows = rows_of(experiment, seeds=(0,))
    for found in rows:
        assert [number.paper for number in found.numbers] == printed(experiment, found.name)
        for column, number in zip(planned.columns, found.numbers, strict=False):
            assert number.paper_significant == is_significant(experiment, found.name, column)
        if found.against is not None:
            theirs = printed(experiment, found.against)
            for number, plain in zip(found.numbers, theirs, strict=True):
                assert number.paper_gain == pytest.approx(number.paper - plain, abs=1e-9)


def test_averages_are_over_columns_and_seed_by_seed():
    _, _, rows = rows_of()
    for found in rows:
        *numbers, average = found.numbers
        assert average.scores == pytest.approx(np.mean([n.scores for n in numbers], axis=0))
        assert average.mean == pytest.approx(np.mean([n.mean for n in numbers]))
        if found.against:
            assert average.gain == pytest.approx(np.mean([n.gain for n in numbers]))


def test_no_average_where_a_number_is_missing():
    _, _, rows = rows_of("table-source-ratio", seeds=(0,))
    average = rows[-1].numbers[-1]
    assert rows[-1].name == "upper bound"
    assert (average.mean, average.paper) == (None, None)
    result = result_of("table-source-ratio")
    assert result.rows[-1][-2:] == ["– (–)", "– (–)"]


def test_stars_need_a_small_p_and_a_gain():
    assert Number(scores=[1.0], gains=[0.1], p_value=0.0009).is_significant
    assert not Number(scores=[1.0], gains=[0.1], p_value=0.001).is_significant
    assert not Number(scores=[1.0], gains=[-0.1], p_value=0.0001).is_significant
    assert not Number(scores=[1.0]).is_significant


def test_the_scale_is_told_only_where_it_was_chosen():
    planned, store, rows = rows_of("table-dynamic-weights")
    for wanted, found in zip(planned.rows, rows, strict=True):
        for cell, number in zip(wanted.cells, found.numbers[:-1], strict=True):
            if isinstance(cell, BestOf):
                chosen = [cell.record(seed, store)["scale"] for seed in SEEDS]
                assert number.scales == chosen
            else:
                assert number.scales == []


def weighted(config):
    return config.weighting.kind == "target-aware"


def test_a_table_as_text():
    better = scored(
        lambda config: 0.5 + 0.25 * weighted(config) + 0.01 * config.seed,
        lambda config: [(0.5 + 0.01 * at) * weighted(config) for at in range(40)],
    )
    result = result_of("table-fewer-sources", seeds=2, changed=better)
    assert result.headings == [
        "",
        "pos+NER",
        "pos+chunking+NER",
        "pos+chunking+PREDICATE",
        "average",
    ]
    alone, plain, mine, gain = result.rows
    assert alone[0] == "single-task"
    assert alone[1] == "50.5 ± 0.7 (68.47)"
    assert plain[3:] == ["50.5 ± 0.7 (79.81)", "50.5 ± 0.7 (70.88)"]
    assert mine[0] == "weighted joint training"
    assert mine[1] == "75.5 ± 0.7 *** (69.58)"
    assert mine[-1] == "75.5 ± 0.7 (73.23)"  # an average has no test
    assert gain == [
        "improvement",
        "+25.0 (+3.88)",
        "+25.0 (+2.61)",
        "+25.0 (+0.57)",
        "+25.0 (+2.35)",
    ]
    assert result.said == [
        "Weighted joint training beats joint training in 3 of 3 columns (the paper: 3), by +25.0 "
        "on average (the paper: +2.35)."
    ]


def test_a_loss_is_told_with_its_sign_and_the_papers_stars_stay():
    result = result_of("table-main", changed=scored(lambda config: 0.5 - 0.25 * weighted(config)))
    mine = next(row for row in result.rows if row[0] == "weighted normalized joint training")
    gain = result.rows[result.rows.index(mine) + 1]
    assert mine[1] == "25.0 (86.07 ***)"
    assert gain[3] == "-25.0 (-0.35)"
    assert "in 0 of 4 columns (the paper: 3), by -25.0 on average" in result.said[-1]


def test_every_table_has_a_cell_for_every_heading():
    for experiment in TABLES:
        result = result_of(experiment)
        assert {len(row) for row in result.rows} == {len(result.headings)}


# Final weights


def test_final_weights_are_what_an_example_counts():
    result = result_of("table-final-weights", seeds=2)
    planned = plan("table-main")
    store = filled(planned.choices, (0, 1))
    assert [each["name"] for each in result.data["rows"]] == [*AGAINST]
    for found in result.data["rows"]:
        cells = row(planned, found["name"]).cells
        for target, cell, by_seed in zip(planned.targets, cells, found["multipliers"], strict=True):
            for seed, mine in enumerate(by_seed):
                weights = cell.record(seed, store)["weights"]
                size = {"pos": 100, "chunking": 100, "predicate": 300, "ner": 500}[target]
                names = [name for name in planned.targets if name != target]
                each = [weights[name] / 9000 for name in names]
                each += [weights[target] / size] if target in weights else []
                assert mine == pytest.approx(np.array(each) / sum(each))
                assert len(mine) == (3 if found["name"] == "weighted pre-training" else 4)


def test_final_weights_stand_beside_the_papers():
    result = result_of("table-final-weights")
    assert [each[0] for each in result.rows] == [*paper()["table-final-weights"]["rows"]]
    assert result.rows[0][1].endswith("(0.68, 0.01, 0.31)")
    assert result.rows[-1][1].endswith("(0.9986)")
