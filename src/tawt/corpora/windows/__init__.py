"""Windows of a tokenised corpus: what a language model is trained on."""

from tawt.corpora.windows.causal import Windows
from tawt.corpora.windows.masked import NOT_ASKED, MaskedWindows

__all__ = ["NOT_ASKED", "MaskedWindows", "Windows"]
