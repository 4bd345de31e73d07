"""How much of a simulation is done: shares of the whole that rise to one."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from tawt.reproduce.shares import SOURCES, TEACHERS, Shares, alone, heads
from tawt.reproduce.teachers import Simulation

SMALL = replace(
    Simulation.tiny(), flip_rates=(0.0, 1.0), target_sizes=(10, 100), epochs=5, teacher_epochs=30
)
STAGES = [TEACHERS, SOURCES, alone(10), alone(100), heads(10), heads(100)]
CPU, GPU = torch.device("cpu"), torch.device("cuda")


@pytest.mark.parametrize("device", [CPU, GPU], ids=str)
def test_shares_rise_from_nothing_to_all(device):
    shares = Shares(SMALL, device)
    found = []
    for stage in STAGES:
        last = 21 if stage == TEACHERS else 5
        found += [shares.done(stage, epochs) for epochs in (0, 0.5, 1, last)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, 1)


@pytest.mark.parametrize("device", [CPU, GPU], ids=str)
def test_a_stage_begins_where_the_one_before_it_ends(device):
    shares = Shares(SMALL, device)
    for stage, following in pairwise(STAGES[1:]):
        assert shares.done(stage, 5) == shares.done(following, 0)


def test_teachers_may_take_longer_or_shorter_than_usual():
    shares = Shares(SMALL, CPU)
    assert shares.done(TEACHERS, 30) == shares.done(TEACHERS, 21) == shares.done(SOURCES, 0)
    assert shares.done(TEACHERS, 3) < shares.done(SOURCES, 0)
    few = Shares(replace(SMALL, teacher_epochs=2), CPU)
    assert few.done(TEACHERS, 2) == few.done(SOURCES, 0)


def cost(shares, stage, *, epochs):
    return shares.done(stage, epochs) - shares.done(stage, 0)


def test_on_a_cpu_the_cost_is_in_parameters_and_examples():
    shares = Shares(SMALL, CPU)
    student = cost(shares, alone(100), epochs=5)
    assert student == pytest.approx(10 * cost(shares, alone(10), epochs=5))
    sources = cost(shares, SOURCES, epochs=5)  # two networks
    assert sources == pytest.approx(2 * student * SMALL.source_size / 100)
    both = cost(shares, heads(100), epochs=5)
    assert both / student == pytest.approx(2 * 128 * 4 / (30 * 128 + 128 * 4))


def test_on_a_gpu_it_is_in_steps():
    shares = Shares(SMALL, GPU)
    for stage in (alone, heads):
        small, large = (cost(shares, stage(size), epochs=5) for size in (10, 100))
        assert large == pytest.approx(2 * small)  # batches of 50
    assert cost(shares, alone(10), epochs=5) == pytest.approx(cost(shares, heads(10), epochs=5))


def test_most_of_the_papers_simulation_is_its_source_students():
    shares = Shares(Simulation(), CPU)
    assert 0.6 < cost(shares, SOURCES, epochs=100) < 0.8
