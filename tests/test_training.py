"""The one loop: its steps against slow loops by hand, and what it survives."""

import copy
import itertools
import math
import random

import numpy as np
import pytest
import torch
from torch import nn

from tawt.arrays import MLP, Classification, SmallCNN, classification, regression
from tawt.curvature import ConjugateGradient, Identity
from tawt.errors import ConfigError, DataError, Interrupted, TrainingError, WeightsError
from tawt.hypergradient import Cosine, CurvatureWeighted
from tawt.simplex import mirror_step
from tawt.tasks import Examples, MultiTaskModel, Task
from tawt.training import JointTraining, PreTraining, Settings, SingleTask, loop, train
from tawt.training import stretch as stretches
from tawt.training.fitted import folds_of
from tawt.training.schedule import Schedule
from tawt.training.selection import Selection
from tawt.training.settings import learning_rate
from tawt.weighting import Fixed, TargetAware, UpdateRule
from tawt.weights import WeightUpdate

QUICK = Settings(batch_size=8, learning_rate=0.01)


def rows(seed, size, *, noise=False):
    """Four features; the label says which of the first three is largest, or nothing."""
    draw = np.random.default_rng(seed)
    inputs = draw.normal(size=(size, 4))
    return inputs, draw.integers(0, 3, size) if noise else inputs[:, :3].argmax(1)


def tiny_tasks(**sizes):
    sizes = {"near": 20, "far": 13, "goal": 12} | sizes
    return [
        classification("near", train=rows(1, sizes["near"])),
        classification("far", train=rows(2, sizes["far"], noise=True)),
        classification("goal", train=rows(3, sizes["goal"]), dev=rows(4, 15), test=rows(5, 15)),
    ]


def tiny_model(tasks, *, seed=0, dropout=0.0):
    torch.manual_seed(seed)
    return MultiTaskModel.for_tasks(MLP((4,), widths=(8,), dropout=dropout), tasks, width=8)


def target_aware(*, joint=True, initial="uniform", rule=None, tasks=None, sources=("near", "far")):
    sizes = {task.name: len(task.train) for task in tasks or tiny_tasks()}
    weighed = [*sources, "goal"] if joint else [*sources]
    return TargetAware(
        sources=list(sources),
        target="goal",
        initial=initial,
        sizes={name: sizes[name] for name in weighed},
        target_share="learned" if joint else None,
        rule=rule,
    )


def joint_fixed(shares=None):
    return Fixed(["near", "far", "goal"], initial=shares or "uniform")


def trained(weighting=None, *, paradigm=None, tasks=None, model=None, settings=QUICK, **options):
    """A fresh tiny model trained, and what came of it."""
    tasks = tasks or tiny_tasks()
    model = model or tiny_model(tasks)
    result = train(
        model,
        tasks=tasks,
        target=options.pop("target", "goal"),
        paradigm=paradigm or JointTraining(epochs=2),
        weighting=weighting,
        settings=settings,
        **options,
    )
    return model, result


def state(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def assert_same_state(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        assert torch.equal(value, theirs[name]), name


def assert_same_outcome(ours, theirs):
    """Bit for bit: parameters, weights, history, epochs, scores and predictions."""
    assert_same_state(ours[0].state_dict(), theirs[0].state_dict())
    assert ours[1] == theirs[1]


def all_finite(model):
    return all(bool(torch.isfinite(value).all()) for value in model.state_dict().values())


@pytest.fixture
def plain_sgd(monkeypatch):
    """Plain gradient descent in AdamW's place: steps that can be worked by hand."""

    def optimiser_for(parameters, *, weight_decay):
        return torch.optim.SGD(list(parameters), lr=0.0, weight_decay=weight_decay, fused=True)

    monkeypatch.setattr(stretches, "optimiser_for", optimiser_for)


# Every combination runs

ALIGNMENTS = {
    "cosine": Cosine(),
    "identity": CurvatureWeighted(Identity()),
    "conjugate gradient": CurvatureWeighted(ConjugateGradient(damping=0.1, iterations=3)),
}
MAPPING = {"near": 0.5, "far": 0.3, "goal": 0.2}


def start(initial, *, joint):
    if initial != "mapping":
        return initial
    return MAPPING if joint else {"near": 0.6, "far": 0.4}


@pytest.mark.parametrize("sampling", ["size", "weight"])
@pytest.mark.parametrize("initial", ["uniform", "proportional", "mapping"])
@pytest.mark.parametrize("kind", ["fixed", *ALIGNMENTS])
@pytest.mark.parametrize("paradigm", [PreTraining, JointTraining])
def test_every_combination_runs(paradigm, kind, initial, sampling):
    joint, tasks = paradigm is JointTraining, tiny_tasks()
    given = start(initial, joint=joint)
    if kind == "fixed":
        weighed = ["near", "far", "goal"] if joint else ["near", "far"]
        sizes = {task.name: len(task.train) for task in tasks if task.name in weighed}
        weighting = Fixed(weighed, initial=given, sizes=sizes)
    else:
        rule = UpdateRule(alignment=ALIGNMENTS[kind])
        weighting = target_aware(joint=joint, initial=given, rule=rule)
    before = weighting.weights.shares()
    settings = Settings(batch_size=8, learning_rate=0.01, sampling=sampling, update_every=3)
    model, result = trained(weighting, paradigm=paradigm(epochs=1), tasks=tasks, settings=settings)
    assert all_finite(model)
    assert all(
        math.isfinite(score)
        for splits in result.scores["goal"].values()
        for score in splits.values()
    )
    assert set(result.scores["goal"]) == {"dev", "test"}
    assert sum(result.weights.values()) == pytest.approx(1)
    assert (result.weights == before) is (kind == "fixed")
    assert bool(result.history) is (kind != "fixed")
    assert result.skipped_steps == {}


def test_a_single_task_needs_no_weighting():
    model, result = trained(paradigm=SingleTask(epochs=3))
    assert result.weights == {"goal": 1.0}
    assert [entry["phase"] for entry in result.epochs] == ["target"] * 3
    assert result.steps == 3 * 2
    assert all_finite(model)


def test_training_learns():
    tasks = tiny_tasks(near=400, goal=200)
    settings = Settings(batch_size=16, learning_rate=0.02)
    _, result = trained(
        target_aware(tasks=tasks), paradigm=JointTraining(epochs=8), tasks=tasks, settings=settings
    )
    losses = [entry["loss"] for entry in result.epochs]
    assert losses[-1] < 0.7 * losses[0]
    assert result.scores["goal"]["test"]["accuracy"] >= 0.8
    assert result.weights["near"] > result.weights["far"]


def test_regression_and_classification_train_together():
    draw = np.random.default_rng(0)
    x = draw.normal(size=(30, 4))
    tasks = [
        classification("near", train=rows(1, 20)),
        regression("goal", train=(x, x[:, 0]), dev=(x, x[:, 0]), test=(x, x[:, 0])),
    ]
    _, result = trained(target_aware(sources=["near"], tasks=tasks), tasks=tasks)
    assert result.metric == {"goal": "r2"}
    assert math.isfinite(result.scores["goal"]["test"]["r2"])


def test_several_targets():
    tasks = [*tiny_tasks(), classification("aim", train=rows(6, 14), dev=rows(7, 9))]
    target = {"goal": 0.75, "aim": 0.25}
    weighting = TargetAware(sources=["near", "far"], target=target, target_share="learned")
    _, result = trained(weighting, tasks=tasks, target=target)
    assert set(result.weights) == {"near", "far", "goal", "aim"}
    assert set(result.scores) == {"goal", "aim"}
    entry = result.epochs[result.best_epoch]["dev"]
    scores = [
        0.75 * e["dev"]["goal"]["accuracy"] + 0.25 * e["dev"]["aim"]["accuracy"]
        for e in result.epochs
    ]
    assert 0.75 * entry["goal"]["accuracy"] + 0.25 * entry["aim"]["accuracy"] == max(scores)
    model, alone = trained(
        TargetAware(sources=["near", "far"], target=target, target_share=None),
        paradigm=PreTraining(epochs=1),
        tasks=tasks,
        target=target,
    )
    assert set(alone.weights) == {"near", "far"}
    assert all_finite(model)


# The same steps as the authors'


class Scripted(Fixed):
    """Mirror steps along gradients given beforehand."""

    gradients = (torch.tensor([0.7, -1.1, 0.2]), torch.tensor([-0.4, 0.3, 0.9]))

    def update(self, representation, *, loss_of, losses_of=None, step=None, touching=()):
        gradient = self.gradients[len(self.history)].double()
        self.weights = self.weights.moved(mirror_step(self.weights.logs, gradient, step_size=1.0))
        self.history.append(WeightUpdate(step, self.weights.shares(), {}))


EVEN = {"near": 24, "far": 16, "goal": 8}  # multiples of the batch size


def normalised(multipliers):
    total = sum(multipliers.values())
    return {name: value / total for name, value in multipliers.items()}


def authors_loop(model, tasks, optimiser, *, shares, epochs, gradients=(), rate_of=None):
    """The authors' program: batch losses times per-example multipliers that sum to one."""
    tasks = {task.name: task for task in tasks}
    multipliers = normalised({name: shares[name] / EVEN[name] for name in EVEN})
    order = Schedule(EVEN, batch_size=8, sampling="size", seed=0, phase="joint")
    for epoch in range(epochs):
        if rate_of is not None:
            optimiser.param_groups[0]["lr"] = rate_of(multipliers)
        for step in order.steps(epoch, 0, order.length, shares={}):
            batch = tasks[step.task].train.batch(step.indices)
            loss = nn.functional.cross_entropy(model(batch.inputs, step.task), batch.labels)
            optimiser.zero_grad()
            (loss * multipliers[step.task]).backward()
            optimiser.step()
        if gradients:
            moved = {
                name: value * math.exp(-float(gradients[epoch][position]))
                for position, (name, value) in enumerate(multipliers.items())
            }
            multipliers = normalised(moved)
    return multipliers


def test_a_mirror_step_on_multipliers_is_one_on_shares():
    draw = np.random.default_rng(0)
    for _ in range(20):
        shares = torch.tensor(draw.dirichlet(np.ones(4)))
        sizes = torch.tensor(draw.integers(1, 10_000, 4)).double()
        gradient = torch.tensor(draw.normal(size=4))
        multipliers = shares / sizes / (shares / sizes).sum()
        theirs = multipliers * torch.exp(-0.7 * gradient)
        theirs = theirs / theirs.sum()
        read_as_shares = theirs * sizes / (theirs * sizes).sum()
        ours = mirror_step(shares.log(), gradient, step_size=0.7).exp()
        torch.testing.assert_close(ours, read_as_shares, rtol=1e-12, atol=0)


@pytest.mark.usefixtures("plain_sgd")
def test_gradient_descent_takes_the_authors_steps_up_to_one_factor_a_round():
    """Ours is scaled by ω_t B b / n_t, theirs by (ω_t / n_t) / Z: the factor is B b Z."""
    shares = {"near": 0.5, "far": 0.2, "goal": 0.3}
    tasks = tiny_tasks(**EVEN)
    ours, theirs = tiny_model(tasks), tiny_model(tasks)
    rate, steps = 0.05, sum(EVEN.values()) // 8
    settings = Settings(
        batch_size=8, learning_rate=rate, decay="none", clip_norm=None, select="last"
    )
    weighting = Scripted(list(EVEN), initial=shares)
    _, result = trained(weighting, tasks=tasks, model=ours, settings=settings)

    def factor(multipliers):
        # Z from multipliers alone: shares are m n / Σ m n, so ω / n = m / Σ m n, and Σ m = 1.
        return steps * 8 / sum(multipliers[name] * EVEN[name] for name in EVEN)

    multipliers = authors_loop(
        theirs,
        tasks,
        torch.optim.SGD(theirs.parameters(), lr=0.0),
        shares=shares,
        epochs=2,
        gradients=Scripted.gradients,
        rate_of=lambda multipliers: rate * factor(multipliers),
    )
    start_from = state(tiny_model(tasks))
    for name, value in ours.state_dict().items():
        torch.testing.assert_close(value, theirs.state_dict()[name], rtol=1e-4, atol=1e-6)
        assert not torch.equal(value, start_from[name])
    total = sum(multipliers[name] * EVEN[name] for name in EVEN)
    for name, size in EVEN.items():
        assert result.weights[name] == pytest.approx(multipliers[name] * size / total)
    assert normalised(result.multipliers) == pytest.approx(multipliers)


def test_adamw_takes_the_authors_steps_while_weights_stand(monkeypatch):
    def optimiser_for(parameters, *, weight_decay):
        return torch.optim.AdamW(
            list(parameters), lr=0.0, eps=1e-18, weight_decay=weight_decay, fused=True
        )

    monkeypatch.setattr(stretches, "optimiser_for", optimiser_for)
    shares = {"near": 0.5, "far": 0.2, "goal": 0.3}
    tasks = tiny_tasks(**EVEN)
    ours, theirs = tiny_model(tasks), tiny_model(tasks)
    settings = Settings(
        batch_size=8, learning_rate=0.01, decay="none", clip_norm=None, select="last"
    )
    trained(Fixed(list(EVEN), initial=shares), tasks=tasks, model=ours, settings=settings)
    optimiser = torch.optim.AdamW(theirs.parameters(), lr=0.01, eps=1e-18, weight_decay=0.0)
    authors_loop(theirs, tasks, optimiser, shares=shares, epochs=2)
    for name, value in ours.state_dict().items():
        torch.testing.assert_close(value, theirs.state_dict()[name], rtol=1e-3, atol=1e-4)


# Steps by hand


def by_hand(tasks, *, shares, settings, total, seed=0):
    """Plain gradient descent as the settings' words say, in float64, one phase of joint."""
    model = tiny_model(tasks).double()
    named = {task.name: task for task in tasks}
    sizes = {name: len(named[name].train) for name in shares}
    order = Schedule(
        sizes, batch_size=settings.batch_size, sampling="size", seed=seed, phase="joint"
    )
    waiting, window = [], 0.0
    for number in range(total):
        epoch, position = divmod(number, order.length)
        (step,) = order.steps(epoch, position, position + 1, shares=shares)
        batch = named[step.task].train.batch(step.indices)
        loss = nn.functional.cross_entropy(model(batch.inputs.double(), step.task), batch.labels)
        size = len(step.indices)
        scale = shares[step.task] * order.length * size / sizes[step.task] / settings.accumulation
        waiting.append(torch.autograd.grad(loss * scale, [*model.parameters()], allow_unused=True))
        window += scale
        if position + 1 < order.length and (number + 1) % settings.accumulation:
            continue
        gradient = [
            sum(g for g in one if g is not None) for one in zip(*waiting, strict=True)
        ]  # the sum of nothing is 0
        norm = math.sqrt(sum(float((g**2).sum()) for g in gradient if torch.is_tensor(g)))
        bound = math.inf if settings.clip_norm is None else settings.clip_norm * window
        shorter = min(1.0, bound / norm)
        rate = learning_rate(number, total, settings, peak=settings.learning_rate)
        with torch.no_grad():
            for parameter, g in zip(model.parameters(), gradient, strict=True):
                parameter.sub_(rate * shorter * g)
        waiting, window = [], 0.0
    return model


@pytest.mark.usefixtures("plain_sgd")
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"accumulation": 2},
        {"accumulation": 3, "clip_norm": 0.05},
        {"clip_norm": 0.02},
        {"warmup": 0.4},
        {"decay": "linear"},
    ],
    ids=str,
)
def test_steps_are_those_worked_by_hand(changes):
    settings = Settings(
        **{"batch_size": 8, "learning_rate": 0.1, "decay": "none", "clip_norm": None} | changes,
        select="last",
    )
    tasks = tiny_tasks()
    model, result = trained(joint_fixed(MAPPING), tasks=tasks, settings=settings)
    expected = by_hand(tasks, shares=MAPPING, settings=settings, total=result.steps)
    assert result.steps == 2 * (3 + 2 + 2)
    for name, value in model.state_dict().items():
        torch.testing.assert_close(
            value.double(), expected.state_dict()[name], rtol=1e-5, atol=1e-6
        )


@pytest.mark.usefixtures("plain_sgd")
def test_accumulated_batches_are_one_large_batch():
    tasks = [classification("goal", train=rows(3, 16), test=rows(5, 15))]

    def after(**changes):
        settings = Settings(learning_rate=0.1, clip_norm=None, decay="none", **changes)
        return trained(paradigm=SingleTask(epochs=3), tasks=tasks, settings=settings)[0]

    parts, whole = after(batch_size=4, accumulation=4), after(batch_size=16)
    for name, value in parts.state_dict().items():
        torch.testing.assert_close(value, whole.state_dict()[name], rtol=1e-5, atol=1e-6)
    assert not torch.equal(parts.heads["goal"].bias, tiny_model(tasks).heads["goal"].bias)


@pytest.mark.usefixtures("plain_sgd")
@pytest.mark.parametrize("clip", [1e-3, 1e3])
def test_clipping_shortens_long_gradients_only(clip):
    tasks = [classification("goal", train=rows(3, 16), test=rows(5, 15))]
    before = tiny_model(tasks)
    batch = tasks[0].train.batch(np.arange(16))
    nn.functional.cross_entropy(before(batch.inputs, "goal"), batch.labels).backward()
    norm = float(nn.utils.get_total_norm([p.grad for p in before.parameters()]))
    settings = Settings(batch_size=16, learning_rate=0.5, clip_norm=clip)
    model, _ = trained(paradigm=SingleTask(epochs=1), tasks=tasks, settings=settings)
    moved = [a.detach() - b.detach() for a, b in zip(model.parameters(), before.parameters(),
                                                     strict=True)]  # fmt: skip
    length = float(nn.utils.get_total_norm(moved))
    assert length == pytest.approx(0.5 * min(norm, clip), rel=1e-3)
    assert 1e-3 < norm < 1e3


@pytest.fixture
def rates(monkeypatch):
    """Every learning rate that an optimiser was given."""
    seen = []
    original = stretches.Stretch.set_learning_rate

    def noting(self, value):
        seen.append(value)
        original(self, value)

    monkeypatch.setattr(stretches.Stretch, "set_learning_rate", noting)
    return seen


def test_the_learning_rate_warms_up_and_decays_to_nothing(rates):
    tasks = [classification("goal", train=rows(3, 16), test=rows(5, 15))]
    settings = Settings(batch_size=4, learning_rate=1.0, warmup=0.25)
    trained(paradigm=SingleTask(epochs=2), tasks=tasks, settings=settings)
    assert rates == pytest.approx([1 / 2, 1, 6 / 6, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6])


def test_without_decay_the_learning_rate_stands(rates):
    tasks = [classification("goal", train=rows(3, 16), test=rows(5, 15))]
    settings = Settings(batch_size=8, learning_rate=0.3, decay="none")
    trained(paradigm=SingleTask(epochs=2), tasks=tasks, settings=settings)
    assert rates == [0.3] * 4


def test_fine_tuning_has_a_learning_rate_of_its_own(rates):
    settings = Settings(batch_size=64, learning_rate=0.3, decay="none", head_learning_rate=0.2)
    paradigm = PreTraining(epochs=1, fine_tune_epochs=3, fine_tune_learning_rate=0.1)
    weighting = Fixed(["near", "far"])
    trained(weighting, paradigm=paradigm, settings=settings)
    assert rates == [0.3, 0.3, 0.2, 0.1, 0.1, 0.1]


# Updates


@pytest.mark.parametrize(
    ("every", "steps"), [(None, [7, 14, 21]), (4, [4, 8, 12, 16, 20]), (7, [7, 14, 21]), (50, [])]
)
def test_updates_come_every_n_steps_counted_across_epochs(every, steps):
    settings = Settings(batch_size=8, update_every=every)
    _, result = trained(target_aware(), paradigm=JointTraining(epochs=3), settings=settings)
    assert [update.step for update in result.history] == steps
    assert result.steps == 21


def test_only_weighted_phases_update():
    paradigm = PreTraining(epochs=2, fine_tune_epochs=5)
    _, result = trained(target_aware(joint=False), paradigm=paradigm)
    assert [update.step for update in result.history] == [5, 10]
    assert [entry["phase"] for entry in result.epochs] == ["sources"] * 2 + ["fine-tuning"] * 5


def cnn_case(*, dropout):
    draw = np.random.default_rng(0)

    def images(size):
        return draw.normal(size=(size, 6, 6)), draw.integers(0, 3, size)

    tasks = [
        classification("near", train=images(20)),
        classification("far", train=images(13)),
        classification("aim", train=images(9)),
        classification("goal", train=images(12), dev=images(9), test=images(9)),
    ]
    torch.manual_seed(0)
    network = SmallCNN((6, 6), width=8, dropout=dropout)
    return tasks, MultiTaskModel.for_tasks(network, tasks, width=8)


@pytest.mark.parametrize("paradigm", [JointTraining(epochs=2), PreTraining(epochs=2)], ids=repr)
@pytest.mark.parametrize("alignment", list(ALIGNMENTS))
def test_an_update_leaves_no_trace_on_training(paradigm, alignment):
    """With a step too small to move anything, TAWT is plain training, bit for bit."""
    joint, sources = isinstance(paradigm, JointTraining), ["near", "far", "aim"]
    settings = Settings(batch_size=8, learning_rate=0.01, update_every=2)
    rule = UpdateRule(alignment=ALIGNMENTS[alignment], step_size=1e-300, own_alignment="held-out")

    def once(kind):
        tasks, model = cnn_case(dropout=0.3)
        if kind == "fixed":
            weighting = Fixed([*sources, "goal"] if joint else sources)
        else:
            weighting = target_aware(joint=joint, rule=rule, tasks=tasks, sources=sources)
        return trained(weighting, paradigm=paradigm, tasks=tasks, model=model, settings=settings)

    plain, aware = once("fixed"), once("aware")
    assert len(aware[1].history) > 3
    assert aware[1].weights == plain[1].weights
    assert_same_state(aware[0].state_dict(), plain[0].state_dict())
    assert aware[1].scores == plain[1].scores
    assert aware[1].epochs == plain[1].epochs


# Phases


@pytest.fixture
def around_head_fits(monkeypatch):
    """The model's state before and after every fit of heads."""
    seen = []
    original = loop.Loop._fit_heads

    def noting(self, heads):
        before = state(self.model)
        modes = [module.training for module in self.model.modules()]
        original(self, heads)
        assert [module.training for module in self.model.modules()] == modes
        seen.append((before, state(self.model)))

    monkeypatch.setattr(loop.Loop, "_fit_heads", noting)
    return seen


def test_fitting_the_head_leaves_everything_else_bit_identical(around_head_fits):
    tasks, model = cnn_case(dropout=0.3)
    weighting = target_aware(joint=False, tasks=tasks, sources=["near", "far", "aim"])
    trained(weighting, paradigm=PreTraining(epochs=3), tasks=tasks, model=model)
    assert len(around_head_fits) == 3
    own = {id(parameter) for parameter in model.heads["goal"].parameters()}
    moving = {name for name, parameter in model.named_parameters() if id(parameter) in own}
    for before, after in around_head_fits:
        for name, value in before.items():
            assert torch.equal(value, after[name]) is (name not in moving), name


def test_the_head_is_fitted_as_often_as_asked(around_head_fits, rates):
    settings = Settings(
        batch_size=8, learning_rate=1.0, decay="none", head_epochs=4, head_learning_rate=0.5
    )
    paradigm = PreTraining(epochs=1, fine_tune_epochs=1)
    trained(target_aware(joint=False), paradigm=paradigm, settings=settings)
    assert len(around_head_fits) == 1
    assert rates == [1.0] * 5 + [0.5] * 4 * 2 + [1.0] * 2


def test_fine_tuning_moves_the_whole_target_model_and_no_source_head():
    snapshots = {}
    tasks = tiny_tasks()
    model = tiny_model(tasks)
    trained(
        target_aware(joint=False),
        paradigm=PreTraining(epochs=1, fine_tune_epochs=3),
        tasks=tasks,
        model=model,
        settings=Settings(batch_size=8, learning_rate=0.01, select="last"),
        on_progress=lambda now: (
            snapshots.__setitem__(now.phase, state(model)) if now.phase == "sources" else None
        ),
    )
    before, after = snapshots["sources"], state(model)
    theirs = {id(p) for name in ("near", "far") for p in model.heads[name].parameters()}
    names = {name for name, parameter in model.named_parameters() if id(parameter) in theirs}
    for name in before:
        assert torch.equal(before[name], after[name]) is (name in names), name


class Recorded(Examples):
    """Examples that remember which were asked for."""

    def __init__(self, examples):
        self.examples, self.calls = examples, []

    def __len__(self):
        return len(self.examples)

    def batch(self, indices):
        self.calls.append(np.asarray(indices).tolist())
        return self.examples.batch(indices)


@pytest.mark.parametrize(
    ("paradigm", "joint"),
    [
        (PreTraining(epochs=2, fine_tune_epochs=3, split_target=True), False),
        (JointTraining(epochs=2, head_epochs=3, split_target=True), True),
    ],
    ids=["pre-training", "joint"],
)
def test_a_split_target_has_disjoint_halves_and_a_frozen_representation(paradigm, joint):
    near, far, goal = tiny_tasks(goal=24)
    watched = Recorded(goal.train)
    tasks = [near, far, Task("goal", goal.kind, watched, goal.dev, goal.test)]
    model = tiny_model(tasks, dropout=0.2)
    moments = []

    def note(now):
        moments.append((now.phase, len(watched.calls), state(model.representation)))

    weighting = target_aware(joint=joint, tasks=tasks)
    settings = Settings(batch_size=8, learning_rate=0.01, gradient_examples=6, select="last")
    _, result = trained(
        weighting,
        paradigm=paradigm,
        tasks=tasks,
        model=model,
        settings=settings,
        on_progress=note,
    )
    assert [entry["phase"] for entry in result.epochs][-3:] == ["final head"] * 3
    first = "joint" if joint else "sources"
    _, boundary, learned = [moment for moment in moments if moment[0] == first][-1]
    boundary += 0 if joint else folds_of(6)  # after the last step, what is learned is looked at
    early = {index for call in watched.calls[:boundary] for index in call}
    late = {index for call in watched.calls[boundary:] for index in call}
    assert early
    assert not early & late
    assert early | late == set(range(24))
    assert len(late) == 12
    assert_same_state(learned, state(model.representation))


# Choosing a model


class Played(Classification):
    """Its dev scores are read from a list."""

    def scores(self, gold, predicted):
        return {"accuracy": next(self.script)}


def played(scores, *, start=0.0, then=0.0):
    """Of the first look, at the start; after every epoch; and after those."""
    kind = Played(("0", "1", "2"))
    script = itertools.chain([start], scores, itertools.repeat(then))
    object.__setattr__(kind, "script", script)
    near, far, goal = tiny_tasks()
    return [near, far, Task("goal", kind, goal.train, goal.dev)]


def states_by_epoch(tasks, model, settings, epochs):
    """The model after each epoch, whatever becomes of it."""
    length, kept = 7, []
    trained(
        joint_fixed(),
        paradigm=JointTraining(epochs=epochs),
        tasks=tasks,
        model=model,
        settings=settings,
        on_progress=lambda now: kept.append(state(model)) if now.step % length == 0 else None,
    )
    return kept


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([0.1, 0.9, 0.5, 0.9], 1),
        ([0.9, 0.1, 0.1, 0.1], 0),
        ([0.1, 0.2, 0.3, 0.4], 3),
        ([0.0, 0.0, 0.0, 0.0], 0),
        ([-3.0, -2.0, -1.0, -5.0], 2),
        ([math.nan, 0.2, 0.6, 0.1], 2),
        ([0.2, math.nan, 0.6, math.nan], 2),
    ],
    ids=str,
)
def test_the_best_epochs_parameters_are_restored(scores, best):
    tasks = played(scores)
    model = tiny_model(tasks, dropout=0.2)
    kept = states_by_epoch(tasks, model, QUICK, 4)
    assert len(kept) == 4
    assert_same_state(state(model), kept[best])
    assert all(not torch.equal(kept[best]["heads._modules_by_position.2.bias"],
                               other["heads._modules_by_position.2.bias"])
               for k, other in enumerate(kept) if k != best)  # fmt: skip


def test_the_last_model_is_kept_when_asked():
    tasks = played([0.9, 0.1, 0.1])
    model = tiny_model(tasks)
    settings = Settings(batch_size=8, learning_rate=0.01, select="last")
    kept = states_by_epoch(tasks, model, settings, 3)
    assert_same_state(state(model), kept[-1])
    assert not torch.equal(
        kept[-1]["representation.layers.1.bias"], kept[0]["representation.layers.1.bias"]
    )


@pytest.mark.parametrize("select", ["best", "last"])
@pytest.mark.parametrize("dev", [True, False])
def test_the_result_says_which_epoch_was_kept(select, dev):
    tasks = played([0.1, 0.9, 0.1])
    if not dev:
        tasks[2] = tiny_tasks()[2]
        tasks[2] = Task("goal", tasks[2].kind, tasks[2].train, test=tasks[2].test)
    settings = Settings(batch_size=8, learning_rate=0.01, select=select)
    _, result = trained(
        joint_fixed(), paradigm=JointTraining(epochs=3), tasks=tasks, settings=settings
    )
    assert result.best_epoch == (1 if dev and select == "best" else 2)


@pytest.mark.parametrize(("patience", "epochs"), [(1, 3), (2, 6), (3, 10), (None, 10)], ids=str)
def test_training_stops_early(patience, epochs):
    scores = [0.1, 0.3, 0.2, 0.4, 0.3, 0.2, 0.5, 0.1, 0.2, 0.3]
    settings = Settings(batch_size=8, learning_rate=0.01, patience=patience)
    _, result = trained(
        joint_fixed(),
        paradigm=JointTraining(epochs=10),
        tasks=played(scores),
        settings=settings,
    )
    assert len(result.epochs) == epochs
    seen = scores[:epochs]
    assert result.best_epoch == seen.index(max(seen))
    assert result.steps == 7 * epochs


@pytest.mark.parametrize(
    "scores", [[], [0.5, 0.7, 0.6], [math.nan, 0.1], [math.nan], [-math.inf]], ids=str
)
def test_a_selection_comes_back_from_a_checkpoint_as_it_was(scores):
    model, selection = nn.Linear(2, 2), Selection()
    for epoch, score in enumerate(scores):
        selection.offer(score, epoch, model)
    again = Selection.from_state(selection.state_dict())
    for each in (selection, again):
        each.offer(0.65, len(scores), None)
    assert again.epoch == selection.epoch
    assert again.score == selection.score
    assert again.stale(1) == selection.stale(1)


# Determinism


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    "paradigm", [JointTraining(epochs=2), PreTraining(epochs=2), SingleTask()], ids=repr
)
def test_the_same_seed_gives_the_same_bits(paradigm, workers):
    def once(seed, workers):
        tasks = tiny_tasks()
        weighting = target_aware(joint=isinstance(paradigm, JointTraining))
        settings = Settings(batch_size=8, learning_rate=0.01, update_every=3, workers=workers)
        model = tiny_model(tasks, dropout=0.2)
        return trained(
            weighting, paradigm=paradigm, tasks=tasks, model=model, settings=settings, seed=seed
        )

    first, second, other = once(3, 0), once(3, workers), once(4, 0)
    assert_same_outcome(first, second)
    assert not torch.equal(first[0].heads["goal"].weight, other[0].heads["goal"].weight)


def test_weights_too_depend_on_the_seed():
    def final(seed):
        return trained(target_aware(), seed=seed)[1].history

    assert final(0) == final(0)
    assert final(0) != final(1)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("stops", [False, True])
def test_the_callers_random_streams_are_left_alone(stops, workers):
    def streams():
        numpy_state = np.random.get_state()  # noqa: NPY002 - the global stream is what is tested
        return torch.get_rng_state().tolist(), [*map(str, numpy_state)], random.getstate()

    tasks = tiny_tasks()
    model = tiny_model(tasks, dropout=0.5)
    before = streams()
    settings = Settings(batch_size=8, workers=workers)
    options = {"tasks": tasks, "model": model, "settings": settings}
    if stops:
        with pytest.raises(Interrupted):
            trained(target_aware(), should_stop=lambda: True, **options)
    else:
        trained(target_aware(), **options)
    assert streams() == before


def test_training_does_not_depend_on_the_callers_random_stream():
    def once(seed):
        tasks = tiny_tasks()
        model = tiny_model(tasks, dropout=0.5)
        torch.manual_seed(seed)
        return trained(target_aware(), tasks=tasks, model=model)

    assert_same_outcome(once(1), once(2))


# Stop and resume


class Kept:
    """State through the bytes of a real checkpoint."""

    def __init__(self, path):
        self.path = path

    def load(self):
        from tawt.training.checkpoints import read

        return read(self.path) if self.path.exists() else None

    def due(self):
        return False

    def save(self, state):
        from tawt.training.checkpoints import to_bytes

        self.path.write_bytes(to_bytes(state))


RESUMED = {
    "joint": (JointTraining(epochs=2), {}),
    "joint, every 3": (JointTraining(epochs=2), {"update_every": 3}),
    "joint, by weight": (JointTraining(epochs=2), {"update_every": 4, "sampling": "weight"}),
    "joint, then fine-tuning": (JointTraining(epochs=1, fine_tune_epochs=3), {"patience": 1}),
    "joint, split": (JointTraining(epochs=1, head_epochs=3, split_target=True), {}),
    "joint, accumulating": (JointTraining(epochs=2), {"accumulation": 3}),
    "joint, two workers": (JointTraining(epochs=1), {"workers": 2, "update_every": 3}),
    "pre-training": (PreTraining(epochs=2, fine_tune_epochs=2), {"update_every": 3}),
    "pre-training, split": (PreTraining(epochs=1, fine_tune_epochs=2, split_target=True), {}),
    "single-task": (SingleTask(epochs=4), {"patience": 2}),
}


@pytest.mark.parametrize("case", list(RESUMED))
def test_a_stopped_run_goes_on_to_the_same_bits(case, tmp_path):
    paradigm, changes = RESUMED[case]

    def once(**options):
        tasks = tiny_tasks()
        weighting = target_aware(joint=isinstance(paradigm, JointTraining))
        return trained(
            weighting,
            paradigm=paradigm,
            tasks=tasks,
            model=tiny_model(tasks, dropout=0.3),
            settings=Settings(batch_size=8, learning_rate=0.01, **changes),
            **options,
        )

    asked = itertools.count(0)  # once a step, or once an accumulation
    whole = once(should_stop=lambda: next(asked) < 0)
    stops = range(1, next(asked) + 1)
    assert len(stops) >= 5
    if "workers" in case:
        stops = (3, 5)
    for stop in stops:
        kept = Kept(tmp_path / f"{stop}.safetensors")
        asked = itertools.count(1)
        with pytest.raises(Interrupted):
            once(checkpoint=kept, should_stop=lambda: next(asked) == stop)  # noqa: B023
        again = once(checkpoint=kept)
        assert again[1] == whole[1], f"stopped after step {stop}"
        assert_same_outcome(again, whole)


def test_a_run_stopped_after_every_step_ends_with_the_same_bits(tmp_path):
    def once(**options):
        tasks, model = cnn_case(dropout=0.3)
        weighting = target_aware(tasks=tasks, sources=["near", "far", "aim"])
        return trained(weighting, tasks=tasks, model=model, **options)

    whole, kept, stops = once(), Kept(tmp_path / "state.safetensors"), 0
    while True:
        try:
            outcome = once(checkpoint=kept, should_stop=lambda: True)
        except Interrupted:
            stops += 1
        else:
            break
        assert stops <= whole[1].steps
    assert stops == whole[1].steps
    assert_same_outcome(outcome, whole)


def test_stopping_without_a_checkpoint_does_not_claim_one():
    with pytest.raises(Interrupted) as stopped:
        trained(joint_fixed(), should_stop=lambda: True)
    assert "saved" not in str(stopped.value)


# Numbers that are not finite


class Poisoned(torch.autograd.Function):
    """Nothing forward; backward, a gradient that is not a number for some rows."""

    @staticmethod
    def forward(ctx, values, bad):
        ctx.save_for_backward(bad)
        return values.clone()

    @staticmethod
    def backward(ctx, gradient):
        (bad,) = ctx.saved_tensors
        return torch.where(bad, math.nan, gradient), None


class Fragile(nn.Module):
    """Breaks on inputs whose first feature is beyond 100: in its output, or in its gradient."""

    def __init__(self, where):
        super().__init__()
        torch.manual_seed(0)
        self.inside, self.where = MLP((4,), widths=(8,)), where

    def forward(self, inputs):
        bad = inputs[:, :1] > 100
        vectors = self.inside(inputs.clamp(-10, 10))
        if self.where == "gradient":
            return Poisoned.apply(vectors, bad)
        return torch.where(bad, math.inf, 1.0) * vectors - torch.where(bad, math.inf, 0.0)


def broken_tasks(bad_rows=13):
    near, _, goal = tiny_tasks()
    inputs, labels = rows(2, 13, noise=True)
    inputs[:bad_rows, 0] = 200.0
    return [near, classification("far", train=(inputs, labels)), goal]


def fragile_model(tasks, where="output"):
    return MultiTaskModel.for_tasks(Fragile(where), tasks, width=8)


@pytest.mark.parametrize("where", ["output", "gradient"])
@pytest.mark.parametrize("paradigm", [JointTraining, PreTraining])
def test_bad_steps_are_skipped_and_counted_and_the_run_goes_on(paradigm, where):
    tasks = broken_tasks()
    model = fragile_model(tasks, where)
    before = state(model)
    weighed = ["near", "far", "goal"] if paradigm is JointTraining else ["near", "far"]
    _, result = trained(Fixed(weighed), paradigm=paradigm(epochs=2), tasks=tasks, model=model)
    assert all_finite(model)
    assert result.skipped_steps == {"far": 2 * 2}
    assert result.steps == (14 if paradigm is JointTraining else 10 + 4 * 2)
    after = state(model)
    assert not torch.equal(before["representation.inside.layers.1.weight"],
                           after["representation.inside.layers.1.weight"])  # fmt: skip
    assert torch.equal(before["heads._modules_by_position.1.weight"],
                       after["heads._modules_by_position.1.weight"])  # fmt: skip
    assert all(math.isfinite(entry["loss"]) for entry in result.epochs)


@pytest.mark.usefixtures("plain_sgd")
def test_a_skipped_step_moves_nothing_at_all():
    """Every step but those on the broken source is taken as if it were not there."""
    tasks = broken_tasks()
    settings = Settings(batch_size=8, learning_rate=0.1, decay="none", clip_norm=1.0)
    model = fragile_model(tasks)
    states = [state(model)]
    order = Schedule({"near": 20, "far": 13, "goal": 12}, batch_size=8, sampling="size", seed=0,
                     phase="joint")  # fmt: skip
    trained(
        joint_fixed(),
        paradigm=JointTraining(epochs=1),
        tasks=tasks,
        model=model,
        settings=settings,
        on_progress=lambda _: states.append(state(model)),
    )
    plan = order.steps(0, 0, order.length, shares={})
    for step, before, after in zip(plan, states, states[1:], strict=False):
        name = "representation.inside.layers.1.weight"
        assert torch.equal(before[name], after[name]) is (step.task == "far")


@pytest.mark.parametrize("seed", range(4))
def test_bad_steps_are_blamed_on_their_own_task_when_accumulating(seed):
    tasks = broken_tasks()
    settings = Settings(batch_size=8, learning_rate=0.01, accumulation=3)
    model = fragile_model(tasks)
    _, result = trained(joint_fixed(), tasks=tasks, model=model, settings=settings, seed=seed)
    assert all_finite(model)
    assert set(result.skipped_steps) == {"far"}


def test_batch_norm_statistics_stay_finite_too():
    """The forward pass of a bad batch must not ruin the model that evaluation uses."""
    tasks, model = cnn_case(dropout=0.0)
    tasks[1].train.inputs.fill_(3e38)  # finite, and its square is not
    _, result = trained(
        Fixed(["near", "far", "aim", "goal"]), tasks=tasks, model=model, target="goal"
    )
    assert result.skipped_steps == {"far": 4}
    assert all_finite(model)


def test_too_many_bad_steps_stop_the_run_naming_the_task():
    tasks = broken_tasks()
    settings = Settings(batch_size=8, max_nonfinite=3)
    with pytest.raises(TrainingError, match=r"'far'.*max_nonfinite.* 3"):
        trained(joint_fixed(), tasks=tasks, model=fragile_model(tasks), settings=settings)
    allowed = Settings(batch_size=8, max_nonfinite=4)
    _, result = trained(joint_fixed(), tasks=tasks, model=fragile_model(tasks), settings=allowed)
    assert result.skipped_steps == {"far": 4}


def test_a_bad_update_is_skipped_and_counted_and_moves_no_weight():
    tasks = broken_tasks()
    weighting = target_aware(tasks=tasks)
    before = weighting.weights.shares()
    model = fragile_model(tasks)
    _, result = trained(weighting, tasks=tasks, model=model)
    assert [bool(update.skipped) for update in result.history] == [True, True]
    assert all("far" in update.skipped for update in result.history)
    assert result.weights == before
    assert all_finite(model)


def test_bad_updates_stop_the_run_naming_the_task():
    """The broken source is never trained on, so it has no bad steps: its updates are what fails."""
    tasks = broken_tasks()
    initial = {"near": 0.7, "far": 1e-300, "goal": 0.3}
    weighting = target_aware(tasks=tasks, initial=initial, rule=UpdateRule())
    settings = Settings(batch_size=8, sampling="weight", update_every=1, max_nonfinite=2)
    with pytest.raises(TrainingError, match="'far'"):
        trained(weighting, tasks=tasks, model=fragile_model(tasks), settings=settings)


def test_the_count_of_bad_steps_survives_a_stop(tmp_path):
    tasks, kept = broken_tasks(), Kept(tmp_path / "state.safetensors")
    asked = itertools.count(1)
    with pytest.raises(Interrupted):
        trained(joint_fixed(), tasks=tasks, model=fragile_model(tasks), checkpoint=kept,
                should_stop=lambda: next(asked) == 10)  # fmt: skip
    _, result = trained(joint_fixed(), tasks=tasks, model=fragile_model(tasks), checkpoint=kept)
    assert result.skipped_steps == {"far": 4}


# Extremes


@pytest.mark.parametrize("paradigm", [JointTraining, PreTraining])
def test_a_source_with_one_example(paradigm):
    tasks = tiny_tasks(far=1)
    joint = paradigm is JointTraining
    model, result = trained(
        target_aware(joint=joint, initial="proportional", tasks=tasks),
        paradigm=paradigm(epochs=2),
        tasks=tasks,
    )
    assert all_finite(model)
    assert result.weights.keys() >= {"near", "far"}
    assert not any(update.skipped for update in result.history)


def test_a_target_with_one_example():
    tasks = tiny_tasks(goal=1)
    for paradigm in (JointTraining(epochs=1), PreTraining(epochs=1, split_target=True)):
        joint = isinstance(paradigm, JointTraining)
        model, result = trained(
            target_aware(joint=joint, tasks=tasks), paradigm=paradigm, tasks=tasks
        )
        assert all_finite(model)
        assert not any(update.skipped for update in result.history)


@pytest.mark.parametrize("paradigm", [JointTraining, PreTraining])
def test_a_target_with_one_class_in_train(paradigm):
    near, far, goal = tiny_tasks()
    goal.train.labels.fill_(1)
    joint = paradigm is JointTraining
    model, result = trained(
        target_aware(joint=joint), paradigm=paradigm(epochs=2), tasks=[near, far, goal]
    )
    assert all_finite(model)
    assert 0 <= result.scores["goal"]["test"]["accuracy"] <= 1


@pytest.mark.parametrize("sampling", ["size", "weight"])
def test_sizes_of_one_to_a_hundred_thousand(sampling):
    tasks = tiny_tasks(near=100_000, far=1)
    settings = Settings(batch_size=10_000, learning_rate=0.01, sampling=sampling, update_every=4)
    model, result = trained(
        target_aware(tasks=tasks, initial="proportional"), tasks=tasks, settings=settings
    )
    assert all_finite(model)
    assert result.steps == 2 * 12
    assert all(math.isfinite(value) for value in result.multipliers.values())
    assert sum(result.weights.values()) == pytest.approx(1)


def test_forty_sources():
    names = [f"source {k}" for k in range(40)]
    goal = tiny_tasks()[2]
    tasks = [classification(name, train=rows(k, 3)) for k, name in enumerate(names)] + [goal]
    model, result = trained(target_aware(sources=names, tasks=tasks), tasks=tasks)
    assert len(result.weights) == 41
    assert len({round(share, 6) for share in result.weights.values()}) > 30
    assert all_finite(model)


@pytest.mark.parametrize("paradigm", [JointTraining, PreTraining])
def test_bf16_runs_and_keeps_parameters_in_fp32(paradigm):
    settings = Settings(batch_size=8, learning_rate=0.01, precision="bf16")
    joint = paradigm is JointTraining
    tasks = tiny_tasks()
    model, result = trained(
        target_aware(joint=joint), paradigm=paradigm(epochs=2), tasks=tasks, settings=settings
    )
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert all_finite(model)
    full, _ = trained(target_aware(joint=joint), paradigm=paradigm(epochs=2), tasks=tasks)
    assert not torch.equal(model.heads["goal"].weight, full.heads["goal"].weight)
    torch.testing.assert_close(
        model.heads["goal"].weight, full.heads["goal"].weight, rtol=0.2, atol=0.1
    )
    assert not result.skipped_steps
    outputs = model(torch.zeros(2, 4), "goal")
    assert outputs.dtype == torch.float32  # the caller's model is as it was but for its values


# What it refuses


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"target": "gaol"}, DataError, "did you mean 'goal'"),
        ({"target": {"goal": 0.5, "near": 0.6}}, WeightsError, "sum to 1"),
        ({"weighting": None}, ConfigError, "needs a weighting"),
        ({"weighting": Fixed(["near", "fra", "goal"])}, DataError, "did you mean 'far'"),
        ({"weighting": Fixed(["near", "far"])}, ConfigError, "no weight for 'goal'"),
        (
            {"weighting": joint_fixed(), "paradigm": PreTraining()},
            ConfigError,
            "gives 'goal' a weight",
        ),
        (
            {"weighting": TargetAware(sources=["far", "goal"], target="near", target_share=0.5)},
            ConfigError,
            "goal",
        ),
        ({"tasks": [*tiny_tasks(), tiny_tasks()[0]]}, DataError, "'near' is given twice"),
    ],
    ids=[
        "unknown target",
        "targets no convex combination",
        "no weighting",
        "unknown source",
        "joint without the target",
        "pre-training with the target",
        "weighting for another target",
        "twice the same task",
    ],
)
def test_roles_that_do_not_fit_are_refused(changes, error, words):
    model = tiny_model(tiny_tasks())
    before = state(model)
    with pytest.raises(error, match=words):
        trained(**{"weighting": joint_fixed()} | changes, model=model)
    assert_same_state(before, state(model))


def test_a_task_without_a_head_is_refused():
    tasks = tiny_tasks()
    with pytest.raises(DataError, match="no head for task 'far'"):
        trained(joint_fixed(), tasks=tasks, model=tiny_model([tasks[0], tasks[2]]))


@pytest.mark.parametrize(
    "changes",
    [
        {"batch_size": 0},
        {"accumulation": 0},
        {"gradient_examples": 0},
        {"head_epochs": -1},
        {"max_nonfinite": -1},
        {"workers": -1},
        {"weight_decay": -0.1},
        {"weight_decay": math.nan},
        {"learning_rate": 0.0},
        {"learning_rate": math.nan},
        {"learning_rate": math.inf},
        {"head_learning_rate": -1.0},
        {"clip_norm": 0.0},
        {"clip_norm": math.nan},
        {"update_every": 0},
        {"patience": 0},
        {"warmup": 1.0},
        {"warmup": -0.1},
        {"warmup": math.nan},
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(changes):
    with pytest.raises(ConfigError, match=next(iter(changes))):
        Settings(**changes)


@pytest.mark.parametrize("paradigm", [SingleTask, PreTraining, JointTraining])
def test_no_epochs_are_refused(paradigm):
    with pytest.raises(ConfigError, match="epochs"):
        trained(joint_fixed(), paradigm=paradigm(epochs=0))


def test_progress_counts_every_step_of_every_phase():
    seen = []
    _, result = trained(
        target_aware(joint=False),
        paradigm=PreTraining(epochs=1, fine_tune_epochs=2),
        on_progress=seen.append,
    )
    assert [now.step for now in seen] == list(range(1, result.steps + 1))
    assert {now.total for now in seen} == {result.steps}
    assert [now.phase for now in seen] == ["sources"] * 5 + ["fine-tuning"] * 4


def test_the_callers_tasks_are_not_changed():
    tasks = tiny_tasks()
    before = [copy.deepcopy((t.train.inputs, t.train.labels)) for t in tasks]
    trained(target_aware(), tasks=tasks)
    for task, (inputs, labels) in zip(tasks, before, strict=True):
        assert torch.equal(task.train.inputs, inputs)
        assert torch.equal(task.train.labels, labels)
