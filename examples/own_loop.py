"""TAWT in a training loop of your own: the lines marked 1, 2 and 3 are all there is to add."""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import TensorDataset

from tawt import Mixture, TargetAware

torch.manual_seed(0)


def dataset(size: int, *, related: bool) -> TensorDataset:
    """Labels that depend on the first five of twenty features, or on nothing."""
    inputs = torch.randn(size, 20)
    labels = (inputs[:, :5].sum(dim=1) > 0).long()
    return TensorDataset(inputs, labels if related else torch.randint(0, 2, (size,)))


data = {
    "related": dataset(1000, related=True),
    "noise": dataset(1000, related=False),
    "goal": dataset(128, related=True),
}
encoder = nn.Sequential(nn.Linear(20, 64), nn.ReLU())
heads = nn.ModuleDict({name: nn.Linear(64, 2) for name in data})
optimiser = torch.optim.SGD([*encoder.parameters(), *heads.parameters()], lr=0.1)


def loss_on(task: str, batch: list[Tensor]) -> Tensor:
    inputs, labels = batch
    return cross_entropy(heads[task](encoder(inputs)), labels)


weights = TargetAware(sources=["related", "noise"], target="goal", target_share=0.3)  # 1
mixture = Mixture(data, weights, batch_size=32, steps=400)  # 2

for step, (task, batch) in enumerate(mixture, start=1):
    optimiser.zero_grad()
    loss_on(task, batch).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    optimiser.step()
    if step % 10 == 0:
        half = weights.history.updates % 2  # of the target's examples, in turn
        loss_of = mixture.fresh(loss_on, target_half=half)
        weights.update(encoder, loss_of=loss_of, target_half=half)  # 3

for task, share in weights.shares().items():
    print(f"{task:8} {share:.3f}")
