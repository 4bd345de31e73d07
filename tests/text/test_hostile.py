"""Names, labels and texts that would be obeyed, in everything that is written of them."""

import csv
import io
import json
import re
import shutil
import sys

import pytest

from tawt.compare import Comparison, RowResult
from tawt.compare.page import comparison_page
from tawt.compare.tables import markdown
from tawt.paths import slug
from tawt.runs import RunFolder, run
from tawt.runs.page import runs_page
from tests.hostile import CLOSING, ESCAPES, FORMULA, MARKDOWN, SCRIPT, obeyed
from tests.test_report import Page
from tests.text.studies import TextStudy

GOAL, SOURCE = f"{SCRIPT} </script><!-- ]]>", "a|b *c* [d](javascript:e) `f` <img src=x onerror=g>"
TEXTS = [f"fine\r{FORMULA}", f"dull {ESCAPES}", f"@{SCRIPT}", "＝1+1 a\tb\nc"]  # noqa: RUF001
LABELS = [ESCAPES, FORMULA]


@pytest.fixture(scope="module")
def hostile(tiny, tmp_path_factory):
    """The folder of a run with weights on examples, every string of it hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    study = TextStudy(folder / "study", tiny, paradigm="joint", target_epochs=1)
    rows = [{"text": f"{text} {n}", "label": LABELS[n % 2]} for n in range(4) for text in TEXTS]
    study.task("one", "classification", train=rows, test=rows)
    study.task("two", "classification", train=rows)
    one, two = study.values["data"]["tasks"].values()
    study.values["data"]["tasks"] = {GOAL: one, SOURCE: two}
    study.set("target", GOAL).set("weighting", {"unit": "example"})
    run(study.config, folder / "run")
    return folder


def test_the_model_card(hostile):
    card = (hostile / "run" / "model" / "README.md").read_text()
    head, front, body = re.match(r"(---\n)(.*?)\n---\n(.*)", card, re.DOTALL).groups()
    assert head
    assert front.splitlines() == ["library_name: transformers", "pipeline_tag: text-classification",
                                  "tags: [tawt]"]  # fmt: skip
    assert not re.search(r"<[A-Za-z/!?]", body)
    prose = re.sub(r"```python.*?```", "", body, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)[`*\[\]]", prose)
    rows = [line for line in body.splitlines() if line.startswith("| a")]
    assert len(rows) == 1
    assert len(re.findall(r"(?<!\\)\|", rows[0])) == 3


def test_the_page(hostile):
    read = Page(runs_page([hostile / "run"]))
    assert "script" not in read.tags
    assert "img" not in read.tags
    assert not any(name.startswith("on") for name, _ in read.attributes)


def test_a_comparison_in_markdown_and_on_its_page(hostile, tmp_path):
    (tmp_path / "comparison.yaml").write_text("name: x\n")
    rows = [RowResult(MARKDOWN, [], 0.5, 0.1, {}, f"{SCRIPT}|{MARKDOWN}", 0.1, 1, 0.5)]
    comparison = Comparison(GOAL, f"f1 {SCRIPT}", [0], rows, {"versions": CLOSING}, 1.0)
    text = markdown(comparison)
    assert not re.search(r"<[A-Za-z/!?]", text)
    header, _, row, blank, caption, *rest = text.split("\n")
    assert len(re.findall(r"(?<!\\)\|", row)) == header.count("|")
    assert (blank, rest) == ("", [""])
    assert "`" not in re.sub(r"\\`", "", row + caption)
    assert not re.search(r"(?<!\\)[\[\]*]", row)
    weights = {f"{SCRIPT}|{MARKDOWN}": 1.0}
    row = RowResult(SCRIPT, [0.5], 0.5, 0.1, weights, SCRIPT, 0.1, 1, 0.5, learns=True)
    shutil.copytree(hostile / "run", tmp_path / slug(SCRIPT) / "0")
    found = Comparison(GOAL, "f1", [0], [row], {"versions": CLOSING}, 1.0)
    read = Page(comparison_page(found, tmp_path))
    assert not {"script", "img"} & set(read.tags)
    assert not any(name.startswith("on") for name, _ in read.attributes)


def test_an_audit_for_a_spreadsheet(hostile, call):
    status, out, _ = call("audit", hostile / "run", "--most", 99)
    assert status == 0
    assert not set("\r\t\v\f\x85\u2028\u2029") & set(out)
    table = list(csv.reader(io.StringIO(out, newline="")))
    assert len(table) == 17
    for row in table[1:]:
        assert len(row) == len(table[0])
        for name, cell in zip(table[0], row, strict=True):
            if name in ("source", "label", "text"):
                assert cell[0] not in "=+-@＝＋－＠"  # noqa: RUF001
            else:
                float(cell)
    path = hostile / "audit.csv"
    assert call("audit", hostile / "run", "--most", 99, "--out", path, "--quiet")[0] == 0
    assert path.read_text() == out


def test_an_audit_as_json_has_texts_as_they_are(hostile, call):
    _, out, _ = call("audit", hostile / "run", "--most", 99, "--json")
    assert {row["text"][:-2] for row in json.loads(out)} == set(TEXTS)
    assert {row["label"] for row in json.loads(out)} == set(LABELS)


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_an_audit_on_a_terminal(hostile, call, monkeypatch, more):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    status, out, err = call("audit", hostile / "run", "--most", 99, *more)
    assert status == 0
    assert not obeyed(out + err)
    assert "\\u001b[31m" in out


def test_what_training_and_inspecting_say(hostile, call, tmp_path, monkeypatch):
    path = hostile / "study" / "study.yaml"
    for command in (("train", path, "--out", tmp_path / "run"), ("data", "inspect", path)):
        status, out, err = call(*command)
        assert status == 0
        assert not obeyed(out + err)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    status, out, _ = call("data", "inspect", path, "--json")
    assert not obeyed(out)
    labels = json.loads(out)["tasks"][0]["splits"]["train"]["labels"]
    assert {each["label"] for each in labels} == set(LABELS)


@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_answers_are_exact_in_a_file_and_safe_on_a_terminal(
    hostile, call, tmp_path, form, monkeypatch
):
    asked = tmp_path / "asked.jsonl"
    asked.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    command = ("predict", hostile / "run", asked, "--output", form, "--quiet")
    assert call(*command, "--out", tmp_path / "out")[0] == 0
    whole = (tmp_path / "out").read_text()
    assert call(*command)[1] == whole
    lines = whole.split("\n")[:-1]
    assert len(lines) == len(TEXTS)
    if form == "tsv":
        assert {line.count("\t") for line in lines} == {1}
        assert not set("\r\v\f\x85\u2028\u2029") & set(whole)
    else:
        assert [json.loads(line)["text"] for line in lines] == TEXTS
        assert {json.loads(line)["label"] for line in lines} <= set(LABELS)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = call(*command)[1]
    assert not obeyed(shown)
    if form == "jsonl":
        assert [json.loads(line)["text"] for line in shown.split("\n")[:-1]] == TEXTS


def test_predictions_of_the_run_are_a_line_each(hostile):
    table = (hostile / "run" / "predictions.test.tsv").read_text()
    lines = table.split("\n")[:-1]
    assert len(lines) == 17
    assert {line.count("\t") for line in lines} == {5}
    assert not set("\r\v\f\x85\u2028\u2029") & set(table)
    assert len(RunFolder(hostile / "run").example_scores(GOAL)) == 16
