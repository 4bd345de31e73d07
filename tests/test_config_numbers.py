"""Numbers of a configuration: every field, those to come included, refuses what is no number."""

import dataclasses
import math
import types
import typing

import pytest
from pydantic import BaseModel

from tawt.config.schema import RunConfig, parsed
from tawt.errors import ConfigError, TawtError
from tawt.modality import modality_named
from tawt.runs import Options
from tawt.training import JointTraining, PreTraining, Settings, SingleTask
from tawt.training.settings import MOST_WORKERS

NOT_FINITE = [math.nan, math.inf, -math.inf]
TASK = {"train": "a", "kind": "tagging"}
SECTIONS = {  # what stands around a field of each kind of section
    "digits": {"data": {"kind": "digits"}},
    "arrays": {"data": {"kind": "arrays", "tasks": {"goal": {"train": "a.npz"}}}},
    "text": {"data": {"kind": "text", "tasks": {"goal": TASK}}, "model": {"encoder": "x"}},
    "grammar": {"data": {"kind": "grammar"}, "model": {"encoder": "x"}},
    "unlabelled": {
        "target": "near",
        "data": {"kind": "text", "tasks": {"near": TASK, "goal": {**TASK, "kind": "unlabelled"}}},
        "model": {"encoder": "x"},
    },
}


def sections(annotation):
    """The models and dataclasses inside a type."""
    if isinstance(annotation, type) and (
        issubclass(annotation, BaseModel) or dataclasses.is_dataclass(annotation)
    ):
        return [annotation]
    return [found for inner in typing.get_args(annotation) for found in sections(inner)]


def numbers_in(annotation, kind):
    """How a number of that kind can be given to a field of that type: alone, or in something."""
    if annotation is kind:
        return [lambda value: value]
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return numbers_in(inner[0], kind)
    if origin in (typing.Union, types.UnionType):
        return [found for member in inner for found in numbers_in(member, kind)]
    if origin in (list, tuple):
        width = len(inner) if origin is tuple else 1
        return [
            lambda value, found=found: [found(value)] * width
            for found in numbers_in(inner[0], kind)
        ]
    if origin is dict:
        keys = typing.get_args(inner[0]) or ("goal",)
        return [
            lambda value, found=found, key=key: {key: found(value)}
            for found in numbers_in(inner[1], kind)
            for key in keys
        ]
    return []


def walked(section, kind, place=()):
    """Every field under a section that takes such numbers, and ways to give one."""
    for name, annotation in typing.get_type_hints(section, include_extras=True).items():
        if name.startswith("_") or name == "model_config":
            continue
        for given in numbers_in(annotation, kind):
            yield (*place, name), section, given
        key = ("goal",) if typing.get_origin(annotation) is dict else ()
        for inner in sections(annotation):
            yield from walked(inner, kind, (*place, name, *key))


def values_with(place, section, value):
    """A configuration that is good but for one value."""
    kinds = {"DigitsData": "digits", "TextTask": "text", "GrammarData": "grammar"}
    texts = {"EncoderConfig": "text", "ArrayTask": "arrays", "UnlabelledTask": "unlabelled"}
    found = _copied(SECTIONS[{**kinds, **texts}.get(section.__name__, "digits")])
    if place[-2:] in (("group", "count"), ("training", "unit_examples")):
        found["weighting"] = {"unit": "group"}  # without which they have no effect
    if place[-2:-1] == ("weighting",):
        found["weighting"] = {"step": "mirror"}
    found = {"target": "goal" if "tasks" in found["data"] else "digit", **found}
    around = found
    for key in place[:-1]:
        around = around.setdefault(key, {})
    around[place[-1]] = value
    return found


def _copied(value):
    return {key: _copied(part) for key, part in value.items()} if isinstance(value, dict) else value


OURS = ("arrays", "digits", "text", "grammar")  # other tests register more


def walked_all(kind):
    """Those of every kind of data too, whose sections the configuration does not know itself."""
    yield from walked(RunConfig, kind)
    for name in OURS:
        modality = modality_named(name)
        yield from walked(modality.data_section, kind, ("data",))
    for model in dict.fromkeys(modality_named(name).model_section for name in OURS):
        yield from walked(model, kind, ("model",))


FLOATS = list(walked_all(float))
INTEGERS = list(walked_all(int))


def briefly(value):
    return str(value)[:5]


def named(case):
    return ".".join(case[0])


def test_the_walk_finds_fields_of_every_sort():
    found = {place for place, _, _ in FLOATS}
    assert found >= {
        ("fine_tune_learning_rate",),
        ("target",),
        ("model", "dropout"),
        ("weighting", "initial"),
        ("weighting", "target_share"),
        ("weighting", "curvature", "damping"),
        ("data", "tasks", "goal", "held_out"),
        ("training", "learning_rate"),
        ("training", "clip_norm"),
    }
    counts = {place for place, _, _ in INTEGERS}
    assert counts >= {("model", "widths"), ("training", "workers"), ("seed",)}


@pytest.mark.parametrize("value", [*NOT_FINITE, "nan", "inf", "1e999", 10**400], ids=briefly)
@pytest.mark.parametrize("case", FLOATS, ids=named)
def test_no_number_may_be_infinite_or_none(case, value):
    place, section, given = case
    with pytest.raises(ConfigError, match=place[-1]):
        parsed(values_with(place, section, given(value)))


@pytest.mark.parametrize("value", [2**63, 10**400, -(10**400)], ids=briefly)
@pytest.mark.parametrize("case", INTEGERS, ids=named)
def test_no_count_may_be_more_than_can_be_computed_with(case, value):
    place, section, given = case
    with pytest.raises(ConfigError, match=place[-1]):
        parsed(values_with(place, section, given(value)))


@pytest.mark.parametrize("case", [*FLOATS, *INTEGERS], ids=named)
def test_some_good_number_is_taken_where_a_bad_one_is_refused(case):
    assert any(is_taken(case, value) for value in (0.5, 1.0, 1, 10))


def is_taken(case, value):
    place, section, given = case
    try:
        parsed(values_with(place, section, given(value)))
    except ConfigError:
        return False
    return True


@pytest.mark.parametrize("value", NOT_FINITE)
@pytest.mark.parametrize(
    "name", [f.name for f in dataclasses.fields(Settings) if "float" in f.type]
)
def test_settings_made_in_python_refuse_them_too(name, value):
    with pytest.raises(ConfigError, match=f"`{name}`"):
        Settings(**{name: value})


@pytest.mark.parametrize("value", [*NOT_FINITE, 0.0])
@pytest.mark.parametrize("kind", [PreTraining, JointTraining])
def test_paradigms_made_in_python_refuse_them_too(kind, value):
    made = kind(fine_tune_epochs=1, fine_tune_learning_rate=value)
    with pytest.raises(ConfigError, match="learning rate of fine-tuning"):
        made.phases()
    assert SingleTask().phases()


@pytest.mark.parametrize("value", [*NOT_FINITE, -1.0])
def test_seconds_between_checkpoints_are_a_number(value):
    with pytest.raises(TawtError, match="--checkpoint-seconds"):
        Options(checkpoint_seconds=value)


def test_more_workers_than_any_machine_has_cores_are_refused():
    assert Settings(workers=MOST_WORKERS).workers == MOST_WORKERS
    with pytest.raises(ConfigError, match=r"`workers` must be at most 256.*got 100000"):
        Settings(workers=100_000)
