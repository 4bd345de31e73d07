"""A source's examples, batch by batch, for alignments of each."""

import numpy as np
import pytest
import torch

from tawt.arrays import MLP, classification
from tawt.gradients import gradient_of
from tawt.per_example import ExampleProducts
from tawt.tasks import MultiTaskModel
from tawt.training.each import EachExample


def measuring(size, **options):
    """A source of so many examples, a model for it, and its examples batch by batch."""
    torch.manual_seed(0)
    inputs = np.random.default_rng(0).normal(size=(size, 6))
    task = classification("source", train=(inputs, np.arange(size) % 2), labels=["0", "1"])
    model = MultiTaskModel.for_tasks(MLP((6,), widths=(64,)), [task], width=64)
    each = EachExample(
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


def test_small_batches_stay_small():
    *_, each = measuring(100, at_once=8)
    assert {len(indices) for indices, _ in each("source")} <= {8, 4}


def test_differences_cost_two_and_a_half_forward_passes_with_their_search():
    """Counted in examples, of a thousand as in the paper's sample-weighted experiment."""
    task, model, each = measuring(1000)
    parameters = list(model.representation.parameters())
    batch = task.train.batch(np.arange(50))
    outputs = model(batch.inputs, "source")
    direction = gradient_of(task.kind.losses(outputs, batch.labels).mean(), parameters)
    ran = []
    model.representation.register_forward_hook(lambda _, given, __: ran.append(len(given[0])))
    found = {}
    for way in ("forward", "differences"):
        ran.clear()
        products = ExampleProducts(model, parameters, direction, way=way)
        values = [(indices, products(losses)) for indices, losses in each("source")]
        found[way] = torch.cat([product for _, product in values]).double()
    assert 2000 < sum(ran) <= 2500
    apart = (found["differences"] - found["forward"]).norm() / found["forward"].norm()
    assert apart <= 2 * products.relative_error <= 2e-2
