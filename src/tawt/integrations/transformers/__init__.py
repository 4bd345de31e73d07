"""Weights over several train datasets in transformers' `Trainer`, and so in TRL's `SFTTrainer`.

`WeightedTrainer` is the `Trainer` with weights; `Weighted` adds them to any subclass of it:
`class MyTrainer(Weighted, SFTTrainer): ...`.
"""

from tawt.extras import need

need("trainer", by=__name__)

from tawt.integrations.transformers.trainer import Weighted, WeightedTrainer

__all__ = ["Weighted", "WeightedTrainer"]
