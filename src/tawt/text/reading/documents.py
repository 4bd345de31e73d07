"""Which document a sentence is of, by the marks that stand between documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tawt.text.reading.checks import checked_word

if TYPE_CHECKING:
    from pathlib import Path

_NEWDOC = re.compile(r"#[ \t]*newdoc(?=[\s=]|$)(?:[ \t]+id)?[ \t]*(?:=(.*))?")


class Documents:
    """Names documents as their files do, else by a running number.

    The files of a task share one, so that the first document of one file is not taken for the
    first of another.

    Example:
        >>> from pathlib import Path
        >>> documents = Documents()
        >>> documents.begin("wsj_0001", path=Path("a.txt"), line=1)
        'wsj_0001'
        >>> documents.begin(path=Path("a.txt"), line=7)
        'document 2'
    """

    def __init__(self) -> None:
        self._count = 0

    def begin(self, name: str = "", *, path: Path, line: int) -> str:
        """The name of the document that begins here, interned.

        Args:
            name: What the file calls it, if anything.
            path: The file, for errors.
            line: Where in it.

        Raises:
            DataError: If the name has half of a surrogate pair in it.
        """
        self._count += 1
        name = name.strip() or f"document {self._count}"
        return checked_word(name, path=path, line=line, what="document's name")

    def after(self, comment: str, current: str | None, *, path: Path, line: int) -> str | None:
        """The document after a comment: a new one if it reads `# newdoc` or `# newdoc id = NAME`.

        Args:
            comment: The line.
            current: The document before it.
            path: The file, for errors.
            line: Where in it.

        Raises:
            DataError: As `begin`.

        Example:
            >>> from pathlib import Path
            >>> comments = ["# newdoc id = weblog-1", "# text = a b", "# newdoc"]
            >>> documents = Documents()
            >>> [documents.after(each, None, path=Path("a.txt"), line=1) for each in comments]
            ['weblog-1', None, 'document 2']
        """
        found = _NEWDOC.match(comment)
        return self.begin(found[1] or "", path=path, line=line) if found else current
