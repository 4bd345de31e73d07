"""Pictures: what is drawn is what was given, and every name is escaped."""

import re
from xml.etree import ElementTree as Tree

import pytest

from tawt.report import Cell, Figure, Part, Table, build_page
from tawt.report.bars import Bar, bars
from tawt.report.dots import Dot, dots, off_scale, scale_for
from tawt.report.lines import MOST_POINTS, Line, Upwards, lines, thinned
from tawt.report.parts import Fact, Quotes
from tawt.report.scatter import Spot, scatter
from tawt.report.sources import SourceShare, ranked, sources_figure
from tawt.report.tones import PAPER, REST, SERIES, TONES, tone

HOSTILE = """<script>alert("x")</script> 'q' & ü"""


def tones_of(drawn, tag):
    return [element.get("class").split()[-1] for element in drawn.iter(tag)]


# Bars


def test_bars_are_as_long_as_their_values_and_whole_xml():
    drawn = Tree.fromstring(
        bars([Bar(name=HOSTILE, value=0.6), Bar(name="b", value=0.15)], label=HOSTILE)
    )
    wide, narrow = (float(bar.get("width")) for bar in drawn.iter("rect"))
    assert wide == 400
    assert narrow == 100
    assert tones_of(drawn, "rect") == [*SERIES[:2]]
    assert any(text.text == HOSTILE for text in drawn.iter("text"))
    assert drawn.get("aria-label") == HOSTILE


def test_intervals_and_marks_are_on_the_scale_of_the_bars():
    [only] = [Bar(name="a", value=0.4, interval=(0.2, 0.8), mark=0.4)]
    drawn = bars([only], label="x")
    low, high = re.search(r'class="ends" d="M([\d.]+) .*?H([\d.]+)', drawn).groups()
    assert (float(low), float(high)) == (100, 399)  # inside the picture
    assert 'class="mark" d="M200.0' in drawn


def test_beyond_the_colours_all_are_grey():
    many = [Bar(name=str(k), value=0.1) for k in range(len(SERIES) + 2)]
    drawn = Tree.fromstring(bars(many, label="x"))
    assert tones_of(drawn, "rect") == [*SERIES, REST, REST]
    assert tone(99) == REST


# Dots


def test_dots_are_where_their_values_are_and_in_the_middle_of_their_intervals():
    rows = [
        Dot(name=HOSTILE, value=20.0, interval=(10.0, 30.0), singles=[15.0, 25.0]),
        Dot(name="b", value=40.0, interval=(30.0, 50.0)),
    ]
    scale = scale_for(rows)
    drawn = Tree.fromstring(dots(rows, label=HOSTILE, scale=scale, line=20.0))
    means = [float(c.get("cx")) for c in drawn.iter("circle") if "fill" in c.get("class")]
    assert means == [round(scale.at(20.0), 1), round(scale.at(40.0), 1)]
    singles = [float(c.get("cx")) for c in drawn.iter("circle") if c.get("class") == "single"]
    assert sum(singles) / 2 == pytest.approx(means[0], abs=0.1)
    spans = [p.get("d") for p in drawn.iter("path") if p.get("class").startswith("span")]
    start, end = map(float, re.fullmatch(r"M([\d.]+) [\d.]+H([\d.]+)", spans[0]).groups())
    assert (start + end) / 2 == pytest.approx(means[0], abs=0.1)
    assert f"M{means[0]} 0V" in "".join(
        p.get("d") for p in drawn.iter("path") if p.get("class") == "mark"
    )


def test_a_failed_row_is_an_arrow_at_the_edge_and_the_others_have_the_scale_for_themselves():
    values = {"alone": 72.2, "joint": 9.9, "learned": 84.9, "equal": 80.4}
    rows = [Dot(name=name, value=value, said=f"{value}") for name, value in values.items()]
    scale = scale_for(rows)
    assert off_scale(rows, scale) == ["joint"]
    assert scale.low > 60
    drawn = dots(rows, label="x", scale=scale)
    assert "off the scale: 9.9" in drawn
    assert drawn.count("<circle") == 3
    lower = scale_for(rows, worse="high")
    assert off_scale(rows, lower) == []


def test_an_interval_that_leaves_the_scale_ends_in_an_arrow():
    rows = [Dot(name="a", value=70.0, interval=(-300.0, 500.0)), Dot(name="b", value=80.0)]
    drawn = Tree.fromstring(dots(rows, label="x", scale=scale_for(rows)))
    heads = [p.get("d") for p in drawn.iter("path") if p.get("class") == "fill c0"]
    assert len(heads) == 2
    assert all(0 <= float(re.match(r"M([\d.]+)", d)[1]) <= 400 for d in heads)


# Lines


def test_lines_go_through_their_points():
    drawn = Tree.fromstring(
        lines(
            [Line(name=HOSTILE, points=[(0, 0.0), (50, 0.5), (100, 1.0)])],
            label="x",
            across="step",
        )
    )
    [line] = drawn.iter("polyline")
    assert line.get("points").split() == ["46.0,186.0", "219.0,98.0", "392.0,10.0"]
    said = [text.text for text in drawn.iter("text")]
    assert {"0%", "50%", "100%", "0", "100", "step"} <= set(said)


def test_small_values_have_a_scale_of_their_own():
    said = lines([Line(name="a", points=[(0, 0.1), (1, 0.3)])], label="x", across="step")
    assert ">30%<" in said
    assert ">100%<" not in said


def test_a_line_that_is_far_worse_at_its_end_does_not_squeeze_the_others():
    flat = [(float(x), 0.8 + 0.001 * x) for x in range(20)]
    fallen = [(float(x), 0.8 - 0.04 * x) for x in range(20)]
    series = [Line(name="a", points=flat), Line(name="b", points=flat),
              Line(name="c", points=fallen)]  # fmt: skip
    drawn = lines(series, label="x", across="step", up=Upwards(from_zero=False, worse="low"))
    said = [float(text) for text in re.findall(r">([\d.]+)%<", drawn)]
    assert min(said) >= 79
    places = " ".join(re.findall('points="(.*?)"', drawn)).split()
    heights = [float(place.split(",")[1]) for place in places]
    assert all(0 <= height <= 220 for height in heights)


def test_of_many_points_the_first_the_last_and_some_between_are_drawn():
    kept, every = thinned([(float(x), 0.5) for x in range(500)])
    assert len(kept) <= MOST_POINTS + 1
    assert (kept[0][0], kept[-1][0]) == (0.0, 499.0)
    assert [x for x, _ in kept[:-1]] == [float(every * k) for k in range(len(kept) - 1)]
    assert thinned([1, 2, 3]) == ([1, 2, 3], 1)


# All of them


@pytest.mark.parametrize("draw", [
    bars,
    lambda rows, label: lines(rows, label=label, across="x"),
    lambda rows, label: dots(rows, label=label, scale=scale_for(rows)),
    lambda rows, label: scatter(rows, label=label, across="x"),
])  # fmt: skip
def test_nothing_to_draw_is_an_empty_picture(draw):
    assert Tree.fromstring(draw([], label="nothing")).get("aria-label") == "nothing"


def test_of_very_many_sources_those_that_help_and_hurt_are_drawn_and_the_rest_is_counted():
    verdicts = ["helps"] * 5 + ["cannot tell"] * 190 + ["hurts"] * 5
    sources = [SourceShare(name=f"x{k}", share=0.005, verdict=v) for k, v in enumerate(verdicts)]
    figure = sources_figure(ranked(sources))
    names = set(re.findall(r">(x\d+)</text>", figure.drawing))
    assert {f"x{k}" for k in (*range(5), *range(195, 200))} <= names
    assert len(names) == 24
    assert "176 in between, which have 88% together" in figure.note


def test_a_page_escapes_all_but_its_figures():
    cell = Cell(text=HOSTILE, marked=HOSTILE, after=HOSTILE, image=f'">{HOSTILE}')
    drawing = scatter([Spot(name=HOSTILE, x=0.0, y=1.0)], label=HOSTILE, across=HOSTILE)
    part = Part(
        title=HOSTILE,
        note=HOSTILE,
        figures=[Figure(drawing=drawing, title=HOSTILE, note=HOSTILE, legend=[("c0", HOSTILE)])],
        legend=[("c0", HOSTILE)],
        tables=[Table(headings=(HOSTILE,), rows=[(HOSTILE,), (cell,)], title=HOSTILE)],
        quotes=[Quotes(title=HOSTILE, texts=[cell])],
        code=[(HOSTILE, HOSTILE)],
        is_folded=True,
    )
    page = build_page(
        title=HOSTILE,
        lead=[HOSTILE],
        facts=[Fact(value=HOSTILE, said=HOSTILE)],
        cautions=[HOSTILE],
        parts=[Part(title=HOSTILE, parts=[part])],
        about={"a": HOSTILE},
        config=HOSTILE,
    )
    assert "<script" not in page
    assert page.count("<svg") == 1


# Colours


def contrast(one, other):
    """As WCAG 2 has it."""

    def light(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", TONES)
def test_every_colour_stands_out_from_its_paper(name):
    for colour, paper in zip(TONES[name], PAPER, strict=True):
        assert contrast(colour, paper) >= 3


def test_text_can_be_read_on_either_paper():
    page = build_page(title="x", lead=["x"], parts=[], about={})
    found = re.findall(r"--text: (#\w+); --dim: (#\w+).*?--paper: (#\w+); --soft: (#\w+)", page)
    assert len(found) == 2
    for text, dim, *papers in found:
        assert all(contrast(ink, paper) >= 4.5 for ink in (text, dim) for paper in papers)
