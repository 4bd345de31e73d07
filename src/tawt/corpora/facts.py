"""What is found in a corpus, beside what any kind of data has."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tawt.modality.facts import SplitFacts


@dataclass(frozen=True, kw_only=True)
class CorpusFacts:
    """The text of a split."""

    tokens: int
    """Of all documents, with what separates them."""
    bytes: int
    """That the documents have in UTF-8, with one for the end of each."""
    windows: int
    """That they are trained on in."""


@dataclass(frozen=True, kw_only=True)
class CorpusSplitFacts(SplitFacts):
    """The documents of one split of one corpus."""

    corpus: CorpusFacts

    @property
    def noun(self) -> str:
        """What an example of it is called."""
        return "document"

    @property
    def columns(self) -> dict[str, str]:
        """Tokens, bytes and windows."""
        return {name: f"{count:,}" for name, count in asdict(self.corpus).items()}
