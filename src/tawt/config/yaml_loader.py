"""The one way in which YAML is read: safe, of bounded size, and no key twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml
from yaml.constructor import ConstructorError

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 4_000_000
"""Of a file: more is no configuration, and would take minutes to read."""
MOST_VALUES = 100_000
"""Of a file, each alias counted as all that it stands for."""
DEEPEST = 50
"""Mappings and lists inside each other."""
_MOST_BITS = 1024  # of a whole number, whose digits are still shown in no time
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_MERGE = "tag:yaml.org,2002:merge"


class RefusedError(yaml.YAMLError):
    """What other programs may read, and we do not."""

    def __init__(self, problem: str, *, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


class BoundedLoader(yaml.SafeLoader):
    """The safe loader, which also refuses what would be read otherwise than it was meant.

    That is a key that is given twice (YAML would take the last in silence), an alias that refers to
    what it stands in, and a few lines of aliases that stand for billions of values.
    """

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0
        self._sizes: dict[int, int] = {}  # of nodes that are whole, aliases written out
        self._total = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Read a value, and count what it stands for."""
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        is_alias = self.check_event(yaml.AliasEvent)
        if self._depth > DEEPEST:
            raise RefusedError(f"more than {DEEPEST} levels deep", line=mark.line + 1)
        before = self._total
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if not is_alias:
            self._total += 1
            self._sizes[id(node)] = self._total - before
        elif id(node) in self._sizes:
            self._total += self._sizes[id(node)]
        else:
            problem = "an alias that refers to what it stands in; write it out"
            raise RefusedError(problem, line=mark.line + 1)
        if self._total > MOST_VALUES:
            problem = f"more than {MOST_VALUES:,} values with aliases expanded; use fewer"
            raise RefusedError(problem, line=mark.line + 1)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping with every key once."""
        if isinstance(node, yaml.MappingNode):  # a tag can claim it of anything
            self._check_keys(node)
        return super().construct_mapping(node, deep=deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """A value; whatever it is that the loader cannot make of it is an error of YAML."""
        try:
            value = super().construct_object(node, deep=deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ConstructorError(problem=_no_value(node), problem_mark=node.start_mark) from error
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise ConstructorError(problem=_no_value(node), problem_mark=node.start_mark)
        if isinstance(value, str) and _UNWRITABLE.search(value):
            problem = "text with a NUL in it, or half of a character, which no file can hold"
            raise RefusedError(problem, line=node.start_mark.line + 1)
        return value

    def _check_keys(self, node: yaml.MappingNode) -> None:
        lines: dict[Any, int] = {}
        for key, line in self._keys(node):
            if key in lines:
                problem = f"`{key}` is given twice, on lines {lines[key]} and {line}"
                raise RefusedError(f"{problem}; keep one of them", line=line)
            lines[key] = line

    def _keys(self, node: yaml.MappingNode) -> Iterator[tuple[Any, int]]:
        """What a mapping itself has for keys; merged ones may be replaced."""
        for key, _ in node.value:
            is_merge = key.tag == _MERGE
            found = key.value if is_merge else self.construct_object(key, deep=True)
            if isinstance(found, list | dict | set):  # the safe loader refuses it, with its line
                return
            yield found, key.start_mark.line + 1


def _no_value(node: yaml.Node) -> str:
    kind = node.tag.rpartition(":")[2]
    if not isinstance(node, yaml.ScalarNode):
        return f"what is marked !!{kind} is none"
    text = (
        node.value
        if len(node.value) <= 40
        else f"{node.value[:20]}… ({len(node.value)} characters)"
    )
    if kind == "timestamp":
        return f"{text!r} looks like a date and is not a valid one; quote it"
    if kind == "int" and text != node.value:
        return f"{text!r} is too large a number"
    return f"{text!r} is no {kind}"
