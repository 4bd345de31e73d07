"""docs/results/task-distances.md against its records, whichever estimates are still made."""

import json
from pathlib import Path

import pytest
from benchmarks.task_distances import Plan, written

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.mark.parametrize("name", ["task-distances", "task-distances-small"])
def test_the_tables_of_the_page_are_made_again_from_the_record(name):
    record = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    settings = dict(record["settings"])
    seeds = range(settings.pop("seeds"))
    plan = Plan(data=Path(), folder=Path(), **settings)
    rows = [line for line in written(record, plan, seeds).splitlines() if line.startswith("| ")]
    estimates = [row for row in rows if row.split(" | ")[0][2:] in record["agreement"]]
    page = (RESULTS / "task-distances.md").read_text(encoding="utf-8").splitlines()
    assert len(estimates) == 8
    # Of the smaller record the page has the estimates alone.
    expected = rows if name == "task-distances" else estimates
    assert [row for row in expected if row not in page] == []
