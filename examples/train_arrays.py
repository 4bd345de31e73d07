"""From NumPy arrays to a trained target model, with and without the other datasets."""

import numpy as np
import torch
from numpy.typing import NDArray

from tawt import JointTraining, MultiTaskModel, Settings, SingleTask, TargetAware, train
from tawt.arrays import MLP, classification

torch.manual_seed(0)
draw = np.random.default_rng(0)
Arrays = tuple[NDArray[np.float64], NDArray[np.int64]]


def labelled(size: int, *, related: bool = True) -> Arrays:
    """Low, middle or high by the sum of five of twenty features, or by nothing."""
    inputs = draw.normal(size=(size, 20))
    labels = np.digitize(inputs[:, :5].sum(axis=1), [-1, 1])
    return inputs, labels if related else draw.integers(0, 3, size)


tasks = [
    classification("related", train=labelled(2000)),
    classification("noise", train=labelled(2000, related=False)),
    classification("goal", train=labelled(100), dev=labelled(200), test=labelled(1000)),
]
settings = Settings(
    learning_rate=0.003,
    update_every=10,
    sampling="weight",
    gradient_examples=128,
    target_from="halves in turn",
)

alone = train(
    MultiTaskModel.for_tasks(MLP((20,), widths=(32,)), tasks, width=32),
    tasks=tasks,
    target="goal",
    paradigm=SingleTask(epochs=100),
    settings=settings,
)
together = train(
    MultiTaskModel.for_tasks(MLP((20,), widths=(32,)), tasks, width=32),
    tasks=tasks,
    target="goal",
    paradigm=JointTraining(epochs=4),
    weighting=TargetAware(sources=["related", "noise"], target="goal", target_share=0.3),
    settings=settings,
)

for name, result in {"target alone": alone, "weighted joint": together}.items():
    print(f"{name:14} test accuracy {result.scores['goal']['test']['accuracy']:.3f}")
for task, share in together.weights.items():
    print(f"{task:14} final share   {share:.3f}")
