"""Small pieces of the search: budgets, ideas, recipes, gains."""

import numpy as np
import pytest

from tawt.best.budget import Budget
from tawt.best.gains import CandidateScores, Scales, gains
from tawt.best.openings import openings, resolved
from tawt.best.recipes import Recipe
from tawt.config import load
from tawt.config.fold import FoldConfig
from tawt.errors import ConfigError
from tawt.runs.held_out import HeldOut


@pytest.mark.parametrize("text", ["", "twelve", "0", "1", "-3", "3x", "1e3", "99999999"])
def test_what_is_no_budget_is_refused(text):
    with pytest.raises(ConfigError, match="--budget"):
        Budget.parsed(text)


def test_a_budget_of_candidates_counts_them_and_one_of_time_looks_ahead():
    assert Budget.parsed("3").allows_another(begun=2, spent=1e9)
    assert not Budget.parsed("3").allows_another(begun=3, spent=0)
    minute = Budget.parsed("60s")
    assert minute.allows_another(begun=1, spent=59)  # nothing is chosen among one
    assert minute.allows_another(begun=4, spent=30)  # and two more for halves of the examples
    assert not minute.allows_another(begun=4, spent=40)
    assert minute.leaves_room(begun=4, spent=35)
    assert not minute.leaves_room(begun=4, spent=45)
    assert Budget.parsed("3").leaves_room(begun=3, spent=1e9)


def test_the_first_ideas_begin_with_the_target_alone():
    ideas = list(openings(sources=3, rate=3.0, passes=2.0))
    assert ideas[0].order == "target alone"
    assert (ideas[0].rate, ideas[0].passes) == (1.0, 1.0)
    assert {idea.order for idea in ideas} >= {"sources first", "together first"}
    assert all(idea.chosen == "all" for idea in openings(sources=1, rate=1.0, passes=1.0))


def test_a_shared_head_is_tried_where_a_source_has_the_targets_labels():
    given = {"sources": 2, "rate": 1.0, "passes": 1.0}
    assert {idea.heads for idea in openings(**given)} == {"own"}
    shared = [idea for idea in openings(**given, sharers=1) if idea.heads == "shared"]
    assert [(idea.order, idea.chosen) for idea in shared] == [("sources first", "all")]
    assert shared[0].to_params()["heads"] == "shared"


def test_sources_that_hurt_are_not_kept_and_ranks_beyond_the_last_are_the_last():
    sources, weights = ["a", "b"], {"a": 0.3, "b": 0.7}
    given = {"sources": sources, "weights": weights}
    assert resolved("first", **given, hurtful=[]) == ("b",)
    assert resolved("third", **given, hurtful=[]) == ("a",)
    assert resolved("kept", **given, hurtful=["b"]) == ("a",)
    assert resolved("kept", **given, hurtful=["a", "b"]) == ("a", "b")
    assert resolved("first", sources=sources, weights={}, hurtful=[]) == ("a", "b")


def test_a_recipe_becomes_a_run(study):
    config = load(study.path)
    recipe = Recipe(order="sources first", weights="equal", sources=("near",), rate=3.0, passes=2.0)
    found = recipe.applied(config, FoldConfig(part=2, of=4), name="one")
    assert (found.paradigm, found.sources, found.target_epochs) == ("pre-training", ["near"], 4)
    assert found.training.learning_rate == pytest.approx(0.03)
    assert (found.weighting.kind, found.training.select) == ("fixed", "last")
    assert found.fold == FoldConfig(part=2, of=4)
    assert Recipe.of(recipe.to_json()) == recipe
    alone = Recipe().applied(config, FoldConfig(part=1, of=4), name="alone")
    assert (alone.paradigm, alone.sources) == ("single-task", [])


def test_gains_are_counted_where_both_were_tried():
    first = CandidateScores(scores=np.array([0.0, 1.0, 1.0]), losses=np.array([3.0, 1.0, 2.0]))
    part = HeldOut(np.array([2, 0]), np.array([1.0, 1.0]), np.array([1.0, np.inf]))
    ours = CandidateScores.of([part], examples=3)
    assert ours.tried.tolist() == [0, 2]
    found = gains(ours, first, Scales(score=0.5, loss=1.0))
    assert found[2] == pytest.approx((0.0 + 1.0) / 2)
    assert np.isnan(found[1])
    assert found[0] < -100  # a loss without bounds is bad, and no nonsense


def test_a_recipe_is_said_in_a_few_words():
    every = ("near", "far")
    first = Recipe(order="sources first", weights="learned", sources=every)
    assert first.in_words(every) == "all sources first by learned weights"
    single = Recipe(order="together", weights="equal", sources=("near",), passes=2.0)
    assert single.in_words(every) == "near beside the target, 2 × the passes over the target"
    assert single.in_words(("near",)).startswith("near beside")
    shared = Recipe(order="together", weights="equal", sources=every, sharing=("near",), rate=3.0)
    assert shared.in_words().endswith(", one head with near, learning rate × 3")


def test_a_recipe_of_an_earlier_version_shares_no_head():
    values = Recipe(order="together", weights="equal", sources=("near",)).to_json()
    del values["sharing"]
    assert Recipe.of(values).sharing == ()
