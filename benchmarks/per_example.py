"""Alignments of single examples against a backward pass for each, and their cost in forward passes.

The products ⟨v, ∇ℓ_i⟩ of 1000 examples with one direction, v the gradient of some of them, as an
update would take them: a first batch of 64, on which differences find their step size and mixed
precision its error, and the others in larger ones. Everything from the constructor on is counted. A backward pass per example is
timed on 50 examples and scaled; for the encoder on a CPU the batches after the first are timed on
256, and scaled. Plain forward passes go through the same large batches without a graph. All sides
take turns, and must find the same products, or nothing is reported.

Differences are also held to 2.5 forward passes, batch by batch once the step size is found; what
the search adds over all examples is told beside it. And they are held to one copy of the
representation beyond what a forward pass holds, and a few numbers an example. Forward mode copies
no parameter but carries a tangent beside every value, so it is held to one copy beyond two forward
passes. Mixed precision is forward mode with matrix products in bfloat16, and held to the same. On
a GPU the two layers are also run in batches that keep it busy: 500 examples are fewer microseconds
of work than of launches; and an encoder of the paper's size is added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import median
from typing import TYPE_CHECKING, Literal, get_args

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses

from benchmarks.finding import Finding, Numbers
from benchmarks.live_storage import peak_extra_bytes
from benchmarks.networks import Encoder, bert_base, dense, parameter_bytes, small_bert
from benchmarks.timing import in_turns, seconds
from tawt.gradients import dot, gradient_of
from tawt.per_example import ExampleProducts
from tawt.tasks import MultiTaskModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from tawt.gradients import Gradient

_EXAMPLES = 1000
_ALONE = 50
_TARGET = 32  # examples that the direction is the gradient of
_Way = Literal["forward", "mixed", "differences"]
_WAYS: tuple[_Way, ...] = get_args(_Way)
# By the products' norm, of a model in float32.
_TOLERANCES: dict[_Way, float] = {"forward": 1e-3, "mixed": 3e-2, "differences": 3e-2}
_CALLED: dict[_Way, str] = {
    "forward": "forward mode",
    "mixed": "forward mode in mixed precision",
    "differences": "differences",
}
_FORWARDS = 2.5
_FIRST = 64  # examples of a first batch, as in training
_NUMBERS = 8  # an example, beyond a copy: its loss on both sides, and what is made of it
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
    goals: dict[_Way, float | None]
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
        return self.losses(torch.linspace(0, len(self.labels) - 1, _FIRST).long())

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


def run(*, device: torch.device, quick: bool) -> list[Finding]:
    """Speed, cost in forward passes and memory of both ways, for both models."""
    cases = [_two_layers(device=device, quick=quick), _encoder(device=device, quick=quick)]
    if device.type == "cuda":
        cases.insert(1, _busy(cases[0], device=device))
        cases.append(_large_encoder(device=device, quick=quick))
    return [finding for case in cases for finding in _findings(case, device=device)]


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
        goals=dict.fromkeys(_WAYS, 30.0),
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
        goals=dict.fromkeys(_WAYS, 20.0) if cuda else {**dict.fromkeys(_WAYS), "differences": 5.0},
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
        goals=dict.fromkeys(_WAYS, 20.0),
        device=device,
    )


def _case(
    name: str,
    model: MultiTaskModel,
    inputs: Tensor,
    *,
    batch: int,
    repeats: int,
    goals: dict[_Way, float | None],
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


def _findings(case: Case, *, device: torch.device) -> list[Finding]:
    direction = case.direction
    settled = {way: _settled(case, direction, way) for way in _WAYS}
    _check_same(case, direction, settled)
    timed = partial(seconds, device=device)
    sides: dict[str, Callable[[], float]] = {
        "alone": partial(timed, partial(_alone, case, direction)),
        "forward pass": partial(timed, partial(_forward_passes, case)),
    }
    for way in _WAYS:
        sides[f"{way}, first"] = partial(timed, partial(_settled, case, direction, way))
        sides[f"{way}, later"] = partial(timed, partial(_all, case, settled[way]))
    times = _of_all(case, in_turns(sides, repeats=case.repeats))
    errors = {
        f"relative_error, {way}": settled[way].relative_error or 0.0
        for way in _WAYS
        if way != "forward"
    }
    numbers: Numbers = {
        "batch": case.batch,
        "first_batch": _FIRST,
        "passes_over_first_batch": _passes_of_search(case, direction),
        "examples": case.examples,
        **errors,
        **{f"seconds, {name}": found for name, found in times.items()},
    }
    found = [
        *(_faster(case, way, times) for way in case.goals),
        *(_in_passes(case, way, times) for way in _WAYS),
        *(_memory(case, direction, way, device=device) for way in _WAYS),
    ]
    return [replace(finding, numbers={**numbers, **finding.numbers}) for finding in found]


def _of_all(case: Case, times: dict[str, list[float]]) -> dict[str, list[float]]:
    """Seconds that all examples take by each way; of the ways' own, also without a first batch."""
    scale = case.examples / len(case.labels)
    found = {
        "alone": [t * case.examples / _ALONE for t in times["alone"]],
        "forward pass": [t * scale for t in times["forward pass"]],
    }
    for way in _WAYS:
        first, later = times[f"{way}, first"], times[f"{way}, later"]
        rest = (case.examples - _FIRST) / len(case.labels)
        found[way] = [f + t * rest for f, t in zip(first, later, strict=True)]
        found[f"{way}, settled"] = [t * scale for t in later]
    return found


def _settled(case: Case, direction: Gradient, way: _Way) -> ExampleProducts:
    """After its first batch: the step size is found, or the error known."""
    products = ExampleProducts(case.model, case.parameters, direction, way=way)
    products(case.few)
    return products


def _passes_of_search(case: Case, direction: Gradient) -> int:
    passes = 0
    few = case.few

    def counted() -> Tensor:
        nonlocal passes
        passes += 1
        return few()

    ExampleProducts(case.model, case.parameters, direction, way="differences")(counted)
    return passes


def _all(case: Case, products: ExampleProducts) -> Tensor:
    return torch.cat([products(losses) for losses in case.batches])


def _alone(case: Case, direction: Gradient) -> Tensor:
    """One backward pass per example, of some that the direction was not made from."""
    found = []
    for row in range(len(case.labels) - _ALONE, len(case.labels)):
        loss = case.losses(slice(row, row + 1))()[0]
        found.append(dot(direction, gradient_of(loss, case.parameters)))
    return torch.stack(found)


def _forward_passes(case: Case) -> None:
    with torch.no_grad():
        for losses in case.batches:
            losses()


def _check_same(case: Case, direction: Gradient, settled: dict[_Way, ExampleProducts]) -> None:
    exact = _alone(case, direction)
    for way, products in settled.items():
        found = _all(case, products)[-_ALONE:].double()
        apart = float((found - exact).norm() / exact.norm())
        if not apart <= _TOLERANCES[way]:
            raise RuntimeError(f"{case.name}: products by {way} are {apart:.1e} off.")


def _faster(case: Case, way: _Way, times: dict[str, list[float]]) -> Finding:
    each = [a / b for a, b in zip(times["alone"], times[way], strict=True)]
    return Finding(
        benchmark="per_example",
        what=f"{case.name}: a backward pass per example over {_CALLED[way]}",
        value=median(times["alone"]) / median(times[way]),
        unit="x",
        goal=case.goals[way],
        direction="at least",
        spread=(min(each), max(each)),
        note=f"{case.examples} examples in {median(times[way]):.3g} s for "
        f"{median(times['alone']):.3g} s; a plain forward pass over them would be "
        f"{median(times['alone']) / median(times['forward pass']):.3g} times faster",
    )


def _in_passes(case: Case, way: _Way, times: dict[str, list[float]]) -> Finding:
    settled, plain = times[f"{way}, settled"], times["forward pass"]
    each = [a / b for a, b in zip(settled, plain, strict=True)]
    return Finding(
        benchmark="per_example",
        what=f"{case.name}: {_CALLED[way]} over a forward pass",
        value=median(settled) / median(plain),
        unit="x",
        goal=_FORWARDS if way == "differences" else None,
        spread=(min(each), max(each)),
        note=f"batches of {case.batch}; of all {case.examples}, from the constructor on, "
        f"{median(times[way]) / median(plain):.2f}",
    )


def _memory(
    case: Case,
    direction: Gradient,
    way: _Way,
    *,
    device: torch.device,
) -> Finding:
    present = [*case.model.parameters(), *case.model.buffers(), case.inputs, case.labels]
    present += [entry for entry in direction if entry is not None]
    size = parameter_bytes(case.model.representation)
    losses = case.batches[0]

    def forward() -> None:
        with torch.no_grad():
            losses()

    def ours() -> None:
        _settled(case, direction, way)(losses)

    activations, peak = (
        peak_extra_bytes(action, device=device, present=present) / size
        for action in (forward, ours)
    )
    passes = 1 if way == "differences" else 2
    return Finding(
        benchmark="per_example",
        what=f"{case.name}: peak extra memory of {_CALLED[way]}, a batch of {case.batch}",
        value=peak,
        unit="copies",
        goal=1 + passes * activations + _NUMBERS * 4 * case.batch / size,
        note=f"goal is one copy and the {activations:.2f} of a forward pass"
        + (", twice" if passes == 2 else ""),
        numbers={"activation_copies": activations},
    )
