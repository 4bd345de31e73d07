"""figure-task-distance: a nearer source helps more, and a smaller target gains more."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import stats

from tawt.report import Figure
from tawt.report.lines import Line, Upwards, lines
from tawt.report.tones import shaded
from tawt.reproduce.captions import counted
from tawt.reproduce.paper import paper
from tawt.reproduce.result import Result
from tawt.reproduce.store import key_of, records_in
from tawt.reproduce.teachers import Simulation, simulated
from tawt.runs.record import circumstances
from tawt.sweeps import Plan, Work, in_this_process
from tawt.training.devices import chosen_device

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.reproduce.request import Request
    from tawt.reproduce.store import Store
    from tawt.runs import Options
    from tawt.sweeps import Context, Executor


class DistanceFigure:
    """Teachers that learned more and more labels wrong, students, and a target."""

    name: ClassVar[str] = "figure-task-distance"
    title: ClassVar[str] = "Task distance: what a source is worth"
    needs: ClassVar[str] = "nothing"
    no_use_for: ClassVar[tuple[str, ...]] = (
        *("--data", "--layout", "--cap", "--encoder", "--vectors"),
        *("--jobs", "--keep-models"),
    )
    runs: ClassVar[str] = "1 simulation"
    executor: ClassVar[Executor | None] = staticmethod(in_this_process)  # it fills a machine

    def check(self, request: Request) -> None:
        """Nothing can be missing."""

    def prepare(self, request: Request, store: Store) -> None:
        """A simulation reads nothing."""

    def plan_work(self, request: Request, store: Store, options: Options) -> Plan:
        """A simulation for every seed."""
        simulation = _simulation(request)
        return Plan(
            [
                Work(name, f"seed {seed}", Simulate(name, simulation, seed, options, store.folder))
                for seed in request.seeds
                for name in [_key(request, seed)]
            ]
        )

    def result(self, request: Request, store: Store) -> Result:
        """The figure, and its numbers as a table."""
        found = [store.named(_key(request, seed)) for seed in request.seeds]
        records = [record for record in found if record is not None]
        settings = records[0]["settings"]
        sizes = [str(size) for size in settings["target_sizes"]]
        rates = [str(rate) for rate in settings["flip_rates"]]
        single = {size: [100 * r["single_task"][size] for r in records] for size in sizes}
        learned = {
            rate: {
                size: [100 * r["learning_to_learn"][rate][size] for r in records] for size in sizes
            }
            for rate in rates
        }
        rows = [["single-task", *(_text(single[size]) for size in sizes)]]
        rows += [
            [f"source with flip rate {rate}", *(_text(learned[rate][size]) for size in sizes)]
            for rate in rates
        ]
        return Result(
            experiment=self.name,
            title=self.title,
            said=_said(single, learned),
            headings=["examples of the target", *sizes],
            rows=rows,
            caption=(
                "Test accuracy in percent on the target, mean ± standard deviation over "
                f"{counted(request.seeds)}. Representation from the source, head from the target; "
                "single-task: both from the target. The paper prints a picture and no numbers. "
                f"Its settings: {paper()[self.name]['setting']}. Its claim: "
                f"{paper()[self.name]['claim']}. Here: flipped labels are nested, every network "
                "has initial values of its own, a teacher is done at 100% and a loss of "
                f"{settings['teacher_loss']:g}; on a GPU products are in TF32"
                + ("; tiny." if request.tiny else ".")
            ),
            data={
                "experiment": self.name,
                "seeds": list(request.seeds),
                "settings": settings,
                "records": [
                    {key: value for key, value in record.items() if key != "settings"}
                    for record in records
                ],
            },
            figures=[_figure(single, learned)],
        )


@dataclass(frozen=True)
class Simulate:
    """Runs the simulation for a seed, and leaves its record."""

    key: str
    simulation: Simulation
    seed: int
    options: Options
    folder: Path
    """Of the store."""

    def __call__(self, context: Context) -> None:
        """Simulate, and keep what came out."""
        device = chosen_device(self.options.device)
        record = simulated(
            self.simulation,
            seed=self.seed,
            device=device,
            on_progress=context.on_share,
            should_stop=context.should_stop,
        )
        records_in(self.folder).keep(self.key, {**record, **circumstances(device)})


def _simulation(request: Request) -> Simulation:
    return Simulation.tiny() if request.tiny else Simulation()


def _key(request: Request, seed: int) -> str:
    return key_of({"simulation": asdict(_simulation(request)), "seed": seed})


def _text(values: Sequence[float]) -> str:
    spread = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{spread}"


_Scores = dict[str, list[float]]


def _said(single: _Scores, learned: dict[str, _Scores]) -> list[str]:
    """The paper's two claims, each with a number."""
    said = []
    rates = [float(rate) for rate in learned]
    correlations = {
        size: float(stats.spearmanr(rates, [np.mean(learned[r][size]) for r in learned])[0])
        for size in single
    }
    listed = ", ".join(f"{value:+.2f} at {size}" for size, value in correlations.items())
    said.append(f"Rank correlation of flip rate and accuracy, by size of the target: {listed}.")
    nearest = next(iter(learned))
    gains = {size: np.mean(learned[nearest][size]) - np.mean(single[size]) for size in single}
    listed = ", ".join(f"{value:+.1f} at {size}" for size, value in gains.items())
    said.append(f"What the nearest source gains over the target alone: {listed} points.")
    return said


def _figure(single: _Scores, learned: dict[str, _Scores]) -> Figure:
    names = [f"flip rate {rate}" for rate in learned]
    found = dict(zip(names, learned.values(), strict=True))
    shown = shaded(len(found))
    series = [Line(name="single-task", points=_means(single), tone="c1", dashed=True)]
    series += [
        Line(name=name, points=_means(scores), tone=tone)
        for (name, scores), tone in zip(found.items(), shown, strict=True)
    ]
    up = Upwards(factor=1.0, suffix="%", from_zero=False)
    title = "Accuracy by size of the target"
    return Figure(
        title=title,
        drawing=lines(series, label=title, across="examples of the target", up=up, by_ratio=True),
        legend=[("c1", "single-task"), *zip(shown, names, strict=True)],
    )


def _means(scores: _Scores) -> list[tuple[float, float]]:
    return [(float(size), float(np.mean(values))) for size, values in scores.items()]
