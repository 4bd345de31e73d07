"""Malformed configurations and command lines, made from good ones by a seed."""

import copy
import random
from dataclasses import dataclass, field

import yaml

from tests.fuzz.command_lines import COMMANDS, override
from tests.fuzz.good import GOOD
from tests.fuzz.values import TEXTS, hostile, places

_SHARES = {
    "digits": 20,
    "arrays": 20,
    "corpora": 10,
    "text": 3,
    "grammar": 1,
}  # the last take longer


@dataclass
class Case:
    """A command line, and what the file it names holds."""

    arguments: list
    content: bytes
    notes: list = field(default_factory=list)
    """What was done to make it, for whoever has to find out."""


def cases(seed, count):
    """So many cases; the same ones for the same seed, however many are asked for."""
    for number in range(count):
        yield _case(random.Random(f"{seed}/{number}"))


def _case(draw):
    name = draw.choices(list(_SHARES), list(_SHARES.values()))[0]
    values = copy.deepcopy(GOOD[name])
    case = Case(["train", "study.yaml"], b"", [name])
    how = draw.choices(["values", "text", "bytes", "override", "command"], [7, 3, 1, 2, 2])[0]
    if how == "values" or draw.random() < 0.3:
        for _ in range(draw.choice([1, 1, 1, 2, 3])):
            _change(values, draw, case.notes)
    text = yaml.safe_dump(values, sort_keys=False, allow_unicode=draw.random() < 0.5, width=10**6)
    if how == "text" or draw.random() < 0.1:
        text = draw.choice(_TEXT_CHANGES)(text, draw, case.notes)
    case.content = text.encode("utf-8", "surrogatepass")
    if how == "bytes" or draw.random() < 0.03:
        case.content = draw.choice(_BYTE_CHANGES)(case.content, draw, case.notes)
    if how == "override" or draw.random() < 0.1:
        override(values, case.arguments, draw)
    if how == "command" or draw.random() < 0.03:
        case.arguments = draw.choice(COMMANDS)(case.arguments, draw)
    return case


# Values


def _change(values, draw, notes):
    """Replace, remove, rename, double or move a value."""
    found = list(places(values))
    if not found:
        return
    *path, last = draw.choice(found)
    around = values
    for key in path:
        around = around[key]
    what = draw.choices(["replace", "remove", "rename", "copy", "add"], [10, 2, 2, 1, 2])[0]
    notes.append((what, (*path, last)))
    if what == "replace":
        around[last] = hostile(draw)
    elif what == "remove":
        del around[last]
    elif what == "copy":
        inner = values
        for key in draw.choice(found):
            inner = inner[key]
        around[last] = copy.deepcopy(inner)
    elif isinstance(around, dict):
        new = draw.choice([f"{last}x", str(last).upper(), "", "kind", 1, None, 1.5, "a[0]", "a.b"])
        around[new] = around.pop(last) if what == "rename" else hostile(draw)


# Text


def _typed(text, draw, notes):
    """A value of a line as somebody typed it."""
    lines = text.splitlines(keepends=True)
    at = draw.randrange(len(lines))
    key, colon, _ = lines[at].partition(":")
    value = draw.choice(TEXTS)
    notes.append(("typed", at + 1, value[:40]))
    lines[at] = f"{key}{colon or ':'} {value}\n"
    return "".join(lines)


def _doubled(text, draw, notes):
    lines = text.splitlines(keepends=True)
    at = draw.randrange(len(lines))
    notes.append(("doubled", at + 1))
    return "".join([*lines[: at + 1], lines[at], *lines[at + 1 :]])


def _indented(text, draw, notes):
    lines = text.splitlines(keepends=True)
    at = draw.randrange(len(lines))
    notes.append(("indented", at + 1))
    lines[at] = draw.choice([" ", "\t", "   ", "\u00a0"]) + lines[at]
    return "".join(lines)


def _bomb(text, draw, notes):
    """Anchors inside anchors, in lists or as merged keys."""
    notes.append("bomb")
    deep, wide = draw.choice([(3, 3), (30, 9), (9, 30), (200, 2)])
    if draw.random() < 0.5:
        first, line = "[x, x]", "[{}]"
    else:
        first, line = "{k: 1}", "{{<<: [{}], k: 1}}"
    lines = [f"a0: &a0 {first}"]
    for level in range(1, deep):
        inner = ", ".join([f"*a{level - 1}"] * wide)
        lines.append(f"a{level}: &a{level} {line.format(inner)}")
    bomb = "\n".join(lines) + "\n"
    return bomb + text if draw.random() < 0.5 else text + bomb


def _merged(text, draw, notes):
    notes.append("merged")
    start = "training: &t {batch_size: 4}\n" if "training" not in text else "x: &t {a: 1}\n"
    return start + text + draw.choice(["<<: *t\n", "<<: *none\n", "<<: [*t, *t]\n", "y: *t\n"])


def _ends(text, draw, notes):
    notes.append("line ends")
    return text.replace("\n", draw.choice(["\r\n", "\r", "\u2028", "\x85", "\n\n"]))


def _appended(text, draw, notes):
    extra = draw.choice(
        ["---\na: 1\n", "...\n", "%YAML 9.9\n", "key\n", "- item\n", "{", "}", "\0"]
    )
    notes.append(("appended", extra))
    return text + extra if draw.random() < 0.5 else extra + text


def _deep(text, draw, notes):
    notes.append("deep")
    depth = draw.choice([40, 60, 1100])
    return text + draw.choice(
        [
            f"deep: {'[' * depth}{']' * depth}\n",
            f"deep: {'{a: ' * depth}",
            "".join(f"{' ' * level}a:\n" for level in range(min(depth, 400))),
        ]
    )


def _long(text, draw, notes):
    notes.append("long")
    return text + draw.choice(
        [
            f"long: {'x' * 50_000}\n",
            f"{'k' * 2000}: 1\n",
            "#" * 50_000,
            "\n" * 10_000,
            "- a\n" * 900,
        ]
    )


_TEXT_CHANGES = [
    *(_typed, _typed, _typed, _doubled, _indented, _bomb, _merged, _ends, _appended, _deep, _long)
]


# Bytes


def _cut(content, draw, notes):
    notes.append("cut")
    return content[: draw.randrange(len(content) + 1)]


def _flipped(content, draw, notes):
    notes.append("flipped")
    found = bytearray(content or b" ")
    for _ in range(draw.choice([1, 2, 10])):
        found[draw.randrange(len(found))] = draw.randrange(256)
    return bytes(found)


def _recoded(content, draw, notes):
    coding = draw.choice(["utf-16", "utf-32", "utf-8-sig", "utf-16-le"])
    notes.append(coding)
    return content.decode("utf-8", "replace").encode(coding, "replace")


def _garbage(content, draw, notes):
    notes.append("garbage")
    found = draw.choice(
        [b"", b"\0" * 100, draw.randbytes(300), b"\xff\xfe", b"PK\x03\x04", b"\x1f\x8b"]
    )
    return found if draw.random() < 0.5 else content + found


_BYTE_CHANGES = [_cut, _cut, _flipped, _flipped, _recoded, _garbage]
