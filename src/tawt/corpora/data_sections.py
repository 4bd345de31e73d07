"""The section `data` of a configuration whose data is corpora."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from tawt.corpora.sections import CorpusFiles
from tawt.modality import DataSection


class CorporaData(DataSection):
    """Corpora: raw text, of which a language model predicts every token."""

    kind: Literal["corpora"]
    corpora: dict[str, CorpusFiles]
    """By name: sources and target."""
    tokenizer: str | None = None
    """`bytes`, or whose tokenizer: a name on the Hugging Face hub, a folder, or `package:NAME`. By
    default that of `model.checkpoint`, and bytes where there is none."""
    window: int = Field(256, ge=2, le=1_000_000)
    """Tokens of an example. A corpus is cut into windows of so many."""
    cache: Path | None = None
    """Where corpora are kept once they are tokenised; the user's cache folder by default
    (`$XDG_CACHE_HOME/tawt`, or `~/.cache/tawt`)."""
