"""`tawt demo corpora`, with very few steps: its folder, what it says, and what it refuses."""

import json

import pytest

from tawt.cli import mixing_demo
from tawt.compare import Comparison, RowResult
from tawt.compare.mixing_demo import MIXING_ROWS, mixing_values, write_mixing_demo
from tawt.compare.words import in_words
from tawt.config import load
from tawt.config.schema import parsed
from tawt.demos.stdlib import Collected
from tawt.errors import ConfigError, RunError
from tawt.tasks import Measure

TOLD = {"seeds": 1, "jobs": 1, "overwrite": False, "quiet": False, "as_json": False}


def lines(word, count):
    return [f"{word} number {number} of the lines that there are." for number in range(count)]


@pytest.fixture(autouse=True)
def _little_text(monkeypatch):
    """The real corpora take seconds to collect; see tests/demos/test_library.py for those."""
    target = {"train": lines("own", 30), "dev": lines("dev", 9), "test": lines("test", 9)}
    sources = {
        "docstrings": lines("near", 60),
        "comments": lines("other", 60),
        "letters": ["x"] * 90,
    }
    monkeypatch.setattr(
        "tawt.compare.mixing_demo.collected", lambda: Collected(target=target, sources=sources)
    )


@pytest.mark.usefixtures("in_process")
def test_the_story_is_told(tmp_path, capsys, call):
    folder = tmp_path / "demo"
    mixing_demo.show_mixing_demo(folder, **TOLD, steps=4)
    said = " ".join(capsys.readouterr().out.split())
    answer, table = said.index("Learned weights are"), said.index("bits_per_byte on network")
    assert answer < table < said.index("tawt mix")
    assert "weights by size." in said[:table]
    comparison = json.loads((folder / "comparison.json").read_text())
    assert [row["name"] for row in comparison["rows"]] == list(MIXING_ROWS)
    learned = comparison["rows"][-1]["weights"]
    assert set(learned) == {"docstrings", "comments", "letters"}
    assert sum(learned.values()) == pytest.approx(1)
    assert "<html" in (folder / "report.html").read_text()[:200]
    assert (folder / "data" / "docstrings.txt").read_text().startswith("near number 0")
    assert "PSF licence" in " ".join((folder / "data" / "README.txt").read_text().split())

    # Told again, it finds everything done.
    record = folder / "learned-weights" / "0" / "record.json"
    before = record.stat().st_mtime_ns
    status, out, _ = call("demo", "corpora", "--out", folder, "--seeds", "1", "--json")
    assert status == 0
    assert json.loads(out)["rows"] == comparison["rows"]
    assert record.stat().st_mtime_ns == before


def test_the_configuration_is_whole_and_its_paths_are_relative(tmp_path):
    config = write_mixing_demo(tmp_path / "demo", overwrite=False, steps=7)
    path = tmp_path / "demo" / "corpora.yaml"
    assert load(path) == config
    assert config.training.steps == 7
    assert str(tmp_path) not in path.read_text()
    assert config.data.corpora["letters"].train == tmp_path / "demo" / "data" / "letters.txt"
    (tmp_path / "demo").rename(tmp_path / "moved")
    moved = load(tmp_path / "moved" / "corpora.yaml")
    assert moved.data.corpora["letters"].train == tmp_path / "moved" / "data" / "letters.txt"


def test_the_target_is_named_as_the_target_and_nothing_as_near():
    values = mixing_values(["docstrings", "letters"])
    config = parsed(values)
    assert config.target == "network"
    assert config.sources is None
    assert config.weighting.initial == "uniform"
    assert config.paradigm == "sources only"


def test_what_is_there_is_used_again_unless_overwritten(tmp_path):
    folder = tmp_path / "demo"
    write_mixing_demo(folder, overwrite=False, steps=7)
    path, text = folder / "corpora.yaml", folder / "data" / "letters.txt"
    path.write_text(path.read_text().replace("steps: 7", "steps: 9"))
    text.write_text("text of one's own\n")
    assert write_mixing_demo(folder, overwrite=False).training.steps == 9
    assert text.read_text() == "text of one's own\n"
    assert write_mixing_demo(folder, overwrite=True, steps=7).training.steps == 7
    assert text.read_text().startswith("x\n")


def test_a_folder_with_something_else_is_left_as_it_is(tmp_path):
    (tmp_path / "config.yaml").write_text("name: single\n")
    with pytest.raises(RunError, match="holds a single run"):
        write_mixing_demo(tmp_path, overwrite=False)
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


def test_a_configuration_that_was_spoiled_is_named(tmp_path):
    (tmp_path / "corpora.yaml").write_text("target: [\n")
    with pytest.raises(ConfigError, match=r"corpora\.yaml"):
        write_mixing_demo(tmp_path, overwrite=False)


@pytest.mark.parametrize("arguments", [["corpus"], ["corpora", "--seeds", "0"]])
def test_the_command_refuses_what_it_does_not_know(call, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = call("demo", *arguments)
    assert (status, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def compared(learned, *, weights):
    """A comparison: equal weights came to 4, those by size to 3, and learned ones to this."""
    rows = [
        RowResult("equal weights", [4.0], 4.0, 0.0, {}),
        RowResult("weights by size", [3.0], 3.0, 0.0, {}),
        RowResult(
            "learned weights",
            [learned],
            learned,
            0.0,
            weights,
            "equal weights",
            4.0 - learned,
            int(learned < 4.0),
            learns=True,
        ),
    ]
    measure = Measure(lower_is_better=True, unit="bits a byte")
    return Comparison("network", "bits_per_byte", [0], rows, {}, 1.0, measure=measure)


def test_where_the_target_was_found_is_said_first():
    weights = {"near": 0.75, "next": 0.22, "far": 0.02, "noise": 0.01}
    first, over_equal, by_size = in_words(compared(2.5, weights=weights))
    assert first == (
        "The target was found in near (75%) and next (22%); the other 2 sources have 3% together."
    )
    assert over_equal.startswith("Learned weights are 1.500 bits a byte better than equal weights")
    assert by_size == "Learned weights are 0.500 bits a byte better than weights by size."


def test_nothing_is_said_to_be_found_where_learned_weights_are_no_better():
    weights = {"near": 0.96, "far": 0.02, "noise": 0.02}
    sentences = in_words(compared(4.5, weights=weights))
    assert sentences[0].startswith("The learned weights are largest on near (96%)")
    assert sentences[1].startswith("Learned weights are 0.500 bits a byte worse than equal weights")
    assert sentences[2].endswith("1.500 bits a byte worse than weights by size.")


def test_sources_that_share_alike_are_not_called_a_find():
    weights = dict.fromkeys("abcd", 0.25)
    assert in_words(compared(2.5, weights=weights))[0] == (
        "The learned weights are about alike (25%)."
    )
