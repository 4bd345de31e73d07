"""Pieces of words, by any fast tokenizer of transformers."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.corpora.vocabularies.interface import Ids, Vocabulary
from tawt.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from transformers import PreTrainedTokenizerFast

_WAYS = (
    "Give `bytes`, a name on the Hugging Face hub (such as gpt2), a folder with tokenizer.json, or "
    "package:NAME for an installed package that carries one."
)
_PARALLEL = "TOKENIZERS_PARALLELISM"


class Pieces(Vocabulary):
    """A fast tokenizer of transformers.

    Args:
        name: A name on the Hugging Face hub, a folder, or `package:NAME`.

    Raises:
        ConfigError: There is none, it is not a fast one, or has no token to separate documents.
    """

    def __init__(self, name: str) -> None:
        from tokenizers import Tokenizer

        tokenizer = _loaded(name)
        self._tokenizer = tokenizer
        backend = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        backend.no_truncation()
        backend.no_padding()
        backend.encode_special_tokens = True  # or a text could end a document in its middle
        self._backend = backend
        self.separator = _separator(tokenizer, name)
        padding = tokenizer.pad_token_id
        self.padding = self.separator if padding is None else int(padding)
        self.mask = tokenizer.mask_token_id
        self.specials = frozenset({*tokenizer.all_special_ids, self.separator, self.padding})
        self.size = max(len(tokenizer), 1 + max(tokenizer.get_vocab().values()))
        said = json.dumps([backend.to_str(), self.separator])
        self.fingerprint = hashlib.sha256(said.encode()).hexdigest()

    def encode_joined(self, texts: Sequence[str]) -> tuple[Ids, NDArray[np.int64]]:
        """The pieces of texts, one text after the other, and how many each has."""
        encodings = self._backend.encode_batch_fast(list(texts), add_special_tokens=False)
        counts = np.fromiter(map(len, encodings), np.int64, len(encodings))
        every = itertools.chain.from_iterable(encoding.ids for encoding in encodings)
        return np.fromiter(every, self.dtype, int(counts.sum())), counts

    def decode(self, ids: Iterable[int]) -> str:
        """The text that pieces stand for."""
        plain = [number for number in map(int, ids) if number not in self.specials]
        text: str = self._backend.decode(plain, skip_special_tokens=False)
        return text

    def save(self, folder: Path) -> None:
        """Leave the tokenizer's files."""
        self._tokenizer.save_pretrained(folder)


@contextlib.contextmanager
def without_own_threads() -> Iterator[None]:
    """Within it the Rust library starts no threads, since ours tokenise beside each other.

    Those of the library would outlast the work, and it warns of them whenever a process is forked.
    """
    before = os.environ.get(_PARALLEL)
    os.environ[_PARALLEL] = "false"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_PARALLEL]
        else:
            os.environ[_PARALLEL] = before


def _loaded(name: str) -> PreTrainedTokenizerFast:
    from transformers import AutoTokenizer

    from tawt.text.encoding.finding import is_hub_name
    from tawt.text.encoding.loading import quietly
    from tawt.text.online import hub_if_reachable

    place = _place(name)
    unreachable = None
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(quietly())
            if is_hub_name(name):
                unreachable = stack.enter_context(hub_if_reachable())
            tokenizer: Any = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
    except Exception as error:  # a broken file makes the libraries raise anything
        reason = " ".join(str(error).split())[:300].rstrip(". ") or type(error).__name__
        if unreachable is not None:
            reason = f"it was not downloaded before, and {unreachable}"
        raise _not_found(name, reason) from error
    if not tokenizer.is_fast:
        raise _not_found(name, "it is not a fast tokenizer (there is no tokenizer.json)")
    if set(tokenizer.get_vocab().values()) <= set(tokenizer.all_special_ids):
        raise _not_found(name, "it comes without a tokenizer")
    found: PreTrainedTokenizerFast = tokenizer
    return found


def _place(name: str) -> str:
    """A folder with nothing but a tokenizer will do."""
    from tawt.text.encoding.finding import located

    try:
        folder = Path(name).expanduser()
        if (folder / "tokenizer.json").is_file():
            return str(folder)
        is_other = folder.is_dir() and not (folder / "config.json").exists()
    except (OSError, RuntimeError, ValueError):
        is_other = False  # no folder; what else it could be is known below
    if is_other:
        raise _not_found(name, f"the folder {folder} has no tokenizer.json")
    return located(name, what="tokenizer", ways=_WAYS)


def _separator(tokenizer: PreTrainedTokenizerFast, name: str) -> int:
    for found in (tokenizer.eos_token_id, tokenizer.sep_token_id, tokenizer.bos_token_id):
        if found is not None:
            return int(found)
    raise ConfigError(
        f"The tokenizer {name!r} has no token that ends a text (eos, sep or bos), which documents "
        "are separated by; give it one (tokenizer.add_special_tokens) and save it again."
    )


def _not_found(name: str, reason: str) -> ConfigError:
    from tawt.text.encoding.finding import not_found

    return not_found(name, reason, what="tokenizer", ways=_WAYS)
