"""Text of the user's, such that no terminal obeys it."""

from __future__ import annotations

import logging
import re

# Control characters, which terminals obey; line ends other than the usual one; marks that let text
# run the other way; halves of characters, which cannot be written.
_COMMANDS = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE = re.compile(f"[{_COMMANDS}]")
_UNSAFE_IN_LINES = re.compile(f"(?![\t\n])[{_COMMANDS}]")
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def plain(text: str) -> str:
    r"""A name, a label or another text of the user's, such that no terminal obeys it.

    Control characters, line ends and what turns the direction of writing become visible, as JSON
    writes them.

    Example:
        >>> print(plain("a\x1b[31m label"), plain("two\nlines"))
        a\u001b[31m label two\nlines
    """
    return _UNSAFE.sub(_visible, text)


def plain_lines(text: str) -> str:
    r"""As `plain`, of lines and tables: tabs and ends of lines stay.

    Example:
        >>> plain_lines("word\ttag\x07").split("\t")
        ['word', 'tag\\u0007']
    """
    return _UNSAFE_IN_LINES.sub(_visible, text)


def _visible(found: re.Match[str]) -> str:
    return _SHORT.get(found[0], f"\\u{ord(found[0]):04x}")


class PlainFormatter(logging.Formatter):
    """Log messages as `plain_lines`."""

    def format(self, record: logging.LogRecord) -> str:
        """The message, as it is shown."""
        return plain_lines(super().format(record))
