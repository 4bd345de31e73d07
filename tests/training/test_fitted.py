"""Gradients through fitted heads are those of the best head's loss, and of nothing else."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from tawt.arrays import MLP, Classification, classification, regression
from tawt.probes import Items, LinearHead, Probe, sureness
from tawt.streams import stream
from tawt.tasks import Batch, Examples, MultiTaskModel
from tawt.tasks.examples import Subset
from tawt.training import JointTraining, PreTraining, Settings, train
from tawt.training.fitted import crossed_loss, outputs_to_fit
from tawt.training.fresh import FreshLosses
from tawt.weighting import Fixed, TargetAware

WIDTH = 5


def rows(seed, size, *, labels="true"):
    """Eight features, of which the first three say the label; or labels that say nothing."""
    draw = stream(seed, "rows")
    inputs = draw.normal(size=(size, 8))
    found = inputs[:, :3].argmax(1)
    return inputs, draw.permutation(found) if labels == "shuffled" else found


def fresh(tasks, model, *, count=64, part=slice(None), fits_heads=True, update=1, beside=None):
    return FreshLosses(
        model,
        {task.name: task for task in tasks},
        {task.name: task.train for task in tasks},
        counts=dict.fromkeys((task.name for task in tasks), count),
        weighting=Fixed([task.name for task in tasks]),
        seed=0,
        update=update,
        device=torch.device("cpu"),
        autocast=nullcontext,
        part=part,
        fits_heads=fits_heads,
        beside=beside,
    )


def model_of(tasks, *, seed=0, **options):
    torch.manual_seed(seed)
    return MultiTaskModel.for_tasks(MLP((8,), widths=(WIDTH,), **options), tasks, width=WIDTH)


def gradient(loss, model):
    return torch.cat(
        [g.flatten() for g in torch.autograd.grad(loss, model.representation.parameters())]
    )


def test_the_gradient_is_that_of_the_best_heads_loss():
    """The envelope theorem: fit again at both sides of a step of the representation."""
    draw = torch.Generator().manual_seed(0)
    inputs = torch.randn(60, 4, generator=draw, dtype=torch.float64)
    labels = (inputs[:, 0] + 0.5 * torch.randn(60, generator=draw, dtype=torch.float64) > 0).long()
    turn = torch.randn(4, 3, generator=draw, dtype=torch.float64)
    way = torch.randn(4, 3, generator=draw, dtype=torch.float64)

    def least(matrix):
        """By a slow and obvious way: gradient descent on weight and bias, to the end."""
        points = inputs @ matrix
        weight = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
        bias = torch.zeros(2, dtype=torch.float64, requires_grad=True)
        for _ in range(3000):
            loss = nn.functional.cross_entropy(points @ weight.T + bias, labels)
            loss = loss + 0.05 * weight.square().sum()
            slopes = torch.autograd.grad(loss, [weight, bias])
            with torch.no_grad():
                weight -= 0.5 * slopes[0]
                bias -= 0.5 * slopes[1]
        return float(loss.detach())

    matrix = turn.clone().requires_grad_()
    vectors = inputs @ matrix
    spread = (vectors - vectors.mean(0)).square().mean().sqrt().detach()
    probe = Probe.fitted(Items(vectors.detach(), labels), ridge=float(0.1 / spread**2))
    head = LinearHead.of(probe, like=vectors)
    loss = head.losses(vectors, labels).mean()
    [found] = torch.autograd.grad(loss, matrix)
    step = 1e-4
    expected = (least(turn + step * way) - least(turn - step * way)) / (2 * step)
    torch.testing.assert_close(float((found * way).sum()), expected, rtol=1e-4, atol=1e-7)


def test_a_calibrated_head_asks_for_no_other_size_of_vectors():
    draw = torch.Generator().manual_seed(0)
    vectors = torch.randn(2, 80, 6, generator=draw, dtype=torch.float64)
    labels = (vectors[..., 0] > 0).long() + (vectors[..., 1] > 0.5).long()
    labels[1, :20] = labels[1, :20].flip(0)
    probe, other = Probe.fitted(Items(vectors[0], labels[0])), Items(vectors[1], labels[1])
    probe = probe.scaled(sureness([(probe, other)]))
    size = torch.ones((), dtype=torch.float64, requires_grad=True)
    scaled = probe.centre + size * (vectors[1] - probe.centre)
    LinearHead.of(probe, like=scaled).losses(scaled, labels[1]).mean().backward()
    assert abs(float(size.grad)) < 1e-9
    assert float(probe.weight.abs().max()) > 0


def test_of_a_regression_too():
    draw = torch.Generator().manual_seed(0)
    vectors = torch.randn(2, 50, 3, generator=draw, dtype=torch.float64)
    answers = vectors @ torch.tensor([1.0, -2.0, 0.0], dtype=torch.float64)
    answers[1] *= 0.5
    probe, other = Probe.fitted(Items(vectors[0], answers[0])), Items(vectors[1], answers[1])
    probe = probe.scaled(sureness([(probe, other)]))
    slopes = (vectors[1] - probe.centre) / probe.spread @ probe.weight.T
    residual = answers[1] - probe.bias - slopes[:, 0]
    assert float((residual * slopes[:, 0]).sum()) == pytest.approx(0, abs=1e-9)


def test_shuffled_labels_do_not_point_where_the_honest_ones_do():
    """Heads that training has just begun with point the same way for both."""
    tasks = [
        classification("honest", train=rows(1, 600)),
        classification("shuffled", train=rows(1, 600, labels="shuffled")),
        classification("goal", train=rows(3, 200)),
    ]
    model = model_of(tasks)
    with torch.no_grad():  # as confident in a wrong label as a young head can be
        for task in tasks:
            model.heads[task.name].weight.copy_(model.heads["goal"].weight)
            model.heads[task.name].bias.copy_(torch.tensor([4.0, 0.0, 0.0]))
    cosines = {}
    for fits in (False, True):
        losses = fresh(tasks, model, count=200, fits_heads=fits)
        found = {task.name: gradient(losses(task.name), model) for task in tasks}
        cosines[fits] = {
            name: float(nn.functional.cosine_similarity(found[name], found["goal"], dim=0))
            for name in ("honest", "shuffled")
        }
    assert cosines[False]["shuffled"] > 0.8
    assert cosines[True]["shuffled"] < 0.4
    assert cosines[True]["honest"] > cosines[True]["shuffled"] + 0.4


def test_processes_parts_come_to_the_whole():
    tasks = [classification("goal", train=rows(3, 90))]
    model = model_of(tasks)
    whole, count = fresh(tasks, model, count=50).counted("goal")
    parts = [
        fresh(tasks, model, count=50, part=slice(n, None, 3)).counted("goal") for n in range(3)
    ]
    assert [number for _, number in parts] == [17, 17, 16]
    mean = sum(loss * number for loss, number in parts) / count
    torch.testing.assert_close(mean, whole)
    torch.testing.assert_close(gradient(mean, model), gradient(whole, model), rtol=1e-4, atol=1e-7)


def test_a_part_without_examples_counts_nothing():
    tasks = [classification("goal", train=rows(3, 4))]
    loss, count = fresh(tasks, model_of(tasks), count=2, part=slice(3, None, 4)).counted("goal")
    assert (float(loss), count) == (0.0, 0)


def test_a_single_example_is_measured_through_its_own_head():
    item = Items(torch.randn(1, 3, requires_grad=True), torch.tensor([1]))
    loss = crossed_loss([item.detached()], [item], classes=3)
    assert torch.isfinite(loss)
    assert loss.requires_grad


def test_heads_that_are_no_linear_layer_stay_as_they_are():
    tasks = [classification("goal", train=rows(3, 90))]
    deep = nn.Sequential(nn.Linear(WIDTH, 4), nn.ReLU(), nn.Linear(4, 3))
    model = MultiTaskModel(MLP((8,), widths=(WIDTH,)), {"goal": deep})
    assert outputs_to_fit(model, tasks[0]) is None
    one, other = (fresh(tasks, model, fits_heads=fits)("goal") for fits in (False, True))
    assert torch.equal(one, other)


def test_a_dropout_before_the_layer_is_no_matter():
    tasks = [classification("goal", train=rows(3, 90))]
    head = nn.Sequential(nn.Dropout(0.5), nn.Linear(WIDTH, 3))
    model = MultiTaskModel(MLP((8,), widths=(WIDTH,)), {"goal": head})
    assert outputs_to_fit(model, tasks[0]) == 3


def test_the_model_is_left_as_it_was():
    inputs, labels = rows(3, 90)
    tasks = [
        classification("goal", train=(inputs, labels)),
        regression("near", train=(inputs, inputs[:, 0])),
    ]
    model = model_of(tasks, dropout=0.5)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    losses = fresh(tasks, model)
    for task in tasks:
        losses(task.name).backward()
    after = model.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    assert all(p.grad is None for p in model.heads.parameters())


def test_heads_of_the_target_are_fitted_before_fine_tuning_alone(monkeypatch):
    """Updates fit their own; what fine-tuning begins with is fitted once."""
    fitted = []
    from tawt.training import loop

    monkeypatch.setattr(
        loop.Loop, "_fit_heads", lambda self, heads: fitted.append(self.position.total)
    )
    tasks = [
        classification("near", train=rows(1, 80)),
        classification("goal", train=rows(3, 40), test=rows(4, 20)),
    ]
    for through, expected in (("fitted heads", [20]), ("trained heads", [5, 10, 15, 20])):
        fitted.clear()
        train(
            model_of(tasks),
            tasks=tasks,
            target="goal",
            paradigm=PreTraining(epochs=1, fine_tune_epochs=1),
            weighting=TargetAware(sources=["near"], target="goal", target_share=None),
            settings=Settings(
                sampling="weight", steps=20, batch_size=8, update_every=5, measure_through=through
            ),
        )
        assert fitted == expected


def test_items_join():
    some, more = Items(torch.zeros(2, 3), torch.zeros(2)), Items(torch.ones(1, 3), torch.ones(1))
    assert len(some + more) == 3
    assert len(Items.joined([])) == 0
    assert (some + Items.joined([])).labels.tolist() == [0, 0]
    assert np.isclose(float((some + more).vectors.sum()), 3)


def test_what_is_joined_to_nothing_keeps_its_width_and_device():
    elsewhere = Items(torch.zeros(2, 3, device="meta"), torch.zeros(2, device="meta"))
    for joined in (elsewhere + Items.joined([]), Items.joined([Items.joined([]), elsewhere])):
        assert (joined.vectors.device.type, joined.vectors.shape) == ("meta", (2, 3))
    empty = Items(torch.zeros(0, 3), torch.zeros(0))
    for joined in (empty + Items.joined([]), Items.joined([]) + empty):
        assert joined.vectors.shape == (0, 3)
        assert joined.is_regression


def test_where_no_label_comes_twice_heads_are_fitted_on_everything():
    """A target of one example a label."""
    tasks = [classification("goal", train=(rows(3, 3)[0], np.arange(3)))]
    model = model_of(tasks)
    assert gradient(fresh(tasks, model)("goal"), model).abs().max() > 0


def test_a_kind_with_a_loss_of_its_own_is_measured_through_the_head_in_training():
    class Ordered(Classification):
        has_usual_loss = False

    usual = classification("usual", train=rows(0, 12))
    own = replace(usual, name="own", kind=Ordered(usual.kind.labels))
    model = model_of([usual, own])
    assert outputs_to_fit(model, usual) == 3
    assert outputs_to_fit(model, own) is None
    losses = fresh([usual, own], model, count=12)
    outputs = model(own.train.batch(np.arange(12)).inputs, "own")
    expected = own.kind.losses(outputs, own.train.batch(np.arange(12)).labels).mean()
    torch.testing.assert_close(losses("own"), expected)


def test_a_label_that_only_some_folds_have_is_one_more_output():
    points = torch.eye(4).repeat(2, 1)
    parts = [
        Items(points[:4], torch.tensor([0, 1, 0, 1])),
        Items(points[4:], torch.tensor([0, 1, 0, 3])),
    ]
    assert torch.isfinite(crossed_loss(parts, parts, classes=2))


def numbers(*values):
    return rows(0, len(values))[0], np.array(values)


TOO_LITTLE = [
    *(classification("goal", train=numbers(*[1] * size), labels=["no", "yes"]) for size in (1, 3)),
    *(regression("goal", train=numbers(*given)) for given in ([1.0], [1.0, 2.0], [1.0] * 4)),
]
"""Targets whose heads have nothing, or one answer alone, to be fitted on."""


@pytest.mark.parametrize("target_from", ["all", "halves in turn"])
@pytest.mark.parametrize("paradigm", [JointTraining(epochs=1), PreTraining(epochs=1)])
@pytest.mark.parametrize("goal", TOO_LITTLE)
def test_where_there_is_too_little_to_fit_the_head_in_training_is_measured_through(
    goal, paradigm, target_from
):
    tasks = [
        *(classification(name, train=rows(at, 80)) for at, name in enumerate(["near", "far"])),
        goal,
    ]
    held = 0.3 if isinstance(paradigm, JointTraining) else None
    result = train(
        model_of(tasks),
        tasks=tasks,
        target="goal",
        paradigm=paradigm,
        weighting=TargetAware(sources=["near", "far"], target="goal", target_share=held),
        settings=Settings(
            sampling="weight",
            steps=20,
            batch_size=8,
            update_every=5,
            learning_rate=0.01,
            measure_through="fitted heads",
            target_from=target_from,
        ),
    )
    assert [update.skipped for update in result.history] == [None] * 4
    assert min(update.target_norm for update in result.history) > 1e-6


@pytest.mark.parametrize("goal", TOO_LITTLE)
def test_that_is_the_loss_of_trained_heads(goal):
    model = model_of([goal])
    fitted, trained = (fresh([goal], model, fits_heads=fits)("goal") for fits in (True, False))
    torch.testing.assert_close(fitted, trained)
    torch.testing.assert_close(gradient(fitted, model), gradient(trained, model))


def test_heads_of_a_target_with_too_little_to_fit_are_trained_before_updates(monkeypatch):
    from tawt.training import loop

    fitted = []
    monkeypatch.setattr(
        loop.Loop, "_fit_heads", lambda self, heads: fitted.append(self.position.total)
    )
    tasks = [classification("near", train=rows(1, 80)), TOO_LITTLE[1]]
    train(
        model_of(tasks),
        tasks=tasks,
        target="goal",
        paradigm=PreTraining(epochs=1, fine_tune_epochs=1),
        weighting=TargetAware(sources=["near"], target="goal", target_share=None),
        settings=Settings(
            sampling="weight",
            steps=10,
            batch_size=8,
            update_every=5,
            measure_through="fitted heads",
        ),
    )
    assert fitted == [5, 10]


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_draw_of_one_label_is_fitted_with_others_beside_it(kind):
    """Through heads that were fitted on one label the gradient is rounding, whose cosine is not."""
    inputs, _ = rows(0, 400)
    rare = np.zeros(400, int)
    rare[[7, 200, 391]] = 1
    task = (
        classification("rare", train=(inputs, rare))
        if kind == "classes"
        else regression("rare", train=(inputs, rare.astype(float)))
    )
    model = model_of([task])
    norms = []
    for update in range(12):
        losses = fresh([task], model, count=48, update=update)
        norms.append(float(gradient(losses("rare"), model).norm()))
    assert min(norms) > 1e-5
    drawn = [stream(0, "update", update).choice(400, 48, replace=False) for update in range(12)]
    assert sum(not rare[some].any() for some in drawn) > 4  # most have one label


def test_a_source_of_one_label_alone_is_measured_as_in_training():
    task = classification("one", train=(rows(0, 80)[0], np.zeros(80, int)), labels=["a", "b"])
    model = model_of([task])
    losses = fresh([task], model, count=48), fresh([task], model, count=48, fits_heads=False)
    fitted, trained = (gradient(each("one"), model) for each in losses)
    torch.testing.assert_close(fitted, trained)


def none_of(items):
    return Items(items.vectors[:0], items.labels[:0])


def test_numbers_of_all_folds_are_measured_in_one_unit():
    """Folds whose others happen to be alike would count many times as much as the rest."""
    draw = torch.Generator().manual_seed(0)
    vectors = torch.randn(12, 3, generator=draw, dtype=torch.float64)
    answers = vectors[:, 0] + 0.01 * torch.randn(12, generator=draw, dtype=torch.float64)
    answers[:4] = 0.5  # what the head of the second fold is fitted on varies little
    folds = [Items(vectors[:4], answers[:4]), Items(vectors[4:], answers[4:])]
    losses = []
    for at in range(2):
        alone = [fold if place == at else none_of(fold) for place, fold in enumerate(folds)]
        losses.append(crossed_loss(folds, alone, classes=1))
    whole = crossed_loss(folds, folds, classes=1)
    torch.testing.assert_close(sum(losses), whole)
    probes = [Probe.fitted(folds[1 - at], ridge=0.03) for at in range(2)]
    sure = sureness(list(zip(probes, folds, strict=True)))
    for probe, fold, loss in zip(probes, folds, losses, strict=True):
        errors = probe.scaled(sure).outputs(fold.vectors)[:, 0] - fold.labels
        expected = errors.square().sum() / (2 * answers.var(correction=0))
        torch.testing.assert_close(loss, expected)


def test_folds_without_items_are_passed_over():
    """Tagged sentences may have no word with a label."""
    some = Items(torch.randn(6, 3), torch.tensor([0, 1, 0, 1, 1, 0]))
    nothing = Items(torch.zeros(0, 3), torch.zeros(0, dtype=torch.long))
    halves = [Items(some.vectors[:3], some.labels[:3]), Items(some.vectors[3:], some.labels[3:])]
    expected = crossed_loss(halves, halves, classes=2)
    folds = [nothing, halves[0], nothing, halves[1]]
    torch.testing.assert_close(crossed_loss(folds, folds, classes=2), expected)
    alone = crossed_loss([some, nothing], [some, nothing], classes=2)
    torch.testing.assert_close(alone, crossed_loss([some], [some], classes=2))
    of_another = crossed_loss(halves, [nothing, nothing], classes=2)
    assert (float(of_another), of_another.requires_grad) == (0.0, False)


class Partly(Classification):
    """Of each example, none or one of its two places has a label."""

    def items(self, vectors, labels):
        return vectors[labels >= 0], labels[labels >= 0]

    def losses(self, outputs, labels):
        return nn.functional.cross_entropy(outputs, labels, ignore_index=-1, reduction="none")


@pytest.mark.parametrize("labelled", [0, 1, 30])
def test_examples_without_labels_have_no_part_in_a_fit(labelled):
    inputs, labels = rows(0, 60)
    labels[labelled:] = -1
    usual = classification("goal", train=rows(1, 60))
    task = replace(usual, kind=Partly(usual.kind.labels), train=marked(inputs, labels))
    model = model_of([usual])
    whole, count = fresh([task], model).counted("goal")
    parts = [fresh([task], model, part=slice(n, None, 2)).counted("goal") for n in range(2)]
    mean = sum(loss * number for loss, number in parts) / count
    torch.testing.assert_close(mean, whole)
    assert (float(whole.detach()) == 0) == (labelled == 0)


def marked(inputs, labels):
    """Examples some of whose labels are -1."""

    class Marked(Examples):
        def __len__(self):
            return len(labels)

        def batch(self, indices):
            return Batch(torch.tensor(inputs[indices]).float(), torch.tensor(labels[indices]))

    return Marked()


@pytest.mark.parametrize("halved", [False, True])
@pytest.mark.parametrize("goal", [classification("goal", train=rows(3, 6)), *TOO_LITTLE])
def test_a_process_without_an_example_of_the_target_draws_what_the_others_draw(goal, halved):
    """What is drawn after it would be of other examples than one process had drawn."""
    near = classification("near", train=rows(1, 90))
    model = model_of([near, goal])
    half = max(1, len(goal.train) // 2)
    beside = {"goal": Subset(goal.train, np.arange(len(goal.train))[half:])} if halved else {}

    def measured(part):
        losses = fresh([goal, near], model, count=7, part=part, beside=beside)
        return [losses.counted(task.name) for task in (goal, near)]

    wholes = measured(slice(None))
    by_part = [measured(slice(number, None, 8)) for number in range(8)]
    assert any(count == 0 for (_, count), _ in by_part)
    for place, (whole, count) in enumerate(wholes):
        parts = [found[place] for found in by_part]
        assert sum(number for _, number in parts) == count
        mean = sum(loss * number for loss, number in parts) / count
        torch.testing.assert_close(mean, whole)


def test_nothing_is_computed_in_float64_where_the_device_has_none(monkeypatch):
    items = Items(torch.randn(20, 3), torch.randn(20))
    classes = Items(items.vectors, torch.arange(20) % 2)
    exact = [crossed_loss([some, some], [some, some], classes=2) for some in (items, classes)]
    monkeypatch.setattr("tawt.probes.probe.widest", lambda device: torch.float32)
    monkeypatch.setattr("tawt.probes.items.widest", lambda device: torch.float32)
    monkeypatch.setattr(torch.Tensor, "double", None)
    for some, expected in zip((items, classes), exact, strict=True):
        assert Probe.fitted(some).weight.dtype == torch.float32
        found = crossed_loss([some, some], [some, some], classes=2)
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)
