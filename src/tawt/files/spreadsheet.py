"""Tables for spreadsheets, which take some texts for formulas."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# All that any reader might take for the end of a cell or a line; csv quotes only some of it.
_BREAKS = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
# Where a formula could start: at the beginning, blanks and quotes aside, and after a semicolon,
# which separates cells where commas are for decimals.
_FORMULA = re.compile("(^|;)(?=[\\s\"']*[=+\\-@＝＋－＠])")  # noqa: RUF001 - they are taken alike


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    r"""With a header; a text is never taken for a formula, or for several cells.

    Numbers are numbers. Tabs and ends of lines inside a text become blanks, and a text that looks
    like a formula gets an apostrophe before it.

    Args:
        rows: All with the same keys.

    Example:
        >>> print(as_csv([{"weight": -0.5, "text": "=1+1"}, {"weight": 1, "text": "a\r=b"}]))
        weight,text
        -0.5,'=1+1
        1,a =b
        <BLANKLINE>
    """
    out = io.StringIO()
    table = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
    table.writeheader()
    table.writerows({key: _harmless(value) for key, value in row.items()} for row in rows)
    return out.getvalue()


def _harmless(value: Any) -> Any:
    return _FORMULA.sub(r"\1'", _BREAKS.sub(" ", value)) if isinstance(value, str) else value
