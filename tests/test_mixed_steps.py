"""Steps on examples of several tasks: each task's share of them, and the objective Σ ω_t L_t."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tawt.errors import ConfigError
from tawt.hypergradient import Cosine
from tawt.tasks import Batch
from tawt.training import JointTraining, Settings, SourcesOnly, stretch, train
from tawt.training.batches import joined
from tawt.training.schedule import Schedule
from tawt.training.steps import Step, weighed
from tawt.weighting import Fixed, TargetAware, UpdateRule
from tawt.weighting.observing import Observer
from tawt.weights import SourceWeights
from tests.guesses import Guess, Guessing, model, tasks

SIZES = {"one": 1, "ragged": 37, "many": 1000}
SHARES = {"one": 0.05, "ragged": 0.4, "many": 0.55}


def schedule(sizes=SIZES, *, batch_size=16, **how):
    return Schedule(sizes, batch_size=batch_size, sampling="mixed", seed=0, phase="x", **how)


def counts(steps):
    return [{task: len(found) for task, found in step.examples.items()} for step in steps]


# How many examples of each task


@given(
    parts=st.lists(st.floats(0.0, 1.0), min_size=2, max_size=6).filter(any),
    batch_size=st.integers(1, 40),
)
def test_a_step_has_each_tasks_share_rounded_up_or_down(parts, batch_size):
    shares = {f"t{place}": part / sum(parts) for place, part in enumerate(parts)}
    plan = schedule(dict.fromkeys(shares, 50), batch_size=batch_size)
    for found in counts(plan.steps(0, 0, 5, shares=shares)):
        assert sum(found.values()) == batch_size
        for task, share in shares.items():
            assert abs(found.get(task, 0) - share * batch_size) < 1 + 1e-9


def test_over_many_steps_tasks_have_their_shares():
    steps = counts(schedule(batch_size=3).steps(0, 0, 4000, shares=SHARES))
    total = sum(map(Counter, steps), Counter())
    for task, share in SHARES.items():
        # Rounding at random has at most the variance of a coin, a step.
        assert abs(total[task] - 12_000 * share) < 4 * (4000 / 4) ** 0.5


def test_examples_are_drawn_alike():
    steps = schedule({"a": 20, "b": 20}, batch_size=10).steps(
        0, 0, 800, shares={"a": 0.5, "b": 0.5}
    )
    seen = np.bincount(np.concatenate([step.examples["a"] for step in steps]), minlength=20)
    assert stats.chisquare(seen).pvalue > 0.01
    assert all(len(set(step.examples["a"].tolist())) == 5 for step in steps)


def test_a_task_with_fewer_examples_than_its_share_has_some_twice():
    [step] = schedule({"a": 2, "b": 20}, batch_size=10).steps(0, 0, 1, shares={"a": 0.5, "b": 0.5})
    assert len(step.examples["a"]) == 5
    assert set(step.examples["a"].tolist()) <= {0, 1}


def test_a_task_without_weight_is_never_drawn():
    steps = schedule().steps(0, 0, 50, shares={"one": 0.0, "ragged": 1.0, "many": 0.0})
    assert counts(steps) == [{"ragged": 16}] * 50


@pytest.mark.parametrize("most_passes", [None, 1, 2.5])
def test_steps_planned_from_the_middle_are_those_planned_at_once(most_passes):
    sizes, shares = {"a": 40, "b": 30}, {"a": 0.6, "b": 0.4}
    plan = schedule(sizes, batch_size=7, most_passes=most_passes, steps_per_epoch=10)
    whole = plan.steps(0, 0, 10, shares=shares)
    for middle in (1, 4, 9):
        taken = sum(map(Counter, counts(whole[:middle])), Counter())
        rest = plan.steps(0, middle, 10, shares=shares, taken=taken)
        assert counts(rest) == counts(whole[middle:])
        for one, other in zip(whole[middle:], rest, strict=True):
            np.testing.assert_array_equal(one.indices, other.indices)


def test_no_example_comes_again_before_all_have_come_and_what_is_used_up_leaves_room():
    plan = schedule({"a": 16, "b": 40}, batch_size=8, most_passes=2, steps_per_epoch=14)
    steps = plan.steps(0, 0, 14, shares={"a": 0.9, "b": 0.1})
    assert all(step.size == 8 for step in steps)
    total = sum(map(Counter, counts(steps)), Counter())
    assert total == {"a": 32, "b": 80}
    for task, size in plan.sizes.items():
        seen = np.concatenate([step.examples[task] for step in steps if task in step.examples])
        for start in (0, size):
            assert sorted(seen[start : start + size]) == list(range(size))


def test_what_a_limit_leaves_for_a_task_is_spread_over_all_steps():
    # 2 · 16 of the 160 examples to come may be of `a`: a fifth of every step, whatever its weight.
    plan = schedule({"a": 16, "b": 200}, batch_size=8, most_passes=2, steps_per_epoch=10, epochs=2)
    steps = [
        step
        for epoch in range(2)
        for step in plan.steps(
            epoch, 0, 10, shares={"a": 0.9, "b": 0.1}, taken={"a": 16 * epoch, "b": 64 * epoch}
        )
    ]
    had = [count["a"] for count in counts(steps)]
    assert sum(had) == pytest.approx(32, abs=2)
    assert set(had) <= {1, 2}


def test_a_weight_below_the_limit_is_left_as_it_is():
    shares = {"a": 0.25, "b": 0.75}
    limited, free = (
        schedule({"a": 100, "b": 300}, batch_size=8, steps_per_epoch=10, most_passes=most)
        for most in (4, None)
    )
    assert counts(limited.steps(0, 0, 1, shares=shares)) == counts(
        free.steps(0, 0, 1, shares=shares)
    )


@pytest.mark.parametrize("hold", [1, 3])
def test_every_so_many_steps_one_is_on_a_single_task(hold):
    plan = schedule(hold=hold, apart_every=5, explored=0.3)
    steps = plan.steps(0, 0, 60, shares=SHARES)
    alone = [position for position, step in enumerate(steps) if not step.is_mixed]
    assert alone == [position for position in range(60) if position // hold % 5 == 0]
    held = [steps[position].task for position in alone]
    assert all(len(set(held[start : start + hold])) == 1 for start in range(0, len(held), hold))


def test_where_tasks_are_apart_a_step_has_pieces_of_one_task_each():
    plan = schedule(apart_every=3, pieces=5, explored=0.3)
    steps = plan.steps(0, 0, 30, shares=SHARES)
    assert [position for position, step in enumerate(steps) if step.piece] == list(range(0, 30, 3))
    for step in steps[::3]:
        assert step.piece == 3  # 16 examples are five pieces of three
        assert step.size == 15
        assert all(len(found) % 3 == 0 for found in step.examples.values())
        owners = [task for task, _ in step.pieces]
        assert owners == [t for t, found in step.examples.items() for _ in found[::3]]


def test_pieces_are_explored_and_scaled_so_that_the_objective_stays():
    shares = {"a": 0.9, "b": 0.1, "c": 0.0}
    sizes = dict.fromkeys(shares, 100)
    plan = schedule(sizes, batch_size=8, apart_every=1, pieces=4, explored=0.3)
    steps = plan.steps(0, 0, 2000, shares=shares)
    drawn = sum(map(Counter, counts(steps)), Counter())
    had = {task: drawn[task] / (2000 * 8) for task in shares}
    chances = {"a": 0.1 + 0.7 * 0.9, "b": 0.1 + 0.7 * 0.1, "c": 0.1}
    assert had == pytest.approx(chances, abs=0.01)
    scaled = {task: had[task] * plan.scale(task, 8, shares=shares) for task in shares}
    assert scaled == pytest.approx(shares, abs=0.01)


@pytest.mark.parametrize("sampling", ["mixed", "weight"])
def test_what_a_limit_leaves_to_a_task_of_little_weight_counts_in_full(sampling):
    # `a` may be a tenth of what is drawn, so nearly all comes from `b`, in spite of its weight.
    shares = {"a": 0.999, "b": 0.001, "c": 0.0}
    plan = replace(
        schedule({"a": 20, "b": 10_000, "c": 10_000}, batch_size=8, apart_every=1, pieces=4),
        sampling=sampling, explored=0.3, most_passes=4, steps_per_epoch=100,
    )  # fmt: skip
    [step] = plan.steps(0, 0, 1, shares=shares)
    assert step.shares == pytest.approx({"a": 0.1, "b": 0.9, "c": 0.0}, abs=1e-6)
    assert plan.scale("b", 8, shares=step.shares) == pytest.approx(0.9 / (0.1 + 0.7 * 0.9))


def test_where_no_task_has_room_for_a_piece_a_step_takes_what_there_is():
    plan = schedule(
        {"a": 5, "b": 4}, batch_size=4, apart_every=1, pieces=2, most_passes=1, steps_per_epoch=2
    )
    shares = {"a": 0.5, "b": 0.5}
    [step] = plan.steps(0, 1, 2, shares=shares, taken={"a": 4, "b": 3})
    assert (step.piece, counts([step])) == (None, [{"a": 1, "b": 1}])


# What is fetched


STEP = Step(
    "a", {"a": np.array([3, 1, 4]), "b": np.array([1, 5])}, torch.arange(5.0), is_mixed=True
)


@pytest.mark.parametrize("processes", [1, 2, 3, 5])
def test_processes_share_a_step_with_its_factors(processes):
    found = []
    for process in range(processes):
        mine = STEP.share(process, processes)
        names = [task for task, indices in mine.examples.items() for _ in indices]
        found += zip(names, mine.indices.tolist(), mine.factors.tolist(), strict=True)
    assert sorted(found) == [
        ("a", 1, 1.0),
        ("a", 3, 0.0),
        ("a", 4, 2.0),
        ("b", 1, 3.0),
        ("b", 5, 4.0),
    ]


@pytest.mark.parametrize("processes", [1, 2, 3, 7])
def test_processes_share_whole_pieces(processes):
    step = Step("a", {"a": np.arange(6), "b": np.arange(4)}, is_mixed=True, piece=2)
    assert len(step.pieces) == 5
    for process in range(processes):
        mine = step.share(process, processes).pieces
        expected = step.pieces[process::processes]
        assert [(t, list(found)) for t, found in mine] == [(t, list(f)) for t, f in expected]


def test_a_process_without_an_example_takes_part_with_one_of_no_weight():
    mine = STEP.share(6, 7)
    assert (mine.size, mine.factors.tolist()) == (1, [0.0])


def test_batches_are_joined_row_after_row():
    draw = torch.Generator().manual_seed(0)
    made = [
        Batch({"tokens": torch.randn(rows, 3, generator=draw)}, torch.randn(rows, generator=draw))
        for rows in (2, 1, 4)
    ]
    whole = joined(made)
    assert torch.equal(whole.inputs["tokens"], torch.cat([each.inputs["tokens"] for each in made]))
    assert torch.equal(whole.labels, torch.cat([each.labels for each in made]))


def test_examples_of_tasks_with_weights_on_examples_count_by_them():
    class Doubled(SourceWeights):
        def relative(self, name, indices):
            return None if name == "b" else 1.0 + torch.as_tensor(indices)

    uniform = SourceWeights.uniform(["a", "b"])
    [step] = weighed([STEP], Doubled(uniform.units, uniform.logs))
    assert step.factors.tolist() == [4.0, 2.0, 5.0, 1.0, 1.0]
    [step] = weighed([STEP], uniform)
    assert step.factors is None


# Training


@pytest.fixture
def plain_sgd(monkeypatch):
    """Plain gradient descent in AdamW's place: steps that can be worked by hand."""

    def optimiser_for(parameters, *, weight_decay):
        return torch.optim.SGD(list(parameters), lr=0.0, weight_decay=weight_decay, fused=True)

    monkeypatch.setattr(stretch, "optimiser_for", optimiser_for)


@pytest.mark.usefixtures("plain_sgd")
@pytest.mark.parametrize("accumulation", [1, 2])
def test_mixed_steps_are_those_of_plain_gradient_descent(accumulation):
    """Each is on the mean loss of its examples; Σ ω_t L_t is what that is on average."""
    shares, rate, total = {"near": 0.7, "far": 0.3}, 0.05, 12
    settings = Settings(
        sampling="mixed", batch_size=5, steps=total, learning_rate=rate, decay="none",
        clip_norm=None, accumulation=accumulation,
    )  # fmt: skip
    ours = model()
    train(
        ours,
        tasks=tasks(),
        target="goal",
        paradigm=SourcesOnly(epochs=1),
        weighting=Fixed(["near", "far"], initial=shares),
        settings=settings,
        seed=1,
    )
    values = {task.name: task.train.values for task in tasks()}
    plan = Schedule(
        {"near": 40, "far": 60}, batch_size=5, sampling="mixed", seed=1, phase="sources",
        steps_per_epoch=total,
    ).steps(0, 0, total, shares=shares)  # fmt: skip
    guess = Guess().guess.item()
    for start in range(0, total, accumulation):
        gradients = []
        for step in plan[start : start + accumulation]:
            rows = torch.cat([values[task][found] for task, found in step.examples.items()])
            gradients.append(float((2 * (guess - rows.double())).mean()))
        guess -= rate * sum(gradients) / accumulation
    assert ours.representation.guess.item() == pytest.approx(guess, rel=1e-5)


@pytest.fixture
def shown(monkeypatch):
    """What was noted of pieces: the task, ⟨v, g⟩, ‖g‖² and ‖v‖²."""
    found = []
    note = Observer.note

    def noting(self, shares, numbers, **options):
        found.append((list(shares), numbers.tolist()))
        return note(self, shares, numbers, **options)

    monkeypatch.setattr(Observer, "note", noting)
    return found


@pytest.mark.usefixtures("plain_sgd")
@pytest.mark.parametrize("accumulation", [1, 2])
def test_pieces_are_looked_at_and_added_up_to_the_same_descent(accumulation, shown):
    rate, total = 0.05, 20
    settings = Settings(
        sampling="mixed", batch_size=16, steps=total, learning_rate=rate, decay="none",
        clip_norm=None, accumulation=accumulation, measure="training steps", update_every=4,
    )  # fmt: skip
    rule = UpdateRule(alignment=Cosine(scale=1e-300))  # weights all but stand still
    ours = model()
    train(
        ours,
        tasks=tasks(),
        target="goal",
        paradigm=SourcesOnly(epochs=1),
        weighting=TargetAware(sources=["near", "far"], target="goal", target_share=None, rule=rule),
        settings=settings,
        seed=1,
    )
    values = {task.name: task.train.values.double() for task in tasks()}
    shares = {"near": 0.5, "far": 0.5}
    schedule = Schedule(
        {"near": 40, "far": 60}, batch_size=16, sampling="mixed", seed=1, phase="sources",
        steps_per_epoch=total, explored=0.25, apart_every=5, pieces=8, hold=accumulation,
    )  # fmt: skip
    plan = schedule.steps(0, 0, total, shares=shares)
    guess, expected = Guess().guess.item(), []
    for start in range(0, total, accumulation):
        gradients = []
        for step in plan[start : start + accumulation]:
            by_task = {
                task: 2 * (guess - values[task][found]) / 16
                for task, found in step.examples.items()
            }
            gradients.append(float(sum(each.sum() for each in by_task.values())))
            if step.piece:
                expected += [
                    (task, float(piece.mean()) * 16)
                    for task, each in by_task.items()
                    for piece in each.split(step.piece)
                ]
        guess -= rate * sum(gradients) / accumulation
    assert ours.representation.guess.item() == pytest.approx(guess, rel=1e-5)
    assert {step.piece for step in plan} == {None, 2}
    assert any(held for _, (_, _, held) in shown)
    assert [tasks for tasks, _ in shown] == [[task] for task, _ in expected]
    for (_, (inner, squared, held)), (_, gradient) in zip(shown, expected, strict=True):
        assert squared == pytest.approx(gradient**2, rel=1e-4)
        assert inner**2 == pytest.approx(squared * held, rel=1e-6)
        if held:  # the target is above the guess, as both sources are: gradients are negative
            assert inner == pytest.approx(-gradient * held**0.5, rel=1e-4)


@pytest.mark.usefixtures("plain_sgd")
@pytest.mark.parametrize("sampling", ["mixed", "weight"])
def test_under_a_limit_losses_are_scaled_by_what_their_tasks_were_drawn_by(sampling):
    rate, total, shares = 0.05, 10, {"near": 0.999, "far": 0.001}
    settings = Settings(
        sampling=sampling, batch_size=8, steps=total, most_passes=1, learning_rate=rate,
        decay="none", clip_norm=None, measure="training steps", update_every=100,
    )  # fmt: skip
    ours = model()
    train(
        ours,
        tasks=tasks(),
        target="goal",
        paradigm=SourcesOnly(epochs=1),
        weighting=TargetAware(
            sources=["near", "far"],
            target="goal",
            target_share=None,
            initial=shares,
            rule=UpdateRule.paper(),
        ),
        settings=settings,
        seed=1,
    )
    values = {task.name: task.train.values.double() for task in tasks()}
    apart = {"explored": 0.25, "pieces": 8} if sampling == "mixed" else {"explored": 0.05}
    schedule = Schedule(
        {"near": 40, "far": 60}, batch_size=8, sampling=sampling, seed=1, phase="sources",
        steps_per_epoch=total, most_passes=1, apart_every=5, **apart,
    )  # fmt: skip
    guess = Guess().guess.item()
    for step in schedule.steps(0, 0, total, shares=shares):
        descent = 0.0
        for task, found in step.examples.items():
            one_task = step.piece or not step.is_mixed
            drawn_by = step.shares or shares
            scale = schedule.scale(task, 8, shares=drawn_by) if one_task else 1.0
            descent += scale * float((2 * (guess - values[task][found])).sum()) / step.size
        guess -= rate * descent
    assert ours.representation.guess.item() == pytest.approx(guess, rel=1e-5)


def test_weights_that_are_held_are_not_watched(shown):
    """Their steps are those without: nothing is explored, and no step is in pieces."""
    found = []
    for measure in ("training steps", "fresh batches"):
        ours = model()
        train(
            ours,
            tasks=tasks(),
            target="goal",
            paradigm=SourcesOnly(epochs=1),
            weighting=Fixed(["near", "far"]),
            settings=Settings(sampling="mixed", batch_size=16, steps=12, measure=measure),
        )
        found.append(ours.representation.guess.item())
    assert found[0] == found[1]
    assert shown == []


def test_no_task_has_more_passes_than_it_may_when_steps_are_of_one_task():
    plan = Schedule(
        {"a": 40, "b": 60}, batch_size=16, sampling="weight", seed=0, phase="x",
        most_passes=1, steps_per_epoch=6,
    )  # fmt: skip
    steps = plan.steps(0, 0, 6, shares={"a": 0.9, "b": 0.1})
    drawn = sum(map(Counter, counts(steps)), Counter())
    assert drawn["a"] <= 40
    assert drawn["b"] <= 60


def test_a_model_with_batch_normalisation_is_not_taken_in_pieces():
    normed = model()
    normed.representation.norm = torch.nn.BatchNorm1d(1)
    with pytest.raises(ConfigError, match="batch normalisation would take for those") as raised:
        train(
            normed,
            tasks=tasks(),
            target="goal",
            paradigm=SourcesOnly(epochs=1),
            weighting=TargetAware(sources=["near", "far"], target="goal", target_share=None),
            settings=Settings(sampling="mixed", measure="training steps"),
        )
    assert raised.value.place == ("training", "measure")


class Own(Guessing):
    """A kind whose tasks have heads of their own."""

    shares_head = False


def test_tasks_with_heads_of_their_own_are_not_mixed():
    some = [replace(task, kind=Own()) for task in tasks()]
    with pytest.raises(ConfigError, match="'near' and 'far' have heads of their own") as raised:
        train(
            model(),
            tasks=some,
            target="goal",
            paradigm=JointTraining(epochs=1),
            weighting=Fixed(["near", "far", "goal"]),
            settings=Settings(sampling="mixed"),
        )
    assert raised.value.place == ("training", "sampling")
