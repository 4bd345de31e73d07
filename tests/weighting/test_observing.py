"""Weights that are learned from the gradients of training steps."""

import copy
import json
import math

import pytest
import torch
from torch import nn

from tawt import Cosine, CurvatureWeighted, Fixed, Identity, TargetAware, TawtError, UpdateRule
from tawt.errors import TrainingError
from tawt.ranks import Ranks
from tawt.units import Units

WAYS = {"near": [1.0, 0.2, 0.0], "far": [0.0, 0.3, 1.0], "goal": [1.0, 0.0, 0.1]}


def weighting(**options):
    rule = options.pop("rule", UpdateRule(alignment=Cosine(scale=2.0)))
    share = options.pop("target_share", None)
    return TargetAware(
        sources=["near", "far"], target="goal", target_share=share, rule=rule, **options
    )


def linear(x, task):
    return x @ torch.tensor(WAYS[task], dtype=x.dtype)


def step(x, task, *, scale=1.0):
    x.grad = None
    (scale * linear(x, task)).backward()


def cosine(task, direction="goal"):
    a, b = (torch.tensor(WAYS[name], dtype=torch.float64) for name in (task, direction))
    return float(a @ b / (a.norm() * b.norm()))


def test_products_are_those_of_the_gradient_that_is_there():
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    weights = weighting()
    weights.aim([x], loss_of=lambda task: linear(x, task))
    step(x, "near")
    weights.observe([x], "near")
    [seen] = weights.observer._seen._steps
    inner, squared, direction = seen.numbers.tolist()
    assert inner / math.sqrt(squared * direction) == pytest.approx(cosine("near"), abs=1e-12)


def test_estimates_come_to_what_fresh_batches_measure():
    """Alignments that do not change are found to the noise that the filter believes in."""
    x = torch.zeros(3, requires_grad=True)
    weights, fresh = weighting(), weighting()
    for number in range(200):
        if number % 5 == 0:
            weights.aim([x], loss_of=lambda task: linear(x, task))
        task = ("near", "far")[number % 2]
        step(x, task)
        weights.observe([x], task)
        if number % 20 == 19:
            update = weights.update()
            measured = fresh.update([x], loss_of=lambda task: linear(x, task))
    found = update.alignments
    lead = cosine("near") - cosine("far")
    assert found["near"] - found["far"] == pytest.approx(lead, abs=0.05)
    assert measured.alignments["near"] == pytest.approx(cosine("near"), abs=1e-6)
    # The sum over all updates is what the estimate now says of each of them.
    assert weights.weights.logs[0] - weights.weights.logs[1] == pytest.approx(
        2.0 * 10 * (found["near"] - found["far"]), rel=1e-9
    )
    assert weights["near"] == pytest.approx(fresh["near"], rel=0.02)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 128.0])
def test_scales_of_losses_and_clipping_make_no_difference(scale):
    """Factors of a mixture, a gradient scaler and clipping scale a step's whole gradient."""
    found = []
    for clips in (False, True):
        x = torch.zeros(3, requires_grad=True)
        weights = weighting()
        weights.aim([x], loss_of=lambda task, x=x: linear(x, task))
        for number in range(20):
            task = ("near", "far")[number % 2]
            step(x, task, scale=scale)
            if clips:
                nn.utils.clip_grad_norm_([x], 0.5)
            weights.observe([x], task)
        found.append(weights.update().alignments)
    assert found[0] == pytest.approx(found[1], abs=1e-5)


def test_a_step_of_the_target_is_the_next_direction():
    """In joint training nothing else is needed, and the target itself is told by other examples."""
    x = torch.zeros(3, requires_grad=True)
    weights = weighting(target_share=0.3)
    for number in range(30):
        task = ("goal", "near", "far")[number % 3]
        step(x, task)
        weights.observe([x], task)
    update = weights.update()
    assert update.skipped is None
    assert weights["near"] > weights["far"]
    assert weights["goal"] == pytest.approx(0.3)
    assert update.alignments["goal"] > update.alignments["far"]
    assert update.target_norm == pytest.approx(math.sqrt(1.01), rel=1e-5)


def test_of_several_targets_no_step_is_a_direction():
    x = torch.zeros(3, requires_grad=True)
    weights = TargetAware(
        sources=["near"],
        target={"goal": 0.5, "far": 0.5},
        target_share=0.5,
        rule=UpdateRule.paper(),
    )
    step(x, "goal")
    weights.observe([x], "goal")
    assert weights.observer.direction is None
    weights.aim([x], loss_of=lambda task: linear(x, task))
    both = (torch.tensor(WAYS["goal"]) + torch.tensor(WAYS["far"])) / 2
    torch.testing.assert_close(weights.observer.direction.entries()[0], both)


LENGTHS = {"near": 0.05, "far": 1.0}


def added_up(x, some):
    """Leave the gradient of several micro-batches, of tasks whose gradients differ in length."""
    x.grad = None
    total = sum(some.values())
    for task, count in some.items():
        for _ in range(count):
            (LENGTHS[task] * linear(x, task) / total).backward()


def test_gradients_added_up_over_tasks_are_told_apart_by_what_single_ones_showed():
    """A sum's cosine is no mean of cosines; its inner product is, by lengths that are known."""
    x = torch.zeros(3, requires_grad=True)
    weights = weighting()
    weights.aim([x], loss_of=lambda task: linear(x, task))
    for number in range(300):
        some = [{"near": 1}, {"far": 1}, {"near": 3, "far": 1}, {"near": 1, "far": 3}][number % 4]
        added_up(x, some)
        weights.observe([x], some)
    found = weights.update().alignments
    lead = cosine("near") - cosine("far")
    assert found["near"] - found["far"] == pytest.approx(lead, abs=0.1)


def test_tasks_that_never_come_alone_say_nothing():
    x = torch.zeros(3, requires_grad=True)
    weights = weighting()
    weights.aim([x], loss_of=lambda task: linear(x, task))
    for _ in range(20):
        added_up(x, {"near": 1, "far": 3})
        weights.observe([x], {"near": 1, "far": 3})
    update = weights.update()
    assert "`hold`" in update.skipped
    assert weights["near"] == pytest.approx(0.5)
    assert weights.failures == []


def test_what_later_steps_correct_is_corrected_in_the_weights():
    """A source that looked good by chance ends where the rest of the evidence puts it."""
    x = torch.zeros(3, requires_grad=True)
    unlucky, plain = weighting(), weighting()
    for weights in (unlucky, plain):
        weights.aim([x], loss_of=lambda task: linear(x, task))
        for number in range(300):
            task = ("near", "far")[number % 2]
            shown = task
            if weights is unlucky and number < 10:
                shown = ("far", "near")[number % 2]  # each looks like the other
            step(x, shown)
            weights.observe([x], task)
            if number % 10 == 9:
                weights.update()
    ratio = unlucky.weights.logs[0] - unlucky.weights.logs[1]
    wanted = plain.weights.logs[0] - plain.weights.logs[1]
    assert ratio > 0.6 * wanted


def test_nothing_is_touched_and_one_copy_is_held():
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5))
    head = nn.Linear(8, 2)
    inputs = torch.randn(16, 4)
    encoder[0].bias.requires_grad_(False)

    def loss_of(task):
        return head(encoder(inputs)).square().mean()

    weights = weighting()
    loss_of("near").backward()
    grads = [copy.deepcopy(p.grad) for p in encoder.parameters()]
    buffers = copy.deepcopy(dict(encoder.named_buffers()))
    stream = torch.get_rng_state()
    weights.aim(encoder, loss_of=loss_of)
    weights.observe(encoder, "near")
    weights.update()
    for parameter, grad in zip(encoder.parameters(), grads, strict=True):
        assert (parameter.grad is None) == (grad is None)
        assert grad is None or torch.equal(parameter.grad, grad)
    assert all(torch.equal(value, buffers[name]) for name, value in encoder.named_buffers())
    assert torch.equal(stream, torch.get_rng_state())
    held = sum(place.numel() for place in weights.observer.direction.entries())
    assert held == sum(p.numel() for p in encoder.parameters() if p.requires_grad)


def test_bf16_gradients_are_compared_in_float32():
    x = torch.zeros(3, dtype=torch.bfloat16, requires_grad=True)
    weights = weighting()
    weights.aim([x], loss_of=lambda task: linear(x, task))
    assert weights.observer.direction.entries()[0].dtype == torch.float32
    step(x, "near")
    weights.observe([x], "near")
    inner, squared, direction = weights.observer._seen._steps[0].numbers.tolist()
    assert inner / math.sqrt(squared * direction) == pytest.approx(cosine("near"), abs=5e-3)


def test_a_gradient_that_is_not_finite_says_nothing():
    x = torch.zeros(3, requires_grad=True)
    weights = weighting()
    weights.aim([x], loss_of=lambda task: linear(x, task))
    for task in ("near", "far"):
        step(x, task)
        weights.observe([x], task)
    before = copy.deepcopy(weights)
    step(x, "far", scale=math.nan)
    weights.observe([x], "far")
    assert weights.update().alignments == before.update().alignments
    assert all(map(math.isfinite, weights.shares().values()))


def test_an_update_without_a_step_is_skipped():
    x = torch.zeros(3, requires_grad=True)
    weights = weighting()
    step(x, "near")
    weights.observe([x], "near")  # before the first direction nothing is learned
    assert "`aim`" in weights.update().skipped
    weights.aim([x], loss_of=lambda task: linear(x, task))
    assert "no step" in weights.update().skipped
    assert weights["near"] == pytest.approx(0.5)
    assert weights.failures == []


def test_updates_after_nothing_but_bad_steps_fail_and_move_nothing():
    x = torch.zeros(3, requires_grad=True)
    weights = weighting()
    weights.aim([x], loss_of=lambda task: linear(x, task))
    for task in ("near", "far") * 5:
        step(x, task)
        weights.observe([x], task)
    weights.update()
    before = weights.shares()
    for _ in range(3):
        step(x, "near", scale=math.nan)
        weights.observe([x], "near")
        json.dumps(weights.state_dict(), allow_nan=False)
        assert "finite" in weights.update().skipped
    assert weights.shares() == before
    assert len(weights.failures) == 3


def test_a_target_step_that_is_not_finite_leaves_the_direction_as_it_was():
    x = torch.zeros(3, requires_grad=True)
    weights = weighting(target_share=0.3)
    step(x, "goal")
    weights.observe([x], "goal")
    step(x, "goal", scale=math.inf)
    weights.observe([x], "goal")
    weights.aim([x], loss_of=lambda task: math.nan * linear(x, task))
    torch.testing.assert_close(weights.observer.direction.entries()[0], torch.tensor(WAYS["goal"]))


def test_sparse_gradients_are_compared_like_others():
    table = nn.Embedding(4, 3, sparse=True)
    weights = weighting()

    def loss_of(task):
        return (table(torch.tensor([0, 2])) * torch.tensor(WAYS[task])).sum()

    weights.aim(table, loss_of=loss_of)
    loss_of("near").backward()
    weights.observe(table, "near")
    inner, squared, direction = weights.observer._seen._steps[0].numbers.tolist()
    assert inner / math.sqrt(squared * direction) == pytest.approx(cosine("near"), abs=1e-6)


def test_layers_that_are_unfrozen_wait_for_the_next_direction(caplog):
    encoder = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 3))
    encoder[0].requires_grad_(False)
    weights = weighting(target_share=0.3)

    def loss_of(task):
        return encoder(torch.ones(1, 3)) @ torch.tensor(WAYS[task])

    def observed(task):
        encoder.zero_grad()
        loss_of(task).sum().backward()
        weights.observe(encoder, task)

    for task in ("goal", "near", "far"):
        observed(task)
    encoder[0].requires_grad_(True)
    observed("near")
    assert "until the next" in caplog.text
    for task in ("goal", "near", "far"):
        observed(task)
    assert weights.update().skipped is None


def test_a_long_wait_for_an_update_does_not_pile_up_on_the_device():
    x = torch.zeros(3, requires_grad=True)
    weights = weighting()
    weights.aim([x], loss_of=lambda task: linear(x, task))
    step(x, "near")
    for _ in range(2500):
        weights.observe([x], "near")
    assert weights.update().skipped is None
    assert not weights.observer.is_waiting


def test_state_goes_on_exactly():
    """In the middle between two updates, through JSON; the direction is taken anew."""
    x = torch.zeros(3, requires_grad=True)

    def run(weights, numbers):
        for number in numbers:
            if number % 5 == 0:
                weights.aim([x], loss_of=lambda task: linear(x, task))
            task = ("near", "far")[number % 2]
            step(x, task)
            weights.observe([x], task)
            if number % 10 == 9:
                weights.update()

    whole, first = weighting(), weighting()
    run(whole, range(60))
    run(first, range(25))
    again = weighting()
    again.load_state_dict(json.loads(json.dumps(first.state_dict())))
    run(again, range(25, 60))
    assert again.shares() == whole.shares()
    assert again.history == whole.history


def test_old_states_load():
    weights = weighting()
    state = weights.state_dict()
    assert "observed" not in state
    again = weighting()
    again.load_state_dict(state)
    assert not again.observer.has_seen


def test_fixed_weights_take_no_notice():
    x = torch.zeros(3, requires_grad=True)
    weights = Fixed(["near", "far"])
    weights.aim([x], loss_of=lambda task: linear(x, task))
    step(x, "near")
    weights.observe([x], "near")
    assert weights.update() is None
    assert weights["near"] == 0.5


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ("nera", "did you mean 'near'"),
        ({"near": -1.0}, "at least 0"),
        ({"near": 0.0}, "all shares are 0"),
        ({"near": math.nan}, "at least 0"),
        (["near"], "named by text"),
        (3, "named by text"),
    ],
)
def test_steps_on_no_task_are_refused(tasks, said):
    x = torch.zeros(3, requires_grad=True)
    step(x, "near")
    with pytest.raises(TawtError, match=said):
        weighting().observe([x], tasks)


def test_what_cannot_be_observed_is_refused():
    x = torch.zeros(3, requires_grad=True)
    with pytest.raises(TawtError, match="after `backward`"):
        weighting().observe([x], "near")
    step(x, "near")
    curved = weighting(rule=UpdateRule(alignment=CurvatureWeighted(Identity())))
    finer = weighting(units=Units.of_examples({"near": 3, "far": 3}))
    for weights in (curved, finer):
        with pytest.raises(TawtError, match="fresh batches"):
            weights.observe([x], "near")
        with pytest.raises(TawtError, match="fresh batches"):
            weights.update()
    weights = weighting()
    for given in ({"representation": [x]}, {"losses_of": lambda task: []}):
        with pytest.raises(TawtError, match="or neither"):
            weights.update(**given)


def test_observations_of_several_processes_are_those_of_one():
    """Whole gradients are averaged; parts of sharded ones add up."""

    class Two(Ranks):
        def __init__(self, other):
            super().__init__(None, size=2, rank=0)
            self.other = other

        def table(self, numbers):
            own = torch.as_tensor(numbers, dtype=torch.float64)
            return torch.stack([own, own if len(own) == 2 else self.other])

    def seen(numbers, ranks, copies):
        weights = weighting()
        weights.observer.aim([torch.ones(3)], [torch.ones(3)])
        weights.observer.direction.copies = copies
        for task, row in zip(("near", "far"), numbers, strict=True):
            weights.observer.note({task: 1.0}, torch.tensor(row, dtype=torch.float64))
        return weights.observer.settled(ranks).alignments

    rows = [[0.5, 1.0, 1.0], [0.1, 4.0, 1.0]]
    alone = seen(rows, Ranks.of(None), None)
    same = torch.tensor(rows, dtype=torch.float64).reshape(-1)
    assert seen(rows, Two(same), None) == alone
    part = [[value / 4 for value in row] for row in rows]
    rest = torch.tensor([[3 * value / 4 for value in row] for row in rows], dtype=torch.float64)
    assert seen(part, Two(rest.reshape(-1)), 1) == pytest.approx(alone)
    with pytest.raises(TrainingError, match="averaged"):
        seen(rows, Two(2 * same), None)


def test_processes_that_observe_other_tasks_are_refused():
    class Other(Ranks):
        def table(self, numbers):
            own = torch.as_tensor(numbers, dtype=torch.float64)
            return torch.stack([own, own + torch.tensor([0.0, 1.0])])

    weights = weighting()
    weights.observer.aim([torch.ones(3)], [torch.ones(3)])
    weights.observer.note({"near": 1.0}, torch.ones(3, dtype=torch.float64))
    with pytest.raises(TrainingError, match="draw alike"):
        weights.observer.settled(Other(None, size=2, rank=0))


def test_steps_of_a_sharded_model_are_no_part_of_a_state():
    """Each process has a part of their numbers, and a state is one process's."""
    weights = weighting()
    weights.observer.aim([torch.ones(3)], [torch.ones(3)])
    weights.observer.note({"near": 1.0}, torch.ones(3, dtype=torch.float64))
    assert len(weights.state_dict()["observed"]["seen"]) == 1
    weights.observer.direction.copies = 1
    assert weights.state_dict()["observed"]["seen"] == []


def test_entries_are_compared_however_they_are_laid_out(monkeypatch):
    """Together, one by one, and where a loss does not reach, as the plain inner product."""
    from tawt.gradients import dot, squared_norm
    from tawt.weighting import direction as module

    draw = torch.Generator().manual_seed(0)
    shapes = [(3, 4), (5,), (2, 2, 2), (7,), (1,)]
    parameters = [torch.zeros(shape) for shape in shapes]
    held, seen = ([torch.randn(s, generator=draw) for s in shapes] for _ in range(2))
    seen[1] = held[3] = None
    found = []
    for most in (1, 9, 1000):
        monkeypatch.setattr(module, "_TOGETHER", {"cpu": most})
        direction = module.Direction(parameters)
        direction.take(held)
        found.append(direction.products(seen))
    wanted = torch.stack([dot(held, seen), squared_norm(seen), squared_norm(held)])
    for numbers in found:
        torch.testing.assert_close(numbers, wanted, rtol=1e-6, atol=1e-6)


# By evidence


def observed(weights, *, steps=100):
    x = torch.zeros(3, requires_grad=True)
    for number in range(steps):
        if number % 5 == 0:
            weights.aim([x], loss_of=lambda task: linear(x, task))
        task = ("near", "far")[number % 2]
        step(x, task)
        weights.observe([x], task)
    return x


@pytest.mark.parametrize("share", [None, 0.3])
def test_by_evidence_leads_are_kept_and_no_error(share):
    """It is not known, so no page may draw it; and both sources may have it by chance."""
    weights = weighting(rule=UpdateRule.robust(), target_share=share)
    observed(weights)
    line = weights.update()
    assert line.leads["near"] == pytest.approx((cosine("near") - cosine("far")) / 2, abs=0.05)
    assert line.leads["far"] == pytest.approx(-line.leads["near"], rel=1e-4)
    assert line.error is None
    assert line.intervals == {}
    assert weights.findings() == {}
    assert 1.5 < weights["near"] / weights["far"] < 4


def test_an_update_goes_by_what_it_measures_itself():
    """After steps were observed, too: its own batches say the opposite of what steps have shown."""
    weights = weighting(rule=UpdateRule.robust())
    x = observed(weights)
    weights.update()
    before = weights.shares()
    other = {"near": "far", "far": "near", "goal": "goal"}
    draw = torch.Generator().manual_seed(0)
    for number in range(4):
        noise = 0.01 * torch.randn(3, generator=draw)
        line = weights.update(
            [x],
            loss_of=lambda task, noise=noise: linear(x, other[task]) + x @ noise,
            target_half=number % 2,
        )
        if number < 3:
            assert weights.shares() == before  # an error is known from a second pair of halves on
    assert weights["far"] > 0.9
    assert line.error is not None
    observed(weights, steps=10)
    weights.update()
    assert weights["near"] > weights["far"]
