"""Values that no field expects, and as what they are typed."""

import copy
import datetime
import math


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
    *(b"bytes", {"a"}, list(range(500)), ["digit"] * 3, {"digit": math.nan}),
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


def hostile(draw):
    """One of them, at random."""
    kind = draw.choices([NUMBERS, WORDS, OTHERS], [5, 4, 4])[0]
    return copy.deepcopy(draw.choice(kind))


def places(value, place=()):
    """Where a value can be changed."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inner:
        yield (*place, key)
        if isinstance(part, dict | list) and part:
            yield from places(part, (*place, key))
