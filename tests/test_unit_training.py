"""Weights on groups and single examples, from the alignment to the audit of a run."""

import base64
import copy
import csv
import io
import json
import tracemalloc
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import save
from torch import nn

from tawt.arrays import MLP, classification
from tawt.config import load
from tawt.config.rows import chosen
from tawt.curvature import Dense, Identity
from tawt.errors import ConfigError, Interrupted, RunError, WeightsError
from tawt.hypergradient import Cosine, CurvatureWeighted, hypergradient
from tawt.per_example import ExampleProducts
from tawt.runs import RunFolder, units
from tawt.runs.auditing import audit
from tawt.runs.run import run
from tawt.tasks import MultiTaskModel
from tawt.training import JointTraining, PreTraining, Settings, train
from tawt.training.devices import accelerator_for
from tawt.training.each import ExampleLosses
from tawt.training.fresh import FreshLosses
from tawt.units import Units
from tawt.weighting import Outcome, TargetAware, UpdateRule
from tawt.weights import SourceWeights
from tawt.weights.summary import summary_of
from tests.test_png import read as png_pixels

SIZES = {"near": 6, "far": 4}


@pytest.fixture
def wide():
    """Everything in float64."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


class Small:
    """Two sources and a target on one small network, smooth so that a Hessian exists."""

    def __init__(self, seed=0):
        torch.manual_seed(seed)
        self.encoder = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
        self.model = nn.ModuleDict(
            {"encoder": self.encoder, **{name: nn.Linear(4, 2) for name in (*SIZES, "goal")}}
        )
        sizes = {**SIZES, "goal": 8}
        self.inputs = {name: torch.randn(size, 3) for name, size in sizes.items()}
        self.labels = {name: torch.randint(2, (size,)) for name, size in sizes.items()}

    def losses(self, task, indices=None):
        rows = slice(None) if indices is None else torch.as_tensor(indices)
        outputs = self.model[task](self.encoder(self.inputs[task][rows]))
        return nn.functional.cross_entropy(outputs, self.labels[task][rows], reduction="none")

    def loss_of(self, task):
        return self.losses(task).mean()

    def losses_of(self, task):
        order = np.random.default_rng(0).permutation(SIZES[task])
        for indices in (order[:3], order[3:]):
            yield indices, lambda indices=indices: self.losses(task, indices)

    def alone(self, name):
        """`loss_of` where every example is a task of its own, called after source and position."""
        source, _, index = name.partition(" ")
        return self.losses(source, [int(index)])[0] if index else self.loss_of(name)

    @property
    def parameters(self):
        return list(self.encoder.parameters())


def measured(small, weights, alignment, **options):
    return hypergradient(
        small.parameters,
        weights=weights,
        targets={"goal": 1.0},
        modules=[small.model],
        loss_of=small.loss_of,
        losses_of=small.losses_of,
        alignment=alignment,
        **options,
    )


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize(
    "alignment",
    [Cosine(scale=2.0), CurvatureWeighted(Identity(scale=5.0)), CurvatureWeighted(Dense(0.1))],
    ids=["cosine", "identity", "dense"],
)
def test_alignments_are_those_of_examples_as_tasks(alignment):
    small = Small()
    tasks = SourceWeights.of({"near": 0.5, "far": 0.3, "goal": 0.2})
    found = measured(small, tasks.spread(Units.of_examples(SIZES).with_whole(["goal"])), alignment)
    shares = {f"{s} {i}": tasks[s] / n for s, n in SIZES.items() for i in range(n)}
    expected = hypergradient(
        small.parameters,
        targets={"goal": 1.0},
        weights=SourceWeights.of({**shares, "goal": 0.2}),
        loss_of=small.alone,
        alignment=alignment,
    )
    torch.testing.assert_close(
        found.values.double(), expected.values, rtol=1e-5, atol=1e-7
    )  # kept in float32
    assert found.target_norm == pytest.approx(expected.target_norm, rel=1e-9)
    assert found.measured.all()


@pytest.mark.usefixtures("wide")
def test_differences_find_what_forward_mode_finds():
    small, alignment = Small(), CurvatureWeighted(Identity())
    tasks = SourceWeights.of({"near": 0.5, "far": 0.5})
    weights = tasks.spread(Units.of_examples(SIZES))
    exact, near = (measured(small, weights, alignment, way=w) for w in ("forward", "differences"))
    torch.testing.assert_close(near.alignments, exact.alignments, rtol=1e-4, atol=1e-6)
    assert (exact.way, exact.relative_error) == ("forward", None)
    assert near.way == "differences"
    assert near.relative_error < 1e-4


@pytest.mark.usefixtures("wide")
def test_a_groups_alignment_is_the_mean_of_its_examples():
    small, alignment = Small(), CurvatureWeighted(Identity())
    tasks = SourceWeights.of({"near": 0.5, "far": 0.5})
    each = measured(small, tasks.spread(Units.of_examples(SIZES)), alignment)
    labels = {"near": list("abaabb"), "far": list("cccc")}
    grouped = measured(small, tasks.spread(Units.of_groups(labels)), alignment)
    flat = np.array(list("abaabbcccc"))
    expected = [float(each.alignments[flat == letter].mean()) for letter in "abc"]
    assert grouped.alignments.tolist() == pytest.approx(expected, rel=1e-5)
    assert grouped.means == pytest.approx(each.means, rel=1e-6)


@pytest.mark.usefixtures("wide")
def test_units_that_were_not_measured_stay_beside_the_average():
    small = Small()
    weights = TargetAware(
        sources=list(SIZES),
        target="goal",
        target_share=None,
        units=Units.of_examples(SIZES),
        rule=UpdateRule.paper(),
    )

    def some(task):
        yield np.array([0, 2]), lambda: small.losses(task, [0, 2])

    update = weights.update(
        small.encoder, loss_of=small.loss_of, losses_of=some, touching=[small.model]
    )
    factors = weights.weights.relative("near", np.arange(6))
    assert float(factors[1]) == pytest.approx(float(factors[5]))
    assert len({round(float(f), 6) for f in factors}) == 3
    assert sum(update.weights.values()) == pytest.approx(1, abs=1e-6)


def test_fine_units_need_the_losses_of_examples():
    small = Small()
    weights = TargetAware(
        sources=list(SIZES), target="goal", target_share=None, units=Units.of_examples(SIZES)
    )
    with pytest.raises(WeightsError, match="losses_of"):
        weights.update(small.encoder, loss_of=small.loss_of)


def test_units_of_other_sources_are_refused():
    with pytest.raises(WeightsError, match="units"):
        TargetAware(
            sources=["near"],
            target="goal",
            target_share=None,
            units=Units.of_examples({"other": 3}),
        )


@pytest.mark.parametrize("seed", range(20))
def test_saved_weights_are_restored_bit_by_bit(seed):
    def built(labels):
        return TargetAware(
            sources=["a"], target="goal", target_share=None, units=Units.of_groups({"a": labels})
        )

    labels = list("xyzxyzw")
    weights = built(labels)
    noise = torch.randn(4, generator=torch.Generator().manual_seed(seed))
    weights.weights = weights.weights.moved(weights.weights.logs + noise)
    again = built(labels)
    again.load_state_dict(weights.state_dict())
    assert torch.equal(again.weights.logs, weights.weights.logs)
    with pytest.raises(WeightsError, match="other groups"):
        built(list("xyzxyww")).load_state_dict(weights.state_dict())


def test_a_source_left_out_on_purpose_has_no_example_to_compare():
    weights = TargetAware(
        sources=["a", "b"],
        target="goal",
        target_share=None,
        initial={"a": 1.0, "b": 0.0},
        units=Units.of_examples({"a": 2, "b": 3}),
    )
    assert weights.weights.relative("b", np.arange(3)).tolist() == [1.0, 1.0, 1.0]
    assert all(np.isfinite(list(summary_of(weights.weights)["quantiles"].values())))


@pytest.mark.usefixtures("wide")
def test_alignments_are_averaged_over_the_updates_that_measured_them():
    small = Small()
    weights = TargetAware(
        sources=list(SIZES),
        target="goal",
        target_share=None,
        units=Units.of_examples(SIZES),
        rule=UpdateRule.paper(),
    )
    found = []
    for places in ([0, 1], [1, 2]):

        def some(task, places=places):
            yield np.array(places), lambda: small.losses(task, places)

        before = weights.mean_alignments.clone()
        weights.update(small.encoder, loss_of=small.loss_of, losses_of=some, touching=[small.model])
        found.append((before, weights.mean_alignments.clone()))
    (_, first), (_, second) = found
    assert first[0] == second[0]  # measured once, in the first
    assert first[2] == 0.0
    assert second[2] != 0.0
    assert second[1] == pytest.approx(float(first[1]), rel=1e-5)  # the model has not moved


def test_an_example_that_is_not_finite_stops_no_training():
    small = Small()
    weights = TargetAware(
        sources=list(SIZES), target="goal", target_share=None, units=Units.of_examples(SIZES)
    )
    before = weights.weights.logs.clone()
    small.inputs["far"][2] = torch.nan
    update = weights.update(
        small.encoder, loss_of=small.loss_of, losses_of=small.losses_of, touching=[small.model]
    )
    assert "'far'" in update.skipped
    assert torch.equal(weights.weights.logs, before)
    assert not weights.mean_alignments.any()


# In the loop


def rows(seed, size, *, wrong=0.0):
    draw = np.random.default_rng(seed)
    inputs = draw.normal(size=(size, 4))
    labels = inputs[:, :3].argmax(1)
    flipped = draw.random(size) < wrong
    return inputs, np.where(flipped, (labels + 1 + draw.integers(0, 2, size)) % 3, labels), flipped


def a_task(name, seed, size, **options):
    return classification(name, train=rows(seed, size, **options)[:2], test=rows(99, 30)[:2])


def trained(unit, paradigm, *, epochs=3, precision="fp32", rule=None, **options):
    tasks = [a_task("near", 1, 40), a_task("far", 2, 24, wrong=0.5), a_task("goal", 3, 16)]
    torch.manual_seed(0)
    model = MultiTaskModel.for_tasks(MLP((4,), widths=(8,)), tasks, width=8)
    sizes = {"near": 40, "far": 24}
    labels = {task.name: task.train.labels.tolist() for task in tasks[:2]}
    chosen = {"example": Units.of_examples(sizes), "group": Units.of_groups(labels)}
    joint = paradigm is JointTraining
    weighting = TargetAware(
        sources=list(sizes),
        target="goal",
        initial="proportional",
        sizes={**sizes, "goal": 16} if joint else sizes,
        target_share=0.3 if joint else None,
        units=chosen[unit],
        rule=rule,
    )
    result = train(
        model,
        tasks=tasks,
        target="goal",
        paradigm=paradigm(epochs=epochs),
        weighting=weighting,
        settings=Settings(batch_size=8, learning_rate=0.01, update_every=4, precision=precision),
        **options,
    )
    return result, weighting, model


@pytest.mark.parametrize("paradigm", [JointTraining, PreTraining])
@pytest.mark.parametrize("unit", ["example", "group"])
def test_every_paradigm_takes_every_unit(unit, paradigm):
    result, weighting, _ = trained(unit, paradigm)
    assert len(result.history) > 3
    assert sum(result.weights.values()) == pytest.approx(1, abs=1e-5)
    assert result.outcome.weights is weighting.weights
    factors = weighting.weights.relative("far", np.arange(24))
    assert float(factors.std()) > 0.01
    assert float(factors.mean()) == pytest.approx(1, abs=1e-5)
    if paradigm is JointTraining:
        assert result.weights["goal"] == pytest.approx(0.3, abs=1e-6)
    summary = result.history[-1].summary
    assert summary["count"] == (64 if unit == "example" else 6)


def each_of(task, model, *, at_once):
    return ExampleLosses(
        model=model,
        tasks={task.name: task},
        examples={task.name: task.train},
        at_once=at_once,
        most=None,
        draw=np.random.default_rng(0),
        device=torch.device("cpu"),
    )(task.name)


def test_examples_are_measured_in_full_precision_whatever_steps_are_in():
    task = a_task("near", 1, 40)
    torch.manual_seed(0)
    model = MultiTaskModel.for_tasks(MLP((4,), widths=(8,)), [task], width=8)
    [(_, plain)] = each_of(task, copy.deepcopy(model), at_once=40)
    wrapped = accelerator_for("bf16", device="cpu").prepare(model)
    assert not torch.allclose(
        task.kind.losses(wrapped(task.train.inputs, "near"), task.train.labels), plain(), rtol=1e-5
    )  # or the test would show nothing
    [(_, losses)] = each_of(task, model, at_once=40)
    assert torch.equal(losses(), plain())


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_examples_are_measured_in_mixed_precision_only_if_asked_for(precision):
    """By the first update: nothing has been trained on weights that differ."""
    found = {}
    for way in ("forward", "mixed"):
        rule = UpdateRule(alignment=CurvatureWeighted(Identity()), way=way)
        result, *_ = trained("example", JointTraining, precision=precision, rule=rule)
        found[way] = result.history[0]
    exact, near = found["forward"], found["mixed"]
    assert (exact.summary["way"], exact.summary["relative_error"]) == ("forward", None)
    assert near.summary["way"] == "mixed"
    assert 1e-5 < near.summary["relative_error"] < 0.1
    assert near.alignments == pytest.approx(exact.alignments, rel=0.1, abs=1e-4)


def test_a_kind_of_task_is_never_given_less_than_float32():
    seen = []
    task = a_task("near", 1, 100)

    class Noting(type(task.kind)):
        def losses(self, outputs, labels):
            seen.append(outputs.dtype)
            return super().losses(outputs, labels)

    noting = replace(task, kind=Noting(**vars(task.kind)))
    model = MultiTaskModel.for_tasks(MLP((4,), widths=(8,)), [noting], width=8)
    parameters = list(model.representation.parameters())
    direction = [torch.ones_like(parameter) for parameter in parameters]
    products = ExampleProducts(model, parameters, direction, way="mixed")
    for _, losses in each_of(noting, model, at_once=64):
        products(losses)
    assert products.relative_error > 0
    assert seen == [torch.float32] * 3


@pytest.mark.parametrize("size", [39, 41])
@pytest.mark.parametrize("grouped", [False, True])
def test_units_of_other_examples_are_refused_before_training(size, grouped):
    tasks = [a_task("near", 1, 40), a_task("goal", 3, 16)]
    torch.manual_seed(0)
    model = MultiTaskModel.for_tasks(MLP((4,), widths=(8,)), tasks, width=8)
    units = Units.of_groups({"near": "x" * size}) if grouped else Units.of_examples({"near": size})
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(ConfigError) as refused:
        train(
            model,
            tasks=tasks,
            target="goal",
            paradigm=PreTraining(epochs=1),
            weighting=TargetAware(sources=["near"], target="goal", target_share=None, units=units),
        )
    assert str(refused.value) == (
        f"The weighting has units for {size} examples of 'near', which has 40 to train on; make "
        "the `Units` from the same examples."
    )
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


class Kept:
    """A checkpoint in memory."""

    state = None

    def load(self):
        return copy.deepcopy(self.state)

    def due(self):
        return False

    def save(self, state):
        self.state = copy.deepcopy(state)


@pytest.mark.parametrize("unit", ["example", "group"])
def test_interrupted_training_ends_where_it_would_have(unit):
    whole, _, model = trained(unit, JointTraining)
    for stop in (5, 13):
        kept, asked = Kept(), iter(range(10_000))
        with pytest.raises(Interrupted):
            trained(
                unit,
                JointTraining,
                checkpoint=kept,
                should_stop=lambda: next(asked) == stop,  # noqa: B023
            )
        rest, _, again = trained(unit, JointTraining, checkpoint=kept)
        assert [u.to_json() for u in rest.history] == [u.to_json() for u in whole.history]
        assert torch.equal(rest.outcome.weights.logs, whole.outcome.weights.logs)
        assert torch.equal(rest.outcome.mean_alignments, whole.outcome.mean_alignments)
        for name, value in again.state_dict().items():
            assert torch.equal(value, model.state_dict()[name])


def test_an_example_counts_what_its_weight_says():
    """One step of plain gradient descent on Σ ω_u L_u, against the same by hand."""
    _, weighting, _ = trained("example", JointTraining)
    weights = weighting.weights
    indices = np.array([3, 7, 20])
    expected = weights.logs[indices + 40].exp() * 24 / weights.shares()["far"]
    torch.testing.assert_close(weights.relative("far", indices), expected, rtol=1e-5, atol=0)


def test_a_sources_own_loss_is_of_examples_drawn_as_often_as_they_count():
    task = a_task("near", 1, 40)
    torch.manual_seed(0)
    model = MultiTaskModel.for_tasks(MLP((4,), widths=(8,)), [task], width=8)
    weighting = TargetAware(
        sources=["near"], target="goal", target_share=None, units=Units.of_examples({"near": 40})
    )
    logs = torch.full((40,), -20.0)
    logs[[3, 8]] = torch.tensor([0.75, 0.25]).log()
    weighting.weights = weighting.weights.moved(logs)
    draws = [
        FreshLosses(
            model,
            {"near": task},
            {"near": task.train},
            counts={"near": 40},
            weighting=weighting,
            seed=0,
            update=update,
            device=torch.device("cpu"),
            autocast=nullcontext,
        ).batch("near")[0]
        for update in range(10)
    ]
    found = torch.cat([batch.inputs for batch in draws])
    share = float((found == task.train.inputs[3]).all(1).float().mean())
    assert share == pytest.approx(0.75, abs=0.1)
    others = [float((found == task.train.inputs[k]).all(1).float().mean()) for k in (0, 8)]
    assert others == pytest.approx([0.0, 0.25], abs=0.1)


# On the command line


def test_weights_of_tasks_are_not_held_where_weights_are_on_examples(study):
    config = load(unit_study(study, "example").path)
    assert "learned weights held" not in [row.name for row in chosen(None, config)]
    with pytest.raises(ConfigError, match="whole tasks"):
        chosen(["weighted normalized joint", "learned weights held"], config)


def unit_study(study, unit, **weighting):
    return study.set("weighting", {"unit": unit, **weighting}).set("paradigm", "joint")


def test_a_run_leaves_its_units_and_can_be_audited(study, call):
    run(load(unit_study(study, "example").path), study.folder / "run")
    folder = study.folder / "run"
    outcome = units.read(folder)
    assert outcome.weights.units.sizes == {"near": 32, "far": 27}
    shown = RunFolder(folder).shown_units()
    assert shown["least"][0]["deviation"] < 0 < shown["most"][0]["deviation"]
    assert {row["label"] for row in shown["labels"]["near"]} <= {"0", "1", "2"}
    code, out, _ = call("audit", folder, "--most", "5")
    assert code == 0
    table = list(csv.DictReader(io.StringIO(out)))
    assert [row["rank"] for row in table] == list("12345")
    apart = [float(row["deviation"]) for row in table]
    assert apart == sorted(apart)
    first = table[0]
    index = np.array([int(first["example"]) - 1])
    expected = float(outcome.weights.relative(first["source"], index))
    assert float(first["weight"]) == pytest.approx(expected, abs=1e-4)
    assert (folder / "weights.jsonl").stat().st_size < 20_000 * len(RunFolder(folder).updates())


def test_the_most_trusted_come_first_when_asked_for(study, call):
    run(load(unit_study(study, "example").path), study.folder / "run")
    path = study.folder / "best.csv"
    code, _, _ = call("audit", study.folder / "run", "--trusted", "--most", "3", "--out", path)
    assert code == 0
    assert len(path.read_text().splitlines()) == 4
    _, out, _ = call("audit", study.folder / "run", "--trusted", "--most", "3", "--json")
    rows = json.loads(out)
    assert rows[0]["deviation"] >= rows[2]["deviation"] > 0


def test_a_run_on_whole_tasks_has_nothing_to_audit(study, call):
    run(load(study.set("paradigm", "joint").path), study.folder / "run")
    code, _, error = call("audit", study.folder / "run")
    assert code == 2
    assert "weighting.unit" in error


def test_data_that_changed_is_not_audited(study):
    run(load(unit_study(study, "example").path), study.folder / "run")
    inputs, labels, _ = rows(7, 32)
    study.save("near.train", inputs=inputs.astype(np.float32), labels=labels)
    with pytest.raises(RunError, match="'near'"):
        audit(study.folder / "run", most=3)


def test_a_damaged_side_file_is_one_line(study):
    run(load(unit_study(study, "example").path), study.folder / "run")
    (study.folder / "run" / units.VECTORS).write_bytes(b"not at all")
    with pytest.raises(RunError, match="damaged"):
        audit(study.folder / "run", most=3)


@pytest.mark.parametrize("grouped", [False, True])
def test_a_side_file_is_read_as_it_always_was(tmp_path, grouped):
    """Sources in order, numbers of groups through all of them, targets last."""
    labels = {"near": list("aba"), "far": list("cd")}
    count = 4 if grouped else 5
    logs = torch.log_softmax(torch.randn(count + 1), 0).numpy()
    arrays = {"log_weights": logs, "mean_alignments": np.arange(count + 1, dtype=np.float32)}
    if grouped:
        arrays["members.near"] = np.array([0, 1, 0], np.int32)
        arrays["members.far"] = np.array([2, 3], np.int32)
    about = {
        "sizes": json.dumps({"near": 3, "far": 2}),
        "names": json.dumps(["near", "far", "goal"]),
        "groups": json.dumps({"near": ["a", "b"], "far": ["c", "d"]} if grouped else {}),
    }
    (tmp_path / units.VECTORS).write_bytes(save(arrays, metadata=about))
    found = units.read(tmp_path)
    sizes = {"near": 3, "far": 2}
    expected = Units.of_groups(labels) if grouped else Units.of_examples(sizes)
    assert found.weights.units.fingerprint() == expected.with_whole(["goal"]).fingerprint()
    assert found.weights.logs.numpy().tolist() == logs.tolist()
    assert found.mean_alignments.tolist() == list(range(count + 1))
    assert found.weights["goal"] == pytest.approx(float(np.exp(logs[-1])))
    tasks = [a_task("near", 1, 3), a_task("far", 2, 2)]
    units.write(tmp_path, found, tasks)
    with safe_open(tmp_path / units.VECTORS, "np") as file:
        assert file.metadata() == about
        assert set(file.keys()) == set(arrays)
        assert all(file.get_tensor(name).tobytes() == arrays[name].tobytes() for name in arrays)


@pytest.mark.parametrize("by", ["label", "cluster"])
def test_groups_by_label_and_cluster(study, by):
    config = load(unit_study(study, "group", group={"by": by, "count": 3}).path)
    record = run(config, study.folder / "run")
    groups = RunFolder(study.folder / "run").shown_units()["groups"]
    assert set(groups) == {"near", "far"}
    assert sum(group["examples"] for group in groups["near"]) == 32
    assert len(groups["near"]) <= 3
    assert sum(record["weights"].values()) == pytest.approx(1, abs=1e-5)


def test_groups_by_a_column_of_the_data(study):
    names = np.array(["news", "web"] * 16)
    inputs, labels, _ = rows(7, 32)
    study.save("near.train", inputs=inputs.astype(np.float32), labels=labels, groups=names)
    config = unit_study(study, "group", group={"by": "column"}).set("sources", ["near"])
    run(load(config.path), study.folder / "run")
    groups = RunFolder(study.folder / "run").shown_units()["groups"]["near"]
    assert {group["group"]: group["examples"] for group in groups} == {"news": 16, "web": 16}


@pytest.mark.parametrize(("by", "words"), [("column", "which group"), ("length", "one length")])
def test_groups_that_the_data_does_not_have(study, by, words):
    config = load(unit_study(study, "group", group={"by": by}).path)
    with pytest.raises(ConfigError, match=words):
        run(config, study.folder / "run")
    assert not (study.folder / "run").exists()


def test_what_is_shown_of_many_examples_makes_no_object_for_each():
    size, labels = 100_000, ["even", "odd", "never"]
    given = np.arange(size) % 2
    task = classification("web", train=(np.zeros((size, 1)), given), labels=labels)
    weights = SourceWeights.of({"web": 1.0}).spread(Units.of_examples({"web": size}))
    weights = weights.moved(weights.logs + torch.from_numpy(given) * np.log(3.0))
    outcome = Outcome(weights, torch.zeros(size))
    tracemalloc.start()
    shown = units.shown(outcome, [task])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 45 * size  # lists of labels and of factors would take 40 bytes more
    assert [(row["label"], row["examples"]) for row in shown["labels"]["web"]] == [
        ("even", size // 2),
        ("odd", size // 2),
    ]
    means = [row["weight"] for row in shown["labels"]["web"]]
    assert means == pytest.approx([0.5, 1.5], rel=1e-4)


def test_numbers_are_no_groups_and_have_no_mean_by_label(study):
    values = np.linspace(0, 1, 32).astype(np.float32)
    study.save("near.train", inputs=rows(7, 32)[0].astype(np.float32), labels=values)
    study.set("data.tasks.near.kind", "regression").set("sources", ["near"])
    run(load(unit_study(study, "example").path), study.folder / "run")
    assert RunFolder(study.folder / "run").shown_units()["labels"] == {"near": []}
    assert audit(study.folder / "run", most=1)[0]["label"] in values.tolist()
    with pytest.raises(ConfigError, match="labels of 'near' are no names"):
        run(load(unit_study(study, "group").path), study.folder / "other")


def test_an_example_that_was_never_measured_has_no_alignment(study, call):
    path = unit_study(study, "example").set("training.unit_examples", 4).path
    run(load(path), study.folder / "run")
    folder = study.folder / "run"
    known = ~units.read(folder).mean_alignments.isnan()
    assert 0 < int(known[:59].sum()) < 59
    code, out, _ = call("audit", folder, "--most", "100")
    assert code == 0
    table = list(csv.DictReader(io.StringIO(out)))
    measured_rows = [row for row in table if row["alignment"]]
    assert len(table) == 59
    assert len(measured_rows) == int(known[:59].sum())
    json.dumps(RunFolder(folder).shown_units(), allow_nan=False)


@pytest.mark.parametrize(
    ("shape", "shown"),
    [
        ((8, 8), (8, 8)),
        ((1, 8, 6), (8, 6)),
        ((3, 16, 12), (16, 12, 3)),
        ((1, 200, 80), (50, 20)),
        ((2, 8, 8), None),
        ((65, 8), None),
        ((8,), None),
    ],
)
def test_which_images_are_shown_and_how_large(shape, shown):
    inputs = torch.rand(3, *shape, generator=torch.Generator().manual_seed(0))
    task = classification("pictures", train=(inputs, [0, 1, 0]))
    weights = SourceWeights.of({"pictures": 1.0})
    spread = weights.spread(Units.of_examples({"pictures": 3}))
    found = units.shown(Outcome(spread, torch.zeros(3)), [task])["least"][0]
    assert ("image" in found) == (shown is not None)
    if shown is not None:
        pixels = png_pixels(base64.b64decode(found["image"]))
        assert pixels.shape == shown
        apart = max(shape[-2:]) // max(shown[:2])
        kept = inputs[found["example"] - 1].double()[..., ::apart, ::apart]
        scaled = ((kept - kept.min()) * 255 / (kept.max() - kept.min())).round()
        expected = scaled.movedim(0, -1) if kept.dim() == 3 else scaled
        assert np.array_equal(pixels, expected.reshape(shown))


@pytest.mark.parametrize(
    ("layer", "alignment", "most"),
    [
        (nn.Linear(4, 4), Cosine(), 32),
        (nn.Bilinear(4, 4, 4), Cosine(), 8),
        (nn.Bilinear(4, 4, 4), CurvatureWeighted(Identity()), 32),
    ],
)
def test_batches_are_small_where_every_example_takes_a_backward_pass(layer, alignment, most):
    """Which goes through the whole batch."""

    class Representation(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, inputs):
            return layer(*[inputs] * (2 if isinstance(layer, nn.Bilinear) else 1))

    torch.manual_seed(0)
    inputs, labels = torch.randn(40, 4), torch.randint(2, (40,))
    tasks = [classification(name, train=(inputs, labels)) for name in ("source", "target")]
    sizes = []
    model = MultiTaskModel.for_tasks(Representation(), tasks, width=4)
    model.heads["source"].register_forward_hook(lambda *given: sizes.append(len(given[2])))
    weighting = TargetAware(
        sources=["source"],
        target="target",
        target_share=None,
        units=Units.of_examples({"source": 40}),
        rule=UpdateRule(alignment=alignment),
    )
    train(
        model,
        tasks=tasks,
        target="target",
        paradigm=PreTraining(epochs=1, fine_tune_epochs=1),
        weighting=weighting,
        settings=Settings(batch_size=8, select="last"),
    )
    assert max(sizes) == most


def test_every_source_has_a_step_size_of_its_own(monkeypatch):
    looked = []

    def look_again(self):
        looked.append(self)

    monkeypatch.setattr(ExampleProducts, "look_again", look_again)
    tasks = SourceWeights.of({"near": 0.5, "far": 0.5})
    weights = tasks.spread(Units.of_examples(SIZES))
    measured(Small(), weights, CurvatureWeighted(Identity()), way="differences")
    assert len(looked) == 2
    assert looked[0] is looked[1]
