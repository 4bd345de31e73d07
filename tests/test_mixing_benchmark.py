"""The benchmark of mixing corpora: what methods are charged, and the page of its records."""

import json
from itertools import chain

import pytest
from benchmarks.mixing import plan
from benchmarks.mixing.budget import OF_ALL_SEEDS, Budget
from benchmarks.mixing.cost import affordable_steps
from benchmarks.mixing.plan import handed_out
from benchmarks.mixing.records import Records, key_of
from benchmarks.mixing.setups import SETUPS, SMALL
from benchmarks.mixing.spec import Spec
from benchmarks.mixing.table import PAGE, kept_records, page
from benchmarks.mixing.training import _settings

from tawt.training import Settings


def test_the_page_is_what_its_records_say():
    assert page(kept_records()) == PAGE.read_text(encoding="utf-8")


def test_every_record_is_of_a_training_that_the_plan_has():
    records, budgets = kept_records(), (900, 300)
    singles = records.matching(name=plan.SINGLE, seed=0)
    sources = sorted({record["spec"]["sources"][0] for record in singles})
    targets = sorted(singles[0]["scores"])
    planned = chain(
        plan.choosing(sources, budgets=budgets),
        plan.pairs(records, targets, budgets=budgets),
        plan.methods(records, targets, budgets=budgets, seeds=range(3)),
        plan.ceilings(records, targets, budgets=budgets, seeds=3),
        plan.longer(targets, seeds=2),
        plan.tenth(targets, seeds=2),
        plan.evidence(targets, seeds=3),
        plan.proxies(targets, seeds=3),
        plan.transferred(records, targets, seeds=3),
        plan.large(records, targets, seeds=3),
        plan.pretrained(targets, seeds=3),
    )
    keys = {key_of(json.loads(json.dumps(spec.to_json()))) for spec in planned}
    assert [record["spec"] for record in records if key_of(record["spec"]) not in keys] == []


@pytest.mark.parametrize(
    ("kind", "settings", "steps"),
    [
        ("fixed", {}, 100),
        # 10 steps of 16 windows, then 3 · 4 + 8 windows: 180 of 1600 for 10 steps; 8 times 10
        # steps cost 1440, and of the 160 that are left 10 steps are taken.
        ("target-aware", {"gradient_examples": 4, "target_examples": 8}, 90),
        # An update measures one source and the target, 4 windows each: 168 of 1600; 9 times 10
        # steps cost 1512, and of the 88 that are left 5.5 are taken.
        ("bandit", {"gradient_examples": 4}, 95),
        # Losses of 3 sources on 4 windows, a third of the price: 164; 1476 for 90, 124 left.
        ("excess-loss", {"gradient_examples": 4}, 97),
    ],
)
def test_a_method_pays_for_what_it_measures(kind, settings, steps):
    spec = Spec(name="x", kind=kind, budget=100)
    training = Settings(batch_size=16, update_every=10, sampling="weight", **settings)
    assert affordable_steps(spec, training, sources=3) == steps


def test_comparing_training_steps_costs_the_direction_alone():
    spec = Spec(name="x", kind="target-aware", budget=100)
    training = Settings(
        batch_size=16, update_every=10, gradient_examples=5, measure="training steps"
    )
    # The first update measures 3 · 5 + 5 windows; from step 10 on, every fifth step takes 1 more.
    spent, step = 0, 0
    while spent + 16 <= 1600:
        step += 1
        spent += 16 + 20 * (step == 10) + (step >= 10 and step % 5 == 0)
    assert affordable_steps(spec, training, sources=3) == step


def test_weights_that_are_handed_out_are_those_of_the_second_half():
    record = {
        "steps": 10,
        "course": [[2, {"a": 0.5, "b": 0.5}], [5, {"a": 0.6, "b": 0.4}], [9, {"a": 1.0, "b": 0.0}]],
    }
    # Of steps 6 to 10, four are taken with what the update after step 5 left, one with the last.
    assert handed_out([record]) == {"a": pytest.approx(0.68), "b": pytest.approx(0.32)}


def of_corpora(*sources, dev, test, seed=0):
    """A record of a training on these corpora alone."""
    name = plan.SINGLE if len(sources) == 1 else plan.PAIR
    target = None if len(sources) == 1 else "goal"
    spec = Spec(name=name, kind="fixed", target=target, sources=sources, budget=300, seed=seed)
    return json.dumps({"spec": spec.to_json(), "scores": {"goal": {"dev": dev, "test": test}}})


def test_the_search_tries_the_pairs_of_the_best_four_by_dev_text():
    singles = {"a": 2.0, "b": 2.5, "c": 2.2, "d": 2.4, "e": 2.3}
    lines = [of_corpora(name, dev=dev, test=9 - dev) for name, dev in singles.items()]
    lines.append(of_corpora("b", dev=0.0, test=0.0, seed=1))  # other seeds choose nothing
    found = [spec.sources for spec in plan.pairs(Records.of(lines), ["goal"], budgets=[300])]
    assert found == [("a", "c"), ("a", "d"), ("a", "e"), ("c", "d"), ("c", "e"), ("d", "e")]


def test_the_ceiling_is_best_on_dev_text_and_is_trained_with_all_seeds():
    # The pair is best on dev text; another corpus is on test text, which nobody looks at.
    lines = [
        of_corpora("a", dev=2.0, test=2.1),
        of_corpora("b", dev=2.1, test=1.7),
        of_corpora("a", "b", dev=1.9, test=2.0),
    ]
    assert plan.ceiling(Records.of(lines), "goal", budget=300) == ("a", "b")
    assert plan.ceiling(Records.of(lines[:2]), "goal", budget=300) == ("a",)
    others = plan.ceilings(Records.of(lines), ["goal"], budgets=[300], seeds=3)
    assert [(spec.name, spec.sources, spec.seed) for spec in others] == [
        (plan.PAIR, ("a", "b"), 1),
        (plan.PAIR, ("a", "b"), 2),
    ]


def test_shares_of_the_headroom_by_hand():
    # Equal weights come to 3.0; the search's pair to 2.6 and 2.4 with two seeds. That is a
    # headroom of 0.5, of which a row that comes to 2.8 and 2.7 recovers 40 and 60 percent.
    lines = [of_corpora("a", dev=2.9, test=3.5)]
    lines += [of_corpora("a", "b", dev=2.5, test=t, seed=s) for s, t in enumerate((2.6, 2.4))]
    for name in OF_ALL_SEEDS:
        for seed, ours in enumerate((2.8, 2.7)):
            score = ours if name == plan.OURS_DEFAULT else 3.0
            spec = Spec(name=name, kind="fixed", target="goal", budget=300, seed=seed)
            scores = {"goal": {"dev": score, "test": score}}
            lines.append(json.dumps({"spec": spec.to_json(), "scores": scores}))
    budget = Budget(Records.of(lines), 300)
    assert budget.ceiling("goal") == pytest.approx(2.5)
    assert budget.headroom("goal") == pytest.approx(0.5)
    assert budget.shares(plan.OURS_DEFAULT, "goal") == pytest.approx([40, 60])
    assert budget.below_ceiling(plan.OURS_DEFAULT) == []


def test_a_row_without_a_limit_on_passes_has_none():
    free, limited = (
        _settings(
            Spec(name="any", kind="fixed", budget=100, settings=settings),
            Settings(**SETUPS[SMALL].settings),
            sources=2,
            after=range(0),
        )
        for settings in ({}, {"most_passes": 12.0})
    )
    assert free.most_passes is None
    assert limited.most_passes == 12.0
