"""Pages of runs: what they say first, what they do with much and with little, and their size."""

import json
import math
import random
import re
from dataclasses import replace

import pytest

from tawt.compare import compare
from tawt.compare.page import comparison_page
from tawt.compare.words import best_row_in_words
from tawt.config import load
from tawt.errors import RunError
from tawt.report.over_time import moved
from tawt.runs import Options, run
from tawt.runs.page import runs_page
from tawt.sweeps import Sweep
from tests.conftest import unsealed
from tests.test_report import HOSTILE, ROWS, Page

LIMIT = 500_000
"""Bytes of a page, whatever it shows."""


def changed(folder, **fields):
    """The record with other values, as if an older version had left it."""
    unsealed(folder)
    path = folder / "record.json"
    record = json.loads(path.read_text())
    for name, value in fields.items():
        if value is None:
            record.pop(name, None)
        else:
            record[name] = value
    path.write_text(json.dumps(record))
    return record


def text_of(page):
    return "".join(Page(page).text)


def many(sources, updates, *, seed=0):
    """Lines of weights.jsonl, and the record's fields, of very many sources and updates."""
    draw = random.Random(seed)
    names = [f"{HOSTILE} a source with a long name {k}" for k in range(sources)]
    lines = []
    for step in range(updates):
        shares = [math.exp(draw.gauss(0, 1)) for _ in names]
        weights = {n: s / sum(shares) for n, s in zip(names, shares, strict=True)}
        lines.append({
            "step": 10 * step,
            "weights": weights,
            "alignments": {name: draw.uniform(-1, 1) for name in names},
            "leads": {name: draw.uniform(-1, 1) for name in names},
            "error": 0.1,
            "intervals": {name: [0.5 * w, 1.5 * w] for name, w in weights.items()},
        })  # fmt: skip
    last = lines[-1]["weights"]
    findings = {
        name: {
            "lead": 0.1,
            "error": 0.1,
            "probability": draw.choice([0.02, 0.5, 0.97]),
            "verdict": draw.choice(["helps", "hurts", "cannot tell"]),
            "weight_interval": [0.5 * last[name], 1.5 * last[name]],
        }
        for name in names
    }
    epochs = [
        {"step": 10 * k, "phase": "joint", "epoch": k, "loss": 1 / k,
         "effective_sample_size": 9.0, "dev": {"goal": {"accuracy": 1 - 1 / k}}}
        for k in range(1, updates + 1)
    ]  # fmt: skip
    multipliers = dict.fromkeys(names, 1.0)
    fields = {"weights": last, "findings": findings, "multipliers": multipliers,
              "passes": dict.fromkeys(names, 2.0), "epochs": epochs}  # fmt: skip
    return lines, fields


def predictions(folder, rows, *, columns="task\texample\tinput\tgold\tpredicted\tscore"):
    path = folder / "predictions.test.tsv"
    path.write_text("\n".join([columns, *("\t".join(row) for row in rows)]) + "\n")


@pytest.fixture
def folder(study, tmp_path):
    run(load(study.path), tmp_path / "run")
    return tmp_path / "run"


# What is said first


def test_the_score_comes_first_then_sources_errors_training_and_weights(folder):
    record = json.loads((folder / "record.json").read_text())
    text = text_of(runs_page([folder]))
    score = 100 * record["scores"]["goal"]["test"]["accuracy"]
    parts = [
        f"goal: accuracy of {score:.1f}% on test examples.",
        "Which sources helped",
        "Scores by label",
        "How training went",
        "How the weights moved",
        "All scores",
        "Configuration",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_the_verdict_names_what_helps_and_what_hurts(folder):
    finding = {"lead": 1.0, "error": 0.1}
    changed(folder, findings={
        "near": {**finding, "probability": 0.97, "verdict": "helps"},
        "far": {**finding, "probability": 0.02, "verdict": "hurts"},
    })  # fmt: skip
    page = runs_page([folder])
    assert "near helps, far hurts." in text_of(page)
    assert 'class="fill helps"' in page
    assert 'class="fill hurts"' in page


def test_warnings_stand_before_the_evidence(folder):
    changed(folder, warnings=[f"{HOSTILE} is drawn too rarely."])
    text = text_of(runs_page([folder]))
    assert text.index("is drawn too rarely") < text.index("Which sources helped")


# Predictions


def test_errors_of_texts_are_shown_with_their_text_and_escaped(folder):
    changed(folder)
    rows = [("goal", str(k), f"{HOSTILE} text {k}", HOSTILE, "other", "0") for k in range(30)]
    rows += [("goal", "99", "right", "other", "other", "1")]
    predictions(folder, rows)
    page = runs_page([folder])
    read = Page(page)
    assert not {"script", "img", "b"} & set(read.tags)
    text = "".join(read.text)
    assert "30 of 31 test examples are wrong" in text
    assert f"{HOSTILE} text 0" in text
    assert f"{HOSTILE} text 9" not in text  # three are enough


def test_errors_of_words_are_shown_in_their_sentence(folder):
    changed(folder, labels={})
    sentence = ["Anna", "met", "Paul", "in", HOSTILE, "."]
    gold = ["B-PER", "O", "B-PER", "O", "B-LOC", "O"]
    predicted = ["B-PER", "O", "O", "O", "B-LOC", "O"]
    rows = [
        ("goal", str(number), word, a, b, "" if place else "0.5")
        for number in (1, 2)
        for place, (word, a, b) in enumerate(zip(sentence, gold, predicted, strict=True))
    ]
    predictions(folder, rows)
    page = runs_page([folder])
    assert "2 × B-PER taken for O" in text_of(page)
    assert "<dd>Anna met <mark>Paul</mark> in " in page
    [row] = re.findall(r"<tr><td>PER</td>(.*?)</tr>", page)
    assert re.findall(r">(\d+\.\d)<", row) == ["66.7", "100.0", "50.0"]
    assert "<tr><td>O</td>" not in page


def test_scores_by_label_of_the_record_are_taken_where_it_has_some(folder):
    label = {"precision": 0.5, "recall": 0.25, "f1": 0.333, "support": 7}
    changed(folder, labels={"goal": {"test": {HOSTILE: label}}})
    assert "33.3" in text_of(runs_page([folder]))
    changed(folder, labels={"goal": "nothing of the kind"})
    with pytest.raises(RunError, match=r"damaged: labels\.goal"):
        runs_page([folder])


def test_numbers_have_their_largest_errors_and_no_labels(folder):
    changed(folder, labels={})
    predictions(
        folder, [("goal", str(k), f"text {k}", f"{k}.5", f"{k / 3}", "0") for k in range(30)]
    )
    text = text_of(runs_page([folder]))
    assert "The largest errors" in text
    assert "Scores by label" not in text
    assert "text 29" in text


# Much, and little


def test_200_sources_and_500_updates_give_a_page_below_the_limit_that_says_what_it_left_out(
    folder,
):
    lines, fields = many(200, 500)
    changed(folder, **fields)
    (folder / "weights.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = runs_page([folder])
    assert len(page.encode()) < LIMIT
    text = text_of(page)
    assert "Drawn is one of every 7 updates, of 500." in text
    assert "194 others: their mean" in text
    assert "Not drawn: 176 in between" in text


def test_many_runs_beside_each_other_stay_below_the_limit(folder):
    lines, fields = many(40, 200)
    changed(folder, **fields)
    (folder / "weights.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert len(runs_page([folder] * 12).encode()) < LIMIT


def test_a_comparison_of_many_rows_seeds_and_sources_stays_below_the_limit(compared, tmp_path):
    comparison, folder = compared
    lines, fields = many(200, 300)
    for path in folder.glob("*/*/record.json"):
        changed(path.parent, **fields)
        (path.parent / "weights.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in lines)
        )
    rows = [replace(row, weights=fields["weights"], learns=True) for row in comparison.rows]
    page = comparison_page(replace(comparison, rows=rows), folder)
    assert len(page.encode()) < LIMIT


def test_a_run_of_an_older_version_has_a_page(folder):
    names = ("findings", "warnings", "passes", "measure", "best_epoch", "labels")
    changed(folder, **dict.fromkeys(names))
    (folder / "predictions.test.tsv").unlink()
    (folder / "predictions.dev.tsv").unlink()
    page = runs_page([folder])
    assert "What each source counts" in text_of(page)
    assert "None" not in text_of(page).split("How it was made")[0]


def test_the_line_of_the_target_with_itself_is_not_drawn():
    update = {"weights": {"a": 0.5, "goal": 0.5}, "alignments": {"a": 0.1, "goal": 1.0}}
    part = moved([{"step": 1, **update}, {"step": 2, **update}], title="x")
    [weights, alignments] = part.figures
    assert weights.drawing.count("<polyline") == 2
    assert alignments.drawing.count("<polyline") == 1


# Comparisons


@pytest.fixture
def compared(in_process, study, tmp_path):
    folder, seeds = tmp_path / "compared", [0, 1]
    config = load(study.path)
    found = compare(config, folder, rows=ROWS, seeds=seeds, options=Options(), sweep=Sweep())
    return found, folder


def scored(comparison, **scores):
    """The comparison with other scores of its rows, in hundredths."""
    rows = []
    for row in comparison.rows:
        found = [score / 100 for score in scores.get(row.name.replace("-", "_"), [50, 52])]
        rows.append(replace(row, scores=found, mean=sum(found) / len(found)))
    return replace(comparison, rows=rows, best=None)


def test_a_comparison_begins_with_the_best_row_and_what_tests_say_of_it(compared):
    comparison, folder = compared
    assert comparison.best is not None
    first, *_ = best_row_in_words(comparison)
    lead = text_of(comparison_page(comparison, folder)).partition("Ways of training")[0]
    assert first in lead


def test_one_without_such_tests_says_which_way_is_best_all_the_same(compared):
    comparison, folder = compared
    found = scored(comparison, single_task=[40, 42])
    text = text_of(comparison_page(found, folder))
    assert "is best: accuracy of 51.0%, 10.0 points better than the target alone." in text
    assert "may be chance" not in text
    unsure = scored(comparison, single_task=[40, 51])
    assert "That lead may be chance" in text_of(comparison_page(unsure, folder))
    alone = scored(comparison, single_task=[80, 82])
    text = text_of(comparison_page(alone, folder))
    assert "nothing is better than the target alone: accuracy of 81.0%." in text


def test_p_values_come_last_and_in_one_place(compared):
    comparison, folder = compared
    text = text_of(comparison_page(comparison, folder))
    before, after = text.split("Tests of the differences")
    assert not re.search(r"\bp [<=]|p-value|p t-test|p bootstrap", before)
    assert "p bootstrap" in after
    assert "Configuration" in after


def test_a_failed_row_does_not_squeeze_the_others(compared):
    comparison, folder = compared
    first, *rest = comparison.rows
    rows = [replace(first, scores=[0.05, 0.05], mean=0.05)]
    rows += [replace(row, scores=[0.7, 0.72], mean=0.71) for row in rest]
    found = replace(comparison, rows=rows)
    page = comparison_page(found, folder)
    assert "off the scale: 5.0" in page
    assert "Single-task is far off" in text_of(page)
