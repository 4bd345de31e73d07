"""g_u, the derivative of the target's loss along each unit's weight (eq. task_gradient).

    v   = H⁻¹ ∇φ L_0(φ, f_0)               one solve, whatever the number of sources
    g_u = −⟨v, ∇φ L_u(φ, f_u)⟩              curvature-weighted
    g_u = −c · cos(∇φ L_0, ∇φ L_u)          the paper's scalable form

The target's direction is held; every task's gradient is made, measured along it and dropped, so two
copies of the representation are the most that is ever held, for two tasks as for forty. Units finer
than a task are measured by the losses of single examples, without a gradient of their own.
"""

from tawt.hypergradient.aims import OwnAlignment
from tawt.hypergradient.alignments import Alignment, Cosine, CurvatureWeighted
from tawt.hypergradient.examples import LossesOf
from tawt.hypergradient.measuring import hypergradient, target_direction
from tawt.hypergradient.passes import LossOf, Passes
from tawt.hypergradient.result import Hypergradient

__all__ = [
    "Alignment",
    "Cosine",
    "CurvatureWeighted",
    "Hypergradient",
    "LossOf",
    "LossesOf",
    "OwnAlignment",
    "Passes",
    "hypergradient",
    "target_direction",
]
