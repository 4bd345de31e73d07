"""Command lines with options that are rarely what they should be."""

from tests.fuzz.values import TEXTS, WORDS, hostile, places


def override(values, arguments, draw):
    for _ in range(draw.choice([1, 1, 2])):
        found = list(places(values)) or [("name",)]
        name = ".".join(map(str, draw.choice(found)))
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
        value = draw.choice(TEXTS) if draw.random() < 0.6 else str(_shortened(hostile(draw)))
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


def _layout(_, draw):
    given = ["--data", ".", "--encoder", "encoder", "--layout", "study.yaml"]
    return ["reproduce", "table-main", *given, *_options(draw, "--learning-rate", "--seeds")]


def _mangled(arguments, draw):
    found = [*arguments, *draw.choice([["--nothing"], ["x"], ["--out"], ["-o"], ["--"], ["-"]])]
    draw.shuffle(found)
    return found


COMMANDS = [
    _train,
    _compare,
    _distance,
    _inspect,
    _audit,
    _predict,
    _report,
    _reproduce,
    _layout,
    _mangled,
]
_OUTPUTS = ["", "a/b", "circle", "circle/x", "folder", "goal.npz", "goal.npz/x", "x" * 300, "a\0b"]
_OPTION_VALUES = ["nan", "inf", "-inf", "-1", "0", "1", "1e400", "9" * 5000, str(2**63), "100000"]


def _options(draw, *names):
    """Some options, with values that are rarely what they should be."""
    found = []
    for name in draw.choices(names, k=draw.choice([0, 1, 1, 2])):
        found.append(name)
        if name == "--out":
            found.append(draw.choice(_OUTPUTS))
        elif draw.random() < 0.9:
            found.append(draw.choice([*_OPTION_VALUES, *WORDS, "a=b:1", "goal=near:inf,far:nan"]))
    return found
