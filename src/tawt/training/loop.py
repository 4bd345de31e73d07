"""The one loop. Nothing else in tawt steps an optimiser.

for round in rounds:                   # a round is an epoch, or every `update_every` steps
train representation and heads on Σ ω_t L_t   (sources; in joint training the target too)
fit the target's head, representation frozen  (pre-training only)
weights.update(...)                           (target-aware only)
fine-tune the whole target model on the target    (pre-training only)
"""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from tawt.training.devices import anywhere
from tawt.training.evaluation import evaluate_split
from tawt.training.finishing import finished
from tawt.training.judging import Judge
from tawt.training.material import Material
from tawt.training.optimisers import optimiser_state, skip_if
from tawt.training.processes import TrainingProcesses
from tawt.training.progress import Position, TrainingProgress
from tawt.training.recorded import recording
from tawt.training.roles import checked_roles, heads_learn
from tawt.training.rounds import rounds
from tawt.training.settings import Settings, learning_rate
from tawt.training.skipped import SEVERAL, SkippedSteps
from tawt.training.stretch import Stretch, on_frozen, stretch_for
from tawt.training.watching import Watching

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from accelerate import Accelerator

    from tawt.tasks import Batch, MultiTaskModel, Task
    from tawt.training.keeping import Keeping
    from tawt.training.paradigms import Paradigm, Phase
    from tawt.training.result import Predictions, TrainingResult
    from tawt.training.rounds import Round
    from tawt.training.steps import Step
    from tawt.weighting import Weighting

_LOOK_EVERY = 100  # steps between looks at the device's count of skipped steps


class Loop:
    """The state of one training run; arguments as for `train`."""

    def __init__(
        self,
        model: MultiTaskModel,
        tasks: Sequence[Task],
        target: str | Mapping[str, float],
        paradigm: Paradigm,
        weighting: Weighting | None,
        settings: Settings,
        seed: int,
        accelerator: Accelerator,
    ) -> None:
        self.phases = paradigm.phases()
        self.targets = {target: 1.0} if isinstance(target, str) else dict(target)
        self.weighting = checked_roles(model, tasks, self.targets, self.phases, weighting)
        self.material = Material(tasks, self.targets, self.weighting, settings, seed=seed)
        self.tasks = self.material.tasks
        self.settings, self.accelerator = settings, accelerator
        self.processes = TrainingProcesses.of(accelerator)
        self.device: torch.device = accelerator.device
        self.wrapped = accelerator.prepare(model)
        self.model = model
        self.head_only = partial(on_frozen, model, accelerator.autocast)
        self.buffers = [b for b in model.buffers() if b.is_floating_point()]
        self.skipped = SkippedSteps(list(self.tasks), self.device, allowed=settings.max_nonfinite)
        self.replay, self.recorder = recording(model, settings, accelerator)
        self.watching = Watching(model, self.weighting, settings)
        self._heads_learn = heads_learn(model, self.targets)
        self.position = Position()
        self.taken: Counter[str] = Counter()
        self.epochs: list[dict[str, Any]] = []
        on_dev = partial(self._predictions, "dev")
        self.judge = Judge(model, self.material, settings, accelerator, on_dev=on_dev)

    def run(
        self, keeping: Keeping, on_progress: Callable[[TrainingProgress], None] | None
    ) -> TrainingResult:
        """Train from the beginning, or from where state was kept."""
        self.keeping, self.on_progress = keeping, on_progress
        self.total = sum(p.epochs * self.material.schedule(p).length for p in self.phases)
        saved = keeping.load()
        if saved is not None:
            self._restore_model(saved)
        for phase in self.phases[self.position.phase :]:
            self._run_phase(phase, saved)
            saved = None
            self.replay.forget()
            self.position = self.position.next_phase()
        return self._result()

    def _run_phase(self, phase: Phase, saved: dict[str, Any] | None) -> None:
        main = self._stretch(phase)
        self.weighting.follow(main.optimiser)
        fits = phase.trains_on == "sources" and self._heads_learn
        heads = self._stretch(phase.head_fit()) if fits else None
        self._fits_at_updates = fits and not self.material.fits_heads(self.model, phase)
        if saved is not None:
            self.keeping.restore(saved, main, heads)
        else:
            self.judge.begin(phase, by_dev=self._trains_target(phase))
        self.judge.guard.look_at_weights(main, self.position, self.taken)
        length, settings = main.schedule.length, self.settings
        every, growth = settings.update_every, settings.update_growth
        for epoch in range(self.position.epoch, phase.epochs):
            before = epoch * length
            start = self.position.step
            for part in rounds(length, every, start=start, before=before, growth=growth):
                self._train_round(phase, main, heads, part)
            self._finish_epoch(phase, main)
            self.position = self.position.next_epoch()
            if self.judge.selection.stale(self.settings.patience):
                break
        put_back = self.judge.end(phase)
        if heads is not None and (put_back or not self._fits_at_updates):
            self._fit_heads(heads)

    def _train_round(self, phase: Phase, main: Stretch, heads: Stretch | None, part: Round) -> None:
        shares, length = main.weighting.weights.shares(), main.schedule.length
        before = self.position.epoch * length
        self.model.train()
        fetched = main.fetched(part, self.position.epoch, shares=shares, taken=self.taken)
        for number, (step, parts) in enumerate(fetched, start=part.first + 1):
            closes = number == length or (before + number) % self.settings.accumulation == 0
            rate = learning_rate(before + number - 1, main.total, self.settings, peak=main.peak)
            self._step(main, step, parts, shares=shares, rate=rate, closes=closes)
            self.taken.update({task: len(found) for task, found in step.examples.items()})
            self.position = self.position.next_step()
            if part.closes and number == part.last:
                self._close_round(phase, main, heads)
            if closes:  # gradients that are half added up are no state to save
                self._after_step(phase, main, heads)

    def _step(
        self,
        stretch: Stretch,
        step: Step,
        parts: list[Batch],
        *,
        shares: Mapping[str, float],
        rate: float,
        closes: bool,
    ) -> None:
        """One batch forward and back; the optimiser moves when it `closes` an accumulation."""
        task, mixed = step.task, step.is_mixed
        shares = shares if step.shares is None else step.shares
        scale = 1.0 if mixed else stretch.schedule.scale(task, step.size, shares=shares)
        mean = stretch.loader.processes / step.size  # each process has its share of them
        owners = [owner for owner, _ in step.pieces]
        by = [stretch.schedule.scale(owner, step.size, shares=shares) for owner in owners]
        numbers = torch.tensor([mean, scale / self.settings.accumulation, rate, *by])
        if not mixed:  # a gradient of several tasks says little about each
            self.watching.begin(stretch, task, scale)
        self.replay(
            (stretch.name, task, mixed),
            partial(self._compute, stretch, task, owners, SEVERAL if mixed else task, closes),
            ([(part.inputs, part.labels, part.factors) for part in parts], numbers),
        )
        if closes:
            self.watching.end(stretch)

    def _compute(
        self,
        stretch: Stretch,
        task: str,
        owners: Sequence[str],
        named: str,
        closes: bool,
        given: tuple[list[Any], Tensor],
    ) -> None:
        """A step on the device, which it never waits for; its task is `named` if it is skipped.

        If it has pieces, each on the task of its owner, their gradients are looked at one by one.
        """
        parts, (mean, scale, rate, *by) = given
        before = [buffer.clone() for buffer in self.buffers]
        whole = stretch.moves == "everything"
        forward = self.wrapped if whole else self.head_only
        backward = self.accelerator.backward if whole else stretch.add_gradients
        if owners:
            forward = self.model  # a wrapper would wait for gradients of its own
        own = range(len(owners))[self.processes.own_part]
        loss = torch.zeros((), device=self.device)
        for number, (inputs, labels, factors) in enumerate(parts, start=1):
            # Processes add up their gradients once a step, however many parts each has.
            with self.accelerator.no_sync(self.wrapped) if number < len(parts) else nullcontext():
                outputs: Tensor = forward(inputs, task).float()
                losses = self.tasks[task].kind.losses(outputs, labels)
                part = (losses if factors is None else losses * factors).sum() * mean
                if owners:
                    part = part * by[own[number - 1]]
                    by_mean = mean * scale * by[own[number - 1]] * len(losses)
                    see = partial(self.watching.see, stretch, own[number - 1], by_mean)
                    stretch.add_gradients(part * scale, see)
                else:
                    backward(part * scale)
            loss += part.detach()
        stretch.scale_sum += scale
        bad = ~torch.isfinite(loss)
        for buffer, value in zip(self.buffers, before, strict=True):
            buffer.copy_(torch.where(bad, value, buffer))  # batch-norm has seen what we skip
        stretch.add_loss(loss * scale * self.settings.accumulation, bad)
        if owners:
            self.watching.note_pieces(owners, self.accelerator)
        if closes:
            if owners:
                stretch.average_gradients(self.accelerator)
            self.watching.compare(stretch)
            wrong = anywhere(bad | stretch.clip(self.settings.clip_norm), self.accelerator)
            stretch.set_learning_rate(rate)
            skip_if(stretch.optimiser, wrong)
            stretch.optimiser.step()
            stretch.optimiser.zero_grad()
            # A gradient is bad on its own account unless a batch added up before it was.
            bad = bad | (wrong & ~stretch.spoilt)
            stretch.spoilt.zero_()
        else:
            stretch.spoilt |= bad
        self.skipped.add(named, bad)

    def _close_round(self, phase: Phase, main: Stretch, heads: Stretch | None) -> None:
        if not phase.weighs_sources:
            return
        if heads is not None and self._fits_at_updates:
            self._fit_heads(heads)
        given = phase, self.model, self.accelerator, self.recorder
        watched = self.watching.has_seen
        update = self.material.update(*given, step=self.position.total, watched=watched)
        if update is not None:
            self.judge.guard.look_at_weights(main, self.position, self.taken)
            self._log({f"weight/{name}": share for name, share in update.weights.items()})

    def _fit_heads(self, heads: Stretch) -> None:
        """Fit the targets' heads on the frozen representation (eq. representation_transfer)."""
        shares = heads.weighting.weights.shares()
        for epoch in range(self.settings.head_epochs):
            number = self.position.total * self.settings.head_epochs + epoch
            plan = heads.schedule.steps(number, 0, heads.schedule.length, shares=shares)
            for step, parts in heads.loader.fetch(plan):
                self._step(heads, step, parts, shares=shares, rate=heads.peak, closes=True)
        self.processes.adopt_first(self.model.heads.parameters())
        self.model.train()

    def _finish_epoch(self, phase: Phase, main: Stretch) -> None:
        self._check_skipped()
        if phase.moves == "head":
            self.processes.adopt_first(self.model.heads.parameters())
        entry: dict[str, Any] = {
            "phase": phase.name,
            "epoch": self.position.epoch + 1,
            "step": self.position.total,
            "loss": float(self.processes.mean(main.loss_sum)) / main.schedule.length,
        }
        if phase.weighs_sources:
            sizes = self.material.sizes(self.phases)
            entry["effective_sample_size"] = self.weighting.weights.effective_sample_size(sizes)
        self.epochs.append(entry)
        by_dev, step = self._trains_target(phase), self.position.total
        if seen := self.judge.epoch(phase, self.epochs, by_dev=by_dev, step=step):
            entry["dev"] = seen["dev"]
            self._log({"dev/score": seen["score"]})
        self._log({f"loss/{phase.name}": entry["loss"]})
        main.loss_sum.zero_()

    def _trains_target(self, phase: Phase) -> bool:
        """Whether the target's head is trained, so that its answers say how well training goes."""
        return phase.trains_on != "sources" or not self._heads_learn

    def _after_step(self, phase: Phase, main: Stretch, heads: Stretch | None) -> None:
        now = self.position.total
        aim = partial(self.material.aim, phase, self.model, self.accelerator, step=now)
        self.watching.aim_if_due(main, now, aim)
        if now % _LOOK_EVERY < self.settings.accumulation:
            self._check_skipped()
        if self.on_progress is not None:
            self.on_progress(TrainingProgress(now, self.total, phase.name))
        self.keeping.after_step(partial(self._state, main, heads))

    def _check_skipped(self) -> None:
        self.skipped.check(updates=self.weighting.failures, processes=self.processes)

    def _stretch(self, phase: Phase) -> Stretch:
        return stretch_for(phase, self.material, self.model, self.settings, self.accelerator)

    def _predictions(self, split: Literal["dev", "test"]) -> dict[str, Predictions]:
        size = 4 * self.settings.batch_size
        found = {name: self.tasks[name] for name in self.targets}
        return evaluate_split(self.wrapped, found, split, batch_size=size, device=self.device)

    def _log(self, values: dict[str, float]) -> None:
        self.accelerator.log(values, step=self.position.total)

    def _state(self, main: Stretch, heads: Stretch | None) -> dict[str, Any]:
        return {
            "model": self.model.state_dict(),
            "optimiser": optimiser_state(main.optimiser),
            "head_optimiser": optimiser_state(heads.optimiser) if heads else None,
            "weighting": self.weighting.state_dict(),
            "position": self.position.to_json(),
            "epochs": self.epochs,
            "loss_sum": main.loss_sum,
            "skipped": self.processes.largest(self.skipped.tally),
            "taken": dict(self.taken),
            "watching": self.watching.state(),
            "judge": self.judge.state_dict(),
        }

    def _restore_model(self, saved: Mapping[str, Any]) -> None:
        self.model.load_state_dict(saved["model"])
        self.weighting.load_state_dict(saved["weighting"])
        self.position = Position(**saved["position"])
        self.epochs = list(saved["epochs"])
        self.taken.update(saved["taken"])
        self.skipped.tally.copy_(saved["skipped"])
        self.watching.restore(saved["watching"])
        self.judge.load_state_dict(saved["judge"])

    def _result(self) -> TrainingResult:
        splits = {split: self._predictions(split) for split in ("dev", "test")}
        self.accelerator.unwrap_model(self.wrapped, keep_fp32_wrapper=False)
        return finished(
            self.material,
            self.weighting,
            self.phases,
            splits=splits,
            epochs=self.epochs,
            kept=self.judge.kept(len(self.epochs)),
            skipped=self.skipped.counts(),
            taken=self.taken,
            steps=self.position.total,
            warnings=list(self.judge.guard.said.values()),
        )
