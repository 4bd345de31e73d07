"""TAWT in a training loop of your own: the lines marked 1, 2 and 3 are all there is to add."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import TensorDataset

from tawt import TargetAware

torch.manual_seed(0)
draw = torch.Generator().manual_seed(0)


def dataset(size: int, *, related: bool) -> TensorDataset:
    """Labels that depend on the first five of twenty features, or on nothing."""
    inputs = torch.randn(size, 20)
    labels = (inputs[:, :5].sum(dim=1) > 0).long()
    return TensorDataset(inputs, labels if related else torch.randint(0, 2, (size,)))


def batches_of(data: TensorDataset, size: int) -> Iterator[tuple[Tensor, ...]]:
    """Epoch after epoch, each in an order of its own; batches in a row never share an example."""
    last = torch.tensor([], dtype=torch.long)
    while True:
        order = torch.randperm(len(data), generator=draw)
        first = order[~torch.isin(order, last)][:size]  # not what the epoch before ended with
        rest = order[~torch.isin(order, first)]
        for last in (first, *torch.split(rest, size)):
            yield data[last]


data = {
    "related": dataset(1000, related=True),
    "noise": dataset(1000, related=False),
    "goal": dataset(128, related=True),
}
batches = {name: batches_of(found, 32) for name, found in data.items()}

encoder = nn.Sequential(nn.Linear(20, 64), nn.ReLU())
heads = nn.ModuleDict({name: nn.Linear(64, 2) for name in data})
optimiser = torch.optim.SGD([*encoder.parameters(), *heads.parameters()], lr=0.1)


def loss_of(task: str) -> Tensor:
    inputs, labels = next(batches[task])
    return cross_entropy(heads[task](encoder(inputs)), labels)


weights = TargetAware(sources=["related", "noise"], target="goal", target_share=0.3)  # 1

for step in range(1, 201):
    loss = weights.combine({task: loss_of(task) for task in weights})  # 2
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    optimiser.step()
    if step % 5 == 0:
        weights.update(encoder, loss_of=loss_of)  # 3

for task, share in weights.shares().items():
    print(f"{task:8} {share:.3f}")
