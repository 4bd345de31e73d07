"""Still plots: what is drawn is what was given, and every name is escaped."""

import re
from xml.etree import ElementTree as Tree

import pytest
from tawt.report.figures import COLOURS
from tawt.report.plain import Part, build_plain_page
from tawt.report.svg import Bar, Line, bars, colour, lines

HOSTILE = """<script>alert("x")</script> 'q' & ü"""


def test_bars_are_as_long_as_their_values_and_whole_xml():
    drawn = Tree.fromstring(
        bars([Bar(name=HOSTILE, value=0.6), Bar(name="b", value=0.15)], label=HOSTILE)
    )
    wide, narrow = (float(bar.get("width")) for bar in drawn.iter("rect"))
    assert wide == 400
    assert narrow == 100
    assert {bar.get("fill") for bar in drawn.iter("rect")} == set(COLOURS[:2])
    assert any(text.text == HOSTILE for text in drawn.iter("text"))
    assert drawn.get("aria-label") == HOSTILE


def test_intervals_and_marks_are_on_the_scale_of_the_bars():
    [only] = [Bar(name="a", value=0.4, interval=(0.2, 0.8), mark=0.4)]
    drawn = bars([only], label="x")
    low, high = re.search(r'class="ends" d="M([\d.]+) .*?H([\d.]+)', drawn).groups()
    assert (float(low), float(high)) == (100, 399)  # inside the picture
    assert 'class="mark" d="M200.0' in drawn


def test_lines_go_through_their_points():
    drawn = Tree.fromstring(
        lines(
            [Line(name=HOSTILE, points=[(0, 0.0), (50, 0.5), (100, 1.0)])],
            label="x",
            across="step",
        )
    )
    [line] = drawn.iter("polyline")
    assert line.get("points").split() == ["42.0,186.0", "217.0,98.0", "392.0,10.0"]
    said = [text.text for text in drawn.iter("text")]
    assert {"0%", "50%", "100%", "0", "100", "step"} <= set(said)


def test_small_values_have_a_scale_of_their_own():
    said = lines([Line(name="a", points=[(0, 0.1), (1, 0.3)])], label="x", across="step")
    assert ">40%<" in said
    assert ">100%<" not in said


def test_beyond_the_colours_all_are_grey():
    many = [Bar(name=str(k), value=0.1) for k in range(len(COLOURS) + 2)]
    assert bars(many, label="x").count(colour(99)) == 2


@pytest.mark.parametrize("draw", [bars, lambda rows, label: lines(rows, label=label, across="x")])
def test_nothing_to_draw_is_an_empty_picture(draw):
    assert Tree.fromstring(draw([], label="nothing")).get("aria-label") == "nothing"


def test_a_plain_page_escapes_all_but_its_figures():
    part = Part(
        title=HOSTILE,
        note=HOSTILE,
        figure=bars([Bar(name=HOSTILE, value=1.0)], label=HOSTILE),
        legend=[("#000000", HOSTILE)],
        headings=(HOSTILE,),
        rows=[(HOSTILE,)],
        code=[(HOSTILE, HOSTILE)],
    )
    page = build_plain_page(
        title=HOSTILE, lead=[HOSTILE], parts=[part], about={"a": HOSTILE}, config=HOSTILE
    )
    assert "<script" not in page
    assert page.count("<svg") == 2  # the figure, and the name that it cuts off
