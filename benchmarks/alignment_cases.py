"""Models and examples for `per_example`, with what is asked of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses

from benchmarks.networks import Encoder, bert_base, dense, small_bert
from tawt.gradients import gradient_of
from tawt.tasks import MultiTaskModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from tawt.gradients import Gradient

Way = Literal["forward", "mixed", "differences"]
WAYS: tuple[Way, ...] = get_args(Way)
FIRST = 64  # examples of a first batch, as in training

_EXAMPLES = 1000
_TARGET = 32  # examples that the direction is the gradient of
_BUSY = 16384


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model and examples for it."""

    name: str
    model: MultiTaskModel
    inputs: Tensor
    labels: Tensor
    batch: int
    repeats: int
    goals: dict[Way, float | None]
    """How many times faster each way must be than a backward pass per example, if that is asked."""

    def losses(self, rows: slice | Tensor) -> Callable[[], Tensor]:
        """The losses of some examples."""
        inputs, labels = self.inputs[rows], self.labels[rows]
        return lambda: F.cross_entropy(self.model(inputs, "task"), labels, reduction="none")

    @property
    def batches(self) -> list[Callable[[], Tensor]]:
        """Of all examples; the small first batch of an update is counted apart."""
        starts = range(0, len(self.labels), self.batch)
        return [self.losses(slice(start, start + self.batch)) for start in starts]

    @cached_property
    def few(self) -> Callable[[], Tensor]:
        """Of a first batch from everywhere."""
        return self.losses(torch.linspace(0, len(self.labels) - 1, FIRST).long())

    @property
    def examples(self) -> int:
        """How many are counted: 1000, though fewer may be timed, or all there are."""
        return max(_EXAMPLES, len(self.labels))

    @property
    def parameters(self) -> list[Tensor]:
        """Of the representation."""
        return list(self.model.representation.parameters())

    @property
    def direction(self) -> Gradient:
        """v: the gradient on some of the examples."""
        return gradient_of(self.losses(slice(_TARGET))().mean(), self.parameters)


def cases_for(device: torch.device, *, quick: bool) -> list[Case]:
    """What is measured on a device."""
    cases = [_two_layers(device=device, quick=quick), _encoder(device=device, quick=quick)]
    if device.type == "cuda":
        cases.insert(1, _busy(cases[0], device=device))
        cases.append(_large_encoder(device=device, quick=quick))
    return cases


def _two_layers(*, device: torch.device, quick: bool) -> Case:
    width = 64 if quick else 4096
    return _case(
        f"two layers, hidden {width}",
        MultiTaskModel(
            dense(features=250, width=width, depth=1), {"task": torch.nn.Linear(width, 18)}
        ),
        torch.randn(100 if quick else _EXAMPLES, 250),
        batch=500,
        repeats=1 if quick else 75,
        goals=dict.fromkeys(WAYS, 30.0),
        device=device,
    )


def _busy(case: Case, *, device: torch.device) -> Case:
    """The same network with batches that take a GPU longer than their launches do."""
    return replace(
        case,
        name=f"{case.name}, {_BUSY} at a time",
        inputs=torch.randn(2 * _BUSY, case.inputs.shape[1], device=device),
        labels=torch.randint(18, (2 * _BUSY,), device=device),
        batch=_BUSY,
        goals={},
    )


def _encoder(*, device: torch.device, quick: bool) -> Case:
    width, layers, vocabulary = (32, 1, 500) if quick else (384, 6, 30522)
    encoder = Encoder(vocabulary=vocabulary, width=width, layers=layers, heads=width // 32)
    cuda = device.type == "cuda"
    return _case(
        f"encoder {layers} x {width}, 32 tokens",
        MultiTaskModel(encoder, {"task": torch.nn.Linear(width, 18)}),
        torch.randint(vocabulary, (64 if quick else _EXAMPLES if cuda else 256, 32)),
        batch=250 if cuda else 64,
        repeats=1 if quick else 7,
        # Forward mode multiplies three matrices where two forward passes multiply two.
        goals=dict.fromkeys(WAYS, 20.0) if cuda else {**dict.fromkeys(WAYS), "differences": 5.0},
        device=device,
    )


def _large_encoder(*, device: torch.device, quick: bool) -> Case:
    """Of the size of the paper's, with long texts: a GPU has more to compute than to launch."""
    length = 16 if quick else 128
    return _case(
        f"encoder of BERT's size, {length} tokens",
        MultiTaskModel(
            small_bert() if quick else bert_base(),
            {"task": torch.nn.Linear(64 if quick else 768, 18)},
        ),
        torch.randint(1000, (64 if quick else _EXAMPLES, length)),
        batch=125,
        repeats=1 if quick else 7,
        goals=dict.fromkeys(WAYS),
        device=device,
    )


def _case(
    name: str,
    model: MultiTaskModel,
    inputs: Tensor,
    *,
    batch: int,
    repeats: int,
    goals: dict[Way, float | None],
    device: torch.device,
) -> Case:
    return Case(
        name=name,
        model=model.to(device).eval(),
        inputs=inputs.to(device),
        labels=torch.randint(18, (len(inputs),), device=device),
        batch=batch,
        repeats=repeats,
        goals=goals,
    )
