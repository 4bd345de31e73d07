"""A head that is shared with sources that have the target's labels is a candidate."""

import pytest

from tawt.best import best, examined
from tawt.best.recipes import Recipe
from tawt.config import load
from tawt.config.fold import FoldConfig
from tawt.runs import Options, RunFolder
from tawt.runs.building import build_parts
from tests.text.encoders import write_encoder
from tests.text.studies import TextStudy, reviews


@pytest.fixture
def moods(tmp_path):
    """Texts with two labels; a source with the same, and one with others."""
    encoder = write_encoder("bert", tmp_path / "encoder")
    study = TextStudy(tmp_path / "study", encoder, epochs=1, target_epochs=2)
    study.set("model.max_length", 64)
    study.task("mood", "classification", train=reviews(24, seed=0), test=reviews(12, seed=1))
    study.task("same", "classification", source=True, train=reviews(24, seed=2))
    others = [{**each, "label": each["label"].upper()} for each in reviews(24, seed=3)]
    return study.task("other", "classification", source=True, train=others)


def test_sources_with_the_targets_labels_could_share_its_head(moods):
    assert examined(moods.config).sharers == ("same",)
    moods.set("data.tasks.other.rename", {"GOOD": "good"})
    assert examined(moods.config).sharers == ("same",)
    moods.set("data.tasks.other.rename", {"GOOD": "good", "BAD": "bad"})
    assert examined(moods.config).sharers == ("same", "other")


def test_a_source_that_shows_fewer_labels_could_too(moods):
    neutral = {"text": "The film was on.", "label": "neutral"}
    moods.task("same", "classification", source=True, train=[*reviews(23, seed=2), neutral])
    assert examined(moods.config).sharers == ("same",)


def test_who_says_which_head_is_shared_is_not_asked_again(moods):
    moods.set("data.tasks.mood.head", "moods").set("data.tasks.same.head", "moods")
    assert examined(moods.config).sharers == ()


def test_a_recipe_with_a_shared_head_makes_a_run_with_one(moods):
    moods.set("data.tasks.other.rename", {"GOOD": "good", "BAD": "bad"})
    recipe = Recipe(order="together", weights="equal", sources=("same", "other"), sharing=("same",))
    config = recipe.applied(moods.config, FoldConfig(part=1, of=4), name="one")
    heads = build_parts(config).model.heads
    assert heads["mood"] is heads["same"]
    assert heads["mood"] is not heads["other"]
    assert moods.config.data.tasks["mood"].head is None


def test_a_name_that_a_head_has_already_is_not_taken(moods):
    moods.task("more", "classification", source=True, train=reviews(8, seed=4))
    moods.set("data.tasks.other.rename", {"GOOD": "good", "BAD": "bad"})
    moods.set("data.tasks.other.head", "mood").set("data.tasks.more.head", "mood")
    data = moods.config.data
    changed = moods.config.modality.with_shared_head(data, target="mood", sources=["same"])
    found = {name: task.head for name, task in changed.tasks.items()}
    assert found == {"mood": "mood+", "same": "mood+", "other": "mood", "more": "mood"}


def test_it_is_among_what_is_tried_first(moods, tmp_path):
    folder = tmp_path / "best"
    found = best(load(moods.path), folder, budget="5", options=Options(device="cpu"))
    [shared] = [trial for trial in found.candidates if trial.recipe["sharing"]]
    assert shared.recipe["sharing"] == ["same"]
    assert "one head with same" in shared.words
    run = RunFolder(folder / "candidates" / f"{shared.number:03d}" / "1")
    tasks = run.config().data.tasks
    assert (tasks["mood"].head, tasks["same"].head, tasks["other"].head) == ("mood", "mood", None)
    assert (folder / "best" / "model").is_dir()
