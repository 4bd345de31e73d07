"""What a user asks for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tawt import files
from tawt.errors import ConfigError, RunError
from tawt.reproduce import contents
from tawt.reproduce.tagging import Setup

if TYPE_CHECKING:
    from collections.abc import Iterator

_REQUEST = "request.json"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What all experiments can be asked for, and what they are to be made from."""

    seeds: tuple[int, ...]
    setup: Setup | None = None
    """For experiments with encoders."""
    vectors: str | None = None
    """Word vectors, for weights on samples."""
    tiny: bool = False

    def text_setup(self, experiment: str) -> Setup:
        """What runs with encoders share.

        Raises:
            ConfigError: It was not given.
        """
        if self.setup is None or not self.setup.encoder:
            raise ConfigError(
                f"{experiment} trains encoders: give --data and --encoder, or --scale tiny to see "
                "that it works."
            )
        return self.setup


def save_request(request: Request, folder: Path) -> None:
    """Keep what was asked for beside its table, which can then be made again from records alone.

    Args:
        request: What was asked for.
        folder: Of the experiment.
    """
    given = asdict(request)
    named, root = set(_strings(given)), folder.parent.resolve()
    found = {
        name if name in named else _inside(Path(name), root): digest
        for name, digest in contents.known().items()
    }
    files.write_json(folder / _REQUEST, {"request": given, "contents": found})


def load_request(folder: Path) -> Request | None:
    """What was asked for when the experiment's table was made; nothing if it never was.

    Args:
        folder: Of the experiment.

    Raises:
        RunError: The file is damaged.
    """
    path = folder / _REQUEST
    if not path.exists():
        return None
    values: dict[str, Any] = files.read_json(path)
    try:
        given = dict(values["request"])
        setup = None if given["setup"] is None else Setup(**given["setup"])
        found: dict[str, str] = values["contents"]
        request = Request(**{**given, "setup": setup, "seeds": tuple(given["seeds"])})
    except (KeyError, TypeError) as error:
        raise RunError(f"{path} is damaged: {error}; give --data to make it again.") from error
    root = folder.parent.resolve()
    contents.remember({str(root / name): digest for name, digest in found.items()})
    return request


def _strings(values: Any) -> Iterator[str]:
    if isinstance(values, str):
        yield values
    elif isinstance(values, dict):
        yield from chain.from_iterable(map(_strings, values.values()))


def _inside(path: Path, root: Path) -> str:
    """What experiments made for themselves, from their folder, which may be moved with it."""
    return str(path.relative_to(root) if path.is_relative_to(root) else path)
