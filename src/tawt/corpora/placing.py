"""Paths of a configuration, made absolute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tawt.errors import ConfigError
from tawt.paths import home_expanded, resolved
from tawt.text.encoding.finding import PACKAGE
from tawt.text.placing import placed

if TYPE_CHECKING:
    from tawt.corpora.sections import CorpusFiles


def placed_files(files: CorpusFiles, folder: Path) -> CorpusFiles:
    """The files of a corpus, relative ones being so to a folder.

    Args:
        files: Of one corpus.
        folder: Of the configuration.
    """
    return files.model_copy(
        update={split: placed(getattr(files, split), folder) for split in ("train", "dev", "test")}
    )


def placed_checkpoint(name: str | None, folder: Path) -> str | None:
    """A model or a tokenizer that is a folder, relative ones being so to another.

    Args:
        name: A hub name, a folder, or `package:NAME`.
        folder: Of the configuration.
    """
    if name is None or name.startswith(PACKAGE) or "\0" in name:
        return name
    place = folder / home_expanded(Path(name), error=ConfigError)
    return str(resolved(place, error=ConfigError)) if place.is_dir() else name
