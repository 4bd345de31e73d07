"""Stopping when asked: Ctrl-C and termination become a question the loop answers."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType


@contextmanager
def stop_on_signals() -> Iterator[Callable[[], bool]]:
    """Turn the first SIGINT or SIGTERM into a request to stop; a second one stops at once.

    Yields:
        Whether a stop was asked for.
    """
    asked = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
