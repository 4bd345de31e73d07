"""The benchmark of `tawt best`, on a few made-up sets."""

import json
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.best import __main__ as program
from benchmarks.best import table
from benchmarks.best.published import STANCES
from benchmarks.best.scores import CHOSEN, TUNED, Answers, groups
from benchmarks.best.searching import Place, configuration, searched
from benchmarks.best.spec import Spec
from sklearn.metrics import f1_score

from tawt.errors import Interrupted
from tests.text.encoders import write_tiny_bert
from tests.text.studies import reviews

USUAL = {
    "encoder": "tiny", "budget": "3", "cap": 12, "epochs": 1, "batch_size": 32, "max_length": 64,
    "rate": 1e-3,
}  # fmt: skip


def spec_of(target="tweet_emotion", *, seed=0, examples=24):
    return Spec(target=target, seed=seed, examples=examples, **USUAL)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_tiny_bert(tmp_path_factory.mktemp("encoders") / "tiny")


@pytest.fixture
def place(tmp_path, encoder, monkeypatch):
    monkeypatch.setattr("tawt.best.estimate._SECONDS", 0.02)
    for number, name in enumerate(("tweet_emotion", "acl_arc", STANCES[0])):
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        for split, size in (("train", 40), ("dev", 8), ("test", 10)):
            rows = reviews(size, seed=10 * number + size)
            (folder / f"{split}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return Place(
        encoder=encoder,
        data=str(tmp_path / "data"),
        scratch=str(tmp_path / "searches"),
        device="cpu",
        precision="fp32",
        deadline=time.time() + 600,
    )


def test_the_others_are_sources_and_dev_is_among_all_examples(place):
    few, whole = (configuration(spec_of(examples=n), place).data.tasks for n in (24, None))
    assert set(few) == {"tweet_emotion", "acl_arc", STANCES[0]}
    assert (few["tweet_emotion"].limit, few["acl_arc"].limit) == (24, 12)
    assert few["tweet_emotion"].dev is None
    assert (whole["tweet_emotion"].limit, whole["tweet_emotion"].dev.name) == (None, "dev.jsonl")
    assert few["acl_arc"].test is None
    large = replace(spec_of(), cap=500)  # of which the sets have fewer
    assert configuration(large, place).data.tasks["acl_arc"].limit == 40


def test_a_search_leaves_a_record_from_which_the_page_is_made(place):
    record = json.loads(json.dumps(searched(spec_of(), place)))
    assert record["examples"] == 24
    assert record["candidates"] == 3
    assert {len(each) for each in record["answers"].values()} == {len(record["gold"])} == {10}
    assert set(record["answers"]) == {"untuned", "alone", "best"}
    if not record["uses_sources"]:
        assert record["answers"]["best"] == record["answers"]["alone"]
    assert 0 <= record["worse"] <= 1
    said = table.page([record])
    assert said.splitlines()[2].startswith(
        "**With 24 labelled examples, what `tawt best` chooses is "
    )
    assert "| tweet_emotion | 24 | macro F1 | 1 |" in said


def test_a_search_stops_when_the_time_is_over(place):
    over = Place(**{**vars(place), "deadline": time.time() - 1})
    with pytest.raises(Interrupted):
        searched(spec_of(), over)


def test_the_program_goes_on_where_it_was_stopped(place, tmp_path, monkeypatch, capsys):
    out = tmp_path / "records.jsonl"
    given = {"data": place.data, "encoder": place.encoder, "out": out, "scratch": place.scratch}
    words = [f"--{name}={value}" for name, value in given.items()]
    words += ["--device=cpu", "--seeds=1", "--targets", "acl_arc", "--examples=24", "--budget=2"]
    words += ["--cap=12", "--epochs=1", "--batch-size=32", "--max-length=64"]
    monkeypatch.setattr(sys, "argv", ["best", *words])
    program.main()
    assert len(out.read_text().splitlines()) == 1
    assert not (tmp_path / "searches" / "acl_arc-24-0").exists()
    program.main()
    assert len(out.read_text().splitlines()) == 1
    assert "0 searches" in capsys.readouterr().out


def record_of(target, *, gold, best, alone, seed=0, examples=100, **values):
    return {
        "spec": spec_of(target, seed=seed, examples=examples).to_json(),
        "gold": gold,
        "answers": {"best": best, "alone": alone, "untuned": alone},
        "uses_sources": best != alone, "worse": 0.05, "dropped": 1, "candidates": 4, "unseen": {},
        **values,
    }  # fmt: skip


def test_scores_are_those_of_the_literature():
    gold, guess = ["favor", "against", "none", "favor"], ["favor", "none", "none", "against"]
    stance = Answers.of(record_of(STANCES[0], gold=gold, best=guess, alone=gold))
    labels = ["favor", "against"]
    expected = f1_score(gold, guess, labels=labels, average="macro", zero_division=0)
    assert stance.score(CHOSEN) == pytest.approx(100 * expected)
    assert stance.score(TUNED) == 100
    acl = Answers.of(record_of("acl_arc", gold=gold, best=guess, alone=gold))
    assert acl.score(CHOSEN) == pytest.approx(100 * f1_score(gold, guess, average="macro"))
    genes = Answers.of(record_of("chemprot", gold=gold, best=guess, alone=gold))
    assert genes.score(CHOSEN) == pytest.approx(50)
    places = np.array([0, 0, 1])
    assert genes.score(CHOSEN, places) == pytest.approx(100 * 2 / 3)


def test_a_loss_beyond_doubt_is_named_and_stances_are_one_set():
    gold = ["irony", "not"] * 50
    wrong = [*gold[:60], *gold[59:-1]]
    lost = [
        record_of("tweet_irony", gold=gold, best=wrong, alone=gold, seed=seed) for seed in (0, 1)
    ]
    said = ["favor", "against"] * 10
    kept = [record_of(name, gold=said, best=said, alone=said) for name in STANCES]
    irony, stances = groups([*lost, *kept])
    assert (irony.seeds, len(stances.records), stances.title) == (2, 5, "tweet_stance")
    assert irony.interval[1] < 0
    assert stances.interval == (0, 0)
    shown = table.page([*lost, *kept])
    assert "(90% interval below zero): tweet_irony (-" in shown
    assert "sources are used in 2 of 7 searches" in shown
    [row] = [line for line in shown.splitlines() if line.startswith("| tweet_stance ")]
    assert row.endswith("68.0 (RoBERTa-base), 71.2 (BERTweet) † |")
    [one] = groups(kept[:1])
    assert (one.title, one.is_whole) == (STANCES[0], False)


def test_records_of_two_settings_are_no_page():
    gold = ["a", "b"]
    one = record_of("acl_arc", gold=gold, best=gold, alone=gold)
    other = {**one, "spec": {**one["spec"], "cap": 99}}
    with pytest.raises(ValueError, match="one setting; got 2"):
        table.page([one, other])


def test_the_page_is_written_and_checked(tmp_path, monkeypatch):
    gold = ["a", "b"]
    records, page = tmp_path / "records.jsonl", tmp_path / "best.md"
    records.write_text(json.dumps(record_of("acl_arc", gold=gold, best=gold, alone=gold)) + "\n")
    monkeypatch.setattr(sys, "argv", ["table", str(records), "--page", str(page)])
    table.main()
    monkeypatch.setattr(sys, "argv", ["table", "--check", "--page", str(page)])
    with pytest.raises(SystemExit) as stop:
        table.main()
    assert stop.value.code == 0
    page.write_text("other")
    with pytest.raises(SystemExit, match="not what its records say"):
        table.main()
