"""A program for several processes: models that are cut up among them. Not a test by itself."""

import copy
import sys
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from tawt import (
    ConjugateGradient,
    CurvatureWeighted,
    Fixed,
    Identity,
    TargetAware,
    TawtError,
    Units,
    UpdateRule,
)

TASKS = ("near", "far", "goal")
SIZES = {"near": (9, 4, 13, 1), "far": (5, 5, 5, 5), "goal": (3, 11, 2, 8)}


class Model(nn.Module):
    def __init__(self, dtype=torch.float64, reentrant=None):
        super().__init__()
        self.reentrant = reentrant
        torch.manual_seed(0)
        self.encoder = nn.Sequential(nn.Linear(6, 11), nn.Tanh(), nn.Linear(11, 7), nn.Tanh())
        self.heads = nn.ModuleDict({task: nn.Linear(7, 3) for task in TASKS})
        self.to(dtype)

    def forward(self, inputs, task):
        if self.reentrant is None:
            return self.heads[task](self.encoder(inputs))
        inputs.requires_grad_()
        hidden = checkpoint(self.encoder, inputs, use_reentrant=self.reentrant)
        return self.heads[task](hidden)


class World:
    def __init__(self, rank, size):
        self.rank, self.size = rank, size
        draw = torch.Generator().manual_seed(1)
        self.data = {}
        for task in TASKS:
            count = sum(SIZES[task][:size])
            inputs = torch.randn(count, 6, generator=draw, dtype=torch.float64)
            labels = torch.randint(0, 3, (count,), generator=draw)
            self.data[task] = inputs, labels if task == "far" else inputs[:, :3].argmax(1)

    def batch(self, task, rank=None):
        if rank is None:
            return self.data[task]
        return [part.split(SIZES[task][: self.size])[rank] for part in self.data[task]]

    def loss_of(self, model, rank=None, dtype=torch.float64):
        def loss_of(task):
            inputs, labels = self.batch(task, rank)
            return cross_entropy(model(inputs.to(dtype), task), labels), len(labels)

        return loss_of


def weighting(**options):
    return TargetAware(
        **{"sources": ["near", "far"], "target": "goal", "target_share": None, **options}
    )


def alike(value):
    found = [torch.empty_like(value) for _ in range(dist.get_world_size())]
    dist.all_gather(found, value.contiguous())
    return all(torch.equal(one, found[0]) for one in found)


def refused(call, words):
    with pytest.raises(TawtError, match=words):
        call()
    dist.barrier()


def cut_up(model, how, world):
    """The model, sharded; in parts of its own or as a whole."""
    if how == "hybrid":
        mesh = init_device_mesh("cpu", (2, world.size // 2), mesh_dim_names=("copies", "parts"))
        return fully_shard(model, mesh=mesh)
    mesh = init_device_mesh("cpu", (world.size,))
    if how == "nested":
        for layer in (model.encoder[0], model.encoder[2]):
            fully_shard(layer, mesh=mesh)
        fully_shard(model.encoder, mesh=mesh)
        for head in model.heads.values():
            fully_shard(head, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def sharded_as_one_process(world):
    alone = dist.new_group([world.rank], use_local_synchronization=True)
    rules = (
        ({"target_share": "learned"}, UpdateRule.paper()),
        ({}, UpdateRule.robust()),
        ({}, UpdateRule(alignment=CurvatureWeighted(Identity(scale=3.0)))),
    )
    hows = [
        "root",
        "nested",
        "divided by hand",
        "checkpointed",
        *(["hybrid"] if world.size == 4 else []),
    ]
    for how in hows:
        plain = Model()
        model = cut_up(copy.deepcopy(plain), how, world)
        model.reentrant = False if how == "checkpointed" else None
        if how == "divided by hand":
            model.set_gradient_divide_factor(1.0)
        for options, rule in rules:
            together, one = weighting(rule=rule, **options), weighting(rule=rule, **options)
            for number in range(2):
                together.update(
                    model.encoder,
                    loss_of=world.loss_of(model, world.rank),
                    touching=[model] if number else [],
                )
                one.update(plain.encoder, loss_of=world.loss_of(plain), group=alone)
            torch.testing.assert_close(
                together.weights.logs, one.weights.logs, rtol=0, atol=1e-10, msg=how
            )
            assert alike(together.weights.logs)
            assert abs(together.history[-1].target_norm - one.history[-1].target_norm) < 1e-10


def float32_to_a_millionth(world):
    alone = dist.new_group([world.rank], use_local_synchronization=True)
    plain = Model(torch.float32)
    model = cut_up(copy.deepcopy(plain), "nested", world)
    together, one = weighting(), weighting()
    for _ in range(3):
        together.update(model.encoder, loss_of=world.loss_of(model, world.rank, torch.float32))
        one.update(plain.encoder, loss_of=world.loss_of(plain, None, torch.float32), group=alone)
    for task in together:
        assert abs(together[task] - one[task]) < 1e-6


def training_goes_on(world):
    """Steps with updates between them are the steps without, `.grad` included."""
    results = []
    for updates in (True, False):
        model = cut_up(Model(), "nested", world)
        optimiser = torch.optim.AdamW(model.parameters(), lr=0.1)
        found = weighting()
        for number in range(3):
            optimiser.zero_grad()
            for task in ("near", "goal"):  # two batches a step
                loss, _ = world.loss_of(model, world.rank)(task)
                loss.backward()
                if updates:
                    before = [p.grad for p in model.parameters()]
                    found.update(model.encoder, loss_of=world.loss_of(model, world.rank))
                    after = [p.grad for p in model.parameters()]
                    assert all(left is right for left, right in zip(before, after, strict=True))
            optimiser.step()
            if updates:
                with torch.no_grad():  # leaves the root's parameters unsharded
                    model(world.data["near"][0], "near")
                found.update(
                    model.encoder, loss_of=world.loss_of(model, world.rank), touching=[model]
                )
            del number
        results.append([p.full_tensor() for p in model.parameters()])
    for left, right in zip(*results, strict=True):
        assert torch.equal(left, right)


def mixed_precision_and_accumulation(world):
    mesh = init_device_mesh("cpu", (world.size,))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    model = fully_shard(Model(torch.float32), mesh=mesh, mp_policy=policy)
    found = weighting()
    found.update(model.encoder, loss_of=world.loss_of(model, world.rank, torch.float32))
    assert alike(found.weights.logs)
    model.set_requires_gradient_sync(False)
    world.loss_of(model, world.rank, torch.float32)("near")[0].backward()
    refused(
        lambda: found.update(
            model.encoder, loss_of=world.loss_of(model, world.rank, torch.float32)
        ),
        "not reduced yet",
    )


def what_cannot_be_measured(world):
    mesh = init_device_mesh("cpu", (world.size,))
    model = cut_up(Model(), "root", world)
    loss_of = world.loss_of(model, world.rank)
    hessian = UpdateRule(alignment=CurvatureWeighted(ConjugateGradient()))
    refused(
        lambda: weighting(rule=hessian).update(model.encoder, loss_of=loss_of),
        "ConjugateGradient cannot be computed",
    )
    units = Units.of_examples({"near": 5, "far": 5})
    refused(
        lambda: weighting(units=units).update(
            model.encoder, loss_of=loss_of, losses_of=lambda _: [], touching=[model]
        ),
        "Weights on groups or examples",
    )
    model.reentrant = True
    refused(lambda: weighting().update(model.encoder, loss_of=loss_of), "reentrant")
    model.reentrant = None
    handle = next(model.encoder.parameters()).register_post_accumulate_grad_hook(lambda _: None)
    refused(lambda: weighting().update(model.encoder, loss_of=loss_of), "post-accumulate-grad")
    handle.remove()
    half = Model()
    fully_shard(half.heads["near"], mesh=mesh)
    refused(
        lambda: weighting().update(half.encoder, loss_of=world.loss_of(half, world.rank)),
        "are not those that it manages",
    )
    both = Model()
    fully_shard(both.encoder[0], mesh=mesh)
    refused(
        lambda: weighting().update(both.encoder, loss_of=world.loss_of(both, world.rank)),
        "the others are not",
    )
    split = Model()
    split.encoder = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 7)).double()
    plan = {"encoder.0": ColwiseParallel(), "encoder.2": RowwiseParallel()}
    parallelize_module(split, mesh, plan)
    weights = [split.encoder[0].weight, split.encoder[2].weight]
    refused(lambda: weighting().update(weights, loss_of=world.loss_of(split)), "tensor-parallel")
    refused(
        lambda: weighting().update(split.encoder, loss_of=world.loss_of(split)), "tensor parallel"
    )
    older = FullyShardedDataParallel(Model(), device_id=torch.device("cpu"), use_orig_params=True)
    refused(
        lambda: weighting().update(older.module.encoder, loss_of=world.loss_of(older, world.rank)),
        "FSDP1",
    )
    partitioned = Model()
    for parameter in partitioned.parameters():
        parameter.ds_id = 0
    refused(
        lambda: weighting().update(
            partitioned.encoder, loss_of=world.loss_of(partitioned, world.rank)
        ),
        "DeepSpeed",
    )


def clipping(world):
    plain = Model()
    model = cut_up(copy.deepcopy(plain), "nested", world)
    shares = Fixed(["near", "far"], initial={"near": 0.25, "far": 0.75})
    norms = []
    for each in (plain, model):
        for task in ("near",):
            inputs, labels = world.batch(task)
            shares.combine({task: cross_entropy(each(inputs, task), labels)}).backward()
        norms.append(shares.clip_gradients(each.parameters(), max_norm=0.1, tasks=["near"]))
    torch.testing.assert_close(norms[0], norms[1])
    for left, right in zip(plain.parameters(), model.parameters(), strict=True):
        assert (left.grad is None) == (right.grad is None)
        if left.grad is not None:
            torch.testing.assert_close(left.grad, right.grad.full_tensor())


def watched(world, model, *, rank, group=None):
    """Weights of a training whose every step is observed, on equal parts of each batch."""
    weights = weighting(target_share=0.3)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    encoder = getattr(model, "module", model).encoder
    for step in range(24):
        task = ("goal", "near", "far")[step % 3]
        inputs, labels = world.batch(task)
        count = len(labels) // world.size
        mine = (
            slice(world.size * count) if rank is None else slice(rank * count, (rank + 1) * count)
        )
        optimiser.zero_grad()
        cross_entropy(model(inputs[mine], task), labels[mine]).backward()
        weights.observe(encoder, task)
        optimiser.step()
        if step == 9:
            loss_of = world.loss_of(model, rank)
            weights.aim(encoder, loss_of=loss_of, touching=[model], group=group)
        if step % 8 == 7:
            weights.update(group=group)
    return weights


def steps_are_observed_as_in_one_process(world):
    alone = dist.new_group([world.rank], use_local_synchronization=True)
    one = watched(world, Model(), rank=None, group=alone)
    wrapped = {
        "nested": cut_up(Model(), "nested", world),
        "DDP": DistributedDataParallel(Model(), find_unused_parameters=True),
    }
    if world.size == 4:
        wrapped["hybrid"] = cut_up(Model(), "hybrid", world)
    for how, model in wrapped.items():
        together = watched(world, model, rank=world.rank)
        assert all(update.skipped is None for update in together.history), how
        torch.testing.assert_close(
            together.weights.logs, one.weights.logs, rtol=0, atol=1e-9, msg=how
        )
        assert alike(together.weights.logs)
    assert float((one.weights.logs[0] - one.weights.logs[1]).abs()) > 0.01  # they have moved


CHECKS = [
    steps_are_observed_as_in_one_process,
    sharded_as_one_process,
    float32_to_a_millionth,
    training_goes_on,
    mixed_precision_and_accumulation,
    clipping,
    what_cannot_be_measured,
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
