"""How often Python looks for garbage.

Imports make hundreds of thousands of objects, none of them garbage, and searching them again and
again is a fifth of a command's start.
"""

from __future__ import annotations

import gc

_RARELY = 100_000  # objects made between searches
_USUAL = gc.get_threshold()


def collect_rarely() -> None:
    """While a command starts. Not never: reading data is a part of it, and may take an hour."""
    gc.set_threshold(_RARELY, *_USUAL[1:])


def collect_as_usual() -> None:
    """From now on: what training throws away may hold the memory of a device."""
    gc.set_threshold(*_USUAL)
