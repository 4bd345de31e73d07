"""Gains that are believed after choosing among many, against simulations with a known answer."""

import numpy as np
import pytest

from tawt.best.posterior import posterior
from tawt.streams import stream

ALONE, BESIDE, PARTS = 3, 8, 4


def world(draw, *, examples, common, spread):
    """True gains, and gains of each example; candidates err together, and by part."""
    true = np.r_[0.0, draw.normal(0, spread / 2, ALONE - 1), draw.normal(common, spread, BESIDE)]
    part = np.arange(examples) % PARTS
    shared = draw.normal(0, 0.5, examples)  # with the first, which all are compared with
    own = draw.normal(0, 0.7, (len(true), examples))
    training = draw.normal(0, 0.1, (len(true), PARTS))[:, part]
    gains = true[:, None] + shared + own + training
    return true, gains - gains[0]


def judged(draw, **wanted):
    """Whether the best is taken, its true gain over the target alone, if the interval holds."""
    true, gains = world(draw, **wanted)
    gains[-2:, wanted["examples"] // PARTS :] = np.nan  # two were dropped
    found = posterior(gains, [False] * ALONE + [True] * BESIDE, parts=PARTS)
    alone = int(found.means[:ALONE].argmax())
    best = ALONE + int(found.means[ALONE:].argmax())
    gain = true[best] - true[alone]
    _, low, high = found.gain(best, over=alone)
    return found.worse(best, than=alone) < 0.1, gain, low <= gain <= high


@pytest.mark.parametrize("examples", [40, 150])
def test_what_is_taken_is_rarely_worse_and_intervals_hold(examples, monkeypatch):
    monkeypatch.setattr("tawt.best.posterior._DRAWS", 2000)
    draw, found = stream(0, "worlds", examples), []
    for common in (-0.2, 0.0, 0.2):
        for spread in (0.05, 0.2):
            found += [
                judged(draw, examples=examples, common=common, spread=spread) for _ in range(25)
            ]
    taken = [gain for is_taken, gain, _ in found if is_taken]
    assert len(taken) > 30
    assert np.mean(np.array(taken) < 0) <= 0.1
    assert np.mean([holds for *_, holds in found]) >= 0.85


def test_choosing_by_the_best_ones_own_interval_takes_far_more(monkeypatch):
    monkeypatch.setattr("tawt.best.posterior._DRAWS", 2000)
    draw, ours, naive = stream(5, "worlds"), 0, 0
    for _ in range(60):
        _, gains = world(draw, examples=150, common=0.0, spread=0.0)
        found = posterior(gains, [False] * ALONE + [True] * BESIDE, parts=PARTS)
        best = ALONE + int(found.means[ALONE:].argmax())
        ours += found.worse(best, than=int(found.means[:ALONE].argmax())) < 0.1
        means = gains.mean(axis=1)
        over = gains[ALONE + means[ALONE:].argmax()] - gains[means[:ALONE].argmax()]
        naive += over.mean() > 1.28 * over.std() / np.sqrt(150)
    assert naive > max(6, 2 * ours)


def test_where_sources_hurt_the_target_alone_is_left(monkeypatch):
    monkeypatch.setattr("tawt.best.posterior._DRAWS", 2000)
    draw = stream(1, "worlds")
    taken = [judged(draw, examples=100, common=-0.3, spread=0.1)[0] for _ in range(20)]
    assert sum(taken) == 0


def test_the_best_of_many_is_drawn_back():
    draw = stream(2, "worlds")
    gains = np.vstack([np.zeros(60), draw.normal(0, 1, (12, 60))])
    found = posterior(gains, [False] + [True] * 12, parts=PARTS)
    raw = gains.mean(axis=1)
    assert found.means[raw.argmax()] < 0.6 * raw.max()
    assert raw.max() > 0.1


def test_one_candidate_without_company_is_as_the_normal_posterior_has_it():
    gains = np.vstack([np.zeros(50), stream(3, "one").normal(0.3, 1, 50)])
    found = posterior(gains, [False, True], parts=PARTS)
    # With a wide prior the mean is what was measured; the error is that of Nadeau and Bengio.
    error = np.sqrt(gains[1].var(ddof=1) / 50 * (1 + PARTS / (PARTS - 1)))
    assert found.means[1] == pytest.approx(gains[1].mean(), abs=0.25 * error)
    assert found.draws[:, 1].std() == pytest.approx(error, rel=0.15)


def test_the_order_of_candidates_and_the_unit_change_nothing():
    gains = np.vstack([np.zeros(40), stream(4, "order").normal(0.2, 1, (4, 40))])
    uses = [False, False, True, True, True]
    order = [0, 3, 1, 4, 2]
    found = posterior(gains, uses, parts=PARTS)
    turned = posterior(100 * gains[order], [uses[place] for place in order], parts=PARTS)
    np.testing.assert_allclose(turned.means, 100 * found.means[order], atol=0.5)


def test_nothing_but_the_first_is_no_gain():
    found = posterior(np.zeros((1, 30)), [False], parts=PARTS)
    assert found.means.tolist() == [0.0]
