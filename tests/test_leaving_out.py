"""What is said of a source, beside what leaving it out of training does.

Losses are quadratic, so training is known exactly, and with it the target's loss on endless
examples, with a source and without it. Weights are moved by the usual rule, from few examples of
the target. Nothing else is assumed in favour of what is said: sources have optima of their own,
directions differ in curvature, and training is stopped on its way, late, or where the sources pull
it nowhere any more.
"""

import math

import numpy as np
import pytest
import torch

from tawt import TargetAware

DIMENSIONS = 20
UPDATES = 16
BETWEEN = 4  # steps between two updates
RATES = {"on its way": 0.002, "late": 0.01, "at rest": 0.05}
KINDS = ("teachers", "useless", "alike")


class World:
    """A target, sources, and the losses of both: ½ Σ h_i (φ_i − μ_i)².

    Args:
        kind: "teachers" lie at 0.1 to 2 from the target's optimum, which lies at about 1 from where
            training begins; of "useless" ones half have nothing to do with it; "alike" ones differ
            by little.
        draw: Of random numbers.
        examples: Of the target.
        noise: Of single examples, beside that distance.
    """

    def __init__(self, kind, draw, *, examples, noise):
        self.count = int(draw.choice([3, 5, 8]))
        self.noise = noise / math.sqrt(DIMENSIONS)
        self.draw = draw
        shape = (self.count, DIMENSIONS)
        self.goal = self._normal(DIMENSIONS)
        if kind == "teachers":
            off = draw.normal(size=shape)
            sizes = draw.choice([0.1, 0.3, 1.0, 2.0], size=self.count)
            self.optima = self.goal + off * (sizes / np.linalg.norm(off, axis=1))[:, None]
        elif kind == "useless":
            near = self.goal + 0.5 * self._normal(*shape)
            is_near = np.arange(self.count) < max(1, self.count // 2)
            self.optima = np.where(is_near[:, None], near, self._normal(*shape))
        else:
            self.optima = self.goal + draw.choice([0.03, 0.1, 0.3]) * self._normal(*shape)
        self.curvature = np.exp(0.7 * draw.normal(size=DIMENSIONS))
        self.target = self.goal + 3 * self.noise * draw.normal(size=(examples, DIMENSIONS))

    def _normal(self, *shape):
        return self.draw.normal(size=shape) / math.sqrt(DIMENSIONS)

    def after(self, phi, weights, *, rate):
        """φ after the steps between two updates."""
        for _ in range(BETWEEN):
            phi = phi - rate * self.curvature * (weights @ (phi - self.optima))
        return phi

    def loss(self, path, *, rate):
        """Of the target on endless examples, trained with these weights at every update."""
        phi = np.zeros(DIMENSIONS)
        for weights in path:
            phi = self.after(phi, weights, rate=rate)
        return 0.5 * float(self.curvature @ np.square(phi - self.goal))

    def learned(self, *, rate):
        """The weighting after training, and the weights of every stretch."""
        names = [str(number) for number in range(self.count)]
        weighting = TargetAware(sources=names, target="goal", target_share=None)
        phi, path = np.zeros(DIMENSIONS), []
        point = torch.zeros(DIMENSIONS, dtype=torch.float64, requires_grad=True)
        for number in range(UPDATES):
            path.append(np.array([weighting[name] for name in names]))
            phi = self.after(phi, path[-1], rate=rate)
            if number % 2 == 0:
                order = self.draw.permutation(len(self.target))
            half = self.target[order[number % 2 :: 2]].mean(0)
            seen = self.optima + self.noise * self.draw.normal(size=self.optima.shape)
            optima = dict(zip([*names, "goal"], [*seen, half], strict=True))
            slopes = {
                name: torch.from_numpy(self.curvature * (phi - optimum))
                for name, optimum in optima.items()
            }
            weighting.update(
                [point], loss_of=lambda t, s=slopes: point @ s[t], target_half=number % 2
            )
        return weighting, np.array(path)


def judged(kind, rate, *, worlds, seed=0):
    """Of every statement: what was said, and whether it is right."""
    draw = np.random.default_rng(seed)
    found = []
    for number in range(worlds):
        examples, noise = (12, 50)[number % 2], (0.3, 1.0)[number // 2 % 2]
        world = World(kind, draw, examples=examples, noise=noise)
        weighting, path = world.learned(rate=rate)
        whole = world.loss(path, rate=rate)
        for place, finding in enumerate(weighting.findings().values()):
            if finding.verdict != "cannot tell":
                others = np.delete(np.eye(world.count), place, axis=0).sum(0) * path
                others /= others.sum(1, keepdims=True)
                helps = world.loss(others, rate=rate) > whole
                found.append((finding.verdict, (finding.verdict == "helps") == helps))
    return found


@pytest.fixture(scope="module")
def statements():
    return {
        (kind, stage): judged(kind, rate, worlds=40)
        for kind in KINDS
        for stage, rate in RATES.items()
    }


def share(found):
    return np.mean([is_right for _, is_right in found])


def test_of_what_is_said_at_90_percent_at_least_85_is_right(statements):
    said = [statement for found in statements.values() for statement in found]
    assert len(said) > 100
    assert share(said) >= 0.85
    assert share([statement for statement in said if statement[0] == "helps"]) >= 0.9


def test_it_is_right_for_each_kind_of_source_while_training_is_on_its_way(statements):
    for kind in ("teachers", "useless"):
        assert share(statements[kind, "on its way"]) >= 0.85


def test_where_sources_pull_nowhere_any_more_hurts_says_too_much(statements):
    """Less of it would be better then, but not none of it; the page of weights says so."""
    said = [s for kind in KINDS for s in statements[kind, "at rest"]]
    assert share([statement for statement in said if statement[0] == "helps"]) >= 0.85
    assert share([statement for statement in said if statement[0] == "hurts"]) < 0.85
