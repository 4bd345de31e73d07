"""figure-task-distance: a nearer source helps more, and a smaller target gains more."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale
from scipy import stats

from tawt.reproduce.captions import counted
from tawt.reproduce.paper import paper
from tawt.reproduce.result import Result
from tawt.reproduce.store import key_of
from tawt.reproduce.teachers import Simulation, simulated
from tawt.runs.record import circumstances
from tawt.training.devices import chosen_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.reproduce.making import Making
    from tawt.reproduce.request import Request
    from tawt.reproduce.store import Store


class DistanceFigure:
    """Teachers that learned more and more labels wrong, students, and a target."""

    name: ClassVar[str] = "figure-task-distance"
    title: ClassVar[str] = "Task distance: what a source is worth"
    needs: ClassVar[str] = "nothing"
    no_use_for: ClassVar[tuple[str, ...]] = (
        *("--data", "--layout", "--cap", "--encoder", "--vectors"),
        *("--jobs", "--keep-models"),
    )
    time: ClassVar[str] = "1 min a seed; on a CPU 2 hours"

    def check(self, request: Request) -> None:
        """Nothing can be missing."""

    def make(self, request: Request, store: Store, making: Making) -> bool:
        """Run the simulation for every seed that has no record yet."""
        names = {seed: _key(request, seed) for seed in request.seeds}
        missing = [seed for seed, name in names.items() if store.named(name) is None]
        done = len(names) - len(missing)
        making.on_done(done, len(names))
        device = chosen_device(making.device)
        for seed in missing:
            if making.is_mine(names[seed]):
                record = simulated(
                    _simulation(request),
                    seed=seed,
                    device=device,
                    on_progress=partial(_tell, making, done, len(names)),
                    should_stop=making.should_stop,
                )
                store.write(names[seed], {**record, **circumstances(device)})
                done += 1
                making.on_done(done, len(names))
        return done == len(names)

    def is_made(self, request: Request, store: Store) -> bool:
        """Whether the records are all there."""
        return all(store.named(_key(request, seed)) is not None for seed in request.seeds)

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
            figures={"Accuracy by size of the target": _figure(single, learned)},
        )


def _tell(making: Making, done: int, total: int, share: float) -> None:
    making.on_done(done + share, total)


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


def _figure(single: _Scores, learned: dict[str, _Scores]) -> go.Figure:
    figure = go.Figure()
    sizes = [int(size) for size in single]
    colours = sample_colorscale("Viridis", [0.9 * float(rate) for rate in learned])
    for (rate, scores), colour in zip(learned.items(), colours, strict=True):
        figure.add_trace(_line(sizes, scores, f"flip rate {rate}", {"color": colour}))
    style = {"color": "#D55E00", "dash": "dash", "width": 3}
    figure.add_trace(_line(sizes, single, "single-task", style))
    figure.update_xaxes(type="log", title="examples of the target")
    figure.update_yaxes(title="test accuracy (%)")
    figure.update_layout(height=480)
    return figure


def _line(sizes: Sequence[int], scores: _Scores, name: str, style: dict[str, Any]) -> go.Scatter:
    means = [float(np.mean(values)) for values in scores.values()]
    return go.Scatter(x=sizes, y=means, mode="lines+markers", line=style, name=name)
