"""Reports of benchmarks: those that pages name are there, and older ones only where one does."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REPORTS = ROOT / "benchmarks" / "reports"
IN_REPORTS = re.compile(r"benchmarks/reports/([\w-]+(?:\.\w+)?)")
DATED = re.compile(r"`(?:benchmarks/reports/)?(\d{4}-\d\d-\d\d-[\w-]+(?:\.\w+)?)`")

pytestmark = pytest.mark.skipif(not REPORTS.exists(), reason="the benchmarks are not here")


def pages():
    """Pages and programs, without the reports themselves."""
    folders = [ROOT / name for name in ("docs", "src", "benchmarks", "examples")]
    found = [
        path for folder in folders for end in ("md", "py") for path in folder.rglob(f"*.{end}")
    ]
    return [path for path in [*ROOT.glob("*.md"), *found] if path.parent != REPORTS]


def named():
    """The reports that each page names, some of them with an ending."""
    found = {}
    for page in pages():
        text = page.read_text(encoding="utf-8")
        names = {*IN_REPORTS.findall(text), *DATED.findall(text)}
        if names:
            found[str(page.relative_to(ROOT))] = names
    return found


def test_reports_that_pages_name_are_there():
    found = named()
    assert {"docs/corpora.md", "docs/per-example.md", "docs/curvature.md"} <= found.keys()
    for page, names in found.items():
        for name in names:
            ends = (name,) if "." in name else (f"{name}.md", f"{name}.json")
            assert all((REPORTS / end).exists() for end in ends), f"{page}: {name}"


def test_a_report_is_a_page_and_its_numbers():
    found = sorted(REPORTS.iterdir())
    assert {path.suffix for path in found} == {".md", ".json"}
    pages, numbers = ({p.stem for p in found if p.suffix == end} for end in (".md", ".json"))
    assert pages == numbers


def test_the_latest_report_of_a_machine_is_kept_and_of_older_ones_those_that_a_page_names():
    quoted = {name.split(".")[0] for names in named().values() for name in names}
    benchmarks, latest = {}, {}
    for path in sorted(REPORTS.glob("20*.json")):
        day, machine, names = described(path)
        benchmarks[path.stem] = day, machine, names
        latest |= {(machine, name): day for name in names}  # days ascend
    for report, (day, machine, names) in benchmarks.items():
        newest = any(latest[machine, name] == day for name in names)
        assert newest or report in quoted, f"{report} is older than another: remove it"


def described(path):
    """Of DAY-MACHINE[-BENCHMARKS][-REMARK]: a remark, like "other-host", is part of the machine."""
    report = json.loads(path.read_text(encoding="utf-8"))
    names = list(report["seconds"])
    machine = path.stem.removeprefix(f"{report['date']}-").replace(f"-{'-'.join(names)}", "")
    return report["date"], machine, names
