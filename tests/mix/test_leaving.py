"""The files for other programs: what is in them can be used as they say."""

import json
from dataclasses import replace
from pathlib import Path

import datasets
import pytest
import yaml

import tawt
from tawt.config.schema import parsed
from tawt.mix import load_mix
from tawt.mix.leaving import markdown, mixture_values, mixture_yaml, rounded, write_answer
from tawt.mix.study import BY_SIZE, EQUAL, LEARNED
from tawt.mix.use import how_to_use
from tawt.mix.words import in_words, when_again
from tests.mix.cases import COURSES, answer, course
from tests.mix.test_answering import SURE

SHARES = {"near": 0.75, "far": 0.0005, "noise": 0.2495}
HOSTILE = "a|b <script>alert(1)</script>: {x} 'q' ü"


@pytest.fixture
def left(tmp_path, monkeypatch):
    """The folder in which an answer was left."""
    (tmp_path / "mix.yaml").write_text("target: goal\n")
    write_answer(answer(scores=SURE), tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_both_files_say_the_same_and_probabilities_add_up(left):
    one = json.loads((left / "mixture.json").read_text())
    other = yaml.safe_load((left / "mixture.yaml").read_text())
    assert one == other
    assert sum(one["probabilities"].values()) == pytest.approx(1, abs=1e-9)
    assert one["probabilities"] == pytest.approx({"near": 0.75, "far": 0.125, "noise": 0.125})
    assert one["target"] == "goal"
    assert one["for"] == {"amount": 2000, "unit": "tokens"}


def test_both_files_say_how_sure_the_mixture_is(left):
    found, mixture = load_mix(left), json.loads((left / "mixture.json").read_text())
    [near, *_] = found.corpora
    assert mixture["learned"]["near"]["weight"] == pytest.approx(near.weight, abs=1e-6)
    assert mixture["learned"]["near"]["interval"] == pytest.approx(near.interval, abs=1e-6)
    assert list(mixture["learned"]) == list(mixture["probabilities"])
    gain = mixture["gain"]
    assert (gain["of"], gain["unit"], gain["split"]) == (LEARNED, "bits a byte", "test")
    for other in (EQUAL, BY_SIZE):
        said, measured = gain["over"][other], found.loss(LEARNED).gains[other]
        assert said["mean"] == pytest.approx(measured.mean, abs=1e-6)
        assert said["interval"] == pytest.approx(measured.interval, abs=1e-6)
    again = mixture["measure_again"]
    assert again["after"] == round(found.amount * found.settling.factor)
    assert again["rule"] == when_again(found)


def test_where_equal_weights_are_recommended_the_gain_is_that_of_learned_ones():
    mixture = mixture_values(answer())
    assert mixture["recommended"] == EQUAL
    assert mixture["gain"]["of"] == LEARNED
    low, high = mixture["gain"]["over"][EQUAL]["interval"]
    assert low < 0 < high


def test_from_one_seed_there_are_no_intervals():
    mixture = mixture_values(answer(scores={LEARNED: [3.0], EQUAL: [3.5]}, courses=COURSES[:1]))
    assert mixture["learned"]["near"]["interval"] is None
    assert mixture["gain"]["over"] == {EQUAL: {"mean": 0.5, "interval": None}}


def test_weights_that_had_not_settled_are_not_to_be_measured_again_later():
    mixture = mixture_values(answer(courses=[course(0.4, 0.5, 0.6, 0.7, 0.95)] * 2))
    assert mixture["measure_again"]["after"] is None
    assert "still moved in the last quarter" in mixture["measure_again"]["rule"]


def test_what_makes_the_losses_doubtful_is_in_every_file(tmp_path):
    (tmp_path / "mix.yaml").write_text("target: goal\n")
    said = "'near' trains on documents of the target 'goal'"
    write_answer(replace(answer(scores=SURE), warnings=[said]), tmp_path)
    for name in ("mix.json", "mixture.json", "mixture.yaml"):
        found = yaml.safe_load((tmp_path / name).read_text())
        assert found["warnings"] == [said]
    assert said in (tmp_path / "mix.md").read_text()
    assert "trains on documents of the target" in (tmp_path / "report.html").read_text()


def test_the_lines_for_datasets_run(left):
    streams = {name: datasets.Dataset.from_dict({"text": [name] * 50}) for name in "abc"}
    corpora = dict(zip(("near", "far", "noise"), streams.values(), strict=True))
    names = {"json": json, "Path": Path, "datasets": datasets, "corpora": corpora}
    exec(how_to_use()["datasets"], names)
    drawn = names["stream"]["text"]
    assert drawn.count("a") / len(drawn) == pytest.approx(0.75, abs=0.1)


ALONE = [course(0.5, 1.0, 1.0, 1.0, 1.0)] * 3
SHARED = [[replace(point, weights=SHARES) for point in each] for each in ALONE]


@pytest.mark.parametrize(("courses", "kept"), [(ALONE, ["near"]), (SHARED, ["near", "noise"])])
def test_sources_that_are_never_drawn_are_left_out_and_the_lines_run(
    tmp_path, monkeypatch, courses, kept
):
    (tmp_path / "mix.yaml").write_text("target: goal\n")
    monkeypatch.chdir(tmp_path)
    write_answer(answer(scores=SURE, courses=courses), tmp_path)
    left_out = [name for name in ("far", "noise") if name not in kept]
    assert load_mix(tmp_path).left_out == left_out
    mixture = json.loads(Path("mixture.json").read_text())
    assert list(mixture["probabilities"]) == mixture["configuration"]["sources"] == kept
    assert sum(mixture["probabilities"].values()) == pytest.approx(1, abs=1e-9)
    assert "Left out of mixture.yaml and mixture.json: far" in Path("mix.md").read_text()
    streams = {
        name: datasets.Dataset.from_dict({"text": [name] * 50}) for name in ("near", "far", "noise")
    }
    names = {"json": json, "Path": Path, "tawt": tawt, "datasets": datasets, "corpora": streams}
    exec(how_to_use()["datasets"], names)
    assert set(names["stream"]["text"]) == set(kept)
    assert names["stream"]["text"].count("near") >= 30
    exec(how_to_use()["tawt in your own loop"], names)
    assert list(names["batches"].probabilities()) == kept


def test_the_others_share_what_those_left_out_had():
    found = answer(scores=SURE, courses=SHARED)
    assert found.mixture == pytest.approx(SHARES)
    assert found.handed_out == pytest.approx({"near": 0.75 / 0.9995, "noise": 0.2495 / 0.9995})
    said = (
        "Left out of mixture.yaml and mixture.json: far, which would have 0.05% of what is drawn."
    )
    assert said in in_words(found)
    assert not any("Left out" in each for each in in_words(answer(scores=SURE)))


def test_the_lines_for_a_loop_run(left):
    corpora = {name: list(range(50)) for name in ("near", "far", "noise")}
    names = {"json": json, "Path": Path, "tawt": tawt, "corpora": corpora}
    exec(how_to_use()["tawt in your own loop"], names)
    assert names["batches"].probabilities() == pytest.approx(names["mixture"], abs=1e-6)


def test_the_part_for_a_configuration_is_one(left):
    configuration = yaml.safe_load((left / "mixture.yaml").read_text())["configuration"]
    corpora = {name: {"train": f"{name}.txt"} for name in ("near", "far", "noise", "goal")}
    data = {"kind": "corpora", "corpora": corpora}
    config = parsed({"data": data, "target": "goal", **configuration})
    assert config.weighting.kind == "fixed"
    assert config.weighting.initial == pytest.approx({"near": 0.75, "far": 0.125, "noise": 0.125})


def test_nothing_in_the_yaml_refers_to_anything_else_in_it(left):
    text = (left / "mixture.yaml").read_text()
    assert "&id" not in text
    assert "*id" not in text


def test_names_are_kept_whatever_they_are():
    found = answer(scores=SURE, names={"near": HOSTILE})
    mixture = mixture_values(found)
    assert yaml.safe_load(mixture_yaml(mixture)) == mixture
    assert list(mixture["probabilities"]) == [HOSTILE, "far", "noise"]


def test_the_verdict_is_first_in_markdown_and_names_are_no_markup():
    text = markdown(answer(scores=SURE, names={"near": HOSTILE, "goal": HOSTILE}))
    assert text.index("Use 75%") < text.index("| source |")
    assert "<script" not in text
    rows = [line for line in text.splitlines() if line.startswith("| a")]
    assert len(rows) == 1
    assert rows[0].replace(r"\|", "").count("|") == 7  # six cells


@pytest.mark.parametrize("count", [1, 3, 7, 99])
def test_rounded_probabilities_add_up_to_one(count):
    found = rounded({str(k): 1 / count for k in range(count)})
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)
    assert all(round(share, 6) == share for share in found.values())
