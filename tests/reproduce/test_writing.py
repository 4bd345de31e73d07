"""A result as files: Markdown, LaTeX, JSON and a page, whatever is in it."""

import html
import json
import re

import pytest

from tawt.reproduce import Result
from tawt.reproduce.leaving import write_result
from tawt.reproduce.writing import as_json, as_latex, as_markdown, latex
from tests.reproduce.made_up import TABLES, result_of

HOSTILE = "</script><script>alert(1)</script> & <b>50%</b> a|b *c* $x_1^2$ {d} ~e #f \\g"


def result(**changes):
    usual = {
        "experiment": "table-x",
        "title": "A title",
        "said": ["One sentence.", "Another."],
        "headings": ["", "a", "b"],
        "rows": [["plain", "1.0 ± 0.1† (2.00)", "–"], ["weighted", "1.5 *** (2.50 ***)", "3"]],
        "caption": "A caption.",
        "data": {"experiment": "table-x", "seeds": [0]},
    }
    return Result(**{**usual, **changes})


def unescaped(line, sign):
    return len(re.findall(rf"(?<!\\){re.escape(sign)}", line))


# Markdown


def test_markdown_is_a_table_under_a_heading():
    assert as_markdown(result()).splitlines() == [
        "# table-x: A title",
        "",
        "- One sentence.",
        "- Another.",
        "",
        "|  | a | b |",
        "| --- | ---: | ---: |",
        r"| plain | 1.0 ± 0.1† (2.00) | – |",
        r"| weighted | 1.5 \*\*\* (2.50 \*\*\*) | 3 |",
        "",
        "A caption.",
    ]


def test_nothing_said_leaves_no_gap():
    assert as_markdown(result(said=[])).splitlines()[1:3] == ["", "|  | a | b |"]


def test_bars_and_stars_inside_cells_are_escaped():
    text = as_markdown(result(rows=[["a|b", "|", "*c*"], ["d", "e", "f"]]))
    assert r"| a\|b | \| | \*c\* |" in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert unescaped(line, "|") == 4
            assert unescaped(line, "*") == 0


@pytest.mark.parametrize("experiment", TABLES)
def test_every_line_of_every_markdown_table_has_as_many_cells(experiment):
    made = result_of(experiment, about=HOSTILE)
    lines = [line for line in as_markdown(made).splitlines() if line.startswith("|")]
    assert {unescaped(line, "|") for line in lines} == {len(made.headings) + 1}
    assert len(lines) == len(made.rows) + 2


# LaTeX


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a & b", r"a \& b"),
        ("50%", r"50\%"),
        ("$5", r"\$5"),
        ("#1_2", r"\#1\_2"),
        ("{x}", r"\{x\}"),
        ("a\\b", r"a\textbackslash{}b"),
        ("~", r"\textasciitilde{}"),
        ("x^2", r"x\textasciicircum{}2"),
        ("± † × ω η", r"$\pm$ $^\dagger$ $\times$ $\omega$ $\eta$"),
        ("a–b −1", "a--b --1"),
        ("p < 0.001 > 0 | x", "p $<$ 0.001 $>$ 0 $|$ x"),
    ],
)
def test_signs_that_mean_something_to_latex_mean_themselves(text, said):
    assert latex(text) == said


@pytest.mark.parametrize("experiment", TABLES)
def test_latex_is_whole(experiment):
    made = result_of(experiment, about=HOSTILE)
    text = as_latex(made)
    lines = text.splitlines()
    rows = [line for line in lines if line.endswith(r"\\")]
    assert len(rows) == len(made.rows) + 1
    assert {unescaped(line, "&") for line in rows} == {len(made.headings) - 1}
    columns = re.search(r"\\begin\{tabular\}\{(lr*)\}", text)[1]
    assert len(columns) == len(made.headings)
    assert unescaped(text, "{") == unescaped(text, "}")
    assert unescaped(text, "$") % 2 == 0
    assert unescaped(text, "%") == unescaped(text, "#") == 0
    begun = re.findall(r"\\begin\{(\w+)\}", text)
    ended = re.findall(r"\\end\{(\w+)\}", text)
    assert begun == ended[::-1] == ["table", "tabular"]
    assert text.count(r"\caption{") == text.count(r"\label{") == 1
    assert rf"\label{{{experiment}}}" in text
    assert "\n\n" not in text  # a caption takes no new paragraph


@pytest.mark.parametrize("experiment", TABLES)
def test_signs_that_latex_fonts_lack_are_spelled(experiment):
    outside = {sign for sign in as_latex(result_of(experiment, seeds=2)) if ord(sign) > 127}
    assert outside == set()


# JSON


@pytest.mark.parametrize("experiment", TABLES)
def test_json_comes_back_and_has_no_nan_and_no_path(experiment):
    made = result_of(experiment, seeds=2, encoder="/home/me/encoders/minilm")
    text = json.dumps(as_json(made), allow_nan=False)
    back = json.loads(text)
    assert back["experiment"] == experiment
    assert back["table"] == {"headings": made.headings, "rows": made.rows}
    assert (back["caption"], back["title"], back["said"]) == (made.caption, made.title, made.said)
    assert back["seeds"] == [0, 1]
    assert json.loads(json.dumps(back)) == back
    assert "/home" not in text
    assert "/data" not in text


def test_json_has_every_score_and_the_papers():
    made = result_of("table-fewer-sources", seeds=3)
    rows = {row["name"]: row for row in as_json(made)["rows"]}
    number = rows["weighted joint training"]["numbers"][0]
    assert rows["weighted joint training"]["against"] == "joint training"
    assert len(number["scores"]) == len(number["gains"]) == 3
    assert (number["paper"], number["paper_gain"]) == (69.58, 3.88)
    assert number["sizes"] == {"pos": 20_000, "ner": 2000}
    assert 0 <= number["p_value"] <= 1


# Files


def test_four_files_are_left(tmp_path):
    made = result_of("table-main")
    folder = write_result(made, tmp_path)
    assert folder == tmp_path / "table-main"
    assert {path.name for path in folder.iterdir()} == {
        "table.md",
        "table.json",
        "table.tex",
        "report.html",
    }
    assert (folder / "table.md").read_text() == as_markdown(made)
    assert (folder / "table.tex").read_text() == as_latex(made)
    assert json.loads((folder / "table.json").read_text()) == json.loads(json.dumps(as_json(made)))


def test_the_same_result_leaves_the_same_bytes(tmp_path):
    first, second = (write_result(result_of("table-main"), tmp_path / name) for name in "ab")
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes()


def test_the_page_shows_hostile_text_and_does_not_run_it(tmp_path):
    made = result_of("table-main", about=HOSTILE)
    page = (write_result(made, tmp_path) / "report.html").read_text()
    before, *_ = page.partition("<script>")
    assert "alert(1)" in before
    assert "<b>" not in before
    assert "alert(1)</script>" not in page
    assert made.caption in html.unescape(before)


def test_hostile_names_and_cells_are_shown_as_they_are(tmp_path):
    made = result(
        title=HOSTILE,
        said=[HOSTILE],
        headings=["", HOSTILE, "b"],
        rows=[[HOSTILE, "1", "2"]],
        caption=HOSTILE,
        data={"experiment": "x", "departures": [HOSTILE]},
    )
    page = (write_result(made, tmp_path) / "report.html").read_text()
    head, *_ = page.partition("<script>")
    assert "<b>" not in head
    assert "</script>" not in head
    assert head.count("alert(1)") == 7  # title, heading, lead, column, row, caption, about


def test_the_page_needs_no_network(tmp_path):
    page = (write_result(result_of("table-main"), tmp_path) / "report.html").read_text()
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=[\"']?(https?:)?//", page)
