"""Lines of text that are known from elsewhere, found among those of a corpus."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.text.reading.contents import letters_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tawt.corpora.reading.documents import Document


@dataclass(frozen=True)
class KnownLines:
    r"""Lines that a corpus should not have: what a target holds out, say.

    Letters and digits alone are compared, in lower case, so that neither typography nor marks that
    are put around words tell two lines apart. A line without any is never found.

    Args:
        letters: What `letters_of` makes of the lines.
        removes: Whether those that are found are left out, and not only counted.

    Example:
        >>> from tawt.corpora.reading import Document
        >>> known = KnownLines.of(["The cat sat."], removes=True)
        >>> search = KnownLineSearch(known)
        >>> documents = [Document("A dog .\nthe [ cat ] sat ."), Document("THE CAT SAT")]
        >>> [document.text for document in search.through(documents)]
        ['A dog .']
        >>> search.count
        2
    """

    letters: frozenset[str]
    removes: bool

    @classmethod
    def of(cls, texts: Iterable[str], *, removes: bool) -> KnownLines:
        """Texts as a whole, and each of their lines.

        Args:
            texts: As they are.
            removes: Whether those that are found are left out.
        """
        lines = (line for text in texts for line in (text, *text.splitlines()))
        return cls(frozenset(map(letters_of, lines)) - {""}, removes)

    @property
    def fingerprint(self) -> str:
        """SHA-256, to tell corpora apart that were made without other lines."""
        digest = hashlib.sha256(str(self.removes).encode())
        for line in sorted(self.letters):
            digest.update(f"{line}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


class KnownLineSearch:
    """Looks for known lines in documents as they pass, and leaves them out if that is wanted.

    Args:
        known: The lines.
    """

    def __init__(self, known: KnownLines) -> None:
        self._known = known
        self.count = 0
        """Lines that were found so far; a document that is known as a whole counts once."""

    def through(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents without the lines, or as they are; those of which nothing is left are out.

        Args:
            documents: Long ones in parts, in which a line is looked for that is not cut.
        """
        is_continued = False
        for document in documents:
            kept = self._kept(document.text, is_whole=document.ends and not is_continued)
            # A document that goes on must end, even if nothing of its last part is left.
            is_needed = is_continued or not document.ends
            is_continued = not document.ends
            if kept == document.text or not self._known.removes:
                yield document
            elif kept or is_needed:
                yield document._replace(text=kept)

    def _kept(self, text: str, *, is_whole: bool) -> str:
        if is_whole and letters_of(text) in self._known.letters:
            self.count += 1
            return ""
        if "\n" not in text:
            return text
        lines = text.split("\n")
        kept = [line for line in lines if letters_of(line) not in self._known.letters]
        self.count += len(lines) - len(kept)
        return "\n".join(kept)
