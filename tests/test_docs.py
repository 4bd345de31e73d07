"""The documentation runs, its configurations load, and its tables are those of the code."""

import importlib.util
import re
import shlex
import shutil
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer.main
import yaml

from tawt.cli.app import app
from tawt.config import load
from tawt.config.schema import RunConfig, parsed
from tawt.demos.grammar import generate
from tawt.demos.tiny import write_tiny_encoder
from tawt.reproduce.layout import Layout
from tawt.reproduce.paper import TASKS
from tawt.runs import run

DOCS = Path(__file__).parents[1] / "docs"
README = DOCS.parent / "README.md"
EXAMPLES = Path(__file__).parents[1] / "examples"
PAGES = sorted(path for path in DOCS.rglob("*.md"))
FENCE = re.compile(
    r'^(?P<indent> *)```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^ *```$',
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block; a title is the name of the file that it would be."""

    language: str
    title: str | None
    text: str


def blocks(page: Path) -> list[Block]:
    return [
        Block(found["language"], found["title"], textwrap.dedent(found["text"]))
        for found in FENCE.finditer(page.read_text(encoding="utf-8"))
    ]


def train_as_shown(page: Path) -> None:
    """What the page's commands would have done, with a tiny encoder."""
    shutil.copytree(EXAMPLES / "text" / "data", "data")
    shown = next(block for block in blocks(page) if block.title == "names.yaml")
    Path("names.yaml").write_text(shown.text, encoding="utf-8")
    words = [sentence.words for sentence in generate(200, seed=0)]
    encoder = str(write_tiny_encoder(Path("tiny"), words, width=16, layers=1))
    small = {"model.encoder": encoder, "epochs": 1, "training.batch_size": 32}
    run(load(Path("names.yaml"), small), Path("runs/names"))


def test_the_loop_of_the_readme_runs_and_trains_the_targets_head():
    [shown] = [block for block in blocks(README) if block.language == "python"]
    stand_in = next(block for block in blocks(DOCS / "own-loop.md") if block.language == "python")
    names = {}
    exec(stand_in.text, names)
    before = names["heads"]["ner"].weight.clone()
    exec(shown.text, names)
    weights = names["weights"]
    assert len(weights.history) == 10
    assert weights.skipped == 0
    assert list(weights) == ["pos", "chunk", "ner"]
    assert weights["ner"] == pytest.approx(0.3)
    assert weights["pos"] > 2 * weights["chunk"]  # whose labels are noise
    assert sum(weights.shares().values()) == pytest.approx(1)
    assert (names["heads"]["ner"].weight - before).abs().max() > 0.01


def mix_as_shown(page: Path) -> None:
    """The same of the page about corpora, with a tiny model."""
    texts = {
        "chemistry.txt": "An acid gives protons to water, number {}.\n",
        "web/part-0.txt": "The shop opens at nine, said page {}.\n",
        "web/part-1.txt": "The shop closes at six, said page {}.\n",
        "papers.jsonl": '{{"abstract": "We mix acids in flask {}."}}\n',
        "manuals.txt": "Turn the device off\nbefore step {}.\n\n",
    }
    for name, line in texts.items():
        path = Path("data", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line.format(n) for n in range(60)), encoding="utf-8")
    shown = next(block for block in blocks(page) if block.title == "chemistry.yaml")
    Path("chemistry.yaml").write_text(shown.text, encoding="utf-8")
    small = {
        "data.cache": "tokenised",
        "data.window": 32,
        "model.layers": 1,
        "model.width": 16,
        "training.steps": 4,
        "training.update_every": 2,
    }
    run(load(Path("chemistry.yaml"), small), Path("runs/chemistry"))


BEFORE = {"own-data.md": train_as_shown, "mixing.md": mix_as_shown}
"""What must be there before a page's blocks can run."""


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(block.language == language for block in blocks(page))]


def name_of(page: Path) -> str:
    return str(page.relative_to(DOCS))


def test_every_fence_is_understood():
    """A block that the expression above does not see would not be tested."""
    for page in PAGES:
        fences = re.findall(r"^ *```", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(fences) == 2 * len(blocks(page)), name_of(page)


@pytest.mark.parametrize("page", pages_with("python"), ids=name_of)
def test_python_blocks_run_in_order(page, tmp_path, monkeypatch):
    """In one namespace a page, in a folder where the page's titled files lie."""
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "page"}
    BEFORE.get(name_of(page), lambda page: None)(page)
    for number, block in enumerate(blocks(page), start=1):
        if block.title is not None and not Path(block.title).exists():
            Path(block.title).write_text(block.text, encoding="utf-8")
        if block.language == "python":
            exec(compile(block.text, f"{name_of(page)}, block {number}", "exec"), namespace)


@pytest.mark.parametrize("page", pages_with("yaml"), ids=name_of)
def test_whole_configurations_load(page):
    """Those with a title are whole files; there is at least one on a page that shows any."""
    whole = [block for block in blocks(page) if block.language == "yaml" and block.title]
    assert whole
    for block in whole:
        values = yaml.safe_load(block.text)
        if block.title == "layout.yaml":
            assert set(Layout.model_validate(values).tasks) <= set(TASKS)
        else:
            assert isinstance(parsed(values, source=block.title), RunConfig)


def test_samples_of_files_are_from_those_files():
    samples = [block for block in blocks(DOCS / "own-data.md") if block.language == "text"]
    assert len([sample for sample in samples if sample.title]) >= 5
    for sample in samples:
        if sample.title:
            whole = (EXAMPLES / "text" / sample.title).read_text(encoding="utf-8")
            assert sample.text in whole, sample.title


def command_lines() -> list[tuple[str, str]]:
    return [
        (name_of(page), line)
        for page in PAGES
        for block in blocks(page)
        if block.language == "bash"
        for line in block.text.splitlines()
        if line.startswith("tawt ")
    ]


@pytest.mark.parametrize(("page", "line"), command_lines())
def test_commands_and_their_options_exist(page, line):
    words = shlex.split(line, comments=True)
    command = typer.main.get_command(app).commands[words[1]]
    if hasattr(command, "commands"):  # a group
        command = command.commands[words[2]]
    options = {option for p in command.params for option in p.opts}
    assert {word for word in words if word.startswith("-")} <= options


def test_the_tables_of_fields_are_up_to_date():
    spec = importlib.util.spec_from_file_location("fields", DOCS / "fields.py")
    fields = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fields)
    texts = [page.read_text(encoding="utf-8") for page in fields.PAGES]
    for text in texts:
        assert fields.filled(text) == text, "run: python docs/fields.py"
    for model in fields.MODELS:
        assert f"<!-- fields: {model} -->" in "".join(texts)


def test_every_page_is_in_the_navigation():
    def pages(entry):
        if isinstance(entry, str):
            return [entry]
        inner = entry.values() if isinstance(entry, dict) else entry
        return [page for part in inner for page in pages(part)]

    nav = yaml.safe_load((DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert sorted(pages(nav)) == sorted(name_of(page) for page in PAGES)
