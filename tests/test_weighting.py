"""The plug-in: what an update does to the weights, and what it refuses to do."""

import gc
import json
import math
import weakref

import pytest
import torch
from torch import nn

import tawt.hypergradient
from tawt import simplex
from tawt.curvature import ConjugateGradient, Identity
from tawt.errors import ConfigError, TrainingError, WeightsError
from tawt.gradients import dot, gradient_of
from tawt.hypergradient import Cosine, CurvatureWeighted, hypergradient
from tawt.training import checkpoints
from tawt.weighting import Fixed, TargetAware, UpdateRule
from tawt.weights import WeightUpdate

DOUBLE = {"dtype": torch.float64}


class Plane:
    """Tasks whose gradients are given: L_t = ⟨φ, g_t⟩, whatever φ is."""

    def __init__(self, **gradients):
        self.gradients = {
            name: torch.as_tensor(gradient, **DOUBLE) for name, gradient in gradients.items()
        }
        width = len(next(iter(self.gradients.values())))
        self.point = torch.ones(width, **DOUBLE).requires_grad_()
        self.asked = []

    @classmethod
    def random(cls, names, *, generator, width=4):
        return cls(
            **{name: torch.randn(width, generator=generator, **DOUBLE) for name in names},
        )

    def loss_of(self, task):
        self.asked.append(task)
        return self.point @ self.gradients[task]

    def cosine(self, left, right):
        return float(
            nn.functional.cosine_similarity(self.gradients[left], self.gradients[right], dim=0)
        )

    def update(self, weighting, **options):
        return weighting.update([self.point], loss_of=self.loss_of, **options)


def plane():
    """`near` agrees with the target, `across` has nothing to do with it, `far` works against it."""
    return Plane(near=[2.0, 1.0], across=[0.0, 3.0], far=[-1.0, 0.5], goal=[1.0, 0.0])


SOURCES = ["near", "across", "far"]


def target_aware(**options):
    options = {"rule": UpdateRule.paper(), "target_share": None, **options}
    return TargetAware(sources=SOURCES, target="goal", **options)


# Fixed, and what both share


def test_combine_is_the_weighted_sum_and_so_is_its_gradient():
    x = torch.tensor([3.0, 5.0], **DOUBLE).requires_grad_()
    weights = Fixed(["a", "b"], initial={"a": 0.75, "b": 0.25})
    loss = weights.combine({"a": x[0] ** 2, "b": x[0] * x[1]})
    assert loss.item() == pytest.approx(0.75 * 9 + 0.25 * 15)
    loss.backward()
    assert x.grad.tolist() == pytest.approx([0.75 * 6 + 0.25 * 5, 0.25 * 3])


def test_combine_does_not_care_for_the_order_of_losses():
    weights = Fixed(["a", "b"], initial={"a": 0.75, "b": 0.25})
    losses = {"b": torch.tensor(4.0), "a": torch.tensor(2.0)}
    assert float(weights.combine(losses)) == pytest.approx(2.5)


def test_combine_takes_some_of_the_tasks():
    weights = Fixed(["a", "b"], initial={"a": 0.75, "b": 0.25})
    assert float(weights.combine({"b": torch.tensor(4.0)})) == pytest.approx(1.0)


@pytest.mark.parametrize("weighting", [Fixed(SOURCES), target_aware()], ids=["fixed", "aware"])
def test_combine_refuses_what_has_no_weight(weighting):
    with pytest.raises(WeightsError, match=r"no weight for 'naer'; did you mean 'near'\?"):
        weighting.combine({"naer": torch.tensor(1.0)})
    with pytest.raises(WeightsError, match="at least one task's loss; got none"):
        weighting.combine({})


def test_the_loss_of_a_target_that_is_not_trained_on_is_refused_with_the_reason():
    with pytest.raises(WeightsError, match="'goal' is the target, which `target_share=None`"):
        target_aware().combine({"near": torch.tensor(1.0), "goal": torch.tensor(1.0)})


def test_combine_follows_the_weights_as_they_move():
    tasks, weighting = plane(), target_aware()
    tasks.update(weighting)
    shares = weighting.weights.shares()
    losses = {name: torch.tensor(float(number)) for number, name in enumerate(SOURCES, 1)}
    by_hand = sum(shares[name] * number for number, name in enumerate(SOURCES, 1))
    assert float(weighting.combine(losses)) == pytest.approx(by_hand)


def test_a_fixed_update_does_nothing_at_all():
    def never(task):
        raise AssertionError(f"asked for {task}")

    weighting = Fixed(SOURCES)
    before = weighting.weights.logs.clone()
    assert weighting.update(nn.Linear(2, 2), loss_of=never, touching=[nn.Linear(1, 1)]) is None
    assert torch.equal(weighting.weights.logs, before)
    assert weighting.history == []
    assert weighting.skipped == 0
    assert weighting.asked_twice == frozenset()
    assert weighting.target == {}


def test_fixed_weights_round_trip():
    weighting = Fixed(["a", "b"], initial={"a": 0.9, "b": 0.1})
    other = Fixed(["a", "b"])
    other.load_state_dict(weighting.state_dict())
    assert torch.equal(other.weights.logs, weighting.weights.logs)


# Who is weighed


def test_a_target_that_is_also_a_source_is_refused():
    with pytest.raises(WeightsError, match="'ner' is the target and also a source"):
        TargetAware(sources=["pos", "ner"], target="ner", target_share=None)
    with pytest.raises(WeightsError, match="'pos' is the target and also a source"):
        TargetAware(sources=["pos"], target={"ner": 0.5, "pos": 0.5}, target_share="learned")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sources": [], "target": "t"}, "at least one source"),
        ({"sources": ["a", "a"], "target": "t"}, "'a' is given twice"),
        ({"sources": ["a"], "target": {"t": 0.5, "u": 0.6}}, "must sum to 1"),
        ({"sources": ["a"], "target": {"t": 1.5, "u": -0.5}}, "at least 0"),
        ({"sources": ["a"], "target": {}}, "at least one"),
        ({"sources": ["a"], "target": "t", "initial": {"a": 0.5, "b": 0.5}}, "unknown task 'b'"),
        ({"sources": ["a"], "target": "t", "initial": "proportional"}, "number of examples"),
    ],
)
@pytest.mark.parametrize("share", [None, 0.3])
def test_tasks_that_cannot_be_weighed_are_refused(options, message, share):
    with pytest.raises(WeightsError, match=message):
        TargetAware(**options, target_share=share)


def test_the_target_is_weighed_in_joint_training_only():
    assert target_aware().weights.names == ("near", "across", "far")
    joint = target_aware(target_share="learned")
    assert joint.weights.names == ("near", "across", "far", "goal")
    assert joint.weights["goal"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    "options",
    [
        {"step_size": 0.0},
        {"step_size": math.nan},
        {"step": "sideways"},
        {"own_alignment": "none"},
        {"anchor": 1.0},
        {"anchor": -0.1},
        {"ratio_bound": 0.5},
        {"ratio_bound": math.nan},
    ],
)
def test_a_rule_out_of_range_is_refused(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        UpdateRule(**options)


@pytest.mark.parametrize("share", ["learnt", -0.1, 1.5, (0.6, 0.4), (0.5, 1.1), 0.0, math.nan])
def test_a_target_share_out_of_range_is_refused(share):
    with pytest.raises(ConfigError, match="target_share"):
        target_aware(target_share=share)


# The step


def test_weights_move_towards_what_agrees_and_away_from_what_opposes():
    tasks, weighting = plane(), target_aware()
    before = weighting.weights.shares()
    after = tasks.update(weighting).weights
    assert after["near"] > before["near"]
    assert after["far"] < before["far"]
    assert after["near"] > after["across"] > after["far"]


@pytest.mark.parametrize(
    "alignment",
    [Cosine(scale=3.0), CurvatureWeighted(Identity(scale=0.1))],
    ids=["cosine", "identity"],
)
def test_the_step_is_the_simplex_step_of_what_is_measured(alignment):
    tasks = plane()
    rule = UpdateRule(alignment=alignment, step_size=0.3)
    initial = {"near": 0.2, "across": 0.3, "far": 0.5}
    weighting = target_aware(rule=rule, initial=initial)
    for _ in range(3):
        measured = hypergradient(
            [tasks.point],
            targets={"goal": 1.0},
            weights=weighting.weights,
            loss_of=tasks.loss_of,
            alignment=alignment,
        )
        expected = simplex.mirror_step(weighting.weights.logs, measured.values, step_size=0.3)
        tasks.update(weighting)
        assert torch.equal(weighting.weights.logs, expected)


def test_the_papers_step_by_hand():
    tasks, weighting = plane(), target_aware(rule=UpdateRule.paper(scale=2.0))
    after = tasks.update(weighting).weights
    grown = {name: math.exp(2.0 * tasks.cosine("goal", name)) for name in SOURCES}
    expected = {name: value / sum(grown.values()) for name, value in grown.items()}
    assert after == pytest.approx(expected)


@pytest.mark.parametrize("anchor", [0.0, 0.1])
def test_a_source_left_out_at_the_start_spoils_nothing(anchor):
    """A weight of zero is legal; the others move as if that (opposed) source were not there."""
    rule = UpdateRule(anchor=anchor, step_size=0.1)
    initial = {"near": 0.5, "across": 0.5, "far": 0.0}
    tasks, weighting = plane(), target_aware(initial=initial, rule=rule)
    without = TargetAware(sources=["near", "across"], target="goal", target_share=None, rule=rule)
    for _ in range(3):
        tasks.update(weighting)
        tasks.update(without)
    shares = weighting.weights.shares()
    assert shares["far"] == 0
    assert {name: shares[name] for name in ("near", "across")} == pytest.approx(
        without.weights.shares()
    )


def test_a_large_step_loses_no_source():
    tasks = plane()
    weighting = target_aware(rule=UpdateRule.paper(scale=1e4))
    tasks.update(weighting)
    assert torch.isfinite(weighting.weights.logs).all()
    tasks.gradients["goal"] = -tasks.gradients["goal"]
    tasks.update(weighting)
    assert list(weighting.weights.shares().values()) == pytest.approx([1 / 3] * 3)


def test_the_order_of_sources_does_not_matter():
    tasks, turned = plane(), ["far", "near", "across"]
    one, other = (
        target_aware(),
        TargetAware(sources=turned, target="goal", target_share=None, rule=UpdateRule.paper()),
    )
    for _ in range(5):
        tasks.update(one)
        tasks.update(other)
    assert other.weights.names == tuple(turned)
    assert other.weights.shares() == pytest.approx(one.weights.shares(), rel=1e-12)


def test_forty_sources():
    generator = torch.Generator().manual_seed(0)
    names = [f"s{number}" for number in range(40)]
    tasks = Plane.random([*names, "goal"], generator=generator, width=30)
    weighting = TargetAware(
        sources=names, target="goal", target_share=None, rule=UpdateRule.paper(scale=20.0)
    )
    for _ in range(10):
        tasks.update(weighting)
    best = max(names, key=lambda name: tasks.cosine("goal", name))
    shares = weighting.weights.shares()
    assert math.fsum(shares.values()) == pytest.approx(1, abs=1e-12)
    assert max(shares, key=shares.get) == best
    assert shares[best] > 0.9
    assert tasks.asked == ["goal", *names] * 10


# The target against itself


@pytest.mark.parametrize("seed", range(3))
def test_the_papers_target_agrees_with_itself_and_only_grows(seed):
    generator = torch.Generator().manual_seed(seed)
    weighting = target_aware(target_share="learned")
    before = weighting.weights["goal"]
    for _ in range(20):
        tasks = Plane.random([*SOURCES, "goal"], generator=generator)
        update = tasks.update(weighting)
        assert update.alignments["goal"] == pytest.approx(1, abs=1e-12)
        assert weighting.weights["goal"] > before or weighting.weights["goal"] > 1 - 1e-9
        before = weighting.weights["goal"]
        assert tasks.asked == ["goal", *SOURCES]
    assert before > 0.99
    assert weighting.asked_twice == frozenset()


def test_the_held_out_rule_asks_for_the_target_twice():
    tasks = plane()
    draws = iter([[1.0, 0.0], [0.6, 0.8]])

    def drawing(task):
        if task == "goal":
            tasks.gradients["goal"] = torch.tensor(next(draws), **DOUBLE)
        return tasks.loss_of(task)

    weighting = target_aware(
        target_share="learned", rule=UpdateRule(own_alignment="held-out", anchor=0.0)
    )
    assert weighting.asked_twice == {"goal"}
    update = weighting.update([tasks.point], loss_of=drawing)
    assert sorted(tasks.asked) == sorted(["goal", "goal", *SOURCES])
    assert update.alignments["goal"] == pytest.approx(0.6)
    assert update.target_norm == pytest.approx(1.0)


def test_the_held_out_rule_asks_once_for_a_target_that_is_not_weighed():
    tasks, weighting = plane(), target_aware(rule=UpdateRule(own_alignment="held-out"))
    tasks.update(weighting)
    assert tasks.asked.count("goal") == 1
    assert weighting.asked_twice == frozenset()


# Bounds on the weights


def after_each_of_many_updates(weighting, *, updates=30, seed=0):
    """The shares after every update, under alignments drawn anew each time."""
    generator = torch.Generator().manual_seed(seed)
    names = [*SOURCES, *weighting.target]
    for _ in range(updates):
        Plane.random(names, generator=generator).update(weighting)
        shares = weighting.weights.shares()
        assert all(share >= 0 for share in shares.values())
        assert math.fsum(shares.values()) == pytest.approx(1, abs=1e-9)
        yield shares


@pytest.mark.parametrize("own_alignment", ["itself", "held-out"])
def test_a_held_share_is_held(own_alignment):
    rule = UpdateRule(own_alignment=own_alignment)
    weighting = target_aware(target_share=0.4, rule=rule)
    assert weighting.weights["goal"] == pytest.approx(0.4, abs=1e-12)
    moved = set()
    for shares in after_each_of_many_updates(weighting):
        assert shares["goal"] == pytest.approx(0.4, abs=1e-12)
        moved.add(round(shares["near"], 9))
    assert len(moved) > 3


def test_a_share_stays_in_its_range_and_moves_inside():
    rule = UpdateRule(own_alignment="itself", anchor=0.3, step_size=0.5)
    weighting = target_aware(target_share=(0.1, 0.55), rule=rule)
    seen = [shares["goal"] for shares in after_each_of_many_updates(weighting)]
    assert all(0.1 - 1e-12 <= share <= 0.55 + 1e-12 for share in seen)
    assert max(seen) > min(seen)


def test_a_range_lifts_a_target_that_would_be_lost():
    tasks = Plane(near=[2.0, 1.0], across=[1.0, 0.0], far=[3.0, 0.5], goal=[1.0, 0.0])
    draws = iter([1.0, -1.0] * 20)

    def loss_of(task):
        return tasks.loss_of(task) * (next(draws) if task == "goal" else 1)

    rule = UpdateRule(own_alignment="held-out")
    weighting = target_aware(target_share=(0.1, 0.9), rule=rule)
    for _ in range(20):
        weighting.update([tasks.point], loss_of=loss_of)
        assert weighting.weights["goal"] >= 0.1 - 1e-12
    assert weighting.weights["goal"] == pytest.approx(0.1)


def test_a_learned_share_is_free():
    """The same as any other unit's: one step over all of them."""
    tasks = plane()
    rule = UpdateRule(step_size=0.2)
    joint = target_aware(target_share="learned", rule=rule)
    update = tasks.update(joint)
    cosines = [tasks.cosine("goal", name) for name in [*SOURCES, "goal"]]
    start = torch.full((4,), 0.25, **DOUBLE).log()
    expected = simplex.mirror_step(start, -torch.tensor(cosines, **DOUBLE), step_size=0.2).exp()
    assert list(update.weights.values()) == pytest.approx(expected.tolist())


def test_sources_share_what_is_left_in_their_own_proportions():
    tasks = plane()
    alone, joint = target_aware(), target_aware(target_share=0.4)
    for _ in range(4):
        tasks.update(alone)
        tasks.update(joint)
    expected = {name: 0.6 * share for name, share in alone.weights.shares().items()}
    expected["goal"] = 0.4
    assert joint.weights.shares() == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.5, (0.2, 0.8)])
def test_a_step_that_takes_all_from_the_sources_does_not_break_a_held_share(share):
    tasks = Plane(near=[-1.0, 0.1], across=[-1.0, 0.2], far=[-1.0, 0.3], goal=[1.0, 0.0])
    weighting = target_aware(target_share=share, rule=UpdateRule(step_size=5.0))
    for _ in range(3):
        tasks.update(weighting)
        shares = weighting.weights.shares()
        assert math.fsum(shares.values()) == pytest.approx(1)
        assert shares["goal"] == pytest.approx(0.5 if share == 0.5 else 0.8)


@pytest.mark.parametrize("rule", [UpdateRule.paper(), UpdateRule.robust()])
def test_a_share_of_one_leaves_the_sources_out(rule):
    tasks, weighting = plane(), target_aware(target_share=1.0, rule=rule)
    tasks.update(weighting)
    assert weighting.weights.shares() == {"near": 0.0, "across": 0.0, "far": 0.0, "goal": 1.0}


@pytest.mark.parametrize("share", [None, "learned", 0.5, (0.2, 0.8)])
def test_the_ratio_bound_is_kept(share):
    """Among all units, or among the sources where the target's share is set by hand."""
    rule = UpdateRule(ratio_bound=4.0, alignment=Cosine(scale=3.0))
    weighting = target_aware(target_share=share, rule=rule)
    assert math.fsum(weighting.weights.shares().values()) == pytest.approx(1, abs=1e-9)
    reached = 0.0
    for shares in after_each_of_many_updates(weighting):
        bounded = [
            weight for name, weight in shares.items() if name in SOURCES or share == "learned"
        ]
        assert max(bounded) <= 4.0 * min(bounded) * (1 + 1e-9)
        reached = max(reached, max(bounded) / min(bounded))
    assert reached == pytest.approx(4.0)


def test_the_ratio_bound_holds_from_the_start():
    """Weights that were chosen by size are moved inside; those given by hand are not."""
    rule = UpdateRule(ratio_bound=3.0)
    sizes = {"near": 98, "across": 1, "far": 1}
    shares = target_aware(rule=rule, initial="proportional", sizes=sizes).weights.shares()
    assert shares == pytest.approx({"near": 0.6, "across": 0.2, "far": 0.2})
    with pytest.raises(WeightsError, match="ratio_bound"):
        target_aware(rule=rule, initial={"near": 0.98, "across": 0.01, "far": 0.01})


def test_a_share_and_weights_given_by_hand_must_agree():
    given = {"near": 0.05, "across": 0.03, "far": 0.02, "goal": 0.9}
    with pytest.raises(WeightsError, match="target_share"):
        target_aware(initial=given, target_share=0.3)
    assert target_aware(initial=given, target_share=0.9).weights["goal"] == pytest.approx(0.9)


def test_a_target_whose_share_is_held_is_measured_once():
    """Under mirror descent its own alignment drops out of the weights, whatever it is."""
    shares = []
    for own_alignment in ("itself", "held-out"):
        rule = UpdateRule(own_alignment=own_alignment)
        weighting = target_aware(target_share=0.4, rule=rule)
        assert weighting.asked_twice == frozenset()
        plane().update(weighting)
        shares.append(weighting.weights.shares())
    assert shares[0] == shares[1]


# The anchor


def test_the_anchored_step_in_closed_form():
    """log ω' = (1 − a) log ω + a log ω⁰ − η g, normalised."""
    generator = torch.Generator().manual_seed(0)
    initial = {"near": 0.2, "across": 0.3, "far": 0.5}
    rule = UpdateRule(anchor=0.25, step_size=0.7, alignment=Cosine(scale=2.0))
    weighting = target_aware(initial=initial, rule=rule)
    start = [math.log(initial[name]) for name in SOURCES]
    logs = start
    for _ in range(6):
        tasks = Plane.random([*SOURCES, "goal"], generator=generator)
        tasks.update(weighting)
        cosines = [tasks.cosine("goal", name) for name in SOURCES]
        logs = [
            0.75 * log + 0.25 * first + 0.7 * 2.0 * cosine
            for log, first, cosine in zip(logs, start, cosines, strict=True)
        ]
        total = math.log(math.fsum(map(math.exp, logs)))
        logs = [log - total for log in logs]
        assert weighting.weights.logs.tolist() == pytest.approx(logs, abs=1e-12)


@pytest.mark.parametrize("anchor", [0.2, 0.5])
def test_an_anchored_ratio_has_a_limit(anchor):
    """Under a constant gradient, log(ω_t/ω_u) rises to c·δ/a over where it began, and not past."""
    tasks = plane()
    rule = UpdateRule(anchor=anchor, alignment=Cosine(scale=2.0))
    weighting = target_aware(rule=rule, initial={"near": 0.2, "across": 0.3, "far": 0.5})
    apart = tasks.cosine("goal", "near") - tasks.cosine("goal", "far")
    limit = math.log(0.2 / 0.5) + 2.0 * apart / anchor
    ratios = []
    for _ in range(120):
        tasks.update(weighting)
        near, _, far = weighting.weights.logs.tolist()
        ratios.append(near - far)
    assert all(ratio <= limit + 1e-9 for ratio in ratios)
    assert ratios[:20] == sorted(ratios[:20])
    assert ratios[-1] == pytest.approx(limit, abs=1e-9)


def test_without_an_anchor_the_ratio_has_none():
    tasks, weighting = plane(), target_aware()
    apart = tasks.cosine("goal", "near") - tasks.cosine("goal", "far")
    for _ in range(120):
        tasks.update(weighting)
    near, _, far = weighting.weights.logs.tolist()
    assert near - far == pytest.approx(120 * apart)


# Several targets


def test_several_targets_pull_as_their_mixture():
    generator = torch.Generator().manual_seed(0)
    tasks = Plane.random([*SOURCES, "t", "u"], generator=generator)
    tasks.gradients["mixed"] = 0.3 * tasks.gradients["t"] + 0.7 * tasks.gradients["u"]
    rule = UpdateRule.paper()
    several = TargetAware(
        sources=SOURCES, target={"t": 0.3, "u": 0.7}, target_share=None, rule=rule
    )
    single = TargetAware(sources=SOURCES, target="mixed", target_share=None, rule=rule)
    for _ in range(3):
        tasks.update(several)
        tasks.update(single)
    torch.testing.assert_close(several.weights.logs, single.weights.logs)
    assert several.history[-1].target_norm == pytest.approx(single.history[-1].target_norm)


@pytest.mark.parametrize("own_alignment", ["itself", "held-out"])
def test_several_targets_share_what_is_held_for_them(own_alignment):
    weighting = TargetAware(
        sources=SOURCES,
        target={"t": 0.3, "u": 0.7},
        target_share=0.5,
        rule=UpdateRule(own_alignment=own_alignment, anchor=0.1),
    )
    assert weighting.weights.names == (*SOURCES, "t", "u")
    for shares in after_each_of_many_updates(weighting):
        assert shares["t"] + shares["u"] == pytest.approx(0.5, abs=1e-12)
        assert min(shares["t"], shares["u"]) > 0


def test_each_of_several_targets_is_measured_against_their_mixture():
    tasks = Plane(near=[1.0, 1.0], across=[0.0, 1.0], far=[1.0, 0.0], t=[1.0, 0.0], u=[0.0, 1.0])
    weighting = TargetAware(
        sources=SOURCES,
        target={"t": 0.6, "u": 0.4},
        target_share="learned",
        rule=UpdateRule.paper(),
    )
    update = tasks.update(weighting)
    length = math.hypot(0.6, 0.4)
    assert update.alignments["t"] == pytest.approx(0.6 / length)
    assert update.alignments["u"] == pytest.approx(0.4 / length)
    assert tasks.asked.count("t") == 1


# Numbers that are not finite


BAD = {
    "nan in a source": ("across", math.nan),
    "inf in a source": ("across", math.inf),
    "nan in the target": ("goal", math.nan),
    "inf in the target": ("goal", math.inf),
}
RULES = {
    "paper": UpdateRule.paper(),
    "robust": UpdateRule.robust(),
    "identity": UpdateRule(alignment=CurvatureWeighted(Identity())),
}


def assert_skipped(weighting, before):
    """The weights to the bit as before, the update counted, and written as plain JSON."""
    update = weighting.history[-1]
    assert torch.equal(weighting.weights.logs, before)
    assert weighting.skipped == 1
    assert update.skipped
    assert update.weights == weighting.weights.shares()
    written = json.loads(json.dumps(update.to_json(), allow_nan=False))
    assert WeightUpdate.from_json(written) == update


@pytest.mark.parametrize("share", [None, "learned", 0.4])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("bad", BAD)
def test_a_gradient_that_is_not_finite_never_reaches_the_weights(bad, rule, share):
    name, value = BAD[bad]
    initial = {"near": 0.31, "across": 0.27, "far": 0.42}
    if share is not None:
        initial = {task: 0.6 * weight for task, weight in initial.items()} | {"goal": 0.4}
    tasks = plane()
    weighting = target_aware(rule=RULES[rule], target_share=share, initial=initial)
    before = weighting.weights.logs.clone()
    good = tasks.gradients[name]
    tasks.gradients[name] = torch.tensor([1.0, value], **DOUBLE)
    tasks.update(weighting)
    assert_skipped(weighting, before)

    tasks.gradients[name] = good
    update = tasks.update(weighting)
    assert update.skipped is None
    assert (update.step, weighting.skipped) == (2, 1)
    tasks.update(weighting)  # by evidence, one that counts moves nothing yet
    assert not torch.equal(weighting.weights.logs, before)


@pytest.mark.parametrize("share", [None, "learned", 0.4])
@pytest.mark.parametrize("bad", BAD)
def test_a_skipped_update_blames_the_task_whose_gradient_it_was(bad, share):
    name, value = BAD[bad]
    tasks, weighting = plane(), target_aware(target_share=share)
    tasks.gradients[name] = torch.tensor([1.0, value], **DOUBLE)
    reason = tasks.update(weighting).skipped
    assert name in reason or (name == "goal" and "the target" in reason)
    assert not any(source in reason for source in SOURCES if source != name)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_target_that_is_not_finite_where_no_source_reaches_is_noticed(rule, value):
    tasks = plane()
    beyond = torch.ones(2, **DOUBLE).requires_grad_()

    def loss_of(task):
        loss = tasks.loss_of(task)
        return loss + value * beyond.sum() if task == "goal" else loss

    weighting = target_aware(rule=RULES[rule])
    before = weighting.weights.logs.clone()
    weighting.update([tasks.point, beyond], loss_of=loss_of)
    assert_skipped(weighting, before)


@pytest.mark.parametrize("bad", BAD)
def test_a_loss_that_is_not_finite_never_reaches_the_weights(bad):
    """Its gradient can be finite all the same, as with a float16 cross-entropy that overflows."""
    name, value = BAD[bad]
    tasks, weighting = plane(), target_aware()
    before = weighting.weights.logs.clone()
    weighting.update(
        [tasks.point],
        loss_of=lambda task: tasks.loss_of(task) + (value if task == name else 0.0),
    )
    assert_skipped(weighting, before)


def test_a_loss_that_is_not_a_scalar_is_refused_and_nothing_moves():
    tasks, weighting = plane(), target_aware()
    before = weighting.weights.logs.clone()
    with pytest.raises(TrainingError, match="must be a scalar"):
        weighting.update([tasks.point], loss_of=lambda task: tasks.point * 2)
    assert torch.equal(weighting.weights.logs, before)
    assert weighting.history == []


# History and state


def test_the_history_says_what_was_measured_and_where_the_weights_went():
    tasks, weighting = plane(), target_aware()
    first = tasks.update(weighting)
    second = tasks.update(weighting, step=500)
    third = tasks.update(weighting)
    assert weighting.history == [first, second, third]
    assert [update.step for update in weighting.history] == [1, 500, 3]
    assert third.weights == weighting.weights.shares()
    assert list(third.log_weights.values()) == weighting.weights.logs.tolist()
    expected = {name: tasks.cosine("goal", name) for name in SOURCES}
    assert third.alignments == pytest.approx(expected)
    norms = {name: float(tasks.gradients[name].norm()) for name in SOURCES}
    assert third.norms == pytest.approx(norms)
    assert third.target_norm == pytest.approx(1.0)
    assert third.skipped is None


STATES = {
    "paper": {"rule": UpdateRule.paper()},
    "robust, held": {"rule": UpdateRule.robust(), "target_share": 0.37},
    "ratio bound": {"rule": UpdateRule(ratio_bound=5.0, anchor=0.05)},
}


@pytest.mark.parametrize("through_a_file", [False, True])
@pytest.mark.parametrize("name", STATES)
def test_a_weighting_goes_on_from_its_state_to_the_bit(name, through_a_file, tmp_path):
    generator = torch.Generator().manual_seed(0)
    planes = [Plane.random([*SOURCES, "goal"], generator=generator) for _ in range(8)]
    planes[2].gradients["near"][0] = math.nan  # a skipped update is part of the state too
    whole, broken = target_aware(**STATES[name]), target_aware(**STATES[name])
    for tasks in planes:
        tasks.update(whole)
    for tasks in planes[:4]:
        tasks.update(broken)

    state = broken.state_dict()
    if through_a_file:
        path = tmp_path / "state.safetensors"
        path.write_bytes(checkpoints.to_bytes(state))
        state = checkpoints.read(path)
    resumed = target_aware(**STATES[name])
    resumed.load_state_dict(state)
    assert torch.equal(resumed.weights.logs, broken.weights.logs)
    assert resumed.weights.logs.dtype == torch.float64
    assert resumed.history == broken.history
    assert resumed.skipped == 1
    for tasks in planes[4:]:
        tasks.update(resumed)
    assert torch.equal(resumed.weights.logs, whole.weights.logs)
    assert resumed.history == whole.history


def test_a_state_is_a_snapshot():
    tasks, weighting = plane(), target_aware()
    tasks.update(weighting)
    state = weighting.state_dict()
    logs, length = list(state["logs"]), len(state["history"])
    tasks.update(weighting)
    assert state["logs"] == logs
    assert len(state["history"]) == length


@pytest.mark.parametrize(
    "other",
    [
        TargetAware(sources=["near", "across"], target="goal", target_share=None),
        TargetAware(sources=["far", "across", "near"], target="goal", target_share=None),
        TargetAware(sources=SOURCES, target="goal", target_share="learned"),
        Fixed(["near", "other"]),
    ],
    ids=["fewer", "another order", "joint", "fixed"],
)
def test_the_state_of_other_tasks_is_refused(other):
    before = other.weights.logs.clone()
    with pytest.raises(WeightsError, match="saved weights are for near, across, far"):
        other.load_state_dict(target_aware().state_dict())
    assert torch.equal(other.weights.logs, before)


# In anyone's loop


def small_network():
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(4, 6), nn.Tanh()).double()
    heads = {name: nn.Linear(6, 1).double() for name in [*SOURCES, "goal"]}
    data = {name: torch.randn(16, 4, **DOUBLE) for name in heads}
    return encoder, lambda task: heads[task](encoder(data[task])).square().mean()


def test_a_representation_may_be_given_by_its_parameters():
    encoder, loss_of = small_network()
    expected = target_aware().update(encoder, loss_of=loss_of)
    generated = (parameter for parameter in encoder.parameters())
    assert target_aware().update(generated, loss_of=loss_of) == expected
    assert target_aware().update(encoder.parameters(), loss_of=loss_of) == expected
    assert target_aware().update([*encoder.parameters()] * 2, loss_of=loss_of) == expected


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("alignment", [Cosine(), CurvatureWeighted(ConjugateGradient(damping=1.0))])
def test_an_update_works_where_gradients_are_off(context, alignment):
    encoder, loss_of = small_network()
    rule = UpdateRule(alignment=alignment)
    expected = target_aware(rule=rule).update(encoder, loss_of=loss_of)
    with context():
        weighting = target_aware(rule=rule)
        found = weighting.update(encoder, loss_of=loss_of)
        assert not torch.is_grad_enabled()
    assert found.alignments == pytest.approx(expected.alignments)
    assert found.weights == pytest.approx(expected.weights)


def test_the_weights_carry_no_graph():
    encoder, loss_of = small_network()
    weighting = target_aware(target_share="learned")
    weighting.update(encoder, loss_of=loss_of)
    assert not weighting.weights.logs.requires_grad
    assert weighting.weights.logs.device.type == "cpu"


# Memory

ODD_SHAPE = (37, 41)


def live_gradients(parameter):
    """Tensors of the parameter's own odd shape that are not it."""
    return sum(
        type(thing) is torch.Tensor and thing.shape == parameter.shape and thing is not parameter
        for thing in gc.get_objects()
    )


@pytest.mark.parametrize("share", [None, "learned"])
@pytest.mark.parametrize("own_alignment", ["itself", "held-out"])
@pytest.mark.parametrize("count", [2, 40])
def test_two_gradients_are_the_most_ever_held(count, own_alignment, share, monkeypatch):
    encoder = nn.Linear(*reversed(ODD_SHAPE), bias=False).double()
    inputs = torch.randn(3, ODD_SHAPE[1], **DOUBLE)
    made, peaks, held = [], [], []
    names = [f"s{number}" for number in range(count)]

    def loss_of(task):
        if task == names[-1]:
            held.append(live_gradients(encoder.weight))
        return encoder(inputs).square().mean()

    def watched_gradient_of(loss, parameters, **options):
        gradient = gradient_of(loss, parameters, **options)
        made.append(weakref.ref(gradient[0]))
        peaks.append(sum(reference() is not None for reference in made))
        return gradient

    def watched_dot(left, right):
        if held:
            held.append(live_gradients(encoder.weight))
        return dot(left, right)

    monkeypatch.setattr(tawt.hypergradient.passes, "gradient_of", watched_gradient_of)
    monkeypatch.setattr(tawt.hypergradient.passes, "dot", watched_dot)
    rule = UpdateRule(own_alignment=own_alignment)
    weighting = TargetAware(sources=names, target="goal", target_share=share, rule=rule)
    weighting.update(encoder, loss_of=loss_of)
    assert len(made) >= count + 1
    assert max(peaks) <= 2
    # At the last source: the direction and nothing of the sources before; then its own as well.
    assert held[:2] == [1, 2]
    assert all(reference() is None for reference in made)
