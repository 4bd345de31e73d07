"""A task is a unit: weights on tasks, on groups and on examples obey the same laws."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import tawt
from tawt import Cosine, CurvatureWeighted, Fixed, Identity, TargetAware, UpdateRule, Weighting
from tawt.errors import WeightsError
from tawt.hypergradient import hypergradient
from tawt.units import EachExample, Units, Whole
from tawt.weighting import make_weighting
from tawt.weights import SourceWeights

SIZES = {"near": 6, "far": 4}
PRODUCT = CurvatureWeighted(Identity(scale=3.0))
SHARES = [None, "learned", 0.3, (0.1, 0.5)]


class Setting:
    """Two sources and a target on a small network, in float64."""

    def __init__(self):
        torch.manual_seed(0)
        self.encoder = nn.Sequential(nn.Linear(3, 4), nn.Tanh()).double()
        self.heads = nn.ModuleDict({name: nn.Linear(4, 1) for name in (*SIZES, "goal")}).double()
        sizes = {**SIZES, "goal": 8}
        self.rows = {n: torch.randn(size, 3, dtype=torch.float64) for n, size in sizes.items()}

    def losses(self, task, indices):
        return self.heads[task](self.encoder(self.rows[task][indices])).squeeze(1).square()

    def loss_of(self, task):
        return self.losses(task, slice(None)).mean()

    def losses_of(self, task):
        indices = np.arange(SIZES[task])
        yield indices, lambda: self.losses(task, indices)

    def update(self, weighting):
        return weighting.update(
            self.encoder,
            loss_of=self.loss_of,
            losses_of=self.losses_of,
            touching=[self.encoder, self.heads],
        )


def moved(units, *, share=None, updates=3, **rule):
    setting = Setting()
    weighting = TargetAware(
        sources=list(SIZES),
        target="goal",
        target_share=share,
        rule=UpdateRule(**{"alignment": PRODUCT, **rule}),
        units=units,
    )
    for _ in range(updates):
        assert setting.update(weighting).skipped is None
    return weighting


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("bound", [None, 1.5])
def test_a_task_moves_as_a_task_that_is_one_group(share, bound):
    tasks = moved(None, share=share, ratio_bound=bound)
    groups = moved(
        Units.of_groups({name: ["all"] * size for name, size in SIZES.items()}),
        share=share,
        ratio_bound=bound,
    )
    assert groups.shares() == pytest.approx(tasks.shares(), rel=1e-5)
    assert groups.history[-1].alignments == pytest.approx(tasks.history[-1].alignments, rel=1e-6)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("alignment", [Cosine(), PRODUCT])
def test_an_example_moves_as_a_group_of_one(share, alignment):
    examples = moved(Units.of_examples(SIZES), share=share, alignment=alignment)
    names = {name: [f"{index:03}" for index in range(size)] for name, size in SIZES.items()}
    groups = moved(Units.of_groups(names), share=share, alignment=alignment)
    assert torch.equal(groups.weights.logs, examples.weights.logs)
    assert torch.equal(groups.mean_alignments, examples.mean_alignments)


@pytest.mark.parametrize("share", SHARES)
def test_tasks_are_the_units_by_default(share):
    default, given = moved(None, share=share), moved(Units.of_tasks(list(SIZES)), share=share)
    assert torch.equal(default.weights.logs, given.weights.logs)
    assert default.history == given.history


def test_some_sources_can_be_tasks_and_others_their_examples():
    """Each is measured as it would be if all were like it."""
    setting = Setting()
    mixed = Units({"near": Whole(), "far": EachExample(SIZES["far"])})
    found = {}
    for name, units in {
        "mixed": mixed,
        "tasks": Units.of_tasks(list(SIZES)),
        "examples": Units.of_examples(SIZES),
    }.items():
        found[name] = hypergradient(
            list(setting.encoder.parameters()),
            weights=SourceWeights.uniform(list(SIZES)).spread(units),
            targets={"goal": 1.0},
            loss_of=setting.loss_of,
            losses_of=setting.losses_of,
            alignment=PRODUCT,
            modules=[setting.encoder, setting.heads],
        )
    assert found["mixed"].means["near"] == found["tasks"].means["near"]
    assert found["mixed"].norms == {"near": found["tasks"].norms["near"]}
    assert torch.equal(found["mixed"].alignments[1:], found["examples"].alignments[6:])
    assert found["mixed"].means["far"] == pytest.approx(found["tasks"].means["far"], rel=1e-6)


def test_every_unit_has_the_mean_of_its_alignments():
    for units in (None, Units.of_examples(SIZES)):
        weighting = moved(units, share=0.3, updates=4)
        outcome = weighting.outcome()
        assert outcome.weights is weighting.weights
        assert len(outcome.mean_alignments) == weighting.weights.units.count
        goal = weighting.weights.units.spans["goal"]
        expected = np.mean([update.alignments["goal"] for update in weighting.history])
        assert float(outcome.mean_alignments[goal]) == pytest.approx(expected, rel=1e-6)
    assert Fixed(["a", "b"]).outcome().mean_alignments.isnan().all()


# What the entrance says


def test_joint_or_pre_training_must_be_said():
    with pytest.raises(TypeError, match="target_share"):
        TargetAware(sources=["a"], target="goal")


def test_a_weighting_reads_like_a_mapping():
    weighting = moved(None, share=0.3)
    assert list(weighting) == ["near", "far", "goal"]
    assert {task: weighting[task] for task in weighting} == weighting.shares()
    assert "far" in weighting
    assert "pos" not in weighting
    with pytest.raises(WeightsError, match=r"no weight for 'gaol'; did you mean 'goal'\?"):
        weighting["gaol"]


def test_a_person_can_read_what_it_is():
    weighting = TargetAware(
        sources=["pos", "chunk"],
        target="ner",
        target_share=0.3,
        initial={"pos": 0.412, "chunk": 0.288, "ner": 0.3},
    )
    shown = "pos=0.412, chunk=0.288, ner=0.300"
    assert repr(weighting) == f"TargetAware(target='ner', updates=0, {shown})"
    assert repr(weighting.weights) == f"SourceWeights({shown})"
    assert repr(moved(None, updates=2)).startswith("TargetAware(target='goal', updates=2, near=0.")
    assert repr(Fixed(["a"])) == "Fixed(a=1.000)"
    many = Fixed([f"task {number}" for number in range(40)])
    assert repr(many).endswith("task 7=0.025, and 32 more)")
    several = TargetAware(sources=["a"], target={"t": 0.75, "u": 0.25}, target_share=None)
    assert repr(several) == "TargetAware(target={'t': 0.75, 'u': 0.25}, updates=0, a=1.000)"


# One interface


@pytest.mark.parametrize("kind", [Fixed, TargetAware])
def test_every_weighting_is_asked_in_the_same_way(kind):
    wanted = inspect.signature(Weighting.update).parameters
    assert inspect.signature(kind.update).parameters == wanted


def test_only_weighting_knows_its_kinds():
    """Who trains, runs or reports asks the weighting, whichever it is."""
    source = Path(tawt.__file__).parent
    for path in source.rglob("*.py"):
        if path.parent == source / "weighting" or path == source / "__init__.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.alias)}
        assert "TargetAware" not in names, path


def test_a_weighting_is_made_by_the_name_of_its_kind():
    shared = {
        "sources": ["a", "b"],
        "target": "goal",
        "target_share": 0.5,
        "initial": "proportional",
        "sizes": {"a": 1, "b": 3, "goal": 9, "other": 7},
    }
    fixed, learned = (make_weighting(kind, **shared) for kind in ("fixed", "target-aware"))
    assert fixed.shares() == pytest.approx({"a": 0.125, "b": 0.375, "goal": 0.5})
    assert learned.shares() == pytest.approx(fixed.shares())
    assert (fixed.target, learned.target) == ({}, {"goal": 1.0})
    with pytest.raises(WeightsError, match="`kind` must be"):
        make_weighting("learned", **shared)
    with pytest.raises(WeightsError, match="put on tasks"):
        make_weighting("fixed", **shared, units=Units.of_examples({"a": 1, "b": 3}))
