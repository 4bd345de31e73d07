"""Strings that files, pages, terminals and spreadsheets must not obey."""

import re

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
UNSAFE = [*map(chr, (*_CONTROLS, 0x2028, 0x2029, *_DIRECTIONS, 0xD800, 0xDFFF))]
"""Characters that a terminal, or whatever shows a text, takes for a command."""

ESCAPES = "a\x1b[31mred\x1b]0;title\x07\x9b2J\u202ethgir\u2066"
SCRIPT = "<script>alert(1)</script>"
CLOSING = "</script><!--\u2028\u2029]]>"
MARKDOWN = "a|b `c` *d* [e](javascript:f) ![g](http://h) # i\n\n---\n# j\n| k |"
FORMULA = '=HYPERLINK("http://evil")'

_OBEYED = re.compile("(?![\t\n])[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def obeyed(text):
    """What in a text a terminal would obey; tabs and ends of lines aside."""
    return _OBEYED.findall(text)
