"""Users' names in Markdown."""

from __future__ import annotations

import re

_SIGNS = re.compile(r"[\\`*\[\]|~$#!]|(?<!\w)_|_(?!\w)")  # inside a word, _ is nothing but that
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def escaped(text: str) -> str:
    r"""A text on one line, shown as it is: no markup, no HTML, no cell of a table.

    Args:
        text: A name, say.

    Example:
        >>> escaped("a|b <script>\n*x*")
        'a\\|b &lt;script&gt; \\*x\\*'
    """
    line = _SIGNS.sub(r"\\\g<0>", " ".join(text.split()))
    return "".join(_HTML.get(sign, sign) for sign in line)


def prose(text: str) -> str:
    r"""A sentence on one line, in which names may stand: its signs are kept, HTML is not.

    Args:
        text: A caption, say.

    Example:
        >>> prose("p < 0.05 on <b>web</b>")
        'p < 0.05 on &lt;b>web&lt;/b>'
    """
    return _TAG.sub("&lt;", " ".join(text.split()))
