"""Malformed configurations and command lines, made from good ones by a seed."""

import copy
import datetime
import math
import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import yaml

from tawt.text.tiny import write_tiny_encoder

DIGITS = {
    "name": "digits",
    "seed": 1,
    "data": {"kind": "digits", "target_size": 30},
    "target": "digit",
    "sources": ["parity", "coins"],
    "model": {"kind": "mlp", "widths": [6, 4], "dropout": 0.1},
    "paradigm": "joint",
    "epochs": 1,
    "target_epochs": 1,
    "weighting": {"kind": "target-aware", "preset": "robust", "step_size": 0.5, "anchor": 0.1},
    "training": {"batch_size": 8, "learning_rate": 0.01, "workers": 0, "warmup": 0.1},
}
ARRAYS = {
    "data": {
        "kind": "arrays",
        "tasks": {
            "goal": {"train": "goal.npz", "dev": "goal.npz", "test": "goal.npz"},
            "near": {"kind": "classification", "train": "near.npz", "labels": ["a", "b", "c"]},
            "far": {"kind": "regression", "train": "numbers.npz"},
        },
    },
    "target": {"goal": 1.0},
    "model": {"widths": [4]},
    "paradigm": "pre-training",
    "fine_tune_learning_rate": 0.001,
    "weighting": {
        "unit": "task",
        "initial": {"near": 0.5, "far": 0.5},
        "alignment": "curvature",
        "curvature": {"kind": "neumann", "damping": 0.1, "iterations": 3, "rank": 2, "scale": 1.0},
        "ratio_bound": 4.0,
    },
    "training": {"clip_norm": 1.0, "weight_decay": 0.1, "head_learning_rate": 0.1, "patience": 2},
}
TEXT = {
    "data": {
        "kind": "text",
        "tasks": {
            "goal": {"train": "goal.tsv", "held_out": {"dev": 0.2, "test": 0.2}, "tag_column": 1},
            "near": {"kind": "classification", "train": "near.jsonl", "limit": 4},
        },
    },
    "target": "goal",
    "model": {"encoder": "encoder", "max_length": 16, "overlap": 2},
    "weighting": {"unit": "group", "group": {"by": "length", "count": 2}, "target_share": 0.5},
}
GRAMMAR = {
    "data": {"kind": "grammar", "target_size": 5, "source_size": 5},
    "target": "chunk",
    "model": {"encoder": "encoder"},
}
GOOD = {"digits": DIGITS, "arrays": ARRAYS, "text": TEXT, "grammar": GRAMMAR}
_SHARES = {"digits": 20, "arrays": 20, "text": 3, "grammar": 1}  # the last two take longer


def _nested(depth):
    value = "x"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


NUMBERS = [
    *(math.nan, math.inf, -math.inf, -1, 0, 1, 2, 0.5, -0.5, 1.5, -0.0, 1e-320, 1e308, 1e-9),
    *(2**31, 2**63 - 1, 2**63, -(2**63), 10**9, 10**400, -(10**400), True, False),
]
WORDS = [
    *("", " ", "\0", "a\0b", "nan", "inf", "-inf", "1e999", "1_000", "0x10", "null", "~", "*"),
    *("~nosuchuser/x", "..", "/", "/dev/null", "circle", "circle/x", "folder", "goal.npz"),
    *("[x]", "a[0]", "`a`", "%s", "{0}", "a\nb", "\t", "é" * 60, "\u202e", "\U0001f600"),
    *("x" * 300, "x" * 20_000, "digit", "coins", "package:nothing", "../" * 200, "a'b", '"'),
]
OTHERS = [
    *(None, [], [[]], {}, {"a": {}}, {"": 1}, {1: 2}, {None: None}, [None], [1, "a", None]),
    *(datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC)),
    *(b"bytes", {"a", "b"}, list(range(500)), ["digit"] * 3, {"digit": math.nan}),
    *(_nested(30), _nested(70), [0, 2**62], {"kind": "digits"}, {"kind": ["mlp"]}),
]
TEXTS = [  # values as they are typed
    *("2024-13-45", "2024-02-30", "9" * 5000, "0x" + "f" * 5000, "-" + "1" * 4301, ".inf", "-.INF"),
    *(".nan", "1:30", "1" + ":59" * 300, "!!python/object:os.system x", "!!bool x", "!!int ''"),
    *("!!timestamp x", "!!binary '#'", "!!set {a, a}", "!!float x", "*a", "&a [*a]", "&a *a"),
    *(
        "[" * 500,
        "{a: " * 500,
        "[1, 2",
        "{a: 1, a: 2}",
        "{1: a, true: b}",
        "'",
        '"\\0"',
        '"\\ud800"',
    ),
    *(
        "a: b: c",
        "\t",
        "- a\n- b",
        "%",
        "@",
        "`",
        "|",
        ">",
        "? a",
        "!",
        "!!",
        "---",
        "...",
        "a\n---\nb",
    ),
    *("[*x, *y]", "{<<: 1}", "{<<: [1]}", "<<", "=", "\ufeff1", "\x07", "é", ",", "yes", "~"),
]


@dataclass
class Case:
    """A command line, and what the file it names holds."""

    arguments: list
    content: bytes
    notes: list = field(default_factory=list)
    """What was done to make it, for whoever has to find out."""


def write_good_data(folder: Path):
    """The files that the configurations name, and some that are none."""
    draw = np.random.default_rng(0)
    for name, labels in (("goal", 3), ("near", 3)):
        inputs = draw.normal(size=(12, 3)).astype(np.float32)
        np.savez(folder / f"{name}.npz", inputs=inputs, labels=np.arange(12) % labels)
    np.savez(folder / "numbers.npz", inputs=inputs, labels=inputs.sum(1))
    (folder / "goal.tsv").write_text("the\tDET\ncat\tNOUN\n\n" * 10)
    lines = (f'{{"text": "cat number {n}", "label": "{"ab"[n % 2]}"}}\n' for n in range(8))
    (folder / "near.jsonl").write_text("".join(lines))
    (folder / "folder").mkdir()
    (folder / "circle").symlink_to("circle")
    write_tiny_encoder(folder / "encoder", [["the", "cat", "number"]] * 20)


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
        _override(values, case.arguments, draw)
    if how == "command" or draw.random() < 0.03:
        case.arguments = draw.choice(_COMMANDS)(case.arguments, draw)
    return case


# Values


def _places(value, place=()):
    """Where a value can be changed."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inner:
        yield (*place, key)
        if isinstance(part, dict | list) and part:
            yield from _places(part, (*place, key))


def _hostile(draw):
    kind = draw.choices([NUMBERS, WORDS, OTHERS], [5, 4, 4])[0]
    return copy.deepcopy(draw.choice(kind))


def _change(values, draw, notes):
    """Replace, remove, rename, double or move a value."""
    places = list(_places(values))
    if not places:
        return
    *path, last = draw.choice(places)
    around = values
    for key in path:
        around = around[key]
    what = draw.choices(["replace", "remove", "rename", "copy", "add"], [10, 2, 2, 1, 2])[0]
    notes.append((what, (*path, last)))
    if what == "replace":
        around[last] = _hostile(draw)
    elif what == "remove":
        del around[last]
    elif what == "copy":
        other = draw.choice(places)
        found = values
        for key in other:
            found = found[key]
        around[last] = copy.deepcopy(found)
    elif isinstance(around, dict):
        new = draw.choice([f"{last}x", str(last).upper(), "", "kind", 1, None, 1.5, "a[0]", "a.b"])
        around[new] = around.pop(last) if what == "rename" else _hostile(draw)


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


# Command lines


def _override(values, arguments, draw):
    for _ in range(draw.choice([1, 1, 2])):
        places = list(_places(values)) or [("name",)]
        name = ".".join(map(str, draw.choice(places)))
        if draw.random() < 0.3:
            name = draw.choice(
                [
                    f"{name}[0]",
                    f"{name}.x",
                    f".{name}",
                    f"{name}.",
                    "",
                    "a.b.c",
                    "x." * 3000,
                    "é",
                    " ",
                ]
            )
        value = draw.choice(TEXTS) if draw.random() < 0.6 else str(_shortened(_hostile(draw)))
        arguments += ["-o", draw.choice([f"{name}={value}", f"{name}={value}", name, f"={value}"])]


def _shortened(value):
    return "1" + "0" * 400 if isinstance(value, int) and abs(value) > 10**300 else value


def _train(arguments, draw):
    return [*arguments, *_options(draw, "--checkpoint-seconds", "--device", "--out", "--log-with")]


def _compare(arguments, draw):
    return ["compare", *arguments[1:], *_options(draw, "--jobs", "--seeds", "--row", "--device")]


def _distance(arguments, draw):
    return [
        "distance",
        *arguments[1:],
        *_options(draw, "--weights", "--seeds", "--jobs", "--matrix"),
    ]


def _inspect(arguments, draw):
    options = ("--kind", "--format", "--max-length", "--field", "--json", "--quote", "--encoding")
    return ["data", "inspect", *arguments[1:], *_options(draw, *options)]


def _audit(_, draw):
    return ["audit", draw.choice(WORDS), *_options(draw, "--most", "--out", "--json")]


def _predict(_, draw):
    source = draw.choice(["-", *WORDS])
    return ["predict", draw.choice(WORDS), source, *_options(draw, "--batch-size", "--format")]


def _report(_, draw):
    return ["report", *draw.choices(WORDS, k=draw.randrange(3)), *_options(draw, "--out")]


def _reproduce(_, draw):
    what = draw.choice(["table-main", "figure-weighted-samples", *WORDS])
    options = (
        "--data",
        "--layout",
        "--seeds",
        "--epochs",
        "--learning-rate",
        "--part",
        "--encoder",
    )
    return ["reproduce", what, *_options(draw, *options)]


def _mangled(arguments, draw):
    found = [*arguments, *draw.choice([["--nothing"], ["x"], ["--out"], ["-o"], ["--"], ["-"]])]
    draw.shuffle(found)
    return found


_COMMANDS = [_train, _compare, _distance, _inspect, _audit, _predict, _report, _reproduce, _mangled]
_OPTION_VALUES = ["nan", "inf", "-inf", "-1", "0", "1", "1e400", "9" * 5000, str(2**63), "100000"]


def _options(draw, *names):
    """Some options, with values that are rarely what they should be."""
    found = []
    for name in draw.choices(names, k=draw.choice([0, 1, 1, 2])):
        found.append(name)
        if draw.random() < 0.9:
            found.append(draw.choice([*_OPTION_VALUES, *WORDS, "a=b:1", "goal=near:inf,far:nan"]))
    return found
