"""What a command does before training: as little as possible, since somebody waits for it."""

import ast
import gc
import subprocess
import sys

import pytest

from tawt.cli import actions, collecting
from tawt.runs import Options
from tests.corpora.studies import CorpusStudy

LATER = (
    *("datasets", "matplotlib", "pandas", "peft", "pyarrow", "sklearn"),
    *("scipy.stats", "tensorboard", "torch._inductor.compile_fx", "torchvision"),
)
"""What tables, plots, other kinds of data and compiled models need, and a first step does not."""

PROGRAM = """
import sys
from pathlib import Path
from tawt.cli import actions
from tawt.runs import run

def stop(progress):
    print([name for name in {later!r} if name in sys.modules])
    sys.exit()

run(actions.loaded(Path({path!r}), []), Path({out!r}), on_progress=stop)
"""


LIBRARIES = """
import sys
import accelerate
from transformers import GPT2LMHeadModel

print([name for name in {later!r} if name in sys.modules])
"""


def printed(program):
    """The list that a program prints, in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return ast.literal_eval(done.stdout)


@pytest.fixture
def study(tmp_path):
    return CorpusStudy(tmp_path / "study")


def test_the_first_step_of_a_small_language_model_waits_for_torch_and_transformers_alone(
    study, tmp_path
):
    program = PROGRAM.format(later=LATER, path=str(study.path), out=str(tmp_path / "run"))
    # Earlier versions of transformers import scikit-learn by themselves.
    theirs = printed(LIBRARIES.format(later=LATER))
    assert [name for name in printed(program) if name not in theirs] == []


def test_garbage_is_rarely_searched_for_until_training_begins(study, tmp_path):
    usual = gc.get_threshold()
    collecting.collect_rarely()
    assert gc.get_threshold()[0] > 10 * usual[0]
    actions.train_once(study.config, tmp_path / "run", options=Options(), quiet=True, as_json=False)
    assert gc.get_threshold() == usual
