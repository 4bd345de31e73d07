"""A way to train for a target: which sources, how weighed, in which order, how fast, how long."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from tawt.report.words import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.config.fold import FoldConfig
    from tawt.config.schema import RunConfig
    from tawt.training.paradigms import ParadigmName

Order = Literal["target alone", "sources first", "together first", "together"]
Weights = Literal["equal", "learned"]

ALONE: Order = "target alone"
_PARADIGMS: Mapping[Order, ParadigmName] = {
    "target alone": "single-task",
    "sources first": "pre-training",
    "together first": "joint then fine-tuning",
    "together": "joint",
}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One candidate, as changes to a configuration.

    Example:
        >>> Recipe(order="sources first", weights="equal", sources=("news",), rate=3.0).in_words()
        'news first, learning rate × 3'
        >>> Recipe(passes=2.0).in_words()
        'the target alone, 2 × the passes over the target'
    """

    order: Order = ALONE
    """When sources are trained on: never, before the target, beside it and then the target alone,
    or beside it to the end."""
    weights: Weights | None = None
    """Of the sources; none for the target alone."""
    sources: tuple[str, ...] = ()
    rate: float = 1.0
    """Times the configured learning rates."""
    passes: float = 1.0
    """Times the usual passes over the target alone."""
    sharing: tuple[str, ...] = ()
    """Sources that the target shares its head with."""

    @property
    def uses_sources(self) -> bool:
        """Whether it does."""
        return self.order != ALONE

    def applied(self, config: RunConfig, fold: FoldConfig, *, name: str) -> RunConfig:
        """The configuration of this recipe's run.

        Args:
            config: What all candidates share, with the usual passes over the target.
            fold: What is held out.
            name: Of the run.
        """
        training = config.training
        tune = config.fine_tune_learning_rate
        changes: dict[str, Any] = {
            "name": name,
            "fold": fold,
            "paradigm": _PARADIGMS[self.order],
            "sources": list(self.sources),  # none for the target alone: they need not be read
            "target_epochs": max(1, round(self.passes * config.target_epochs)),
            "fine_tune_learning_rate": None if tune is None else self.rate * tune,
            "training": replace(
                training,
                learning_rate=self.rate * training.learning_rate,
                select="last",
                patience=None,
            ),
        }
        if self.uses_sources:
            changes["weighting"] = self._weighting(config)
        if self.sharing:
            [target] = config.targets
            changes["data"] = config.modality.with_shared_head(
                config.data, target=target, sources=self.sharing
            )
        return config.model_copy(update=changes)

    def _weighting(self, config: RunConfig) -> Any:
        kind = "target-aware" if self.weights == "learned" else "fixed"
        return config.weighting.model_copy(update={"kind": kind, "initial": "uniform"})

    def in_words(self, every: tuple[str, ...] = ()) -> str:
        """What is done, in a few words.

        Args:
            every: All sources that there are.
        """
        if not self.uses_sources:
            said = ["the target alone"]
        else:
            is_all = len(every) > 1 and set(self.sources) == set(every)
            named = "all sources" if is_all else listed(self.sources)
            weighed = f" by {self.weights} weights" if len(self.sources) > 1 else ""
            said = [
                {
                    "sources first": f"{named} first{weighed}",
                    "together first": f"{named} beside the target{weighed}, then the target alone",
                    "together": f"{named} beside the target{weighed}",
                }[self.order]
            ]
        if self.sharing:
            said.append(f"one head with {listed(self.sharing)}")
        if self.rate != 1.0:
            said.append(f"learning rate × {self.rate:g}")
        if self.passes != 1.0:
            said.append(f"{self.passes:g} × the passes over the target")
        return ", ".join(said)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self), "sources": list(self.sources), "sharing": list(self.sharing)}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Recipe:
        """From what `to_json` gave."""
        lists = {name: tuple(values.get(name, ())) for name in ("sources", "sharing")}
        return cls(**{**values, **lists})
