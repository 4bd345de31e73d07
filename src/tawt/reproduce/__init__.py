"""The paper's tables and figures as named experiments, beside the paper's numbers.

An experiment says which runs it needs (`Choice`s); the `Store` has every run once, whichever
experiments ask for it; `make` makes those that are missing; and the experiment turns records into a
`Result`: a table as text, the numbers behind it, and plots. Which file is which of the paper's
tasks is in a `layout`, a module that needs the extra `text`; what experiments there are can be
told without.
"""

from tawt.extras import need

need("cli", by=__name__)

from tawt.reproduce.experiments import EXPERIMENTS, Experiment
from tawt.reproduce.making import is_made, make
from tawt.reproduce.request import Request
from tawt.reproduce.result import Result
from tawt.reproduce.store import Store
from tawt.reproduce.tagging import Setup

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Request",
    "Result",
    "Setup",
    "Store",
    "is_made",
    "make",
]
