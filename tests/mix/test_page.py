"""The page of a mixture: the verdict first, no program in it, every name escaped, on any screen."""

import re

import pytest

from tawt.mix.page import mix_page
from tawt.mix.study import EQUAL, LEARNED
from tests.mix.cases import COURSES, answer
from tests.mix.test_answering import SURE
from tests.test_report import BROWSER, HOSTILE, Page, measured

LONG = "a-corpus-with-a-name-that-goes-on-and-on-" * 4


def page_of(found, folder):
    (folder / "mix.yaml").write_text(f"target: '{HOSTILE}'\n", encoding="utf-8")
    return mix_page(found, folder)


@pytest.fixture
def page(tmp_path):
    names = {"near": HOSTILE, "far": LONG, "goal": f"goal {HOSTILE}"}
    return page_of(answer(scores=SURE, names=names), tmp_path)


def test_every_name_is_escaped_and_nothing_runs(page):
    read = Page(page)
    assert not {"script", "img", "b"} & set(read.tags)
    assert not any(name.startswith("on") for name, _ in read.attributes)
    assert HOSTILE in "".join(read.text)


def test_nothing_is_loaded_from_anywhere(page):
    read = Page(page)
    assert [name for name, _ in read.attributes if name in ("src", "href", "action")] == []
    assert not re.search(r"url\(|@import|https?://", page)
    assert len(page) < 60_000


def test_the_verdict_comes_first_then_the_evidence_then_how_to_use_it(tmp_path):
    text = "".join(Page(page_of(answer(scores=SURE), tmp_path)).text)
    parts = [
        "Use 75% near",
        "How much of each",
        "What it gains",
        "How the weights moved",
        "How to use it",
        "interleave_datasets",
        "Configuration",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_both_figures_are_there_with_what_they_show(tmp_path):
    page = page_of(answer(scores=SURE), tmp_path)
    assert page.count('<svg class="figure"') == 2
    assert page.count("<rect") == 3  # a bar for each source
    assert page.count('class="ends"') == 3  # its interval
    assert page.count('class="mark"') == 3  # its share by size
    assert page.count("<polyline") == 3
    assert all(len(points.split()) == 6 for points in re.findall(r'points="([^"]+)"', page))


def test_without_intervals_none_are_drawn(tmp_path):
    scores = {LEARNED: [3.0], EQUAL: [3.5]}
    page = page_of(answer(scores=scores, courses=COURSES[:1]), tmp_path)
    assert 'class="ends"' not in page
    assert "None" not in page


def test_the_bars_of_weights_that_are_not_to_be_used_are_called_what_they_are(tmp_path):
    text = "".join(Page(page_of(answer(), tmp_path)).text)
    assert "Learned weights" in text
    assert "How much of each" not in text


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")
@pytest.mark.parametrize("width", [360, 390, 1200])
def test_the_page_is_no_wider_than_its_screen(page, tmp_path, width):
    wide, screen, _ = measured(page, tmp_path, width)
    assert wide <= screen <= width
