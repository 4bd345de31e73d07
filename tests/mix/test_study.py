"""What is known of sources before a mixture is looked for among them."""

from typing import Literal

import pytest

from tawt.config import parsed
from tawt.mix.study import examined
from tawt.modality import DataSection, Modality, Section, register
from tests import guesses


class GuessData(DataSection):
    kind: Literal["guesses"]
    counted: bool = True


class GuessModality(Modality):
    """A kind of data whose tasks share the whole model, and may be counted in tokens."""

    name = "guesses"
    data_section = GuessData
    model_section = Section

    def task_names(self, data):
        return [task.name for task in guesses.tasks()]

    def tasks(self, data, model, *, names, targets, seed):
        found = {task.name: task for task in guesses.tasks()}
        if data.counted:
            found["near"].train.tokens, found["far"].train.tokens = 400, 900
        return [found[name] for name in names]

    def model(self, section, tasks):
        return guesses.model()

    def save(self, trained, folder):
        raise NotImplementedError

    def predictor(self, folder, request):
        raise NotImplementedError


register(GuessModality())


@pytest.mark.parametrize(
    ("counted", "unit", "amounts"),
    [(True, "tokens", {"near": 400, "far": 900}), (False, "examples", {"near": 40, "far": 60})],
)
def test_amounts_are_in_tokens_where_every_source_says_how_many(counted, unit, amounts):
    data = {"kind": "guesses", "counted": counted}
    found = examined(
        parsed({"data": data, "target": "goal", "training": {"batch_size": 5}}), seed=0
    )
    assert (found.unit, found.amounts, found.examples) == (unit, amounts, {"near": 40, "far": 60})
    assert found.per_step == sum(amounts.values()) / 100 * 5
