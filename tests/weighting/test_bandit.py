"""EXP3 over sources, against numbers worked out by hand and a loop in plain numbers."""

import math
from collections import Counter

import pytest
import torch

from tawt.errors import ConfigError
from tawt.weighting import Bandit

GRADIENTS = {"a": [2.0, 0.0], "b": [-1.0, 1.0], "c": [1.0, 3.0], "goal": [0.5, 0.0]}
COSINES = {"a": 1.0, "b": -math.sqrt(0.5), "c": math.sqrt(0.1)}


def weighting(sources="abc", **options):
    return Bandit(**{"sources": [*sources], "target": "goal", "target_share": None, **options})


def updated(found, *, times=1, asked=None):
    point = torch.ones(2, dtype=torch.float64).requires_grad_()

    def loss_of(task):
        if asked is not None:
            asked.append(task)
        return point @ torch.tensor(GRADIENTS[task], dtype=torch.float64)

    for _ in range(times):
        found.update([point], loss_of=loss_of)
    return found.history[-1]


def drawn(update):
    [name] = update.alignments
    return name


def test_an_update_worked_out_by_hand():
    """Of two sources one is drawn, by 1/2: R is twice its cosine; γ = 1/2 of it is spread."""
    found = weighting("ab", exploration=0.5)
    update = updated(found)
    arm = drawn(update)
    other = {"a": "b", "b": "a"}[arm]
    assert update.alignments[arm] == pytest.approx(COSINES[arm])
    greedy = 1 / (1 + math.exp(-0.25 * 2 * COSINES[arm]))
    wanted = {arm: 0.5 * greedy + 0.25, other: 0.5 * (1 - greedy) + 0.25}
    assert found.shares() == pytest.approx(wanted, abs=1e-14)


def epsilon(k, t):
    return min(1 / k, math.sqrt(math.log(k) / (k * t))) if t else 1 / k


@pytest.mark.parametrize("exploration", [None, 0.3])
@pytest.mark.parametrize("share", [None, 0.4])
def test_updates_are_those_of_the_algorithm(exploration, share):
    """FLAD's loop in plain numbers; which source was drawn is read from the history."""
    found = weighting(exploration=exploration, target_share=share, seed=5)
    rewards, probability, k = dict.fromkeys("abc", 0.0), dict.fromkeys("abc", 1 / 3), 3
    for t in range(1, 60):
        arm = drawn(updated(found))
        rewards[arm] += COSINES[arm] / probability[arm]
        now, before = (
            epsilon(k, n) if exploration is None else exploration / k for n in (t + 1, t)
        )
        powers = {name: math.exp(before * reward) for name, reward in rewards.items()}
        probability = {
            name: (1 - k * now) * power / sum(powers.values()) + now
            for name, power in powers.items()
        }
        left = 1.0 if share is None else 1 - share
        wanted = {name: left * p for name, p in probability.items()}
        assert {name: found[name] for name in "abc"} == pytest.approx(wanted, abs=1e-11)
    assert len(Counter(map(drawn, found.history))) == 3


def test_the_best_source_ends_ahead():
    found = weighting()
    updated(found, times=300)
    assert found["a"] > found["c"] > found["b"]
    assert found["a"] > 0.6
    assert Counter(map(drawn, found.history)).most_common(1)[0][0] == "a"


def test_draws_follow_the_weights():
    """At the second update the drawn source has 0.7, say, and is drawn in 70% of the seeds."""
    drawn_again, expected = 0, 0.0
    for seed in range(600):
        found = weighting("ac", exploration=0.6, seed=seed)
        first = drawn(updated(found))
        expected += found[first]
        drawn_again += drawn(updated(found)) == first
    assert drawn_again / 600 == pytest.approx(expected / 600, abs=0.06)  # three deviations


def test_an_update_takes_two_gradients():
    asked = []
    update = updated(weighting(), asked=asked)
    assert sorted(asked) == sorted([drawn(update), "goal"])


def test_draws_depend_on_the_seed_and_the_number_of_the_update():
    one, other = weighting(seed=1), weighting(seed=2)
    for found in (one, other):
        updated(found, times=20)
    assert [*map(drawn, one.history)] != [*map(drawn, other.history)]


def test_a_single_source_has_everything():
    found = weighting("a")
    updated(found, times=3)
    assert found.shares() == {"a": 1.0}


def test_what_was_never_drawn_has_no_mean():
    found = weighting(seed=0)
    arm = "abc".index(drawn(updated(found)))
    known = ~found.outcome().mean_alignments.isnan()
    assert known.nonzero().flatten().tolist() == [arm]


@pytest.mark.parametrize("exploration", [0, 1.5, -1, math.nan, "auto"])
def test_exploration_is_a_share(exploration):
    with pytest.raises(ConfigError, match="`exploration`"):
        weighting(exploration=exploration)


def test_a_seed_is_a_whole_number():
    with pytest.raises(ConfigError, match="`seed`"):
        weighting(seed=0.5)
