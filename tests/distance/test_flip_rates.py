"""Labels flipped at random: the more of a source's are, the farther it is."""

import numpy as np
import pytest
from scipy import stats

from tawt.distance import Estimator, SampleSizes
from tests.distance.made import Bench, distances_of, model_for, task

RATES = (0.0, 0.2, 0.4, 0.6, 0.75)
SEEDS = (0, 1)
TIE = 0.01  # of clipped log-loss, over two seeds


@pytest.fixture(scope="module")
def sources():
    """The same examples, more and more of them with another label; with 0.75 all say nothing."""
    return [task(str(rate), 2, flipped=rate, sizes=(400, 1)) for rate in RATES]


@pytest.fixture(scope="module")
def distances(sources):
    goal, whole = task("goal", 1, sizes=(100, 400)), task("goal", 3, sizes=(400, 1))
    return distances_of(
        [source.name for source in sources],
        (Bench(*sources, goal, whole={"goal": whole}, epochs=5, seed=seed) for seed in SEEDS),
    )


@pytest.mark.parametrize("loss", ["clipped", "zero_one"])
def test_the_trained_distance_grows_with_the_flip_rate(distances, loss):
    means = [np.mean(getattr(distance, loss)) for distance in distances]
    assert (np.diff(means) > -TIE).all()
    assert stats.spearmanr(RATES, means).statistic >= 0.9


def test_without_flips_a_source_is_as_good_as_the_target_and_noise_is_far(distances):
    clean, noise = distances[0].clipped, distances[-1].clipped
    assert abs(np.mean(clean)) < 0.06
    assert min(noise) > max(clean) + 0.15


def test_the_tangent_estimate_ranks_sources_by_their_flip_rate(sources):
    goal = task("goal", 1, sizes=(100, 400))
    sizes = SampleSizes(head=400, step=200, target=100, held_out=400)
    tangents = []
    for seed in SEEDS:
        body = model_for([], seed).representation
        found = Estimator(body, sizes=sizes, seed=seed).estimates(sources, [goal]).values["goal"]
        tangents.append([found[str(rate)]["tangent"] for rate in RATES])
    assert stats.spearmanr(RATES, np.mean(tangents, axis=0)).statistic >= 0.8
