"""The Hugging Face hub, asked only where it can be reached.

The hub's own libraries ask again and again for most of a minute where there is no network, and
print each attempt. Here one connection is tried first; where it fails, they are told that they are
offline, and use at once what was downloaded before, or say that there is nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import socket
import sys
import threading
import time
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 5.0
"""Seconds in which a connection must come about; one across the world takes less than one."""
_REMEMBERED = 60.0  # seconds: an encoder is loaded in several steps
_PORTS = {"https": 443, "http": 80, "socks5": 1080, "socks5h": 1080, "socks4": 1080}
_TALKATIVE = ("huggingface_hub", "datasets", "httpx", "filelock", "fsspec")

_answers: dict[tuple[str, int], tuple[float, str | None]] = {}


@contextlib.contextmanager
def hub_if_reachable() -> Iterator[str | None]:
    """Within it the hub is asked if it can be reached, and quietly.

    Yields:
        Why it cannot be reached; `None` where it can, or where offline work was asked for.
    """
    constants = importlib.import_module("huggingface_hub.constants")  # not before it is needed
    reason = None if constants.HF_HUB_OFFLINE else why_unreachable(constants.ENDPOINT)
    with contextlib.ExitStack() as stack:
        for name in _TALKATIVE:
            stack.enter_context(_errors_alone(logging.getLogger(name)))
        if reason is not None:
            stack.enter_context(_offline(constants))
            if "datasets" in sys.modules:
                stack.enter_context(_offline(sys.modules["datasets"].config))
        yield reason


def why_unreachable(address: str) -> str | None:
    """Why nothing at an address answers, as far as one connection shows; `None` if it does.

    Args:
        address: Such as https://huggingface.co. Where the environment names a proxy for it, the
            proxy is tried in its stead.

    Example:
        >>> why_unreachable("http://127.0.0.1:1")
        'http://127.0.0.1:1 cannot be reached (Connection refused)'
    """
    place = _place(address)
    if place is None:
        return None  # nothing that could be tried; the library knows better
    asked, known = _answers.get(place, (-_REMEMBERED, None))
    if time.monotonic() - asked > _REMEMBERED:
        known = _connection_problem(*place)
        _answers[place] = time.monotonic(), known
    return None if known is None else f"{address} cannot be reached ({known})"


def _place(address: str) -> tuple[str, int] | None:
    """Host and port that a request would be sent to."""
    try:
        url = urllib.parse.urlsplit(address)
        proxies = urllib.request.getproxies()
        proxy = proxies.get(url.scheme) or proxies.get("all")
        if proxy and not urllib.request.proxy_bypass(url.hostname or ""):
            url = urllib.parse.urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        host, port = url.hostname, url.port or _PORTS.get(url.scheme)
    except ValueError:
        return None
    return (host, port) if host and port else None


def _connection_problem(host: str, port: int) -> str | None:
    found: list[str | None] = []

    def connect() -> None:
        try:
            socket.create_connection((host, port), timeout=PATIENCE).close()
            found.append(None)
        except (OSError, ValueError) as error:
            found.append(getattr(error, "strerror", None) or str(error))

    # In a thread: looking up a name has no time limit of its own.
    attempt = threading.Thread(target=connect, daemon=True)
    attempt.start()
    attempt.join(PATIENCE)
    return found[0] if found else f"no answer within {PATIENCE:g} s"


@contextlib.contextmanager
def _offline(settings: Any) -> Iterator[None]:
    before, settings.HF_HUB_OFFLINE = settings.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        settings.HF_HUB_OFFLINE = before


@contextlib.contextmanager
def _errors_alone(logger: logging.Logger) -> Iterator[None]:
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
