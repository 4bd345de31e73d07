"""What is said of a source (helps, hurts, cannot tell) is right as often as it claims."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tawt.arrays import classification
from tawt.config import parsed
from tawt.report.words import said_of
from tawt.runs import run
from tawt.training import JointTraining, SourcesOnly
from tawt.training.fresh import FreshLosses
from tawt.weighting import Fixed, TargetAware
from tawt.weights import History, WeightUpdate, findings
from tawt.weights.findings import alignments_of, projections_of
from tawt.weights.student import probability_below
from tests import test_watching
from tests.test_watching import rows, tasks_of, trained

DIMENSIONS = 40
HALVES = {"measure": "fresh batches", "target_from": "halves in turn"}


def history_of(alignments, *, halves=None, weights=None):
    """Updates of these rows, of sources s0, s1, …, by weights that stay as they are."""
    names = [f"s{place}" for place in range(alignments.shape[1])]
    shares = weights or dict.fromkeys(names, 1 / len(names))
    turns = [None] * len(alignments) if halves is None else halves
    return [
        WeightUpdate(step, shares, {}, dict(zip(names, row, strict=True)), target_half=part)
        for step, (row, part) in enumerate(zip(alignments.tolist(), turns, strict=True))
    ], names


def world(draw, *, sources, examples, updates, halved, spread, noise):
    """Cosines that updates would measure, and the leads they would find with endless examples.

    Gradients of single examples are drawn around those of their task; the target has so many.
    """
    goal = np.eye(DIMENSIONS)[0]
    cosines = np.clip(draw.normal(0.2, spread, sources), -0.8, 0.8)
    others = draw.normal(size=(sources, DIMENSIONS))
    others[:, 0] = 0.0
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    tasks = cosines[:, None] * goal + np.sqrt(1 - cosines**2)[:, None] * others
    size = 3 * noise / math.sqrt(DIMENSIONS)
    target = goal + size * draw.normal(size=(examples, DIMENSIONS))
    order = draw.permutation(examples)
    rows = []
    for update in range(updates):
        if update % 2 == 0:
            order = draw.permutation(examples)
        mine = order[update % 2 :: 2] if halved else order
        batch = target[draw.choice(mine, min(16, len(mine)), replace=False)].mean(0)
        fresh = tasks + size / 2 * draw.normal(size=tasks.shape)
        lengths = np.linalg.norm(fresh, axis=1) * np.linalg.norm(batch)
        rows.append(fresh @ batch / lengths)
    truth = (cosines - cosines.mean()) * sources / (sources - 1)
    return np.array(rows), truth


def judged(*, examples, updates, halved, runs=500, seed=0):
    """How many statements are right, of how many, of how many sources."""
    draw = np.random.default_rng(seed)
    right = said = asked = 0
    for _ in range(runs):
        rows, truth = world(
            draw,
            sources=int(draw.choice([2, 4, 8])),
            examples=examples,
            updates=updates,
            halved=halved,
            spread=draw.choice([0.01, 0.03, 0.1, 0.3]),
            noise=draw.choice([0.5, 1.0, 2.0]),
        )
        turns = [update % 2 for update in range(updates)] if halved else None
        history, names = history_of(rows, halves=turns)
        for lead, finding in zip(truth, findings(history, names).values(), strict=True):
            asked += 1
            if finding.verdict != "cannot tell":
                said += 1
                right += (finding.verdict == "helps") == (lead > 0)
    return right, said, asked


@pytest.mark.parametrize("examples", [12, 16, 32, 100])
@pytest.mark.parametrize("updates", [8, 40])
def test_of_what_is_said_at_90_percent_at_least_85_is_right(examples, updates):
    right, said, asked = judged(examples=examples, updates=updates, halved=True)
    assert right / said >= 0.85
    assert said / asked > 0.1


def test_without_halves_it_is_right_where_the_target_has_examples_enough():
    right, said, asked = judged(examples=4000, updates=20, halved=False)
    assert right / said >= 0.85
    assert said / asked > 0.15


def test_without_halves_few_examples_of_the_target_are_believed_too_much():
    """Which is why updates take halves: all of them see the same few examples."""
    right, said, _ = judged(examples=16, updates=40, halved=False)
    assert right / said < 0.85


def test_a_lead_is_over_the_others_by_their_weights():
    rows = np.array([[0.5, 0.1, 0.3]] * 6) + 1e-3 * np.arange(18).reshape(6, 3) % 7e-3
    history, names = history_of(rows, weights={"s0": 0.5, "s1": 0.4, "s2": 0.1})
    first = rows[0, 0] - rows[0, 1:].mean()  # nobody has moved the weights yet
    rest = rows[1:, 0] - (0.4 * rows[1:, 1] + 0.1 * rows[1:, 2]) / 0.5
    assert findings(history, names)["s0"].lead == pytest.approx((first + rest.sum()) / 6)


def test_a_source_that_has_all_the_weight_leads_the_others_alike():
    rows = np.array([[0.5, 0.1, 0.3]] * 6)
    history, names = history_of(rows, weights={"s0": 1.0, "s1": 0.0, "s2": 0.0})
    assert findings(history, names)["s0"].lead == pytest.approx(0.3)


def test_a_drift_of_all_leads_is_not_noise():
    """They rise from 0.1 to 0.3, evenly: that they are positive is sure."""
    rise = np.linspace(0.05, 0.15, 30)
    wobble = 0.001 * np.random.default_rng(0).normal(size=(30, 2))
    history, names = history_of(np.stack([rise, -rise], 1) + wobble)
    found = findings(history, names)["s0"]
    assert found.lead == pytest.approx(0.2, abs=0.01)
    assert found.error < 0.003
    assert found.probability > 0.999


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_of_few_updates_nothing_is_said(kept):
    history, names = history_of(np.array([[0.9, -0.9]] * kept).reshape(kept, 2))
    assert {found.verdict for found in findings(history, names).values()} <= {"cannot tell"}


def test_of_one_half_nothing_is_said():
    rows = np.random.default_rng(0).normal(0.5, 0.01, size=(9, 2)) * [1, -1]
    history, names = history_of(rows, halves=[0] * 9)
    assert [found.verdict for found in findings(history, names).values()] == ["cannot tell"] * 2


def test_skipped_updates_and_those_that_lack_a_source_do_not_count():
    rows = np.random.default_rng(0).normal(0.0, 0.1, size=(12, 2))
    history, names = history_of(rows)
    shares = {"s0": 0.5, "s1": 0.5}
    others = [
        WeightUpdate(50, shares, {}, {"s0": 9.0, "s1": -9.0}, skipped="not finite"),
        WeightUpdate(51, shares, {}, {"s0": None, "s1": -9.0}),
    ]
    assert findings([*history[:6], *others, *history[6:]], names) == findings(history, names)


def test_one_source_leads_nobody():
    history, names = history_of(np.array([[0.5]] * 9))
    assert findings(history, names) == {}


@pytest.mark.parametrize(("freedom", "off"), [(1, 0.01), (3, 1e-3), (9, 2e-4), (40, 1e-4)])
def test_probabilities_are_those_of_students_t(freedom, off):
    for value in np.linspace(-8, 8, 65):
        expected = stats.t.cdf(value, freedom)
        assert probability_below(value, freedom) == pytest.approx(expected, abs=off)


# In training


def weighting(**options):
    return TargetAware(sources=["near", "far"], target="goal", **options)


@pytest.mark.parametrize("joint", [True, False])
def test_updates_see_the_halves_of_the_target_in_turn(joint, monkeypatch):
    seen = []
    made = FreshLosses.__init__

    def noting(self, model, tasks, examples, **how):
        batch = examples["goal"].batch(np.arange(len(examples["goal"])))
        seen.append({tuple(row) for row in batch.inputs.tolist()})
        made(self, model, tasks, examples, **how)

    monkeypatch.setattr(FreshLosses, "__init__", noting)
    paradigm = JointTraining(epochs=3) if joint else SourcesOnly(epochs=3)
    weights = weighting(target_share=0.3 if joint else None)
    settings = {"sampling": "weight", "steps": 100, "update_every": 10, **HALVES}
    _, result = trained(weights, paradigm=paradigm, settings=settings)
    assert [update.target_half for update in result.history] == [0, 1] * 5
    seen = [half for half in seen if len(half) < 64]  # the guard looks at all of them
    assert [len(half) for half in seen] == [32] * 10
    for first, second in zip(seen[::2], seen[1::2], strict=True):
        assert not first & second  # halves of one cut
    assert len({frozenset(half) for half in seen}) == 10  # and every cut is another
    assert set(weights.findings()) == {"near", "far"}


@pytest.mark.parametrize(
    ("examples", "halves", "told"),
    [(3, False, False), (4, True, False), (11, True, False), (12, True, True), (64, True, True)],
)
def test_few_examples_of_the_target_are_not_halved_or_not_enough_to_tell(
    examples, halves, told, monkeypatch
):
    few = classification("goal", train=rows(3, examples), dev=rows(4, 15), test=rows(5, 15))
    monkeypatch.setattr(test_watching, "tasks_of", lambda size: [*tasks_of(size)[:2], few])
    _, result = trained(
        weighting(target_share=None),
        paradigm=SourcesOnly(epochs=3),
        settings={"update_every": 5, **HALVES},
    )
    assert {update.target_half for update in result.history} == ({0, 1} if halves else {None})
    assert bool(result.findings) == told


def test_a_history_that_is_thinned_keeps_pairs_of_halves():
    history = History(most=100)
    shares = {"a": 0.5, "b": 0.5}
    for step in range(1000):
        history.append(WeightUpdate(step, shares, {}, target_half=step % 2))
    kept = [update.step for update in history[:-1]]
    assert kept[::2] == [step for step in kept if step % 2 == 0]
    assert kept[1::2] == [step + 1 for step in kept[: len(kept) // 2 * 2 : 2]]


def test_leads_before_the_first_update_are_over_the_weights_it_began_with():
    rows_ = np.array([[0.5, 0.1, 0.3]] * 6)
    history, names = history_of(rows_, weights={"s0": 0.2, "s1": 0.6, "s2": 0.2})
    began = {"s0": 0.1, "s1": 0.0, "s2": 0.9}
    rest = 0.5 - (0.6 * 0.1 + 0.2 * 0.3) / 0.8
    found = findings(history, names, initial=began)["s0"]
    assert found.lead == pytest.approx((0.5 - 0.3 + 5 * rest) / 6)


def test_a_saved_history_keeps_the_halves():
    weights = weighting(target_share=None)
    settings = {"update_every": 10, **HALVES}
    trained(weights, paradigm=SourcesOnly(epochs=2), settings=settings)
    again = weighting(target_share=None)
    again.load_state_dict(weights.state_dict())
    assert again.findings() == weights.findings()
    halves = [update.target_half for update in again.history]
    assert halves == [update.target_half for update in weights.history]
    assert set(halves) == {0, 1}


def test_weights_that_are_held_find_nothing():
    assert Fixed(["near", "far"]).findings() == {}


def test_a_run_records_and_shows_its_findings(tmp_path):
    config = {
        "name": "found",
        "data": {"kind": "digits", "target_size": 30},
        "target": "digit",
        "sources": ["parity", "noise"],
        "epochs": 1,
        "target_epochs": 1,
        "model": {"kind": "mlp", "widths": [8]},
        "training": {"update_every": 5},
    }
    record = run(parsed(config), tmp_path / "run")
    assert set(record["findings"]) == {"parity", "noise"}
    for found in record["findings"].values():
        assert found["verdict"] in ("helps", "hurts", "cannot tell")
        assert 0 <= found["probability"] <= 1
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    for found in record["findings"].values():
        assert said_of(found) in page
    whole = run(parsed(config | {"training": {"target_from": "all"}}), tmp_path / "whole")
    assert whole["findings"] == {}


# Cosines, and how long gradients are


def lengthened(lengths, *, updates=16):
    """Two sources: s0 is a little more in line with the target."""
    draw = np.random.default_rng(0)
    cosines = np.array([0.4, 0.3]) + 0.005 * draw.normal(size=(updates, 2))
    history, names = history_of(cosines, halves=[number % 2 for number in range(updates)])
    norms = dict(zip(names, lengths, strict=True))
    return [replace(update, norms=norms) for update in history], names


def test_what_is_said_must_hold_for_the_part_along_the_target_too():
    both = (alignments_of, projections_of)
    verdicts = {}
    for lengths in ([1.0, 1.0], [1.0, 3.0], [3.0, 1.0]):
        history, names = lengthened(lengths)
        found = findings(history, names, views=both)
        verdicts[tuple(lengths)] = [finding.verdict for finding in found.values()]
        alone = findings(history, names)
        assert [finding.verdict for finding in alone.values()] == ["helps", "hurts"]
        assert found["s0"].lead == alone["s0"].lead
    assert verdicts[1.0, 1.0] == verdicts[3.0, 1.0] == ["helps", "hurts"]
    assert verdicts[1.0, 3.0] == ["cannot tell"] * 2


def test_parts_along_the_target_have_the_units_of_no_update():
    history, names = lengthened([1.0, 3.0])
    grown = [
        replace(update, norms={name: 7.0**at * norm for name, norm in update.norms.items()})
        for at, update in enumerate(history)
    ]
    once, again = (findings(each, names, views=(projections_of,)) for each in (history, grown))
    assert once["s0"].lead == pytest.approx(again["s0"].lead)
    assert findings([replace(u, norms={}) for u in history], names, views=(projections_of,)) == {}
