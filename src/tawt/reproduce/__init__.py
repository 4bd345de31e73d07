"""The paper's tables and figures as named experiments, beside the paper's numbers.

An experiment says which runs it needs (`Choice`s); the `Store` has every run once, whichever
experiments ask for it; `make` makes those that are missing; and the experiment turns records into a
`Result`: a table as text, the numbers behind it, and plots.
"""

from tawt.reproduce.experiments import EXPERIMENTS, Experiment
from tawt.reproduce.layout import Layout, load_layout
from tawt.reproduce.making import is_made, make
from tawt.reproduce.request import Request
from tawt.reproduce.result import Result
from tawt.reproduce.store import Store
from tawt.reproduce.tagging import Setup

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Layout",
    "Request",
    "Result",
    "Setup",
    "Store",
    "is_made",
    "load_layout",
    "make",
]
