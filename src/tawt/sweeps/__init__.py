"""Many runs: what questions want is made once, several at a time, and kept.

A question has a plan, which says what `Work` it wants given what is there already, and an answer,
which it reads from the records. `Sweep` makes what the `RecordStore` lacks.
"""

from tawt.extras import need

need("cli", by=__name__)

from tawt.sweeps.queue import Executor, Sweep, in_this_process
from tawt.sweeps.runs import TrainRun
from tawt.sweeps.stopping import stop_on_signals
from tawt.sweeps.store import RecordStore
from tawt.sweeps.work import Context, Plan, Progress, Record, Work

__all__ = [
    "Context",
    "Executor",
    "Plan",
    "Progress",
    "Record",
    "RecordStore",
    "Sweep",
    "TrainRun",
    "Work",
    "in_this_process",
    "stop_on_signals",
]
