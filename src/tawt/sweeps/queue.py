"""One way to make many things: what a plan wants and the store lacks, in waves."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from tawt.errors import ConfigError, FolderInUse, RunError, TawtError
from tawt.sweeps import workers
from tawt.sweeps.work import Context, Plan, Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tawt.sweeps.store import RecordStore
    from tawt.sweeps.work import Work


class Executor(Protocol):
    """Does work, somewhere."""

    def __call__(
        self,
        wanted: Sequence[Work],
        *,
        workers: int,
        wait: bool,
        should_stop: Callable[[], bool],
        on_end: Callable[[Work, Exception | None], None],
        on_share: Callable[[float], None],
    ) -> None:
        """See `in_processes`."""


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """How work is made; none of it changes what comes out."""

    workers: int = 1
    """Pieces of work at a time."""
    gpus: Sequence[str] = ()
    """Those that workers are spread over, as `CUDA_VISIBLE_DEVICES` names them."""
    part: tuple[int, int] = (1, 1)
    """Which of how many parts of the work is made here; the others are made elsewhere, into the
    same store. Keys are hexadecimal then."""
    should_stop: Callable[[], bool] = lambda: False
    """Asked now and then."""
    on_progress: Callable[[Progress], None] = lambda progress: None
    """Told at the start of every wave, and when something was made."""

    def __post_init__(self) -> None:
        number, of = self.part
        if not 1 <= number <= of:
            raise ConfigError(f"A part is K/N with K from 1 to N; got {number}/{of}.")

    def is_mine(self, key: str) -> bool:
        """Whether work with that key is to be made here."""
        number, of = self.part
        return of == 1 or int(key, 16) % of == number - 1

    def make(
        self, plan: Callable[[], Plan], store: RecordStore, *, executor: Executor | None = None
    ) -> bool:
        """Make what is missing; the plan is asked again when that is there, and may want more.

        Work that another process is making is left for last, and waited for.

        Args:
            plan: What is wanted, given what the store has.
            store: Where the work leaves its records.
            executor: Where work is done: in worker processes by default.

        Returns:
            Whether all is there; if not, the rest is for other parts to make.

        Raises:
            Interrupted: A stop was asked for; work in progress has saved its state.
            TawtError: Work failed; the rest was finished first.
        """
        tally: _Tally | None = None
        made = set[str]()
        while True:
            now = plan()
            missing = store.missing(now.wanted)
            tally = _Tally.of(now, missing, before=tally, tell=self.on_progress)
            mine = [work for work in missing if self.is_mine(work.key)]
            if not mine:
                return not missing and not now.later
            if lost := [work for work in mine if work.key in made]:
                raise RunError(
                    f"{lost[0].name} was made, and its record is gone again; another process must "
                    f"have started it anew. Wait until that ends, and run the same command again."
                )
            made |= self._make_wave(mine, store, tally, executor or self._usual_executor())

    def _usual_executor(self) -> Executor:
        if not self.gpus:
            return workers.in_processes
        return partial(workers.in_processes, gpus=self.gpus)

    def _make_wave(
        self, wanted: Sequence[Work], store: RecordStore, tally: _Tally, executor: Executor
    ) -> set[str]:
        """Make all that can be made now; the keys of what was."""
        made = set[str]()
        failures: list[tuple[Work, Exception]] = []
        elsewhere: list[Work] = []

        def end(work: Work, error: Exception | None) -> None:
            if isinstance(error, FolderInUse):
                elsewhere.append(work)
            elif isinstance(error, TawtError):
                failures.append((work, error))
            elif error is not None:  # ours, so nothing is gained by going on
                raise error
            else:
                made.add(work.key)
                store.forget(work.key)
                tally.count(work)

        for wait in (False, True):
            left = list(elsewhere) if wait else wanted
            if left:
                elsewhere.clear()
                executor(
                    left,
                    workers=min(self.workers, len(left)),
                    wait=wait,
                    should_stop=self.should_stop,
                    on_end=end,
                    on_share=tally.tell_share,
                )
        if failures:
            raise TawtError(_named(failures, len(wanted)))
        return made


def in_this_process(
    wanted: Sequence[Work],
    *,
    workers: int,
    wait: bool,
    should_stop: Callable[[], bool],
    on_end: Callable[[Work, Exception | None], None],
    on_share: Callable[[float], None],
) -> None:
    """Do work one by one where we are, on all threads: for work that fills the machine itself.

    Args:
        wanted: What to do, in this order.
        workers: Of no use here.
        wait: As in `Context`.
        should_stop: Asked by the work.
        on_end: Told of every piece of work that was done.
        on_share: As in `Context`.
    """
    for work in wanted:
        work.make(Context(should_stop, wait, on_share))
        on_end(work, None)


@dataclass
class _Tally:
    """How much is there, and how much of it was at the start."""

    tell: Callable[[Progress], None]
    done: int
    total: int
    before: int = field(default=0)

    @classmethod
    def of(
        cls,
        plan: Plan,
        missing: Sequence[Work],
        *,
        before: _Tally | None,
        tell: Callable[[Progress], None],
    ) -> _Tally:
        total = len({work.key for work in plan.wanted}) + plan.later
        done = total - len(missing) - plan.later
        tally = cls(tell, done, total, before.before if before else done)
        if before is None or (before.done, before.total) != (done, total):
            tally.count(None)
        return tally

    def count(self, made: Work | None) -> None:
        self.done += made is not None
        self.tell(Progress(self.done, self.total, self.before, made))

    def tell_share(self, share: float) -> None:
        """So much of the next piece is done."""
        self.tell(Progress(self.done + share, self.total, self.before))


def _named(failures: Sequence[tuple[Work, Exception]], of: int) -> str:
    """What failed, with the first message."""
    (first, error), *others = failures
    said = f"{len(failures)} of {of} runs failed; the first: {first.name}: {error}".rstrip(".")
    rest = f". The others: {', '.join(work.name for work, _ in others)}" if others else ""
    return f"{said}{rest}."
