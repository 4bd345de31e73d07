"""H⁻¹ times the target's gradient, by several routes.

| curvature | H⁻¹v is | cost of one update |
|---|---|---|
| `Identity` | a multiple of v | nothing |
| `AdamDiagonal` | v over Adam's √v̂, entry by entry | nothing |
| `KroneckerFactored` | solved layer by layer | a pass a source, eigenvectors of each layer |
| `ConjugateGradient` | solved by conjugate gradient | one Hessian product an iteration |
| `Neumann` | summed as a Neumann series | one Hessian product a term |
| `Dense` | solved exactly, in float64 | one product per parameter: an oracle for small models |

`docs/curvature.md` says which to choose.
"""

from tawt.curvature.adam import AdamDiagonal
from tawt.curvature.base import Curvature, WeightedHessian
from tawt.curvature.conjugate_gradient import ConjugateGradient
from tawt.curvature.dense import Dense
from tawt.curvature.identity import Identity
from tawt.curvature.kronecker import KroneckerFactored
from tawt.curvature.neumann import Neumann

__all__ = [
    "AdamDiagonal",
    "ConjugateGradient",
    "Curvature",
    "Dense",
    "Identity",
    "KroneckerFactored",
    "Neumann",
    "WeightedHessian",
]
