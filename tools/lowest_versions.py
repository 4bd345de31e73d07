"""Print constraints that hold every direct dependency at the lowest version pyproject.toml allows.

`make lowest` installs them and runs the tests. torch is the exception: it is held at the version in
constraints.txt, as the lowest one comes from PyPI with gigabytes of CUDA libraries. That one, 2.11,
is tried on another machine (Python 3.12).
"""

import itertools
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
_BOUND = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?>=([^,;\s]+)$")
_NOT_LOWERED = ("torch",)


def lowest() -> list[str]:
    """One line for each dependency: `name==version`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    dependencies = [*project["dependencies"], *itertools.chain.from_iterable(extras)]
    bounds = dict(match.groups() for each in dependencies if (match := _BOUND.match(each)))
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    held = [line for line in pinned if line.partition("==")[0] in _NOT_LOWERED]
    return held + [f"{name}=={low}" for name, low in bounds.items() if name not in _NOT_LOWERED]


if __name__ == "__main__":
    print("\n".join(lowest()))
