"""Weights over several train datasets in transformers' `Trainer`, and so in TRL's `SFTTrainer`.

`WeightedTrainer` is the `Trainer` with weights; `Weighted` adds them to any subclass of it:
`class MyTrainer(Weighted, SFTTrainer): ...`.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tawt.lazy import load

if TYPE_CHECKING:
    from tawt.integrations.transformers.trainer import Weighted, WeightedTrainer

__all__ = ["Weighted", "WeightedTrainer"]

_HOMES = {"trainer": ("Weighted", "WeightedTrainer")}


def __getattr__(name: str) -> Any:
    for library in ("transformers", "accelerate") if name in __all__ else ():
        if find_spec(library) is None:
            raise ImportError(
                f"{__name__}.{name} needs the extra 'trainer' ({library} is not installed); "
                "pip install 'tawt[trainer]' brings it."
            )
    return load(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
