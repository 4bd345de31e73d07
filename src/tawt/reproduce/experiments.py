"""The nine experiments: what each needs, and what it makes of its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tawt.reproduce.distance_figure import DistanceFigure
from tawt.reproduce.making import runs_of
from tawt.reproduce.paper import TASKS, paper
from tawt.reproduce.plan import AGAINST, PlanRow, TablePlan, chosen, held
from tawt.reproduce.samples_figure import SamplesFigure
from tawt.reproduce.sizes import check_sizes
from tawt.reproduce.tables import score_table
from tawt.reproduce.weights_table import weights_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tawt import sweeps
    from tawt.reproduce.request import Request
    from tawt.reproduce.result import Result
    from tawt.reproduce.store import Store
    from tawt.reproduce.tagging import Setup
    from tawt.runs import Options
    from tawt.sweeps import Executor

_SOURCE_SIZE = 9000
_TARGET_SIZES = {"pos": 100, "chunking": 100, "predicate": 300, "ner": 500}


class Experiment(Protocol):
    """A table or figure of the paper."""

    @property
    def name(self) -> str:
        """By which it is asked for."""

    @property
    def title(self) -> str:
        """What it is about."""

    @property
    def needs(self) -> str:
        """What the user brings."""

    @property
    def no_use_for(self) -> tuple[str, ...]:
        """Options of `tawt reproduce` that would have no effect."""

    @property
    def runs(self) -> str:
        """How many runs each seed takes."""

    @property
    def executor(self) -> Executor | None:
        """Where its work is done, if not in worker processes."""

    def check(self, request: Request) -> None:
        """Refuse what cannot be made, before anything is written."""

    def prepare(self, request: Request, store: Store) -> None:
        """Write what its runs are to read, if it is not there."""

    def plan_work(self, request: Request, store: Store, options: Options) -> sweeps.Plan:
        """The work that it needs, given what the store has."""

    def result(self, request: Request, store: Store) -> Result:
        """What it came to."""


@dataclass(frozen=True)
class TableExperiment:
    """A table whose numbers are runs of tagging tasks."""

    name: str
    title: str
    runs: str
    plan: Callable[[Setup], TablePlan]
    needs: str = "--data, --encoder"
    no_use_for: tuple[str, ...] = ("--vectors",)
    executor: Executor | None = None

    def check(self, request: Request) -> None:
        """Refuse sizes that the data has not, targets without a score, encoders not to be had."""
        from tawt.reproduce.layout import check_held_out, check_metrics
        from tawt.text.encoding import load_tokenizer

        setup = request.text_setup(self.name)
        plan = self.plan(setup)
        check_sizes(self.name, setup, plan.runs())
        check_held_out(setup.tasks, dict.fromkeys(plan.targets))
        check_metrics(setup.tasks, dict.fromkeys(plan.targets))
        load_tokenizer(setup.encoder)

    def prepare(self, request: Request, store: Store) -> None:
        """Its runs read the user's data."""

    def plan_work(self, request: Request, store: Store, options: Options) -> sweeps.Plan:
        """The runs of all its numbers."""
        setup = request.text_setup(self.name)
        return runs_of(self.plan(setup).choices, request.seeds, store, options)

    def result(self, request: Request, store: Store) -> Result:
        """The table."""
        setup = request.text_setup(self.name)
        plan = self.plan(setup)
        if self.name == "table-final-weights":
            return weights_table(plan, setup, store, request.seeds)
        return score_table(self.name, self.title, plan, setup, store, request.seeds)


def _main(setup: Setup) -> TablePlan:
    return TablePlan(
        TASKS, TASKS, tuple(_main_row(setup, name) for name in paper()["table-main"]["rows"])
    )


def _main_row(setup: Setup, name: str) -> PlanRow:
    cells = tuple(
        chosen(setup, name, target, _others(target, TASKS, _SOURCE_SIZE), _TARGET_SIZES[target])
        for target in TASKS
    )
    return PlanRow(name, cells, AGAINST.get(name))


def _others(target: str, tasks: Sequence[str], size: int) -> dict[str, int]:
    return {name: size for name in tasks if name != target}


def _more_target_data(setup: Setup) -> TablePlan:
    sizes = {"pos": 500, "predicate": 600, "ner": 1000}
    rows = []
    for name in paper()["table-more-target-data"]["rows"]:
        cells = tuple(
            chosen(setup, name, target, _others(target, tuple(sizes), 20_000), size)
            for target, size in sizes.items()
        )
        rows.append(PlanRow(name, cells, AGAINST.get(name)))
    return TablePlan(tuple(sizes), tuple(sizes), tuple(rows))


def _fewer_sources(setup: Setup) -> TablePlan:
    settings = {
        "pos+NER": ("ner", {"pos": 20_000}),
        "pos+chunking+NER": ("ner", {"pos": 20_000, "chunking": 9000}),
        "pos+chunking+PREDICATE": ("predicate", {"pos": 20_000, "chunking": 9000}),
    }
    rows = []
    for name in paper()["table-fewer-sources"]["rows"]:
        cells = tuple(
            chosen(setup, name, target, sources, 2000) for target, sources in settings.values()
        )
        rows.append(PlanRow(name, cells, AGAINST.get(name)))
    return TablePlan(tuple(settings), tuple(target for target, _ in settings.values()), tuple(rows))


def _analysed(setup: Setup, row: str, *, size: int, ratio: int) -> PlanRow | None:
    """One number of the analysis: NER, with PoS and predicates as sources."""
    sources = {"pos": ratio * size, "predicate": ratio * size}
    if row == "upper bound":  # as many of the target as all tasks have together
        return PlanRow(row, (chosen(setup, "single-task", "ner", {}, size * (1 + 2 * ratio)),))
    return PlanRow(row, (chosen(setup, row, "ner", sources, size),))


def _analysis_row(
    setup: Setup, experiment: str, name: str, settings: Sequence[tuple[int, int]]
) -> PlanRow:
    """A row of the analysis; `settings` are pairs of size and ratio."""
    kind = name.partition(" (")[0]
    printed = paper()[experiment]["rows"][name]
    cells = []
    for (size, ratio), number in zip(settings, printed, strict=False):
        row = None if number is None else _analysed(setup, kind, size=size, ratio=ratio)
        cells.append(None if row is None else row.cells[0])
    beaten = AGAINST.get(kind)
    return PlanRow(name, tuple(cells), beaten and beaten + name.removeprefix(kind))


def _source_ratio(setup: Setup) -> TablePlan:
    table = paper()["table-source-ratio"]
    ratios = [column for column in table["columns"] if column != "avg"]
    rows = [
        _analysis_row(setup, "table-source-ratio", name, [(500, ratio) for ratio in ratios])
        for name in table["rows"]
    ]
    return TablePlan(tuple(map(str, ratios)), ("ner",) * len(ratios), tuple(rows))


def _target_size(setup: Setup) -> TablePlan:
    table = paper()["table-target-size"]
    sizes = [column for column in table["columns"] if column != "avg"]
    rows = []
    for name in table["rows"]:
        ratio = 10 if "ratio 10" in name else 8
        settings = [(size, ratio) for size in sizes]
        rows.append(_analysis_row(setup, "table-target-size", name, settings))
    return TablePlan(tuple(map(str, sizes)), ("ner",) * len(sizes), tuple(rows))


def _dynamic_weights(setup: Setup) -> TablePlan:
    rows = []
    for kind in ("weighted pre-training", "weighted normalized joint training"):
        fixed, dynamic = f"{kind}, fixed final weights", f"{kind}, dynamic weights"
        given = [(t, _others(t, TASKS, _SOURCE_SIZE), _TARGET_SIZES[t]) for t in TASKS]
        rows.append(PlanRow(fixed, tuple(held(setup, kind, *each) for each in given)))
        cells = tuple(chosen(setup, kind, *each) for each in given)
        rows.append(PlanRow(dynamic, cells, fixed))
    return TablePlan(TASKS, TASKS, tuple(rows))


_ALL: tuple[Experiment, ...] = (
    TableExperiment("table-main", "Four targets, three sources each", "44", _main),
    TableExperiment(
        "table-more-target-data",
        "More examples of target and sources",
        "27",
        _more_target_data,
    ),
    TableExperiment("table-fewer-sources", "Fewer sources", "8", _fewer_sources),
    TableExperiment(
        "table-source-ratio",
        "More source examples for each of the target",
        "24",
        _source_ratio,
    ),
    TableExperiment("table-target-size", "More examples of the target", "33", _target_size),
    TableExperiment("table-final-weights", "Where the weights ended", "table-main's", _main),
    TableExperiment(
        "table-dynamic-weights",
        "Weights that move, and their final values held",
        "table-main's and 8 more",
        _dynamic_weights,
    ),
    SamplesFigure(),
    DistanceFigure(),
)
EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}
"""By name."""
