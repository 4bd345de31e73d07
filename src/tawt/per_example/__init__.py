"""What every example of a batch says about a direction, without a backward pass for each.

| | gives | cost of a batch |
|---|---|---|
| `ExampleProducts` | ⟨v, ∇ℓ_i⟩ | two forward passes (differences), or about three (forward mode) |
| `ExampleNorms` | ‖∇ℓ_i‖² | one forward and one backward pass, for the usual layers |

The products are all that the identity's and the curvature-weighted alignments need; a cosine is
`products / (‖v‖ · norms.sqrt())`.
"""

from tawt.per_example.losses import Losses
from tawt.per_example.norms import ExampleNorms
from tawt.per_example.products import ExampleProducts, Way

__all__ = ["ExampleNorms", "ExampleProducts", "Losses", "Way"]
