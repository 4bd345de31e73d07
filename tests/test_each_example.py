"""Alignments of each of a source's examples, batch by batch, however many there are."""

import json

import numpy as np
import pytest
import torch

from tawt.arrays import MLP, classification
from tawt.curvature import Identity
from tawt.gradients import gradient_of
from tawt.hypergradient import CurvatureWeighted
from tawt.per_example import ExampleProducts
from tawt.tasks import MultiTaskModel
from tawt.training.each import ExampleLosses
from tawt.units import Units
from tawt.weighting import TargetAware, UpdateRule


def measuring(size, *, seed=0, **options):
    """A source of so many examples, a model for it, and its examples batch by batch."""
    torch.manual_seed(seed)
    inputs = np.random.default_rng(seed).normal(size=(size, 6))
    task = classification("source", train=(inputs, np.arange(size) % 2), labels=["0", "1"])
    model = MultiTaskModel.for_tasks(MLP((6,), widths=(64,)), [task], width=64)
    each = ExampleLosses(
        model=model,
        tasks={"source": task},
        examples={"source": task.train},
        **{"at_once": 128, "most": None} | options,
        draw=np.random.default_rng(0),
        device=torch.device("cpu"),
    )
    return task, model, each


@pytest.mark.parametrize("size", [1, 20, 64, 65, 1000])
def test_a_few_from_everywhere_come_first_and_every_example_once(size):
    *_, each = measuring(size)
    first, *others = [indices for indices, _ in each("source")]
    assert len(first) == min(size, 64)
    assert first[0] == 0
    assert first[-1] == size - 1
    assert np.diff(first).max(initial=1) <= max(1, size / 32)
    assert all(len(indices) <= 128 for indices in others)
    assert sorted(np.concatenate([first, *others])) == list(range(size))


def test_where_batches_are_small_the_first_is_still_from_everywhere():
    *_, each = measuring(100, at_once=8)
    first, *others = [indices for indices, _ in each("source")]
    assert len(first) == 8
    assert np.diff(first).min() > 12
    assert max(map(len, others)) == 8


def test_differences_mostly_cost_two_and_a_half_forward_passes_with_their_search():
    """Counted in examples, of a thousand as in the paper's sample-weighted experiment."""
    costs = []
    for seed in range(9):
        task, model, each = measuring(1000, seed=seed)
        parameters = list(model.representation.parameters())
        batch = task.train.batch(np.arange(50))
        outputs = model(batch.inputs, "source")
        direction = gradient_of(task.kind.losses(outputs, batch.labels).mean(), parameters)
        ran = []
        model.representation.register_forward_hook(
            lambda _, given, __, ran=ran: ran.append(len(given[0]))
        )
        found = {}
        for way in ("forward", "differences"):
            ran.clear()
            products = ExampleProducts(model, parameters, direction, way=way)
            found[way] = torch.cat([products(losses) for _, losses in each("source")])
        costs.append(sum(ran) / 1000)
        apart = (found["differences"] - found["forward"]).norm() / found["forward"].norm()
        assert apart <= 2e-2  # by one ReLU network or another
    assert min(costs) > 2
    assert np.median(costs) <= 2.5
    assert max(costs) <= 2 + 64 * 22 / 1000


def test_ten_million_examples_are_measured_moved_and_kept():
    """ℓ_i = w x_i and L_0 = w, so that a_i = x_i, and one step leaves log ω_i = η x_i + c."""
    size, at_once = 10_000_000, 2_000_000
    layer = torch.nn.Linear(1, 1, bias=False)

    def loss_of(_):
        return layer.weight.sum()

    def losses_of(_):
        for start in range(0, size, at_once):
            indices = np.arange(start, min(size, start + at_once))
            inputs = torch.from_numpy(indices % 1000 / 1000).float().unsqueeze(1)
            yield indices, lambda inputs=inputs: layer(inputs).squeeze(1)

    def weighting():
        rule = UpdateRule(alignment=CurvatureWeighted(Identity()), step_size=2.0)
        units = Units.of_examples({"web": size})
        return TargetAware(
            sources=["web"], target="goal", target_share=None, units=units, rule=rule
        )

    moved = weighting()
    record = moved.update(layer, loss_of=loss_of, losses_of=losses_of, touching=[layer])
    logs = moved.weights.logs
    assert float(logs[999] - logs[0]) == pytest.approx(2 * 0.999, abs=1e-4)
    assert float(logs[-1] - logs[-501]) == pytest.approx(2 * 0.5, abs=1e-4)
    assert bool(moved.was_measured.all())
    assert len(json.dumps(record.summary)) < 20_000
    state = moved.state_dict()
    held = [value for value in state.values() if isinstance(value, torch.Tensor)]
    assert sum(value.nbytes for value in held) <= 12 * size + 1000
    again = weighting()
    again.load_state_dict(state)
    assert torch.equal(again.weights.logs, logs)
    assert torch.equal(again.mean_alignments, moved.mean_alignments)
