"""The authors' semantics, pinned: their initial weights, their update, a fixed stream of gradients.

After each epoch (eq. task_gradient as they approximate it, then eq. mirror_descent, η = 1):

    g_t = −c · cos(∇L_0, ∇L_t)
    ω_t ← ω_t exp(−g_t) / Σ_t' ω_t' exp(−g_t')

and in joint training the target is one of the tasks, compared with itself: cos = 1.
"""

import math

import pytest
import torch
from torch import nn

from tawt.reproduce.paper import SCALES
from tawt.runs.building import rule
from tawt.weighting import TargetAware, UpdateRule
from tests.reproduce.made_up import TABLES, plan

# Gradients of four epochs; chosen so that cosines are fractions. Lengths must not matter.
JOINT = [
    {"ner": (1, 0, 0), "pos": (3, 4, 0), "chunking": (0, 5, 0)},
    {"ner": (0, 2, 0), "pos": (6, 8, 0), "chunking": (4, -3, 0)},
    {"ner": (0, 0, -5), "pos": (0, 3, -4), "chunking": (12, 0, 5)},
    {"ner": (3, 4, 0), "pos": (0.4, 0.3, 0), "chunking": (4, -3, 0)},
]
JOINT_COSINES = [
    {"pos": 0.6, "chunking": 0, "ner": 1},
    {"pos": 0.8, "chunking": -0.6, "ner": 1},
    {"pos": 0.8, "chunking": -5 / 13, "ner": 1},
    {"pos": 0.96, "chunking": 0, "ner": 1},
]
SIZES = {"pos": 9000, "chunking": 900, "ner": 100}
BY_SIZE = [
    # 0.9·e^0.6 = 1.6399069204, 0.09·e^0 = 0.09, 0.01·e^1 = 0.0271828183; sum 1.7570897387
    {"pos": 0.9333085751, "chunking": 0.0512210606, "ner": 0.0154703643},
    {"pos": 0.9673244637, "chunking": 0.0130913130, "ner": 0.0195842232},
    {"pos": 0.9719423106, "chunking": 0.0040232739, "ner": 0.0240344155},
    # In all: 0.9·e^3.16 : 0.09·e^(−0.6 − 5/13) : 0.01·e^4
    {"pos": 0.9734042936, "chunking": 0.0015428001, "ner": 0.0250529062},
]
NORMALIZED = [
    # e^0.6 = 1.8221188004, e^0 = 1, e^1 = 2.7182818285; sum 5.5404006289
    {"pos": 0.3288785275, "chunking": 0.1804923627, "ner": 0.4906291098},
    {"pos": 0.3381286646, "chunking": 0.0457607386, "ner": 0.6161105968},
    {"pos": 0.3060972966, "chunking": 0.0126706416, "ner": 0.6812320618},
    # In all: e^3.16 : e^(−0.6 − 5/13) : e^4
    {"pos": 0.3001005480, "chunking": 0.0047564529, "ner": 0.6951429991},
]

# Between the sources of pre-training and its target cosines are small, hence c = 10.
PRE_TRAINING = [
    {
        "ner": (2, 0, 0, 0),
        "pos": (1, 7, 5, 5),
        "chunking": (2, 4, 4, 8),
        "predicate": (-1, 7, 5, 5),
    },
    {"ner": (0, 0, 0, 3), "pos": (8, 4, 4, 2), "chunking": (0, 6, 8, 0), "predicate": (7, 5, 5, 1)},
    {
        "ner": (0, 1, 0, 0),
        "pos": (4, -2, 4, 8),
        "chunking": (7, 1, 5, 5),
        "predicate": (4, 4, 2, 8),
    },
    {
        "ner": (0, 0, 9, 0),
        "pos": (3, 4, 0, 0),
        "chunking": (4, 4, 2, 8),
        "predicate": (5, 5, -1, 7),
    },
]
PRE_TRAINING_COSINES = [
    {"pos": 0.1, "chunking": 0.2, "predicate": -0.1},
    {"pos": 0.2, "chunking": 0, "predicate": 0.1},
    {"pos": -0.2, "chunking": 0.1, "predicate": 0.4},
    {"pos": 0, "chunking": 0.2, "predicate": -0.1},
]
SOURCE_SIZES = {"pos": 9000, "chunking": 6000, "predicate": 3000}
TIMES_TEN = [
    # ½·e^1 = 1.3591409142, ⅓·e^2 = 2.4630186996, ⅙·e^−1 = 0.0613132402; sum 3.8834728541
    {"pos": 0.3499807943, "chunking": 0.6342309557, "predicate": 0.0157882500},
    {"pos": 0.7924880688, "chunking": 0.1943600453, "predicate": 0.0131518859},
    {"pos": 0.0792316660, "chunking": 0.3902981498, "predicate": 0.5304701842},
    # In all: ½·e^1 : ⅓·e^5 : ⅙·e^3
    {"pos": 0.0250866837, "chunking": 0.9131243454, "predicate": 0.0617889710},
]


def moved(weights, cosines, *, scale):
    """Their update, in plain numbers."""
    raised = {task: weight * math.exp(scale * cosines[task]) for task, weight in weights.items()}
    return {task: value / sum(raised.values()) for task, value in raised.items()}


def theirs(weights, stream, *, scale):
    found = []
    for cosines in stream:
        weights = moved(weights, cosines, scale=scale)
        found.append(weights)
    return found


class Shared(nn.Module):
    """A representation, the losses of which are linear in it: their gradients are as given."""

    def __init__(self, width):
        super().__init__()
        self.values = nn.Parameter(torch.linspace(-1, 1, width, dtype=torch.float64))

    def losses(self, gradients):
        slopes = {task: torch.tensor(each, dtype=torch.float64) for task, each in gradients.items()}
        return lambda task: self.values @ slopes[task] + 7.0


def ours(weighting, stream):
    found = []
    for gradients in stream:
        shared = Shared(len(gradients["ner"]))
        weighting.update(shared, loss_of=shared.losses(gradients))
        found.append(weighting.weights.shares())
    return found


def joint(initial):
    return TargetAware(
        sources=["pos", "chunking"],
        target="ner",
        initial=initial,
        sizes=SIZES,
        target_share="learned",
        rule=UpdateRule.paper(),
    )


def pre_training():
    return TargetAware(
        sources=["pos", "chunking", "predicate"],
        target="ner",
        target_share=None,
        initial="proportional",
        sizes=SOURCE_SIZES,
        rule=UpdateRule.paper(scale=10),
    )


def same(found, expected, *, within):
    assert len(found) == len(expected) == 4
    for mine, wanted in zip(found, expected, strict=True):
        assert mine == pytest.approx(wanted, abs=within, rel=0)
        assert sum(mine.values()) == pytest.approx(1, abs=1e-9)


# What is written out above is what the equations say


@pytest.mark.parametrize(
    ("stream", "cosines"), [(JOINT, JOINT_COSINES), (PRE_TRAINING, PRE_TRAINING_COSINES)]
)
def test_the_cosines_are_those_of_the_gradients(stream, cosines):
    for gradients, expected in zip(stream, cosines, strict=True):
        target = gradients["ner"]
        for task, cosine in expected.items():
            inner = sum(a * b for a, b in zip(target, gradients[task], strict=True))
            assert inner / math.hypot(*target) / math.hypot(*gradients[task]) == pytest.approx(
                cosine, abs=1e-12
            )


def test_the_numbers_are_those_of_the_equations():
    by_size = {"pos": 0.9, "chunking": 0.09, "ner": 0.01}
    same(theirs(by_size, JOINT_COSINES, scale=1), BY_SIZE, within=1e-9)
    thirds = dict.fromkeys(by_size, 1 / 3)
    same(theirs(thirds, JOINT_COSINES, scale=1), NORMALIZED, within=1e-9)
    by_size = {"pos": 1 / 2, "chunking": 1 / 3, "predicate": 1 / 6}
    same(theirs(by_size, PRE_TRAINING_COSINES, scale=10), TIMES_TEN, within=1e-9)


# And it is what we do


def test_weighted_joint_training_starts_by_size_and_gives_their_weights():
    weighting = joint("proportional")
    assert weighting.weights.shares() == pytest.approx(
        {"pos": 0.9, "chunking": 0.09, "ner": 0.01}, abs=1e-12
    )
    same(ours(weighting, JOINT), BY_SIZE, within=1e-6)


def test_weighted_normalized_joint_training_starts_equal_and_gives_their_weights():
    weighting = joint("uniform")
    assert weighting.weights.shares() == pytest.approx(
        {"pos": 1 / 3, "chunking": 1 / 3, "ner": 1 / 3}, abs=1e-12
    )
    same(ours(weighting, JOINT), NORMALIZED, within=1e-6)


def test_weighted_pre_training_leaves_the_target_out_and_gives_their_weights():
    weighting = pre_training()
    assert weighting.weights.shares() == pytest.approx(
        {"pos": 1 / 2, "chunking": 1 / 3, "predicate": 1 / 6}, abs=1e-12
    )
    same(ours(weighting, PRE_TRAINING), TIMES_TEN, within=1e-6)


def test_the_target_is_compared_with_itself():
    weighting = joint("uniform")
    ours(weighting, JOINT)
    assert [update.alignments["ner"] for update in weighting.history] == pytest.approx([1] * 4)


def test_alignments_are_cosines_whatever_the_scale():
    weighting = pre_training()
    ours(weighting, PRE_TRAINING)
    for update, cosines in zip(weighting.history, PRE_TRAINING_COSINES, strict=True):
        assert update.alignments == pytest.approx(cosines, abs=1e-9)


def test_lengths_of_gradients_do_not_matter():
    longer = [
        {task: tuple(10**place * number for number in each) for place, (task, each) in pairs}
        for gradients in JOINT
        for pairs in [enumerate(gradients.items(), start=-3)]
    ]
    same(ours(joint("uniform"), longer), NORMALIZED, within=1e-6)


@pytest.mark.parametrize("experiment", TABLES)
def test_the_runs_of_a_table_move_their_weights_by_that_rule(experiment):
    scales = set()
    for run in plan(experiment).runs():
        weighting = run.config(0).weighting
        if weighting.kind == "target-aware":
            assert rule(weighting) == UpdateRule.paper(scale=weighting.scale)
            scales.add(weighting.scale)
    learns_by_scale = experiment not in (
        "table-fewer-sources",
        "table-source-ratio",
        "table-target-size",
    )
    assert scales == (set(SCALES) if learns_by_scale else {1.0})
