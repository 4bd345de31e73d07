"""The terms of the paper's bound: which of them is large, and so what would help.

For fixed weights (Theorem "two-step procedure with fixed weights"), with probability 1 − δ,

    L0(φ̂, f̂0) − L0(φ0*, f0*)  ≤  C' [ ((ν_F + log 1/δ) / n_0)^½
                                     + ((ν_Φ + T ν_F + log 1/δ) / N_ω)^(1/2ρ) ]
                                  + dist(Σ ω_t D_t, D_0)            N_ω = 1 / Σ ω_t²/n_t

and for weights that were learned and stay within a ratio β, the second term becomes

    β^(1/ρ) ((ν_Φ + log 1/δ) / nT + (ν_F + log T) / n)^(1/2ρ)

The theory leaves C', ρ and the dimensions ν open. The rates below take C' = ρ = 1 and numbers of
parameters for the dimensions, so only their changes with the sizes mean something. How large the
terms are is measured instead: a term that falls as n^-½ is (√2 + 1) times what half of the data
costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tawt import simplex
from tawt.weights import SourceWeights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Term = Literal["head", "sources", "mismatch"]
ADVICE: dict[Term, str] = {
    "head": "more labelled examples of the target",
    "sources": "more examples of the same sources",
    "mismatch": "sources that match the target better",
}
OPEN = {
    "C'": "the bound's constant; taken as 1",
    "ρ": "how the sources' excess risk transfers to the target; taken as 1",
    "ν_Φ": "dimension of the representation; taken as its number of trained parameters",
    "ν_F": "dimension of a head; taken as its number of parameters",
}
"""What the theory does not say."""


@dataclass(frozen=True, kw_only=True)
class Rates:
    """What the bound says of sizes, with open constants as in `OPEN`."""

    effective_size: float
    """N_ω: as many source examples as the weighted ones are worth."""
    ratio: float
    """β: the largest weight over the smallest."""
    head: float
    """Learning the target's head."""
    fixed: float
    """Learning the representation, for weights that were given."""
    learned: float
    """The same for weights that were learned."""


def rates(
    weights: Mapping[str, float],
    sizes: Mapping[str, int],
    *,
    target_size: int,
    head: int,
    representation: int,
    delta: float = 0.05,
) -> Rates:
    """The rates of the bound's terms.

    Args:
        weights: ω.
        sizes: n_t, of the sources.
        target_size: n_0.
        head: ν_F.
        representation: ν_Φ.
        delta: δ.

    Example:
        >>> found = rates({"a": 1.0}, {"a": 400}, target_size=100, head=0, representation=4)
        >>> round(found.head, 3), round(found.effective_size), found.ratio
        (0.173, 400, 1.0)
    """
    known = SourceWeights.of(weights)
    used = [name for name, weight in weights.items() if weight > 0]
    doubt, tasks = math.log(1 / delta), len(used)
    whole, beta = known.effective_sample_size(sizes), simplex.ratio(known.logs)
    least = min(sizes[name] for name in used)  # the theorem has as many of every source
    each = (representation + doubt) / (least * tasks) + (head + math.log(tasks)) / least
    return Rates(
        effective_size=whole,
        ratio=beta,
        head=math.sqrt((head + doubt) / target_size),
        fixed=math.sqrt((representation + tasks * head + doubt) / whole),
        learned=beta * math.sqrt(each),
    )


@dataclass(frozen=True)
class Terms:
    """How large the three terms are, in the target's clipped risk.

    Example:
        >>> Terms.measured(risk=0.30, half_head=0.34, half_sources=0.31, best=0.20).dominant
        'head'
    """

    head: float
    sources: float
    mismatch: float

    @classmethod
    def measured(cls, *, risk: float, half_head: float, half_sources: float, best: float) -> Terms:
        """From what half of the data costs, if terms fall as one over the root of the size.

        Args:
            risk: L0*(φ̄_ω), with all data.
            half_head: The same with a head from half of the target's examples.
            half_sources: The same with a representation from half of each source.
            best: L0*(φ0*).
        """
        falls = math.sqrt(2) - 1
        sources = max(0.0, half_sources - risk) / falls
        return cls(
            head=max(0.0, half_head - risk) / falls,
            sources=sources,
            mismatch=max(0.0, risk - best - sources),
        )

    @property
    def dominant(self) -> Term | None:
        """The largest of them, if any is."""
        sizes: dict[Term, float] = {
            "head": self.head,
            "sources": self.sources,
            "mismatch": self.mismatch,
        }
        largest = max(sizes, key=lambda name: sizes[name])
        return largest if sizes[largest] > 0 else None


def leading(terms: Sequence[Terms]) -> Term | None:
    """The term that is largest on most seeds, and in the mean; none if there is no such term.

    Example:
        >>> leading([Terms(3, 2, 1), Terms(1, 0, 0), Terms(1, 2, 1)])
        'head'
    """
    votes = [each.dominant for each in terms]
    largest = mean_terms(terms).dominant
    return largest if largest is not None and votes.count(largest) * 2 > len(votes) else None


def mean_terms(terms: Sequence[Terms]) -> Terms:
    """Over seeds."""
    count = len(terms)
    return Terms(
        sum(each.head for each in terms) / count,
        sum(each.sources for each in terms) / count,
        sum(each.mismatch for each in terms) / count,
    )
