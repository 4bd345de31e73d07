"""A program for several processes: what an update must be in each of them. Not a test by itself."""

import copy
import sys
import warnings
from datetime import timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from tawt import (
    AdamDiagonal,
    ConjugateGradient,
    CurvatureWeighted,
    Dense,
    Identity,
    TargetAware,
    TawtError,
    Units,
    UpdateRule,
)
from tawt.weighting import Bandit, DoGE, ExcessLoss

TASKS = ("near", "far", "goal")
SIZES = {"near": (9, 4, 13, 1), "far": (5, 5, 5, 5), "goal": (3, 11, 2, 8)}


class Model(nn.Module):
    def __init__(self, dtype=torch.float64):
        super().__init__()
        torch.manual_seed(0)
        self.encoder = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 8), nn.Tanh())
        self.heads = nn.ModuleDict({task: nn.Linear(8, 3) for task in TASKS})
        self.to(dtype)

    def forward(self, inputs, task):
        return self.heads[task](self.encoder(inputs))


class World:
    """Data of each task, this process's part of it, and a model."""

    def __init__(self, rank, size, *, dtype=torch.float64, sizes=SIZES):
        self.rank, self.size = rank, size
        self.sizes = {task: sizes[task][:size] for task in TASKS}
        self.model = Model(dtype)
        draw = torch.Generator().manual_seed(1)
        self.data = {}
        for task in TASKS:
            count = 2 * sum(self.sizes[task])  # twice: a task may be asked for two batches
            inputs = torch.randn(count, 6, generator=draw, dtype=torch.float64).to(dtype)
            labels = torch.randint(0, 3, (count,), generator=draw)
            self.data[task] = inputs, labels if task == "far" else inputs[:, :3].argmax(1)

    def batches(self, task):
        """The batch of each process, at a first and at a second call."""
        parts = [part.split([*self.sizes[task]] * 2) for part in self.data[task]]
        pairs = list(zip(*parts, strict=True))
        return pairs[: self.size], pairs[self.size :]

    def union(self, *, model=None):
        """`loss_of` of one process that has all batches."""
        calls, model = dict.fromkeys(TASKS, 0), self.model if model is None else model

        def loss_of(task):
            found = self.batches(task)[calls[task] % 2]
            calls[task] += 1
            inputs, labels = (torch.cat(part) for part in zip(*found, strict=True))
            return cross_entropy(model(inputs, task), labels)

        return loss_of

    def own(self, *, model=None, counted=True):
        """`loss_of` of this process."""
        calls, model = dict.fromkeys(TASKS, 0), self.model if model is None else model

        def loss_of(task):
            found = self.batches(task)[calls[task] % 2]
            calls[task] += 1
            inputs, labels = found[self.rank]
            loss = cross_entropy(model(inputs, task), labels)  # of no examples it is NaN
            return (loss, len(labels)) if counted else loss

        return loss_of


def weighting(**options):
    return TargetAware(
        **{"sources": ["near", "far"], "target": "goal", "target_share": None, **options}
    )


def alike(value):
    """Whether a tensor is the same in all processes, to the last bit."""
    found = [torch.empty_like(value) for _ in range(dist.get_world_size())]
    dist.all_gather(found, value.contiguous())
    return all(torch.equal(one, found[0]) for one in found)


def same_error(call, words):
    """All processes raise, and say the same, or that another said it."""
    with pytest.raises(TawtError, match=words):
        call()
    dist.barrier()


# What is checked, one function each.


def plainly_the_union(world):
    """One cosine step, by the textbook, on all batches together."""
    found = weighting(rule=UpdateRule.paper())
    found.update(world.model.encoder, loss_of=world.own())
    union, parameters = world.union(), list(world.model.encoder.parameters())
    flat = {
        task: torch.cat([g.flatten() for g in torch.autograd.grad(union(task), parameters)])
        for task in ("goal", "near", "far")
    }
    cosines = [torch.cosine_similarity(flat["goal"], flat[task], dim=0) for task in ("near", "far")]
    expected = torch.log_softmax(torch.stack(cosines).double() + np.log(0.5), dim=0)
    torch.testing.assert_close(found.weights.logs, expected, rtol=0, atol=1e-12)
    assert alike(found.weights.logs)
    norms = found.history[-1].norms
    assert abs(norms["near"] - float(flat["near"].norm())) < 1e-12


def every_rule_is_that_of_the_union(world):
    optimiser = torch.optim.Adam(world.model.parameters())
    world.union()("near").backward()
    optimiser.step()
    optimiser.zero_grad()
    rules = {
        "robust, share": ({"target_share": (0.1, 0.6)}, UpdateRule.robust()),
        "itself, share": ({"target_share": "learned"}, UpdateRule.paper()),
        "identity": ({}, UpdateRule(alignment=CurvatureWeighted(Identity(scale=5.0)))),
        "conjugate gradient": (
            {"target_share": "learned"},
            UpdateRule(alignment=CurvatureWeighted(ConjugateGradient(damping=1.0))),
        ),
        "adam": ({}, UpdateRule(alignment=CurvatureWeighted(AdamDiagonal()))),
        "two targets": (
            {"sources": ["far"], "target": {"goal": 0.7, "near": 0.3}, "target_share": "learned"},
            UpdateRule.robust(),
        ),
    }
    alone = dist.new_group([world.rank], use_local_synchronization=True)
    for name, (options, rule) in rules.items():
        together, one = weighting(rule=rule, **options), weighting(rule=rule, **options)
        for each in (together, one):
            each.follow(optimiser)
        for _ in range(2):
            together.update(world.model.encoder, loss_of=world.own())
            one.update(world.model.encoder, loss_of=world.union(), group=alone)
        tight = 1e-6 if name == "conjugate gradient" else 1e-11
        torch.testing.assert_close(
            together.weights.logs, one.weights.logs, rtol=0, atol=tight, msg=name
        )
        assert alike(together.weights.logs), name
        assert alike(together.mean_alignments), name
        last, wanted = together.history[-1], one.history[-1]
        for task, norm in last.norms.items():
            assert abs(norm - wanted.norms[task]) < 1e-11, name
        assert abs(last.target_norm - wanted.target_norm) < 1e-11, name


def other_weightings_are_those_of_the_union(world):
    alone = dist.new_group([world.rank], use_local_synchronization=True)
    about = {"sources": ["near", "far"], "target": "goal", "target_share": 0.3}
    makers = [
        lambda: ExcessLoss(**about, reference={"near": 0.5, "far": 0.7}),
        lambda: DoGE(**about, step_size=0.1),
        lambda: Bandit(**about, exploration=0.4, seed=2),
    ]
    sizes = {"near": (9, 0, 13, 1), "far": (0, 5, 5, 5), "goal": (3, 0, 2, 0)}
    factor = float("nan") if world.rank == 1 else 1.0
    for make in makers:
        for each in (world, World(world.rank, world.size, sizes=sizes)):
            together, one = make(), make()
            for _ in range(3):
                together.update(each.model.encoder, loss_of=each.own())
                one.update(each.model.encoder, loss_of=each.union(), group=alone)
            assert together.skipped == 0
            torch.testing.assert_close(
                together.weights.logs, one.weights.logs, rtol=0, atol=1e-11, msg=repr(one)
            )
            assert alike(together.weights.logs), one
            assert together["near"] != together["far"], one
        wrong = make()
        same_error(
            lambda found=wrong: found.update(
                world.model.encoder,
                loss_of=world.own() if world.rank else lambda task: "no loss",
            ),
            "scalar tensor",
        )
        bad = make()
        bad.update(world.model.encoder, loss_of=lambda task: (factor * world.own()(task)[0], 1))
        assert bad.skipped == 1, bad
        assert alike(bad.weights.logs), bad
    differing = DoGE(**about, step_size=0.1 if world.rank else 0.2)
    same_error(
        lambda: differing.update(world.model.encoder, loss_of=world.own()),
        "The update rules differ",
    )


def float32_to_a_millionth(world):
    world = World(world.rank, world.size, dtype=torch.float32)
    alone = dist.new_group([world.rank], use_local_synchronization=True)
    together, one = weighting(), weighting()
    for _ in range(3):
        together.update(world.model.encoder, loss_of=world.own())
        one.update(world.model.encoder, loss_of=world.union(), group=alone)
    assert alike(together.weights.logs)
    for task in together:
        assert abs(together[task] - one[task]) < 1e-6


def without_counts_processes_count_the_same(world):
    world = World(world.rank, world.size, sizes=dict.fromkeys(TASKS, (4, 4, 4, 4)))
    alone = dist.new_group([world.rank], use_local_synchronization=True)
    together, one = weighting(), weighting()
    together.update(world.model.encoder, loss_of=world.own(counted=False))
    one.update(world.model.encoder, loss_of=world.union(), group=alone)
    torch.testing.assert_close(together.weights.logs, one.weights.logs, rtol=0, atol=1e-12)


def a_process_may_have_no_example(world):
    sizes = {"near": (9, 0, 13, 1), "far": (0, 5, 5, 5), "goal": (3, 0, 2, 0)}
    world = World(world.rank, world.size, sizes=sizes)
    alone = dist.new_group([world.rank], use_local_synchronization=True)
    for rule in (UpdateRule.robust(), UpdateRule(alignment=CurvatureWeighted(Identity()))):
        together, one = weighting(rule=rule), weighting(rule=rule)
        together.update(world.model.encoder, loss_of=world.own())
        one.update(world.model.encoder, loss_of=world.union(), group=alone)
        torch.testing.assert_close(together.weights.logs, one.weights.logs, rtol=0, atol=1e-12)
    nobody = World(world.rank, world.size, sizes={**sizes, "far": (0, 0, 0, 0)})
    same_error(
        lambda: weighting().update(nobody.model.encoder, loss_of=nobody.own()),
        "0 examples",
    )


def a_number_that_is_not_finite_skips_everywhere(world):
    own = world.own()

    def loss_of(task):
        loss, count = own(task)
        return loss * (float("nan") if task == "far" and world.rank == 1 else 1.0), count

    for rule in (UpdateRule.robust(), UpdateRule(alignment=CurvatureWeighted(Identity()))):
        found = weighting(rule=rule)
        update = found.update(world.model.encoder, loss_of=loss_of)
        assert update.skipped is not None
        assert "'far'" in update.skipped, update.skipped
        assert found.shares() == weighting().shares()


def what_is_wrong_is_said_everywhere(world):
    encoder, own = world.model.encoder, world.own()
    first = world.rank == 0

    def failing(task):
        if task == "far" and not first:
            raise ValueError("no more batches")
        return own(task)

    found = weighting()
    before = found.weights.logs.clone()
    with pytest.raises(TawtError if first else ValueError, match="no more batches") as raised:
        found.update(encoder, loss_of=failing)
    assert not first or "Process 1 of" in str(raised.value)
    assert torch.equal(found.weights.logs, before)
    same_error(
        lambda: found.update(encoder, loss_of=lambda t: own(t) if first else own(t)[0]),
        "in some processes",
    )
    same_error(
        lambda: found.update(encoder, loss_of=lambda t: (own(t)[0].detach(), 3)),
        "does not reach the representation",
    )
    same_error(
        lambda: found.update([] if first else encoder, loss_of=own), "no trainable parameter"
    )
    same_error(
        lambda: found.update(encoder, loss_of=lambda t: (own(t)[0] * (t != "goal"), 3)),
        "gradient of zero",
    )
    same_error(
        lambda: found.update(encoder if first else encoder[0], loss_of=own),
        "The parameters of the representation differ",
    )
    same_error(
        lambda: weighting(sources=["near", "far"] if first else ["far", "near"]).update(
            encoder, loss_of=own
        ),
        "The tasks differ",
    )
    same_error(
        lambda: weighting(rule=UpdateRule(step_size=1.0 if first else 2.0)).update(
            encoder, loss_of=own
        ),
        "The update rules differ",
    )
    same_error(
        lambda: weighting(target_share=0.5 if first else 0.25).update(encoder, loss_of=own),
        "The target's shares differ",
    )
    drifted = weighting(initial={"near": 0.5, "far": 0.5} if first else {"near": 0.4, "far": 0.6})
    same_error(lambda: drifted.update(encoder, loss_of=own), "The weights differ")
    flat = weighting(rule=UpdateRule(alignment=CurvatureWeighted(Dense())))
    same_error(
        lambda: flat.update(encoder, loss_of=lambda t: (own(t)[0] * (t == "goal"), 3)),
        "is singular",
    )


def little_travels(world):
    """The direction once; with cosines half as much for each source; then numbers, all at once."""
    size = sum(parameter.numel() for parameter in world.model.encoder.parameters())
    names = ("all_gather", "all_reduce", "broadcast", "reduce_scatter_single")
    cosine, plain = UpdateRule(), UpdateRule(alignment=CurvatureWeighted(Identity()))
    for rule, scattered in ((cosine, 2), (plain, 0)):
        sent = {name: [] for name in names}
        with pytest.MonkeyPatch.context() as patch:
            for name in names:
                counted(patch, name, sent[name])
            weighting(rule=rule).update(world.model.encoder, loss_of=world.own())
        assert sent["all_reduce"] == [size + 1]
        assert len(sent["reduce_scatter_single"]) == scattered
        assert len(sent["all_gather"]) == 2
        assert sent["broadcast"] == [2]
        assert max(sent["all_gather"]) < 40


def counted(patch, name, sent):
    real = getattr(dist, name)

    def call(first, *given, **named):
        sent.append((given[0] if isinstance(first, list) else first).numel())
        return real(first, *given, **named)

    patch.setattr(dist, name, call)


def nothing_is_left_behind(world):
    world.own()("near")[0].backward()
    grads = [None if p.grad is None else p.grad.clone() for p in world.model.parameters()]
    stream = torch.get_rng_state()
    weighting().update(world.model.encoder, loss_of=world.own())
    for parameter, grad in zip(world.model.parameters(), grads, strict=True):
        assert (parameter.grad is None) == (grad is None)
        assert grad is None or torch.equal(parameter.grad, grad)
    assert torch.equal(torch.get_rng_state(), stream)


def finer_units_are_those_of_the_union(world):
    sizes = {task: len(world.data[task][1]) for task in ("near", "far")}
    alone = dist.new_group([world.rank], use_local_synchronization=True)

    def losses_of(ranks):
        def each(task):
            inputs, labels = world.data[task]
            for rank in ranks:
                places = np.arange(sizes[task])[rank :: world.size]

                def losses(places=places):
                    outputs = world.model(inputs[places], task)
                    return cross_entropy(outputs, labels[places], reduction="none")

                yield places, losses

        return each

    labels = {task: [i % 3 for i in range(size)] for task, size in sizes.items()}
    for units in (Units.of_examples(sizes), Units.of_groups(labels)):
        for rule in (UpdateRule(), UpdateRule(alignment=CurvatureWeighted(Identity()))):
            together, one = weighting(units=units, rule=rule), weighting(units=units, rule=rule)
            for each, loss_of, ranks, group in (
                (together, world.own(), [world.rank], None),
                (one, world.union(), range(world.size), alone),
            ):
                each.update(
                    world.model.encoder,
                    loss_of=loss_of,
                    losses_of=losses_of(ranks),
                    touching=[world.model],
                    group=group,
                )
            torch.testing.assert_close(together.weights.logs, one.weights.logs, rtol=0, atol=1e-5)
            assert alike(together.weights.logs)
            assert torch.equal(together.was_measured, one.was_measured)


def wrapped_models_go_on_training(world):
    for options in ({"find_unused_parameters": True}, {}, {"static_graph": True}):
        for how in ("through the wrapper", "through its module", "before the first step"):
            trained_and_updated(world, how, options)


def trained_and_updated(world, how, options):
    model = Model()
    model.heads["goal"] = nn.Sequential(nn.BatchNorm1d(8), model.heads["goal"]).double()
    wrapped, unused = DistributedDataParallel(model, **options), "find_unused_parameters" in options
    optimiser = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    found = weighting()
    called = model if how == "through its module" else wrapped
    if how == "before the first step":
        found.update(model.encoder, loss_of=world.own(model=called), touching=[model])
    for _ in range(3):
        optimiser.zero_grad()
        loss = world.own(model=wrapped, counted=False)("near")
        if not unused:  # every parameter must have a gradient
            loss = loss + 0 * sum(p.sum() for p in model.heads.parameters())
        loss.backward()
        optimiser.step()
        found.update(model.encoder, loss_of=world.own(model=called), touching=[model])
    assert alike(found.weights.logs)
    for value in model.state_dict().values():
        assert alike(value)
    assert wrapped.require_backward_grad_sync
    if unused:
        outside = wrapped(torch.zeros(2, 6).double(), "goal").sum()
        same_error(
            lambda: found.update(model.encoder, loss_of=lambda _: outside), "before `update`"
        )


def compiled_and_wrapped(world):
    if world.size > 2:  # compiling takes seconds
        return
    alone = dist.new_group([world.rank], use_local_synchronization=True)
    one = weighting()
    one.update(world.model.encoder, loss_of=world.union(), group=alone)
    warnings.filterwarnings("error", "Using `torch.compile")
    for inside in (True, False):
        model = Model()
        compile_ = partial(torch.compile, backend="aot_eager")
        if inside:
            called = DistributedDataParallel(compile_(model), find_unused_parameters=True)
        else:
            called = compile_(DistributedDataParallel(model, find_unused_parameters=True))
        found = weighting()
        found.update(model.encoder, loss_of=world.own(model=called))
        torch.testing.assert_close(found.weights.logs, one.weights.logs, rtol=0, atol=1e-10)
        for _ in range(2):
            world.own(model=called)("near")[0].backward()
        assert alike(model.encoder[0].weight.grad)
        torch.compiler.reset()


def accumulating_in_a_wrapped_model(world):
    results = []
    for updates in (True, False):
        model = Model()
        wrapped = DistributedDataParallel(model, find_unused_parameters=True)
        with wrapped.no_sync():
            world.own(model=wrapped)("near")[0].backward()
            if updates:
                weighting().update(model.encoder, loss_of=world.own(model=wrapped))
        world.own(model=wrapped)("near")[0].backward()
        results.append([p.grad for p in model.encoder.parameters()])
    for left, right in zip(*results, strict=True):
        assert torch.equal(left, right)
        assert alike(left)


def states_are_shared(world):
    """After a resume all go on alike, whichever process wrote the state."""
    found = weighting()
    for _ in range(2):
        found.update(world.model.encoder, loss_of=world.own())
    box = [found.state_dict() if world.rank == 0 else None]
    dist.broadcast_object_list(box, src=0)
    again = weighting()
    again.load_state_dict(box[0])
    for each in (found, again):
        each.update(world.model.encoder, loss_of=world.own())
    assert torch.equal(again.weights.logs, found.weights.logs)
    assert again.history == found.history
    folder = Path(sys.argv[3]).with_suffix(".dcp")
    kept, fresh = copy.deepcopy(found), weighting()
    dcp.save({"weights": found}, checkpoint_id=folder)
    dcp.load({"weights": fresh}, checkpoint_id=folder)
    assert torch.equal(fresh.weights.logs, kept.weights.logs)
    assert fresh.history == kept.history
    alone = weighting()  # another number of processes: one
    alone.load_state_dict(box[0])
    group = dist.new_group([world.rank], use_local_synchronization=True)
    alone.update(world.model.encoder, loss_of=world.union(), group=group)
    torch.testing.assert_close(alone.weights.logs, found.weights.logs, rtol=0, atol=1e-12)


def groups_that_this_process_is_not_in(world):
    first = dist.new_group([0])
    if world.rank > 0:
        with pytest.raises(TawtError, match="processes of the group"):
            weighting().update(world.model.encoder, loss_of=world.own(), group=first)
    pair = dist.new_group([0, 1])
    if world.rank < 2:
        small = World(world.rank, 2)
        found = weighting()
        found.update(small.model.encoder, loss_of=small.own(), group=pair)
    dist.barrier()


CHECKS = [
    plainly_the_union,
    every_rule_is_that_of_the_union,
    other_weightings_are_those_of_the_union,
    float32_to_a_millionth,
    without_counts_processes_count_the_same,
    a_process_may_have_no_example,
    a_number_that_is_not_finite_skips_everywhere,
    what_is_wrong_is_said_everywhere,
    little_travels,
    nothing_is_left_behind,
    finer_units_are_those_of_the_union,
    wrapped_models_go_on_training,
    compiled_and_wrapped,
    accumulating_in_a_wrapped_model,
    states_are_shared,
    groups_that_this_process_is_not_in,
]


def main():
    rank, size, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{store}",
        rank=rank,
        world_size=size,
        timeout=timedelta(seconds=60),
    )
    for check in CHECKS:
        sys.stdout.write(f"{check.__name__}\n")
        check(World(rank, size))
        dist.barrier()
    sys.stdout.write("done\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
