"""Runs on corpora: the same from the middle as from the start, and what they leave behind."""

import json
import math

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, pipeline

from tawt.corpora.windows import Windows
from tawt.errors import RunError
from tawt.runs import RunFolder
from tawt.runs.building import build_parts
from tawt.runs.run import Options, run
from tests.corpora.files import sentences
from tests.corpora.studies import After, CorpusStudy, bits, contents, resumed, said
from tests.corpora.tokenizers import write_tokenizer

WAYS = {
    "drawn anew": {},
    "one corpus a step": {"training.sampling": "weight"},
    "most passes": {"training.most_passes": 3},
    "from training steps": {"training.measure": "training steps", "training.most_passes": 4},
    "by size": {"training.sampling": "size", "training.steps": None},
    "masked": {"model.objective": "masked", "training.most_passes": 4},
    "pre-training": {"paradigm": "pre-training", "training.most_passes": 4},
    "joint": {"paradigm": "joint", "training.sampling": "size", "training.steps": None},
}


@pytest.fixture
def study(tmp_path):
    return CorpusStudy(tmp_path / "study")


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_stopped_and_resumed_is_the_run_that_was_not(
    study, tmp_path, way, monkeypatch
):
    for name, value in WAYS[way].items():
        study.set(name, value)
    seen = []
    before = Windows.batch

    def noted(self, indices):
        seen.append((self.shard.folder.name, np.asarray(indices).tolist()))
        return before(self, indices)

    monkeypatch.setattr(Windows, "batch", noted)
    whole = run(study.config, tmp_path / "whole")
    order, count = list(seen), whole["steps"]
    for stop in (2, count // 2 + 1):
        path = tmp_path / f"stopped-{stop}"
        seen.clear()
        record = resumed(study, path, stop=stop)
        assert said(record) == said(whole)
        assert contents(path) == contents(tmp_path / "whole")
        # Before and after the stop the windows are those of the whole run, in their order.
        assert seen[-10:] == order[-10:]
        assert all(each in order for each in seen)


def test_weights_move_to_the_source_that_is_like_the_target(study, tmp_path):
    study.set("training.steps", 80)
    record = run(study.config, tmp_path / "run")
    assert record["weights"]["near"] > 0.8
    scores = record["scores"]["goal"]["test"]
    assert scores["bits_per_byte"] == pytest.approx(scores["loss"] / math.log(2))
    assert scores["perplexity"] == pytest.approx(math.exp(scores["loss"]))
    assert record["passes"]["near"] > record["passes"]["far"]


def test_other_text_is_not_gone_on_with(study, tmp_path):
    with pytest.raises(Exception, match="--resume"):
        run(study.config, tmp_path / "run", should_stop=After(3))
    study.text("near", train=sentences(60, seed=9))
    with pytest.raises(RunError, match="The examples of task 'near' are not those"):
        run(study.config, tmp_path / "run", options=Options(resume=True))


# Scores by hand


@pytest.fixture(params=["causal", "masked"])
def finished(request, study, tmp_path):
    study.set("model.objective", request.param)
    run(study.config, tmp_path / "run")
    return study, tmp_path / "run"


def test_scores_are_those_of_the_saved_model_on_the_file_itself(study, tmp_path):
    """Bits a byte with transformers alone: the file's bytes, 24 at a time, one token at a time."""
    record = run(study.config, tmp_path / "run")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "run/model").eval()
    content = (study.folder / "goal.test.txt").read_bytes()
    stream = [1] + [1 if byte == ord("\n") else byte + 3 for byte in content]
    nats = 0.0
    for start in range(0, len(stream) - 1, 24):
        window = torch.tensor([stream[start : start + 25]])
        with torch.no_grad():
            logs = model(window[:, :-1]).logits.log_softmax(-1)[0]
        nats -= sum(float(logs[place, token]) for place, token in enumerate(window[0, 1:]))
    wanted = nats / math.log(2) / len(content)
    assert record["scores"]["goal"]["test"]["bits_per_byte"] == pytest.approx(wanted, rel=1e-5)


def test_predictions_add_up_to_the_scores(finished):
    study, path = finished
    record = RunFolder(path).record()
    rows = [line.split("\t") for line in (path / "predictions.test.tsv").read_text().splitlines()]
    names, *rows = rows
    gold, predicted = names.index("gold"), names.index("predicted")
    size = sum(float(row[gold]) for row in rows)
    nats = sum(float(row[predicted]) for row in rows)
    found = record["scores"]["goal"]["test"]["bits_per_byte"]
    assert nats / math.log(2) / size == pytest.approx(found, rel=1e-4)
    if study.values["model"]["objective"] == "causal":
        assert size == pytest.approx((study.folder / "goal.test.txt").stat().st_size, rel=1e-5)


# The saved model


def test_a_saved_causal_model_generates_without_tawt(study, tmp_path):
    run(study.config, tmp_path / "run")
    generate = pipeline("text-generation", str(tmp_path / "run/model"))
    [found] = generate("the cat", max_new_tokens=8, do_sample=False)
    assert found["generated_text"].startswith("the cat")
    assert len(found["generated_text"]) > len("the cat")


def test_a_saved_masked_model_fills_masks_without_tawt(study, tmp_path):
    study.set("model.objective", "masked")
    run(study.config, tmp_path / "run")
    fill = pipeline("fill-mask", str(tmp_path / "run/model"))
    found = fill(f"the c{fill.tokenizer.mask_token}t")
    assert len(found) == 5
    assert sum(each["score"] for each in found) <= 1 + 1e-6


def test_a_saved_model_is_safetensors_and_has_a_card_with_its_scores(finished):
    study, path = finished
    folder = path / "model"
    assert not [file for file in folder.iterdir() if file.suffix in (".bin", ".pt", ".pkl")]
    card = (folder / "README.md").read_text()
    record = RunFolder(path).record()
    score = record["scores"]["goal"]["test"]["bits_per_byte"]
    assert f"| goal | test | bits_per_byte | {score:.4f} |" in card
    assert f"| near | {record['weights']['near']:.4f} |" in card
    causal = study.values["model"]["objective"] == "causal"
    assert f"pipeline_tag: {'text-generation' if causal else 'fill-mask'}" in card


def test_a_saved_model_is_gone_on_with_and_keeps_its_tokenizer(study, tmp_path):
    study.set("data.tokenizer", str(write_tokenizer(tmp_path / "tokenizer")))
    run(study.config, tmp_path / "first")
    del study.values["data"]["tokenizer"]
    study.values["model"] = {"checkpoint": str(tmp_path / "first/model")}
    study.write()
    study.set("training.learning_rate", 1e-12)
    second = run(study.config, tmp_path / "second")
    first = RunFolder(tmp_path / "first").record()
    ours, theirs = (r["scores"]["goal"]["test"]["loss"] for r in (first, second))
    assert theirs == pytest.approx(ours, rel=1e-5)
    tokenizers = [
        AutoTokenizer.from_pretrained(tmp_path / n / "model") for n in ("first", "second")
    ]
    assert tokenizers[0].get_vocab() == tokenizers[1].get_vocab()


def test_a_masked_model_is_one_of_transformers(study, tmp_path):
    study.set("model.objective", "masked")
    run(study.config, tmp_path / "run")
    model, about = AutoModelForMaskedLM.from_pretrained(
        tmp_path / "run/model", output_loading_info=True
    )
    assert not about["missing_keys"]
    assert model.config.max_position_embeddings == 24


# Commands


def test_the_commands_on_a_run(finished, call, tmp_path):
    _, path = finished
    lines = tmp_path / "lines.txt"
    lines.write_text("the cat sat on a mat\n\n0101 2233 zz qq xx\n")
    status, out, err = call("predict", path, lines, "--json")
    assert (status, err) == (0, "")
    first, blank, other = out.splitlines()
    assert 0 < bits(first) < bits(other)
    assert bits(blank) is None
    status, out, _ = call("report", path)
    assert status == 0
    page = (path / "report.html").read_text()
    assert "bits_per_byte" in page
    assert "near" in page
    assert call("audit", path)[0] == 2  # its weights are on whole sources


def test_what_a_line_takes_is_what_the_saved_model_says_of_it(study, tmp_path, call):
    run(study.config, tmp_path / "run")
    (tmp_path / "lines.txt").write_text("the cat sat on a mat and more\n")
    _, out, _ = call("predict", tmp_path / "run", tmp_path / "lines.txt", "--output", "jsonl")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "run/model").eval()
    stream = [1, *(byte + 3 for byte in b"the cat sat on a mat and more"), 1]
    nats = 0.0
    for start in range(0, len(stream) - 1, 24):
        window = torch.tensor([stream[start : start + 25]])
        with torch.no_grad():
            logs = model(window[:, :-1]).logits.log_softmax(-1)[0]
        nats -= sum(float(logs[place, token]) for place, token in enumerate(window[0, 1:]))
    found = json.loads(out)
    assert found["nats"] == pytest.approx(nats, rel=1e-5)
    assert found["tokens"] == len(stream) - 1
    assert found["bits_per_byte"] == pytest.approx(nats / math.log(2) / 30, rel=1e-5)


def test_looking_into_corpora(study, call):
    status, out, err = call("data", "inspect", study.path, "--json")
    assert (status, err) == (0, "")
    found = {task["name"]: task for task in json.loads(out)["tasks"]}
    test = found["goal"]["splits"]["test"]
    size = (study.folder / "goal.test.txt").stat().st_size
    assert test["examples"] == 15
    assert test["corpus"] == {"tokens": size + 1, "bytes": size, "windows": -(-size // 24)}
    assert found["near"]["role"] == "source"


def test_looking_into_corpora_finds_a_damaged_shard(study, call, tmp_path):
    assert call("data", "inspect", study.path)[0] == 0
    [path, *_] = sorted((tmp_path / "cache").glob("*/tokens.bin"))
    content = bytearray(path.read_bytes())
    content[10] ^= 1
    path.write_bytes(content)
    status, out, err = call("data", "inspect", study.path)
    assert (status, out) == (2, "")
    assert "is damaged: tokens.bin is not what index.json has the checksum of" in err


@pytest.mark.usefixtures("in_process")
def test_a_comparison_of_what_sources_alone_can_do(study, call, tmp_path):
    rows = ["single-task", "equal weights", "learned weights", "learned weights fixed"]
    status, out, err = call(
        *("compare", study.path, "--out", tmp_path / "compared", "--seeds", "2", "--json"),
        *(part for row in rows for part in ("--row", row)),
    )
    assert status == 0, err
    found = {row["name"]: row for row in json.loads(out)["rows"]}
    assert set(found) == set(rows)
    assert (tmp_path / "compared/report.html").exists()


def test_all_processes_that_prepare_batches_see_the_same(study, tmp_path):
    one = run(study.config, tmp_path / "one")
    study.set("training.workers", 1)
    other = run(study.config, tmp_path / "other")
    assert other["scores"] == one["scores"]
    first, second = (load_file(tmp_path / n / "model/model.safetensors") for n in ("one", "other"))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_seed_says_the_model_and_not_the_text_that_is_held_out(study):
    del study.values["data"]["corpora"]["goal"]["dev"]
    study.set("data.corpora.goal.held_out", {"dev": 0.3})
    found = [build_parts(study.set("seed", seed).config).data for seed in (0, 1)]
    assert found[0] == found[1]
