"""Models of several kinds in float64, each with a batch, and the obvious answer for it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from tests import oracles


@dataclass
class Case:
    """A model, the parameters of its representation, and how it is run on one batch."""

    module: nn.Module
    parameters: list
    losses_of: Callable
    inputs: list | None = None

    def losses(self):
        """ℓ_i of the batch."""
        return self.losses_of(self.module)

    def gradients(self):
        """∇ℓ_i as the rows of a matrix, one backward pass per example."""
        modes = [(part, part.training) for part in self.module.modules()]
        self.module.eval()
        examples = len(self.losses())
        found = [
            oracles.flat_gradient(self.losses()[row], self.parameters) for row in range(examples)
        ]
        for part, training in modes:
            part.training = training
        return torch.stack(found)

    def direction(self, *, scale=1.0, seed=7):
        """Random, with a hole where the model has several parameters."""
        generator = torch.Generator().manual_seed(seed)
        found = [
            scale * torch.randn(p.shape, generator=generator, dtype=torch.float64).to(p)
            for p in self.parameters
        ]
        return [*found[:-1], None] if len(found) > 2 else found

    def products(self, direction):
        """⟨v, ∇ℓ_i⟩ by the gradients themselves."""
        flat = torch.cat(
            [
                torch.zeros(p.numel(), dtype=torch.float64) if v is None else v.flatten().double()
                for v, p in zip(direction, self.parameters, strict=True)
            ]
        )
        return self.gradients() @ flat

    def norms(self):
        """‖∇ℓ_i‖² by the gradients themselves."""
        return self.gradients().square().sum(1)


class Whole(nn.Module):
    """A representation and a head."""

    def __init__(self, representation, head):
        super().__init__()
        self.representation, self.head = representation, head

    def forward(self, *inputs):
        return self.head(self.representation(*inputs))


def classifying(representation, head, inputs, *, classes=3):
    """A classifier, left in training mode: that it is measured without dropout is not our doing."""
    module = Whole(representation, head).double().train()
    for part in module.modules():  # zeros and ones hide mistakes
        if isinstance(part, nn.BatchNorm1d | nn.BatchNorm2d):
            part.running_mean.uniform_(-1, 1)
            part.running_var.uniform_(0.5, 2)
        if isinstance(part, nn.LayerNorm | nn.BatchNorm1d | nn.BatchNorm2d):
            nn.init.uniform_(part.weight, 0.5, 2)
            nn.init.uniform_(part.bias, -1, 1)
    labels = torch.arange(len(inputs[0])) % classes

    def losses_of(module):
        return cross_entropy(module(*inputs), labels, reduction="none")

    return Case(module, list(representation.parameters()), losses_of, inputs)


def mlp():
    torch.manual_seed(0)
    layers = [nn.Linear(5, 8), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(8, 6), nn.Tanh()]
    return classifying(
        nn.Sequential(*layers), nn.Linear(6, 3), [torch.randn(7, 5, dtype=torch.float64)]
    )


def cnn():
    torch.manual_seed(1)
    layers = [
        nn.Conv2d(2, 4, 3, stride=2, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.Conv2d(4, 5, (2, 1), dilation=(2, 1), bias=False),
        nn.GELU(),
        nn.Flatten(2),
        nn.Conv1d(5, 3, 2, stride=2),
        nn.BatchNorm1d(3),
        nn.Dropout1d(0.3),
        nn.Flatten(),
    ]
    inputs = torch.randn(6, 2, 9, 7, dtype=torch.float64)
    representation = nn.Sequential(*layers)
    width = representation(inputs.float()).shape[1]
    return classifying(representation, nn.Linear(width, 3), [inputs])


class Transformer(nn.Module):
    """Tokens with padding, positions looked up once for the batch, a mean over what is no padding.

    Args:
        attention: "torch" for its own layers, "written" for linear layers around its attention.
    """

    def __init__(self, attention, width=8):
        super().__init__()
        self.tokens = nn.Embedding(11, width, padding_idx=0)
        self.positions = nn.Embedding(16, width)
        made = {"torch": _torch_layer, "written": Block}[attention]
        self.layers = nn.ModuleList(made(width) for _ in range(2))

    def forward(self, ids):
        there = ids != 0
        vectors = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        for layer in self.layers:
            vectors = layer(vectors, src_key_padding_mask=~there)
        return (vectors * there[..., None]).sum(1) / there.sum(1, keepdim=True)


def _torch_layer(width):
    return nn.TransformerEncoderLayer(width, 2, 12, 0.1, activation="gelu", batch_first=True)


class Block(nn.Module):
    """An encoder layer as people write them."""

    def __init__(self, width):
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 12), nn.GELU(), nn.Linear(12, width))
        self.dropout = nn.Dropout(0.1)

    def forward(self, vectors, *, src_key_padding_mask):
        mixed = self.mix(self.before(vectors)).unflatten(-1, (3, 2, -1)).permute(2, 0, 3, 1, 4)
        seen = ~src_key_padding_mask[:, None, None]
        attended = nn.functional.scaled_dot_product_attention(*mixed, attn_mask=seen)
        vectors = vectors + self.dropout(self.out(attended.transpose(1, 2).flatten(2)))
        return vectors + self.feed(self.after(vectors))


def padded_ids():
    """Of lengths 6 to 2, with ids that come twice."""
    ids = torch.randint(1, 11, (5, 6))
    ids[:, 1] = ids[:, 0]
    return ids * (torch.arange(6) < torch.tensor([6, 5, 4, 3, 2])[:, None])


def transformer(attention="torch"):
    torch.manual_seed(2)
    representation = Transformer(attention)
    return classifying(representation, nn.Linear(8, 3), [padded_ids()])


def written_transformer():
    return transformer("written")


class Tied(nn.Module):
    """A table that is also the last layer's weight, and a layer with two names, run twice."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(9, 4)
        self.layer = nn.Linear(4, 4)
        self.again = self.layer
        self.scores = nn.Linear(4, 9, bias=False)
        self.scores.weight = self.tokens.weight
        self.unused = nn.Linear(2, 2)

    def forward(self, ids):
        vectors = torch.tanh(self.layer(self.tokens(ids).mean(1)))
        return self.scores(torch.tanh(self.again(vectors)))


def tied():
    torch.manual_seed(3)
    return classifying(Tied(), nn.Identity(), [torch.randint(9, (5, 3))])


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(4, 5, num_layers=2, batch_first=True, dropout=0.5)

    def forward(self, inputs):
        return self.layer(inputs)[0][:, -1]


def recurrent():
    torch.manual_seed(4)
    inputs = torch.randn(4, 3, 4, dtype=torch.float64)
    return classifying(Recurrent(), nn.Linear(5, 3), [inputs])


def in_float32(case):
    """The same case, with inputs that are narrowed as they come."""
    case.module.float().register_forward_pre_hook(
        lambda _, given: tuple(x.float() if x.is_floating_point() else x for x in given)
    )
    return case


CASES = {
    "mlp": mlp,
    "cnn": cnn,
    "transformer": transformer,
    "written transformer": written_transformer,
    "tied": tied,
    "recurrent": recurrent,
}
