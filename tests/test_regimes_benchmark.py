"""The benchmark of regimes: what is trained, what a record says, and the page of made records."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from benchmarks.mixing.records import Records, key_of
from benchmarks.mixing.scores import with_interval
from benchmarks.regimes.answers import HOW, findings_answer
from benchmarks.regimes.area import area
from benchmarks.regimes.arrays import (
    REPLACED,
    RIGHT,
    WRONG,
    digits,
    noisy_examples,
    noisy_groups,
    noisy_labels,
    teachers,
)
from benchmarks.regimes.gating import GradientSimilarity
from benchmarks.regimes.methods import DEFAULT, EQUAL, LITTLE, METHODS, MUCH, PICKED
from benchmarks.regimes.plan import planned
from benchmarks.regimes.regimes import REGIMES
from benchmarks.regimes.scores import CEILING, Table, tables
from benchmarks.regimes.spec import Spec
from benchmarks.regimes.table import PAGE, kept_records, page, shortened
from benchmarks.regimes.tagging import TARGETS, tagging
from benchmarks.regimes.texts import path_of, sentences, shuffled, write_tasks
from benchmarks.regimes.training import Place, trained
from sklearn.metrics import roc_auc_score

from tests.text.encoders import write_tiny_bert

NOWHERE = Place(texts="", encoder=None, device="cpu")
SOURCES = ("parity", "magnitude", "shape", "shuffled", "coins", "dice", "noise")


def spec_of(method, *, seed=0, source=None, target="30 images"):
    examples = REGIMES["digits"].targets[target]
    return Spec(
        regime="digits", target=target, examples=examples, method=method, seed=seed, source=source
    )


def test_whole_seeds_come_first():
    specs = list(planned(["digits", "teachers"], methods=["equal", "default"], seeds=2))
    assert [spec.seed for spec in specs] == [0] * 8 + [1] * 8
    assert [spec.regime for spec in specs[:8]] == ["digits"] * 4 + ["teachers"] * 4
    assert [spec.method for spec in specs[:3]] == ["equal", "default", "equal"]


def test_every_single_source_is_tried_and_no_method_that_is_left_out():
    specs = list(planned(["digits"], seeds=1, targets=["30 images"]))
    alone = [spec.source for spec in specs if spec.method == "single"]
    assert alone == list(SOURCES)
    left_out = {"proportional", "temperature", "default, heads as trained", LITTLE, MUCH}
    assert {spec.method for spec in specs} == METHODS.keys() - left_out


def test_single_groups_are_tried_and_single_examples_are_not():
    specs = list(planned(["groups", "examples"], seeds=1, targets=["30 images"]))
    alone = [spec.source for spec in specs if spec.method == "single"]
    assert alone == list(REPLACED)
    tried = ["target alone", "equal", "paper", "default", "hand-picked"]
    assert [spec.method for spec in specs if spec.regime == "examples"] == tried


def test_every_record_is_of_a_training_that_the_plan_has():
    records = kept_records()
    keys = {
        key_of(spec.to_json())
        for encoder in {record["spec"]["encoder"] for record in records}
        for spec in planned(REGIMES, seeds=10, encoder=encoder)
    }
    assert [record["spec"] for record in records if key_of(record["spec"]) not in keys] == []


def test_a_training_leaves_a_record_of_what_it_found_and_spent():
    record = json.loads(json.dumps(trained(spec_of("default"), NOWHERE)))
    assert record["spec"] == spec_of("default").to_json()
    assert record["metric"] == "accuracy"
    assert 0.5 < record["score"] < 1
    assert 0.5 < record["dev"] < 1
    assert record["worth"]["parity"] == 1
    assert record["worth"]["coins"] == 0
    assert record["area"] == area(record["weights"], record["worth"])
    # 460 steps on sources, 100 of the head alone and 100 of all on the target. Updates come after
    # 10, 20, 30, 40, 50, 62, 77, 96, 120, 150, 187, 233, 291, 363 and 453 steps; each takes 128
    # examples of 7 sources and half of the target's.
    assert (record["steps"], record["updates"]) == (660, 15)
    assert record["examples_measured"] == 15 * (7 * 128 + 15)


def test_fine_tuning_begins_with_the_same_head_however_often_it_was_fitted(monkeypatch):
    def score(**training):
        method = replace(METHODS["equal"], training=training)
        monkeypatch.setattr(f"{trained.__module__}.METHODS", {"equal": method})
        return trained(spec_of("equal"), NOWHERE)["score"]

    seldom = score(measure_through="fitted heads", head_epochs=1)
    assert score(update_every=20, head_epochs=3) == pytest.approx(seldom, abs=0.02)


def test_excess_losses_are_over_a_model_that_is_paid_for():
    record = trained(spec_of("excess loss (DoReMi)"), NOWHERE)
    assert record["examples_measured"] == 15 * 7 * 128
    equal = trained(spec_of("equal"), NOWHERE)
    assert record["processor_seconds"] > 1.3 * equal["processor_seconds"]


def test_the_area_is_that_under_the_curve():
    draw = np.random.default_rng(0)
    for _ in range(20):
        useful = np.array([1, 0, *draw.integers(2, size=6)])
        weights = draw.integers(4, size=8) / 10
        names = [str(number) for number in range(8)]
        worth, given = dict(zip(names, useful, strict=True)), dict(zip(names, weights, strict=True))
        assert area(given, worth) == pytest.approx(roc_auc_score(useful, weights))
    assert area({"goal": 1.0}, {"a": 1.0, "b": 0.0}) is None


def test_sources_count_while_their_gradients_agree_by_hand():
    x = torch.zeros(2, requires_grad=True)
    ways = {"near": [1.0, 0.0], "side": [1.0, 5.0], "far": [-1.0, 1.0], "goal": [1.0, 0.0]}
    weights = GradientSimilarity(sources=["near", "side", "far"], target="goal", target_share=0.2)

    def moved():
        weights.update([x], loss_of=lambda task: x @ torch.tensor(ways[task]))
        return pytest.approx(weights.shares())

    assert moved() == {"near": 0.4, "side": 0.4, "far": 0.0, "goal": 0.2}
    ways["goal"] = [-1.0, 0.0]
    assert moved() == {"near": 0.0, "side": 0.0, "far": 0.8, "goal": 0.2}
    ways["goal"] = [0.0, -1.0]  # near is at a right angle, and the others are beyond it
    assert moved() == {"near": 0.0, "side": 0.0, "far": 0.8, "goal": 0.2}


def test_copies_have_as_much_noise_as_they_say():
    problem = noisy_labels(examples=30, seed=0)
    clean, *others = [task.train.batch(np.arange(1000)).labels for task in problem.sources]
    shares = [float((labels != clean).double().mean()) for labels in others]
    # Of three labels one in three is drawn that was there.
    assert shares == pytest.approx([0.2 * 2 / 3, 0.4 * 2 / 3, 0.6 * 2 / 3, 2 / 3], abs=0.05)


@pytest.mark.parametrize(
    ("made_of", "wrong"),
    [
        (noisy_groups, [share * 2 / 3 for share in REPLACED.values()]),
        (noisy_examples, [0.0, 1.0]),
    ],
)
def test_parts_of_a_source_have_as_many_wrong_labels_as_they_say(made_of, wrong):
    problem = made_of(examples=30, seed=0)
    [clean] = [task for task in digits(examples=30, seed=0).sources if task.name == "magnitude"]
    [source] = problem.sources
    every = np.arange(len(clean.train))
    right = (source.train.batch(every).labels == clean.train.batch(every).labels).double().numpy()
    found = problem.parts.means(1 - right)
    assert [found[name] for name in problem.worth] == pytest.approx(wrong, abs=0.08)
    picked = problem.of(problem.picked)
    kept = np.isin(problem.parts.of_example, problem.picked)
    assert problem.sizes == {"magnitude": len(every)}
    assert picked.sizes == {"magnitude": kept.sum()}
    assert picked.units.sizes == picked.sizes
    first = clean.train.batch(every[kept][:10]).labels
    assert torch.equal(picked.sources[0].train.batch(np.arange(10)).labels, first)


@pytest.mark.parametrize(("regime", "shares"), [("groups", REPLACED), ("examples", (RIGHT, WRONG))])
def test_weights_on_parts_of_a_source_leave_a_record_too(regime, shares):
    def found(method):
        spec = replace(spec_of(method), regime=regime)
        return json.loads(json.dumps(trained(spec, NOWHERE)))

    record, [first, *_, last] = found("default"), shares
    assert record["worth"].keys() == record["weights"].keys() == set(shares)
    assert record["weights"][first] > 1 > record["weights"][last]
    assert record["area"] > 0.7
    # An update after every quarter, with all examples of the source and of the target.
    assert (record["steps"], record["updates"]) == (700, 4)
    assert record["examples_measured"] == 4 * (1067 + 30)
    equal = found("equal")
    assert equal["weights"] == dict.fromkeys(shares, 1.0)
    assert equal["area"] == 0.5
    assert found("hand-picked")["area"] is None
    assert found("target alone")["weights"] == {"digit": 1.0}


def test_teachers_agree_as_their_angles_say():
    problem = teachers(examples=100, seed=0)
    goal = problem.target.test.batch(np.arange(1000))
    normal = torch.linalg.lstsq(goal.inputs, 2.0 * goal.labels - 1).solution
    found = {}
    for task in problem.sources:
        batch = task.train.batch(np.arange(len(task.train)))
        found[task.name] = float(((batch.inputs @ normal > 0) == batch.labels).double().mean())
    assert found["0°"] > 0.9
    assert found["60°"] == pytest.approx(1 - 60 / 180, abs=0.08)
    assert found["90°"] == pytest.approx(0.5, abs=0.08)
    assert found["coins"] == pytest.approx(0.5, abs=0.08)


@pytest.fixture
def texts(tmp_path):
    lines = "a\tB-X\nbb\tI-X\nccc\tO\ndddd\tO"
    for name in {name.partition(",")[0] for name in ["ewt ner", *TARGETS["ewt ner"].names]}:
        if " " in name and name not in ("word length", "thrown tags"):
            corpus, layer = name.split()
            (tmp_path / "data" / corpus).mkdir(parents=True, exist_ok=True)
            for split in ("train", "dev", "test"):
                path = tmp_path / "data" / corpus / f"{layer}.{split}.tsv"
                path.write_text("\n\n".join([lines] * 400 + ["short\tO"]) + "\n")
    names = ["ewt ner", *TARGETS["ewt ner"].names]
    write_tasks(names, data=tmp_path / "data", texts=tmp_path / "texts")
    return tmp_path / "texts"


def test_spoilt_sources_have_the_words_of_others(texts):
    honest = sentences(path_of("gum ner", "train", texts))
    assert len(honest) == 400  # those of less than four words are left out
    spoilt = sentences(path_of(shuffled("gum ner"), "train", texts))
    assert [[word for word, _ in each] for each in spoilt] == [["a", "bb", "ccc", "dddd"]] * 400
    assert {tuple(sorted(tag for _, tag in each)) for each in spoilt} == {("B-X", "B-X", "O", "O")}
    assert len({tuple(tag for _, tag in each) for each in spoilt}) == 6
    lengths = sentences(path_of("word length", "train", texts))
    assert lengths[0] == [["a", "L1"], ["bb", "L2"], ["ccc", "L0"], ["dddd", "L1"]]
    thrown = sentences(path_of("thrown tags", "train", texts))
    assert {tag for each in thrown for _, tag in each} == {"A", "B", "C", "D"}


def test_sources_of_text_have_their_share_of_the_sentences(texts, tmp_path):
    encoder = str(write_tiny_bert(tmp_path / "tiny"))
    problem = tagging("ewt ner", examples=20, seed=0, texts=texts, encoder=encoder)
    assert problem.sizes == dict.fromkeys(TARGETS["ewt ner"].names, 304)  # 300, in whole eights
    assert sum(problem.worth.values()) == 3
    kept = problem.of(problem.picked)
    model = kept.model([*kept.sources, kept.target])
    assert list(model.heads) == ["gum ner", "ewt pos", "conll2000 chunk", "ewt ner"]
    assert (len(problem.target.train), len(problem.target.dev)) == (20, 130)


def made(method, score, *, seed=0, source=None, dev=0.5, cost=1.0, weight=0.5):
    weights = dict.fromkeys(SOURCES, 0.1) | {"parity": weight}
    worth = {name: float(name in SOURCES[:3]) for name in SOURCES}
    return {
        "spec": spec_of(method, seed=seed, source=source).to_json(),
        "score": score,
        "dev": dev,
        "weights": weights,
        "worth": worth,
        "area": area(weights, worth),
        "findings": {"parity": {"verdict": "helps"}, "coins": {"verdict": "helps"}},
        "passes": {"parity": 1 / 3},
        "processor_seconds": cost,
    }


@pytest.fixture
def records():
    found = [
        made("equal", 0.5, weight=0.1),
        made("equal", 0.6, seed=1, weight=0.1),
        made("default", 0.54, cost=3.0),
        made("default", 0.62, seed=1, cost=2.0),
        made("hand-picked", 0.7, dev=0.6),
        *(made("single", 0.1, source=name) for name in SOURCES[1:]),
        made("single", 0.65, source="parity", dev=0.8),
    ]
    return Records.of([json.dumps(record) for record in found])


def test_the_table_by_hand(records):
    said = page(records)
    # Points of 4 and 2: mean 3, and 12.706 times an error of 1. Of twelve pairs four have the one
    # weight that is larger, and the others are alike.
    assert "| default | 58.0 | +3.0 (-9.7 to +15.7) | 0.67 | 2.5 |" in said
    assert "| equal | 55.0 |  | 0.50 | 1.0 |" in said
    assert "| hand-picked | 70.0 | +20.0, 1 of 2 |  | 1.0 |" in said
    assert "| digits | 2 | 0 | 0 | 2 | 0 | 0 |" in said
    assert "## Linear teachers" not in said


def test_what_is_picked_by_hand_is_called_by_what_it_is():
    found = [
        made(method, score + seed / 100, seed=seed)
        for seed in range(3)
        for method, score in (("equal", 0.5), ("default", 0.52), ("paper", 0.4))
    ]
    found += [made("hand-picked", 0.45 + seed / 90, seed=seed) for seed in range(3)]
    for record in found:
        record["spec"]["regime"] = "groups"
    said = page(Records.of([json.dumps(record) for record in found]))
    assert "the default +2.0 (+2.0 to +2.0); groups picked by hand -4.9 (" in said
    assert "; paper -10.0 (-10.0 to -10.0). The useful groups alone are worse than all" in said
    assert "in 1 of 1 regimes (groups) and below them in none; another method with" in said


def test_the_ceiling_is_chosen_on_dev_and_pays_for_all_that_was_tried(records):
    [cell] = Table.of(records, "digits", encoder=None).rows[CEILING].values()
    assert (cell.score, cell.cost) == (65.0, 8.0)


def test_records_are_kept_with_five_digits():
    assert json.loads(shortened(json.dumps(made("equal", 0.5))))["passes"] == {"parity": 0.33333}


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((9, 1, 1, 9), "90% of what the default's runs said was right: 9 of 10 *helps* and 9"),
        ((5, 5, 0, 10), "That is less than the 85%"),
        ((0, 0, 0, 0), "said of no source"),
    ],
)
def test_statements_are_counted_by_what_they_say(counts, expected):
    helps, helps_wrongly, hurts_wrongly, hurts = counts
    useful = {"helps": helps, "cannot tell": 7, "hurts": hurts_wrongly}
    useless = {"helps": helps_wrongly, "cannot tell": 7, "hurts": hurts}
    assert expected in findings_answer({True: useful, False: useless})


def test_the_page_of_situations_has_the_numbers_of_the_tables():
    text = (PAGE.parents[1] / "will-it-help.md").read_text(encoding="utf-8")
    for table in tables(kept_records()):
        for row in (DEFAULT, PICKED):
            assert f"{with_interval(table.over(row, EQUAL), HOW)} points" in text, (table.name, row)
