"""Alignments of single examples against a backward pass for each, and their cost in forward passes.

The products ⟨v, ∇ℓ_i⟩ of 1000 examples with one direction, v the gradient of some of them, as an
update would take them: a first batch of 64, on which differences find their step size and mixed
precision its error, and the others in larger ones. Everything from the constructor on is counted.
A backward pass per example is timed on 50 examples and scaled; for the encoder on a CPU the batches
after the first are timed on 256, and scaled. Plain forward passes go through the same large batches
without a graph. All sides take turns, and must find the same products, or nothing is reported.

Differences are also held to 2.5 forward passes, batch by batch once the step size is found; what
the search adds over all examples is told beside it. And they are held to one copy of the
representation beyond what a forward pass holds, and a few numbers an example. Forward mode copies
no parameter but carries a tangent beside every value, so it is held to one copy beyond two forward
passes. Mixed precision is forward mode with matrix products in bfloat16, and held to the same. On
a GPU the two layers are also run in batches that keep it busy: 500 examples are fewer microseconds
of work than of launches; and an encoder of the paper's size is added.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

import torch

from benchmarks.alignment_cases import FIRST, WAYS, Case, Way, cases_for
from benchmarks.finding import Finding, Numbers
from benchmarks.live_storage import peak_extra_bytes
from benchmarks.networks import parameter_bytes
from benchmarks.timing import in_turns, seconds
from tawt.gradients import dot, gradient_of
from tawt.per_example import ExampleProducts

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from tawt.gradients import Gradient

_ALONE = 50
# By the products' norm, of a model in float32.
_TOLERANCES: dict[Way, float] = {"forward": 1e-3, "mixed": 3e-2, "differences": 3e-2}
_CALLED: dict[Way, str] = {
    "forward": "forward mode",
    "mixed": "forward mode in mixed precision",
    "differences": "differences",
}
_FORWARDS = 2.5
_NUMBERS = 8  # an example, beyond a copy: its loss on both sides, and what is made of it


def run(*, device: torch.device, quick: bool) -> list[Finding]:
    """Speed, cost in forward passes and memory of every way, for every model."""
    cases = cases_for(device, quick=quick)
    return [finding for case in cases for finding in _findings(case, device=device)]


def _findings(case: Case, *, device: torch.device) -> list[Finding]:
    direction = case.direction
    settled = {way: _settled(case, direction, way) for way in WAYS}
    _check_same(case, direction, settled)
    timed = partial(seconds, device=device)
    sides: dict[str, Callable[[], float]] = {
        "alone": partial(timed, partial(_alone, case, direction)),
        "forward pass": partial(timed, partial(_forward_passes, case)),
    }
    for way in WAYS:
        sides[f"{way}, first"] = partial(timed, partial(_settled, case, direction, way))
        sides[f"{way}, later"] = partial(timed, partial(_all, case, settled[way]))
    times = _of_all(case, in_turns(sides, repeats=case.repeats))
    errors = {
        f"relative_error, {way}": settled[way].relative_error or 0.0
        for way in WAYS
        if way != "forward"
    }
    numbers: Numbers = {
        "batch": case.batch,
        "first_batch": FIRST,
        "passes_over_first_batch": _passes_of_search(case, direction),
        "examples": case.examples,
        **errors,
        **{f"seconds, {name}": found for name, found in times.items()},
    }
    found = [
        *(_faster(case, way, times) for way in case.goals),
        *(_in_passes(case, way, times) for way in WAYS),
        *(_memory(case, direction, way, device=device) for way in WAYS),
    ]
    return [replace(finding, numbers={**numbers, **finding.numbers}) for finding in found]


def _of_all(case: Case, times: dict[str, list[float]]) -> dict[str, list[float]]:
    """Seconds that all examples take by each way; of the ways' own, also without a first batch."""
    scale = case.examples / len(case.labels)
    found = {
        "alone": [t * case.examples / _ALONE for t in times["alone"]],
        "forward pass": [t * scale for t in times["forward pass"]],
    }
    for way in WAYS:
        first, later = times[f"{way}, first"], times[f"{way}, later"]
        rest = (case.examples - FIRST) / len(case.labels)
        found[way] = [f + t * rest for f, t in zip(first, later, strict=True)]
        found[f"{way}, settled"] = [t * scale for t in later]
    return found


def _settled(case: Case, direction: Gradient, way: Way) -> ExampleProducts:
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


def _check_same(case: Case, direction: Gradient, settled: dict[Way, ExampleProducts]) -> None:
    exact = _alone(case, direction)
    for way, products in settled.items():
        found = _all(case, products)[-_ALONE:].double()
        apart = float((found - exact).norm() / exact.norm())
        if not apart <= _TOLERANCES[way]:
            raise RuntimeError(f"{case.name}: products by {way} are {apart:.1e} off.")


def _faster(case: Case, way: Way, times: dict[str, list[float]]) -> Finding:
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


def _in_passes(case: Case, way: Way, times: dict[str, list[float]]) -> Finding:
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
    way: Way,
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
