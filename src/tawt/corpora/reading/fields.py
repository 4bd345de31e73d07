"""Fields of records: the text, and the group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tawt.corpora.reading.documents import Document, in_parts
from tawt.errors import suggestion
from tawt.text.reading.problems import problem, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tawt.corpora.reading.opening import Invalid
    from tawt.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Fields:
    """Which fields of a record are read.

    Example:
        >>> Fields(text="text", group="meta.source").columns(["text", "meta"])
        ['text', 'meta']
    """

    text: str
    group: str | None = None
    invalid: Invalid = "refuse"
    """What becomes of text that is no UTF-8."""

    def columns(self, names: Iterable[str]) -> list[str]:
        """The columns that have to be read, of those that there are.

        Raises:
            LookupError: There is no such column; its message says which there are.
        """
        known = list(names)
        wanted = [self.text] if self.group is None else [self.text, self.group]
        found = [name if name in known else name.partition(".")[0] for name in wanted]
        for name, column in zip(wanted, found, strict=True):
            if column not in known:
                raise LookupError(f"there is no field {name!r}; {suggestion(name, known)}")
        return list(dict.fromkeys(found))

    def documents(self, record: Any, *, path: Path, line: int) -> Iterator[Document]:
        """What a record holds.

        Args:
            record: Fields by name.
            path: Where it is from.
            line: Its number in there, from 1.

        Raises:
            DataError: If it is no such record.
        """
        if not isinstance(record, Mapping):
            raise problem(path, line, f"expected an object with fields; got {shown(record)}.")
        text = self._text(_value(record, self.text, path=path, line=line), path, line)
        if self.group is None:
            return in_parts(text)
        group = _value(record, self.group, path=path, line=line)
        if not isinstance(group, str | int | float):
            raise problem(
                path, line, f"the group {self.group!r} must be a name; got {shown(group)}."
            )
        name = self.well_formed(str(group), field=self.group, path=path, line=line)
        return in_parts(text, name)

    def _text(self, value: object, path: Path, line: int) -> str:
        if value is None:
            return ""
        if isinstance(value, bytes):
            return self._decoded(value, path, line)
        if not isinstance(value, str):
            raise problem(path, line, f"the field {self.text!r} must be text; got {shown(value)}.")
        return value

    def _decoded(self, value: bytes, path: Path, line: int) -> str:
        try:
            return value.decode("utf-8", "strict" if self.invalid == "refuse" else "replace")
        except UnicodeDecodeError as error:
            raise _undecodable(self.text, path, line) from error

    def well_formed(self, text: str, *, field: str, path: Path, line: int) -> str:
        r"""The text without halves of surrogate pairs, which have no UTF-8.

        Raises:
            DataError: If there are any, and they are refused.

        Example:
            >>> from pathlib import Path
            >>> fields = Fields(text="text", invalid="replace")
            >>> fields.well_formed("a\ud800b", field="text", path=Path("a.jsonl"), line=1)
            'a�b'
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            if self.invalid == "refuse":
                raise _undecodable(field, path, line) from error
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text


def _undecodable(field: str, path: Path, line: int) -> DataError:
    return problem(
        path,
        line,
        f"the field {field!r} is not UTF-8; set `invalid: replace` to have what is not replaced.",
    )


def _value(record: Mapping[str, Any], field: str, *, path: Path, line: int) -> Any:
    if field in record:
        return record[field]
    value: Any = record
    for name in field.split("."):
        if not isinstance(value, Mapping) or name not in value:
            hint = suggestion(field, map(str, record)) if record else "it has none."
            raise problem(path, line, f"there is no field {field!r}; {hint}")
        value = value[name]
    return value
