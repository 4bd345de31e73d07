"""The folder of a mixture: the configuration and the length of its runs, decided once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt import files
from tawt.errors import RunError
from tawt.files import locks
from tawt.mix.planning import ProxyPlan
from tawt.mix.result import MIX
from tawt.runs.folder import PAGE
from tawt.sweeps.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tawt.config.schema import RunConfig
    from tawt.mix.amounts import MixBudget

CONFIG, PLAN = "mix.yaml", "plan.json"
MIXTURE_YAML, MIXTURE_JSON, MARKDOWN = "mixture.yaml", "mixture.json", "mix.md"
_ANSWER = (MIX, MIXTURE_YAML, MIXTURE_JSON, MARKDOWN, PAGE)


class MixFolder:
    """Where a mixture is looked for.

        mix.yaml        the configuration, as it was given
        plan.json       how many steps each run takes, and how that was decided
        ROW/SEED/       the runs
        mix.json        the answer; mix.md and report.html show it
        mixture.yaml    the mixture alone, and how to use it; mixture.json has the same

    Args:
        path: The folder.
        config: As it was given.
        overwrite: Whether what is there may be replaced.
    """

    def __init__(self, path: Path, config: RunConfig, *, overwrite: bool) -> None:
        self.path = path
        self._claim = Claim(path, config, CONFIG, "mixture", overwrite)

    def check(self, *, resume: bool) -> None:
        """Say why the folder must not be touched, if it must not; touch nothing.

        Args:
            resume: Whether there must be something to go on with.

        Raises:
            RunError: It holds something else, or nothing.
        """
        started = (self.path / CONFIG).exists()
        if not started and self._has_files():
            raise RunError(f"{self.path} holds no mixture and is not empty; give another --out.")
        if resume and not started:
            raise RunError(f"{self.path} holds nothing to go on with; leave --resume out.")
        self._claim.check()

    def plan(self, budget: MixBudget | None) -> ProxyPlan | None:
        """The plan that was kept here, if there is one.

        Args:
            budget: That is given now; none takes the one of the plan.

        Raises:
            RunError: The plan was made for another budget, or is damaged.
        """
        path = self.path / PLAN
        if self._claim.overwrite or not path.exists():
            return None
        try:
            kept = ProxyPlan.from_json(files.read_sealed(path))
        except (KeyError, TypeError) as error:
            raise RunError(
                f"{path} is damaged: {error}. Use --overwrite to start again."
            ) from error
        if budget is not None and budget.text != kept.budget:
            was = "not given" if kept.budget is None else kept.budget
            raise RunError(
                f"{self.path} holds a mixture with another budget (--budget is {budget.text} now "
                f"and was {was} in the folder); leave --budget out to go on with it, use "
                "--overwrite to start again, or give another folder."
            )
        return kept

    def claim(
        self, plan: ProxyPlan, budget: MixBudget | None, *, should_stop: Callable[[], bool]
    ) -> ProxyPlan:
        """Leave configuration and plan, unless another process has left them meanwhile.

        Args:
            plan: How long runs are to be.
            budget: That it was made for.
            should_stop: Asked while another process writes there.

        Returns:
            The plan that is there, which may be the other process's.
        """
        with locks.locked(self.path, wait_unless=should_stop):
            kept = self.plan(budget)
            if kept is None:  # what is left fits together at any time
                for name in (*_ANSWER, PLAN):
                    (self.path / name).unlink(missing_ok=True)
            self._claim.write_config(should_stop=should_stop)
            if kept is None:
                files.write_sealed(self.path / PLAN, plan.to_json())
            return kept or plan

    def _has_files(self) -> bool:
        if not self.path.is_dir():
            return self.path.exists()
        return any(not path.name.startswith(".") for path in self.path.iterdir())
