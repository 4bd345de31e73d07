"""The page: it needs no network, escapes every name, and its plots are there in a browser."""

import base64
import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from tawt.compare import compare
from tawt.compare.page import comparison_page
from tawt.compare.tables import interval_text, p_text
from tawt.config import load, parsed
from tawt.errors import RunError
from tawt.report.over_time import averaged
from tawt.report.tones import PAPER
from tawt.report.words import times
from tawt.runs import Options, RunFolder, building, run
from tawt.runs.page import runs_page
from tawt.sweeps import Sweep
from tests.conftest import unsealed
from tests.test_png import read as png_pixels

HOSTILE = """<script>alert("x")</script><img src=x onerror=alert(1)> 'q' & </script> <b>ü</b>"""
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
ROWS = ["single-task", "normalized joint", "weighted normalized joint"]


class Page(HTMLParser):
    """Every tag, every attribute, and the text that a reader sees."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []
        self._raw = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self._raw = tag in ("script", "style")

    def handle_endtag(self, tag):
        self._raw = False

    def handle_data(self, data):
        if not self._raw:
            self.text.append(data)


@pytest.fixture
def run_page(study, tmp_path):
    study.rename("near", HOSTILE)
    run(load(study.path), tmp_path / "run")
    return runs_page([tmp_path / "run"])


@pytest.fixture
def compared_page(in_process, study, tmp_path):
    study.rename("near", HOSTILE).rename("goal", "goal " + HOSTILE)
    folder = tmp_path / "compared"
    found = compare(
        load(study.path),
        folder,
        rows=ROWS,
        seeds=[0, 1],
        options=Options(),
        sweep=Sweep(),
    )
    return comparison_page(found, folder)


@pytest.fixture(params=["run_page", "compared_page"])
def page(request):
    return request.getfixturevalue(request.param)


# The text


def test_every_name_is_escaped(page):
    read = Page(page)
    assert "img" not in read.tags
    assert "b" not in read.tags
    assert "script" not in read.tags
    assert "</script" not in page
    assert not any(name.startswith("on") for name, _ in read.attributes)
    assert HOSTILE in "".join(read.text)
    assert html.escape("<script>alert") in page


def test_nothing_is_loaded_from_anywhere(page):
    read = Page(page)
    loads = [(name, value) for name, value in read.attributes if name in ("src", "href", "action")]
    assert loads == []
    assert not {"link", "iframe", "object", "embed", "base"} & set(read.tags)
    assert not re.search(r"url\(|@import|https?://", page)


def test_the_page_fits_phones_and_the_dark(page):
    head = page[: page.index("</head>")]
    assert 'name="viewport"' in head
    assert "prefers-color-scheme: dark" in head
    assert '<html lang="en">' in page
    assert '<meta charset="utf-8">' in head


def test_the_page_of_a_run_has_scores_weights_both_ways_and_circumstances(study, tmp_path):
    record = run(load(study.path), tmp_path / "run")
    text = "".join(Page(runs_page([tmp_path / "run"])).text)
    for name, share in record["weights"].items():
        assert f"{share:.4f}" in text
        assert f"{record['multipliers'][name]:.3g}" in text
        assert times(record["passes"][name]) in text
    assert f"{record['scores']['goal']['test']['accuracy']:.4f}" in text
    assert record["versions"]["torch"] in text
    assert "batch_size: 8" in text


def test_the_page_of_a_comparison_shows_both_tests_and_says_how_they_were_made(
    in_process, study, tmp_path
):
    found = compare(
        load(study.path),
        tmp_path / "compared",
        rows=ROWS,
        seeds=[0, 1],
        options=Options(),
        sweep=Sweep(),
    )
    page = comparison_page(found, tmp_path / "compared")
    row = found.row("weighted normalized joint")
    for cell in (
        interval_text(row.interval, measure=found.measure),
        p_text(row.p_value),
        p_text(row.p_bootstrap),
    ):
        assert f"<td>{html.escape(cell)}</td>" in page
    for words in ("95% interval", "p bootstrap", "10,000 resamples", "Holm-corrected"):
        assert words in page
    old = [replace(row, interval=None, p_bootstrap=None) for row in found.rows]
    assert (
        "None"
        not in comparison_page(replace(found, rows=old), tmp_path / "compared").split(
            "<h2>How it was made"
        )[0]
    )


def test_a_page_of_no_run_is_refused():
    with pytest.raises(RunError, match="no run"):
        runs_page([])


def test_an_unfinished_run_has_no_page(study, tmp_path):
    run(load(study.path), tmp_path / "run")
    (tmp_path / "run" / "record.json").unlink()
    with pytest.raises(RunError, match="unfinished"):
        runs_page([tmp_path / "run"])


def test_the_mean_over_seeds_leaves_out_what_was_skipped():
    def update(step, share, alignment):
        return {
            "step": step,
            "weights": {"a": share, "b": 1 - share},
            "alignments": {"a": alignment, "b": None},
        }

    runs = [[update(3, 0.5, 0.2), update(6, 0.1, 0.0)], [update(3, 0.7, None)]]
    (only,) = averaged(runs)
    assert only["step"] == 3
    assert only["weights"] == pytest.approx({"a": 0.6, "b": 0.4})
    assert only["alignments"] == {"a": 0.2, "b": None}


def test_a_run_without_updates_has_a_page(study, tmp_path):
    run(load(study.set("weighting.kind", "fixed").path), tmp_path / "run")
    page = runs_page([tmp_path / "run"])
    assert "Effective sample size" in page
    assert "How the weights moved" not in page


def image_run(folder, **weighting):
    weighting = {"unit": "example", "alignment": "curvature", **weighting}
    config = parsed(
        {
            "data": {"kind": "digits"},
            "target": "digit",
            "sources": ["parity"],
            "epochs": 1,
            "weighting": weighting,
            "training": {"unit_examples": 50},
        }
    )
    run(config, folder)
    return config


def test_images_are_in_the_page_and_are_the_examples(tmp_path):
    config = image_run(tmp_path / "run")
    page = runs_page([tmp_path / "run"])
    read = Page(page)
    sources = [value for name, value in read.attributes if name == "src"]
    assert len(sources) == read.tags.count("img") == 40
    assert max(map(len, sources)) < 400
    shown = RunFolder(tmp_path / "run").shown_units()
    index = shown["least"][0]["example"] - 1
    [source] = [task for task in building.tasks(config) if task.name == "parity"]
    pixels = source.train.inputs[index].reshape(8, 8).double()
    scaled = (pixels - pixels.min()) * 255 / (pixels.max() - pixels.min())
    start, payload = sources[0].split(",")
    assert start == "data:image/png;base64"
    found = png_pixels(base64.b64decode(payload, validate=True))
    assert np.array_equal(found, scaled.round().numpy())


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("forward", r"measured exactly, by forward mode\."),
        ("mixed", r"in mixed precision, with an error of about \d[\d.e-]*%\."),
        ("differences", r"two forward passes, with an error of about \d[\d.e-]*%\."),
    ],
)
def test_the_page_says_how_examples_were_measured(tmp_path, way, said):
    image_run(tmp_path / "run", way=way)
    assert re.search(said, runs_page([tmp_path / "run"]))


def test_an_image_that_is_none_is_escaped_like_any_text(tmp_path):
    image_run(tmp_path / "run")
    unsealed(tmp_path / "run")
    path = tmp_path / "run" / "units.json"
    shown = json.loads(path.read_text())
    shown["least"][0].update(image=f'">{HOSTILE}', label=HOSTILE, text=HOSTILE)
    path.write_text(json.dumps(shown))
    page = runs_page([tmp_path / "run"])
    read = Page(page)
    assert "script" not in read.tags
    assert read.tags.count("img") == 40
    assert not any(name.startswith("on") for name, _ in read.attributes)
    sources = [value for name, value in read.attributes if name == "src"]
    assert all(value.startswith("data:image/png;base64,") for value in sources)


# In a browser


def opened(page, folder, *options):
    """The document after its scripts have run, and what the console said."""
    path = Path(folder, "page.html")
    path.write_text(page, encoding="utf-8")
    done = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--enable-logging=stderr", "--v=0", "--virtual-time-budget=8000",
            f"--user-data-dir={folder}/profile", *options, "--dump-dom", path.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )  # fmt: skip
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, said


def measured(page, folder, width, *options):
    """The page's width, in a frame of that width, since a window has a least width of its own."""
    asked = page.replace(
        "</body>",
        "<script>document.title = document.documentElement.scrollWidth + ' of ' + "
        "document.documentElement.clientWidth + ' ' + "
        "getComputedStyle(document.body).backgroundColor;"
        "parent.document.title = document.title;</script></body>",
    )
    frame = (
        f'<!doctype html><iframe width="{width}" height="900" style="border:0" srcdoc="'
        f'{asked.replace("&", "&amp;").replace(chr(34), "&quot;")}"></iframe>'
    )
    document, said = opened(frame, folder, *options)
    assert said == []
    found = re.search(r"<title>(\d+) of (\d+) ([^<]*)</title>", document)
    assert found is not None
    return int(found[1]), int(found[2]), found[3]


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")
def test_a_page_opens_in_a_browser_with_its_pictures_and_no_complaint(page, tmp_path):
    document, said = opened(page.replace("<details>", "<details open>"), tmp_path)
    assert said == []
    read = Page(document)
    assert read.tags.count("svg") == Page(page).tags.count("svg") > 5
    assert "img" not in read.tags
    assert HOSTILE in "".join(read.text)


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")
@pytest.mark.parametrize("width", [360, 390, 1200])
def test_a_page_is_no_wider_than_its_screen(page, tmp_path, width):
    opened_parts = page.replace("<details>", "<details open>")
    wide, screen, _ = measured(opened_parts, tmp_path, width)
    assert wide <= screen <= width


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")
@pytest.mark.parametrize(
    ("options", "paper"),
    [([], PAPER[0]), (["--blink-settings=preferredColorScheme=0"], PAPER[1])],
)
def test_a_page_is_dark_where_the_system_is(page, tmp_path, options, paper):
    _, _, colour = measured(page, tmp_path, 390, *options)
    red, green, blue = (int(paper[at : at + 2], 16) for at in (1, 3, 5))
    assert colour == f"rgb({red}, {green}, {blue})"


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")
def test_the_test_would_see_a_complaint(tmp_path):
    """The console is really read: a page that fails says so."""
    _, said = opened("<script>nothing.here()</script>", tmp_path)
    assert any("nothing is not defined" in line for line in said)


@pytest.mark.browser
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")
def test_the_test_would_see_a_page_that_is_too_wide(tmp_path):
    wide, screen, _ = measured("<body><p style='width:900px'>x</p></body>", tmp_path, 390)
    assert wide > screen
