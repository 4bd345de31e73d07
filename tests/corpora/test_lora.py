"""Low-rank additions: they alone are trained, and the saved model has them merged."""

import json

import pytest
import torch
from transformers import AutoModelForCausalLM, pipeline

from tawt.corpora.networks import LanguageModel
from tawt.runs.building import build_parts
from tawt.runs.run import run
from tests.corpora.models import write_causal
from tests.corpora.studies import CorpusStudy, contents, resumed, said

pytest.importorskip("peft", reason="the extra lora is not installed")


@pytest.fixture
def study(tmp_path):
    study = CorpusStudy(tmp_path / "study")
    place = write_causal(tmp_path / "model", tokens=260, layers=1)
    return study.set("model", {"checkpoint": str(place), "lora": {"rank": 2, "alpha": 4}})


def test_additions_alone_are_trained_and_start_as_nothing(study, tmp_path):
    model = build_parts(study.config).model.representation
    assert isinstance(model, LanguageModel)
    trained = [name for name, p in model.named_parameters() if p.requires_grad]
    assert trained
    assert all("lora_" in name for name in trained)
    before = AutoModelForCausalLM.from_pretrained(tmp_path / "model").eval()
    tokens = torch.arange(3, 20)[None]
    with torch.no_grad():
        torch.testing.assert_close(
            model.model.eval()(input_ids=tokens).logits, before(input_ids=tokens).logits
        )


def test_the_saved_model_has_them_merged_and_loads_without_peft(study, tmp_path):
    record = run(study.config, tmp_path / "run")
    folder = tmp_path / "run/model"
    assert not list(folder.glob("adapter*"))
    model, about = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    assert not about["missing_keys"]
    assert not about["unexpected_keys"]
    before = AutoModelForCausalLM.from_pretrained(tmp_path / "model").state_dict()
    moved = {n for n, p in model.state_dict().items() if not torch.equal(p, before[n])}
    assert moved == {"transformer.h.0.attn.c_attn.weight"}
    # The merged model scores what the trained one did, within rounding.
    (tmp_path / "again").mkdir()
    study.values["model"] = {"checkpoint": str(folder)}
    study.set("training.learning_rate", 1e-12)
    again = run(study.config, tmp_path / "again/run")
    ours, theirs = (each["scores"]["goal"]["test"]["loss"] for each in (record, again))
    assert theirs == pytest.approx(ours, rel=1e-5)
    [found] = pipeline("text-generation", str(folder))("the", max_new_tokens=4, do_sample=False)
    assert found["generated_text"].startswith("the")


def test_a_run_with_additions_is_resumed_to_the_same_numbers(study, tmp_path):
    study.set("model.lora.dropout", 0.1)
    whole = run(study.config, tmp_path / "whole")
    record = resumed(study, tmp_path / "stopped", stop=13)
    assert said(record) == said(whole)
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")


@pytest.mark.parametrize("targets", ["all-linear", ["c_proj"]])
def test_layers_can_be_named(study, targets):
    study.set("model.lora.targets", targets)
    names = [
        name for name, p in build_parts(study.config).model.named_parameters() if "lora" in name
    ]
    assert any("mlp.c_proj" in name for name in names)


def test_layers_that_there_are_not(study, call, tmp_path):
    study.set("model.lora.targets", ["q_proj"])
    status, out, err = call("train", study.path, "--out", tmp_path / "run")
    assert (status, out) == (2, "")
    assert "`model.lora.targets`: " in err
    assert "Name layers of the model, or `all-linear`." in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_weights_on_windows_are_learned_with_additions(study, tmp_path):
    study.set("weighting", {"unit": "example"})
    record = run(study.config, tmp_path / "run")
    assert json.loads((tmp_path / "run/record.json").read_text())["weights"] == record["weights"]


def test_memory_is_saved_by_computing_activations_again(study, tmp_path):
    study.set("model.lora", None)
    plain = run(study.config, tmp_path / "plain")
    study.set("model.gradient_checkpointing", True)
    again = run(study.config, tmp_path / "again")
    ours, theirs = (each["scores"]["goal"]["test"]["loss"] for each in (plain, again))
    assert theirs == pytest.approx(ours, rel=1e-5)
