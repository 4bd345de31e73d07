"""How to train: everything that is neither the paradigm nor the weighting."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import ClassVar, Literal

from tawt.errors import ConfigError

MOST_WORKERS = 256
"""Processes that prepare batches: more than any one machine has a use for."""
USUAL_PASSES = 12.0
"""What `most_passes: usual` means: corpora that are repeated more often are learned by heart
(docs/decisions/022)."""
OF_FRESH_BATCHES = {"target_from": "all", "measure_through": "trained heads"}
"""Settings of which `measure: training steps` has no choice."""
_MOST = 1_000_000_000  # of whatever is counted
_CHOICES = {
    "measure": ("fresh batches", "training steps"),
    "measure_through": ("trained heads", "fitted heads"),
    "target_from": ("all", "halves in turn"),
    "decay": ("linear", "none"),
    "precision": ("fp32", "bf16"),
    "sampling": ("size", "weight", "mixed"),
    "select": ("best", "last"),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of the loop. The defaults are the paper's for fine-tuning BERT.

    Example:
        >>> Settings(batch_size=0)
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: `batch_size` must be at least 1; got 0.
    """

    # Misspelt fields of a file are refused, and numbers that are none.
    __pydantic_config__: ClassVar = {"extra": "forbid", "allow_inf_nan": False}

    batch_size: int = 32
    """Examples of one task in a step."""

    learning_rate: float = 5e-5
    """Peak learning rate of AdamW."""

    weight_decay: float = 0.0
    """AdamW's decoupled weight decay."""

    warmup: float = 0.0
    """Share of the steps over which the learning rate rises from zero."""

    decay: Literal["linear", "none"] = "linear"
    """Whether the learning rate falls linearly to zero after the warm-up."""

    clip_norm: float | None = 1.0
    """Gradients longer than this are shortened to it."""

    accumulation: int = 1
    """Batches whose gradients are added up into one step."""

    precision: Literal["fp32", "bf16"] = "fp32"
    """bf16 where the device has it; weights are kept in fp32."""

    sampling: Literal["size", "weight", "mixed"] = "size"
    """What a step trains on: one task, each in proportion to its size, the loss scaled so that the
    objective is Σ ω_t L_t (the authors' scheme); one task, t with probability ω_t; or, `mixed`,
    examples of all tasks, ω_t of them from task t. Tasks that are mixed must share the whole
    model."""

    guard: bool = True
    """Training that fails is seen, stopped or undone, and a line says so. With `sampling: size`:
    while a task counts more than five times as much as is seen of it (ω_t N / n_t of the paper),
    tasks are drawn by weight instead; a task of few examples and a large weight is seen in few
    steps, however much their losses are scaled. Drawn by weight, no source is passed over more than
    100 times, and ten times as often as all together, unless `most_passes` has another limit. With
    `select: best`, a phase on sources that ends clearly below its start ends with the model that it
    began with. Without the guard there are warnings, and training goes on as in the paper."""

    steps: int | None = None
    """Steps on the sources, in place of `epochs` passes over them; `epochs` then says into how many
    parts of the same length they are divided, after each of which dev examples are scored. With
    `sampling: weight` or `mixed`."""

    most_passes: float | Literal["usual"] | None = None
    """With `sampling: weight` or `mixed`: no more passes than this over any task. A task's share is
    held at what that leaves it for the steps to come, and every example comes once before any comes
    again. More steps than that leaves examples for are refused. `usual`: 12, and no limit where 12
    passes over all tasks are too few for the steps, with a warning. `null`: no limit; examples are
    drawn anew at every step."""

    update_every: int | None = None
    """Steps between weight updates; if `null`, there is one at the end of every epoch."""

    update_growth: float = 0.0
    """With `update_every`: later updates are further apart, by this share of the steps so far. With
    0.25 and `update_every: 10`, updates come after 10, 20, 30, 40, 50, 62, 77, … steps: what
    weights are worth is decided early, and late updates cost as much."""

    measure: Literal["fresh batches", "training steps"] = "fresh batches"
    """What weights are learned from: at each update, a gradient of every task on fresh batches; or
    the gradients that training computes anyway, which is cheaper for all but small models, and
    noisier. (On a GPU steps are not recorded then, see `cuda_graphs`.)"""

    gradient_examples: int = 64
    """Examples of each task from which its gradient is measured at an update."""

    target_examples: int | None = None
    """Examples of the target at an update, which all sources are compared with; as many as
    `gradient_examples` by default."""

    target_from: Literal["all", "halves in turn"] = "all"
    """Which of the target's examples an update draws from. With halves, successive updates see the
    two halves of them, cut anew each time: how far these differ says what other examples of the
    target would show, so that a finding can be told from chance, and weights by
    evidence can be sure. With fresh batches."""

    measure_through: Literal["trained heads", "fitted heads"] = "trained heads"
    """Whether the gradients of an update pass through heads as training has left them, or through
    linear heads that are fitted to the end on the vectors of the moment (half of the examples
    through the head of the other half). Only the latter say what the representation is worth to a
    task: a head in training asks first for what has nothing to do with it. For heads that are a
    linear layer, on whole tasks."""

    unit_examples: int | None = None
    """Weights on groups or examples: how many examples of each source are measured at an update;
    all by default."""

    head_epochs: int = 1
    """Pre-training: passes over the target with which its head is fitted each round."""

    head_learning_rate: float = 1e-3
    """Learning rate at which a head is fitted on a frozen representation."""

    patience: int | None = None
    """Stop after this many epochs without a better dev score."""

    select: Literal["best", "last"] = "best"
    """Keep the target model of the epoch with the best dev score, or the last."""

    cuda_graphs: bool = True
    """On one GPU, record steps once and replay them, which small batches gain most from."""

    max_nonfinite: int = 10
    """How many steps or updates may be skipped for a number that is not finite."""

    compile: bool = False
    """Compile the representation with `torch.compile`: a minute's wait, then faster steps. For
    large models on a GPU; steps are not recorded then, see `cuda_graphs`."""

    workers: int = 0
    """Processes that prepare batches ahead. Results do not depend on it."""

    @property
    def passes_limit(self) -> float | None:
        """The number that `most_passes` means, if there is a limit.

        Example:
            >>> Settings(sampling="mixed", most_passes="usual").passes_limit
            12.0
        """
        return USUAL_PASSES if isinstance(self.most_passes, str) else self.most_passes

    def __post_init__(self) -> None:
        self._check_numbers()
        self._at_least("batch_size", "accumulation", "gradient_examples", low=1)
        self._at_least(
            "head_epochs", "max_nonfinite", "workers", "weight_decay", "update_growth", low=0
        )
        for name in ("learning_rate", "head_learning_rate"):
            if not getattr(self, name) > 0:
                raise ConfigError(
                    f"`{name}` must be positive; got {getattr(self, name)}.", place=(name,)
                )
        self._check_budget()
        for name in (
            *("clip_norm", "update_every", "patience", "unit_examples", "target_examples"),
            "steps",
        ):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigError(
                    f"`{name}` must be positive (or none); got {value}.", place=(name,)
                )
        self._check_passes()
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise ConfigError(
                    f"`{name}` must be one of {', '.join(known)}; got {getattr(self, name)!r}.",
                    place=(name,),
                )
        self._check_measured()
        if not 0 <= self.warmup < 1:
            raise ConfigError(
                f"`warmup` is a share of the steps, 0 to below 1; got {self.warmup}.",
                place=("warmup",),
            )

    def _check_budget(self) -> None:
        """A number of steps, or of passes, is kept to where tasks are drawn by weight."""
        for name in ("steps", "most_passes"):
            if getattr(self, name) not in (None, "usual") and self.sampling == "size":
                raise ConfigError(
                    f"`{name}` needs `sampling: weight` (or `mixed`), which draws tasks by their "
                    f"weights; got {self.sampling!r}.",
                    place=(name,),
                )

    def _check_measured(self) -> None:
        """What steps show, they show through the heads in training, of all of the target."""
        for name, usual in OF_FRESH_BATCHES.items():
            value = getattr(self, name)
            if self.measure == "training steps" and value != usual:
                raise ConfigError(
                    f"`{name}: {value}` has no effect with `measure: training steps`; leave it "
                    "out, or use `measure: fresh batches`.",
                    place=(name,),
                )

    def _check_passes(self) -> None:
        most = self.most_passes
        if not (most in (None, "usual") or (isinstance(most, int | float) and most > 0)):
            raise ConfigError(
                f"`most_passes` must be positive, `usual` or none; got {most!r}.",
                place=("most_passes",),
            )

    def _check_numbers(self) -> None:
        """Refuse what is no number, and counts that overflow or start processes without end."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float) and not math.isfinite(value):
                raise ConfigError(
                    f"`{field.name}` must be a finite number; got {value}.", place=(field.name,)
                )
            if isinstance(value, int) and value > _MOST:
                raise ConfigError(
                    f"`{field.name}` must be at most {_MOST:,}; it is more.", place=(field.name,)
                )
        if self.workers > MOST_WORKERS:
            raise ConfigError(
                f"`workers` must be at most {MOST_WORKERS}: each is a process of its own, and one "
                f"or two for each core are enough; got {self.workers}.",
                place=("workers",),
            )

    def _at_least(self, *names: str, low: int) -> None:
        for name in names:
            if not getattr(self, name) >= low:
                raise ConfigError(
                    f"`{name}` must be at least {low}; got {getattr(self, name)}.", place=(name,)
                )


def learning_rate(step: int, total: int, settings: Settings, *, peak: float) -> float:
    """The learning rate of one step: warm-up, then decay. A pure function, so nothing to resume.

    Example:
        >>> settings = Settings(warmup=0.5)
        >>> [round(learning_rate(step, 4, settings, peak=1.0), 2) for step in range(4)]
        [0.5, 1.0, 1.0, 0.5]
    """
    warm = round(settings.warmup * total)
    if step < warm:
        return peak * (step + 1) / warm
    if settings.decay == "none":
        return peak
    return peak * (total - step) / max(1, total - warm)
