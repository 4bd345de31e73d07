"""Tables of docs/results that are set by hand, against the records beside them."""

import json
from collections import Counter
from pathlib import Path

from benchmarks.corrupted_labels import table
from benchmarks.regimes.table import PAGE, kept_records, page

RESULTS = Path(__file__).parents[1] / "docs" / "results"


def record_of(name):
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def rows_of(text):
    """Cells of every row of a table, without what only sets them off, by the first."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in rows}


def test_accuracies_with_corrupted_labels():
    shown = rows_of((RESULTS / "corrupted-labels.md").read_text(encoding="utf-8"))
    made = rows_of(table(record_of("corrupted-labels")))
    called = {
        "learned": "learned weights",
        "known": "known: the wrong ones left out",
        "best by alignment": "best 60% by alignment",
        "as many wrong, at random": "as many wrong ones kept, at random",
        "recovered, learned": "recovered by learned weights",
    }
    same = ("clean", "corrupted", "target alone", *called)
    assert {name: shown[called.get(name, name)] for name in same} == {n: made[n] for n in same}


def test_accuracies_with_weights_on_samples():
    shown = rows_of((RESULTS / "weighted-samples.md").read_text(encoding="utf-8"))
    names = ["figure-weighted-samples", "figure-weighted-samples-supersense"]
    made = [
        {row["name"]: f"{row['mean']:.1f} ± {row['spread']:.1f}" for row in record_of(name)["rows"]}
        for name in names
    ]
    found = {name: (cells[0], cells[3]) for name, cells in shown.items() if " ± " in cells[0]}
    assert found == {name: (made[0][name], made[1][name]) for name in made[0]}


def test_numbers_of_kills():
    page, record = (RESULTS / "attack.md").read_text(encoding="utf-8"), record_of("attack")
    counts = len(record["rounds"]), len(record["failures"])
    assert "\n{} kills in {} folders, {} failures. ".format(record["kills"], *counts) in page
    by_case = Counter(kill["case"] for each in record["rounds"] for kill in each["kills"])
    shown = {name: cells[0] for name, cells in rows_of(page).items()}
    assert {name: shown[name] for name in by_case} == {n: str(k) for n, k in by_case.items()}


def test_the_page_of_regimes_is_what_its_records_say():
    assert page(kept_records()) == PAGE.read_text(encoding="utf-8")
