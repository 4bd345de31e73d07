"""What is said where a library of an extra is not installed."""

import subprocess
import sys

import pytest

WITHOUT = "import sys; sys.modules[{library!r}] = None; "


def outcome(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("library", "statement", "extra"),
    [
        ("accelerate", "from tawt import train", "train"),
        ("safetensors", "from tawt import train", "train"),
        ("sklearn", "from tawt import Classification", "arrays"),
        ("transformers", "from tawt.text import load_tokenizer", "text"),
        ("seqeval", "from tawt.text import tagging_task", "text"),
        ("transformers", "from tawt.integrations.transformers import Weighted", "trainer"),
        ("accelerate", "from tawt.integrations.transformers import WeightedTrainer", "trainer"),
    ],
)
def test_a_name_that_needs_an_extra_says_which(library, statement, extra):
    done = outcome(f"{WITHOUT.format(library=library)}{statement}")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: tawt.")
    assert f"{library} is not installed" in last
    assert f"pip install 'tawt[{extra}]'" in last


@pytest.mark.parametrize(
    ("library", "arguments", "extra"),
    [
        ("typer", ["--help"], "cli"),
        ("yaml", ["train", "study.yaml"], "cli"),
        ("plotly", ["demo", "--seeds", "1"], "cli"),
        ("sklearn", ["demo"], "arrays"),
    ],
)
def test_a_command_that_needs_an_extra_says_so_in_one_line(library, arguments, extra, tmp_path):
    code = f"import os; os.chdir({str(tmp_path)!r}); sys.argv[1:] = {arguments!r}; "
    done = outcome(f"{WITHOUT.format(library=library)}{code}from tawt.cli import main; main()")
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert f"pip install 'tawt[{extra}]'" in line
    assert list(tmp_path.iterdir()) == []


def test_the_core_needs_no_extra():
    libraries = ("accelerate", "pydantic", "sklearn", "scipy", "transformers", "yaml", "typer")
    blocked = "".join(f"sys.modules[{name!r}] = None; " for name in libraries)
    code = (
        f"import sys; {blocked}"
        "from tawt import TargetAware; "
        "print(TargetAware(sources=['a', 'b'], target='c', target_share=0.5))"
    )
    done = outcome(code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "TargetAware(target='c', updates=0, a=0.250, b=0.250, c=0.500)\n"
