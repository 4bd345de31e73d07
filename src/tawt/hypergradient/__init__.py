"""g_u, the derivative of the target's loss along each unit's weight (eq. task_gradient).

    v   = H⁻¹ ∇φ L_0(φ, f_0)               one solve, whatever the number of sources
    g_u = −⟨v, ∇φ L_u(φ, f_u)⟩              curvature-weighted
    g_u = −c · cos(∇φ L_0, ∇φ L_u)          the paper's scalable form

The target's direction is held; every unit's gradient is made, measured along it and dropped, so
two copies of the representation are the most that is ever held, for two units as for forty.
"""

from tawt.hypergradient.aims import LossOf, OwnAlignment, Passes
from tawt.hypergradient.alignments import Alignment, Cosine, CurvatureWeighted
from tawt.hypergradient.tasks import Hypergradient, hypergradient
from tawt.hypergradient.units import LossesOf, UnitHypergradient, unit_hypergradient

__all__ = [
    "Alignment",
    "Cosine",
    "CurvatureWeighted",
    "Hypergradient",
    "LossOf",
    "LossesOf",
    "OwnAlignment",
    "Passes",
    "UnitHypergradient",
    "hypergradient",
    "unit_hypergradient",
]
