"""The benchmark of unlabelled text, on a few made-up files."""

import json

import pytest
from benchmarks.unlabelled.page import PAGE, kept_records, page
from benchmarks.unlabelled.records import Records
from benchmarks.unlabelled.spec import METHODS, Spec
from benchmarks.unlabelled.table import table
from benchmarks.unlabelled.texts import write_domain
from benchmarks.unlabelled.training import Place, configuration, trained

from tawt import UpdateRule
from tawt.runs.building import rule
from tests.text.encoders import write_tiny_bert
from tests.text.studies import LINES, reviews


def spec_of(method, *, target="tweet_mood", seed=0):
    return Spec(
        target=target, method=method, seed=seed, examples=8, own_text=False, encoder="tiny",
        text_steps=4, text_rate=1e-3, epochs=1, rate=1e-3, batch_size=4, max_length=32,
        step_size=1.0,
    )  # fmt: skip


@pytest.fixture
def place(tmp_path, tiny_encoder):
    def write(name, **splits):
        (tmp_path / "data" / name).mkdir(parents=True)
        for split, rows in splits.items():
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (tmp_path / "data" / name / f"{split}.jsonl").write_text(lines)

    write("tweet_mood", train=reviews(16, seed=0), dev=reviews(6, seed=1), test=reviews(6, seed=2))
    held_out = reviews(6, seed=2)[0]["text"]
    write("tweet_other", train=[{"text": text, "label": "x"} for text in [*LINES, held_out]])
    write("tweet_third", train=[{"text": "[[ One ]]  <<two>>", "label": "x"}] * 2)
    write("acl_arc", train=[{"text": "No tweet .", "label": "x"}])
    (tmp_path / "corpora" / "sources").mkdir(parents=True)
    for name in ("product_reviews", "drama", "genes"):
        path = tmp_path / "corpora" / "sources" / f"{name}.txt"
        path.write_text("\n".join(line[::-1] for line in LINES))
    return Place(
        encoder=tiny_encoder,
        data=str(tmp_path / "data"),
        corpora=str(tmp_path / "corpora"),
        texts=str(tmp_path / "texts"),
        device="cpu",
        precision="fp32",
    )


@pytest.fixture(scope="module")
def tiny_encoder(tmp_path_factory):
    return write_tiny_bert(tmp_path_factory.mktemp("encoders") / "tiny")


def written(tmp_path, target, *, own_text=False):
    path = write_domain(
        target,
        tmp_path / "texts",
        data=tmp_path / "data",
        corpora=tmp_path / "corpora",
        own_text=own_text,
    )
    return path.read_text().splitlines()


@pytest.mark.usefixtures("place")
def test_text_of_a_domain_is_that_of_the_other_sets(tmp_path):
    lines = written(tmp_path, "tweet_mood")
    assert set(lines) == {*LINES, reviews(6, seed=2)[0]["text"], "One two"}
    assert len(lines) == len(set(lines))
    own = {row["text"] for row in reviews(16, seed=0)}
    assert set(written(tmp_path, "tweet_mood", own_text=True)) == {*lines, *own}
    assert written(tmp_path, "chemprot") == list(dict.fromkeys(line[::-1] for line in LINES))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_leaves_a_record(place, tmp_path, method):
    written(tmp_path, "tweet_mood")
    record = json.loads(json.dumps(trained(spec_of(method), place)))
    assert 0 <= record["score"] <= 1
    if method == "target alone":
        assert record["steps"] == 2
    else:
        assert record["steps"] == 6
        assert record["texts"]["domain"]["held_out_lines_left_out"] >= 1
    assert len(record["weights"]) == {"target alone": 1, "domain, then target": 1}.get(
        method, 2 if "beside" in method else 3
    )
    records = Records(tmp_path / "records.jsonl")
    records.add(record)
    again = Records(tmp_path / "records.jsonl")
    assert again.lacking([spec_of(method), spec_of(method, seed=1)]) == [spec_of(method, seed=1)]


def test_a_rerun_has_the_rule_that_the_records_were_made_with(place):
    config = configuration(spec_of("learned weights, then target"), place)
    assert rule(config.weighting) == UpdateRule.bounded()
    training = config.training
    assert (training.update_every, training.update_growth) == (25, 0)
    assert (training.gradient_examples, training.target_examples) == (64, 64)
    assert (training.target_from, training.measure_through) == ("all", "trained heads")


def test_the_page_is_what_its_records_say():
    assert page(kept_records()) == PAGE.read_text(encoding="utf-8")


def test_the_table_by_hand():
    scores = {"target alone": (0.5, 0.6), "domain, then target": (0.54, 0.62)}
    records = [
        {"spec": spec_of(method, seed=seed).to_json(), "score": score, "weights": {"domain": 1.0}}
        for method, found in scores.items()
        for seed, score in enumerate(found)
    ]
    said = table(records)
    assert "| 1 | tweet_mood | 8 | macro_f1 | 2 | 55.0 | 58.0 |  |  |  |" in said
    # Differences of 4 and 2: mean 3, and 12.706 times an error of 1.
    assert "| domain, then target − target alone | 2 | +3.00 | -9.71 to +15.71 |" in said
