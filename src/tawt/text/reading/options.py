"""How a file is to be read, where that is not as usual."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tawt.errors import ConfigError, suggestion
from tawt.text.reading.conllu import check_tag
from tawt.text.reading.fields import FIELDS
from tawt.text.reading.ontonotes import check_layer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FORMATS = ("columns", "conllu", "ontonotes", "jsonl", "csv", "tsv", "hub")
"""Names of the formats: what `ReadOptions.format` may be, and what `guess_format` answers."""

_SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    r"""What cannot be seen from a file, or was seen wrongly.

    Raises:
        ConfigError: If there is no such format, field, layer or tag, or a separator is none.

    Example:
        >>> ReadOptions(format="columns", separator="tab", tag_column=1).between
        '\t'
    """

    format: str | None = None
    """One of `FORMATS`; by default guessed from the file's name and its first lines."""
    separator: str | None = None
    """What stands between columns: a string, or tab, space, comma, semicolon, whitespace (any run
    of blanks and tabs). By default whitespace for column files, a tab for `.tsv`, a comma for
    `.csv`."""
    quote: str = '"'
    """The character around cells of tables; empty where it has no meaning, as in GLUE's TSV."""
    word_column: int | None = None
    """Column files: which column is the word, from 0, or from -1 backwards. By default the first;
    only then a file is refused whose first column numbers the words."""
    tag_column: int | None = None
    """Column files: which column is the tag; by default the last."""
    tag: str = "upos"
    """CoNLL-U: `upos`, `xpos` or `misc:KEY`."""
    layer: str = "pos"
    """OntoNotes: `pos`, `predicate` or `ner`."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """JSON lines, tables and the hub: our name of a field (tokens, tags, text, second, label,
    group) to the file's, where it differs. A `group` is read only if it is here."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """Labels, or types of spans, that are to have another name: the file's to the new one."""
    split: str | None = None
    """The hub: which split of the dataset."""
    encoding: str = "utf-8"
    """Encoding of the file."""

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise ConfigError(
                f"There is no format {self.format!r}; {suggestion(self.format, FORMATS)}",
                place=("format",),
            )
        for name in self.fields:
            if name not in FIELDS:
                raise ConfigError(
                    f"`fields` maps our names to the file's, and {name!r} is none of ours: "
                    f"{suggestion(name, FIELDS)}",
                    place=("fields", name),
                )
        if self.separator == "" or len(self.quote) > 1 or self.quote in {"\n", "\r"}:
            raise ConfigError(
                f"`separator` must not be empty, and `quote` is one character or none; got "
                f"{self.separator!r} and {self.quote!r}.",
                place=("separator" if self.separator == "" else "quote",),
            )
        check_tag(self.tag)
        check_layer(self.layer)

    @property
    def between(self) -> str | None:
        """The separator itself; `None` for whitespace, or where none was given."""
        if self.separator is None or self.separator == "whitespace":
            return None
        return _SEPARATORS.get(self.separator, self.separator)

    def between_columns(self, path: Path) -> str | None:
        r"""The separator in a file of columns: a tab by its ending, where none was given.

        Example:
            >>> from pathlib import Path
            >>> ReadOptions().between_columns(Path("train.tsv"))
            '\t'
        """
        usual = "\t" if path.suffix.lower() == ".tsv" and self.separator is None else None
        return self.between or usual
