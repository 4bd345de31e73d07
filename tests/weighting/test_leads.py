"""Leads of sources, from cosines that were seen one at a time."""

import json

import numpy as np
import pytest
import torch

from tawt.weighting import leads as module
from tawt.weighting.leads import Leads


def seen(count, *, seed):
    """Steps on some of three sources, and what they showed."""
    draw = torch.Generator().manual_seed(seed)
    leads = torch.tensor([0.3, 0.0, -0.2])
    steps, level = [], 0.5
    for number in range(count):
        source = int(torch.randint(0, 3, (1,), generator=draw))
        level += 0.03 * float(torch.randn(1, generator=draw))
        noise = 0.05 * float(torch.randn(1, generator=draw))
        steps.append((source, level + float(leads[source]) + noise, number % 5 == 0))
    return steps


def conditioned(steps, noise):
    """The same posterior by brute force: one Gaussian of leads and of the level at every step."""
    count, sources = len(steps), 3
    size = sources + count
    prior = torch.zeros(size, size, dtype=torch.float64)
    prior[:sources, :sources] = module._LEAD * torch.eye(sources)
    # The level after s steps is its start and s steps of its own, added up.
    grown = [module._WANDER + (module._JUMP if new else 0.0) for _, _, new in steps]
    for i in range(count):
        for j in range(count):
            prior[sources + i, sources + j] = 1.0 + sum(grown[: min(i, j) + 1])
    rows = torch.zeros(count, size, dtype=torch.float64)
    for number, (source, _, _) in enumerate(steps):
        rows[number, source] = rows[number, sources + number] = 1.0
    shown = torch.tensor([cosine for _, cosine, _ in steps], dtype=torch.float64)
    outer = rows @ prior @ rows.T + noise * torch.eye(count)
    gain = prior @ rows.T @ torch.linalg.inv(outer)
    return gain @ shown, prior - gain @ rows @ prior


def test_the_filter_is_the_posterior(monkeypatch):
    """With a known noise, the steps one at a time say what all of them say at once."""
    monkeypatch.setattr(Leads, "_hear_noise", lambda self, variance: None)
    steps = seen(25, seed=3)
    leads = Leads(["a", "b", "c"])
    for source, cosine, new in steps:
        leads.see({"abc"[source]: 1.0}, cosine, new_direction=new)
    mean, covariance = conditioned(steps, module._NOISE[0])
    centred = torch.eye(3, dtype=torch.float64) - 1 / 3
    torch.testing.assert_close(
        torch.tensor(list(leads.means().values()), dtype=torch.float64), centred @ mean[:3]
    )
    errors = (centred @ covariance[:3, :3] @ centred).diagonal().sqrt()
    torch.testing.assert_close(
        torch.tensor(list(leads.errors().values()), dtype=torch.float64), errors
    )
    assert leads.level == pytest.approx(float(mean[-1]), abs=1e-9)


def test_leads_are_found_and_their_errors_are_honest():
    """Of leads ± two standard errors nearly all hold the truth, over many runs."""
    truth = {"a": 0.3 - 1 / 30, "b": -1 / 30, "c": -0.2 - 1 / 30}
    inside = []
    for seed in range(60):
        leads = Leads(["a", "b", "c"])
        for source, cosine, _ in seen(60, seed=seed):
            leads.see({"abc"[source]: 1.0}, cosine)
        found, errors = leads.means(), leads.errors()
        inside += [abs(found[name] - truth[name]) < 2 * errors[name] for name in truth]
    assert sum(inside) / len(inside) > 0.9


def test_a_source_that_was_never_seen_is_in_the_middle():
    leads = Leads(["a", "b", "c"])
    for _ in range(100):
        leads.see({"a": 1.0}, 0.6)
        leads.see({"b": 1.0}, 0.2)
    found = leads.means()
    assert found["a"] > found["c"] > found["b"]
    assert leads.errors()["c"] > 1.5 * leads.errors()["a"]


def test_a_common_drift_is_no_lead():
    """Sources seen at other times, while all cosines fall, are told apart by their leads alone."""
    leads = Leads(["early", "late"])
    for step in range(200):
        name = "early" if step % 20 < 10 else "late"
        leads.see({name: 1.0}, 0.9 - 0.004 * step)
    assert abs(leads.means()["early"] - leads.means()["late"]) < 0.05


def test_steps_on_several_sources_count_by_their_shares():
    leads = Leads(["a", "b"])
    for _ in range(200):
        leads.see({"a": 0.75, "b": 0.25}, 0.5)
        leads.see({"a": 0.25, "b": 0.75}, 0.3)
    found = leads.means()
    assert found["a"] - found["b"] == pytest.approx(0.4, abs=0.05)


def test_the_order_of_names_makes_no_difference():
    one, other = Leads(["a", "b", "c"]), Leads(["c", "a", "b"])
    for source, cosine, new in seen(40, seed=1):
        for leads in (one, other):
            leads.see({"abc"[source]: 1.0}, cosine, new_direction=new)
    assert one.means() == pytest.approx(other.means(), abs=1e-12)


@pytest.mark.parametrize(("steps", "examples"), [(200, 10), (2000, 10), (600, 1000)])
def test_chance_in_few_examples_of_the_target_is_not_taken_for_certainty(steps, examples):
    """Directions from the same examples again and again repeat what chance put there."""
    beyond = []
    for seed in range(20):
        draw = np.random.default_rng(seed)
        chance = draw.normal(size=(examples, 4)).mean(0)
        leads = Leads(["a", "b", "c", "d"])
        for step in range(steps):
            source = step % 4
            cosine = 0.3 + 0.3 * chance[source] + 0.1 * draw.normal()
            leads.see({"abcd"[source]: 1.0}, cosine, new_direction=step % 5 == 0)
        beyond += [abs(score) > 1.645 for score in leads.among(leads.names).scores]
    assert np.mean(beyond) < 0.1


def test_sources_are_compared_with_those_that_compete_alone():
    """A target whose share is held has a cosine of its own, which is no measure for the others."""
    leads = Leads(["a", "b", "goal"])
    for _ in range(100):
        for name, cosine in (("a", 0.4), ("b", 0.1), ("goal", 0.9)):
            leads.see({name: 1.0}, cosine)
    shown = leads.among(["a", "b"])
    assert shown.leads == pytest.approx([0.15, -0.15], abs=0.02)
    assert shown.scores[0] == pytest.approx(-shown.scores[1])
    assert shown.scores[0] > 0.5
    assert leads.among(["a"]).scores == [0.0]


def test_state_is_json_and_goes_on_exactly():
    leads, again = Leads(["a", "b", "c"]), Leads(["a", "b", "c"])
    steps = seen(40, seed=2)
    for source, cosine, new in steps[:20]:
        leads.see({"abc"[source]: 1.0}, cosine, new_direction=new)
    again.load_state_dict(json.loads(json.dumps(leads.state_dict())))
    for source, cosine, new in steps[20:]:
        for each in (leads, again):
            each.see({"abc"[source]: 1.0}, cosine, new_direction=new)
    assert leads.means() == again.means()
    assert leads.errors() == again.errors()
