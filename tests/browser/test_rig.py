"""The browser tests can fail: a page with every fault is told every fault."""

import pytest

from tests.browser.ink import contrast
from tests.browser.links import dead_links
from tests.browser.server import serving
from tests.browser.test_axe import violations
from tests.browser.test_figures import ENOUGH
from tests.browser.visit import tab, visit

BAD = """<!doctype html><html><head><title>bad</title></head><body>
<img src="https://elsewhere.invalid/pixel.png" alt="from another host"><img src="missing.png">
<div style="width: 500px">wide</div>
<a href="nowhere.html">no such page</a> <a href="#nowhere">no such anchor</a> <a href="#here" id="here">fine</a>
<script>console.warn("a message"); throw new Error("a mistake")</script>
</body></html>"""

# Black writing, which is right on a light page only; the theme is furo's.
FIXED_INK = """<!doctype html><html><head><style>body.dark { background: #131416 }</style></head><body>
<script>document.body.className = localStorage.getItem("theme")</script>
<img alt="" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='200' height='60'><text y='18'>A title</text></svg>">
</body></html>"""


@pytest.fixture(scope="module")
def bad_site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    (folder / "index.html").write_text(BAD)
    (folder / "ink.html").write_text(FIXED_INK)
    return folder


def test_a_bad_page_is_told_each_of_its_faults(bad_site, browser):
    with serving(bad_site) as server, tab(browser) as page:
        seen = visit(page, server, "index.html")
    assert seen.other_hosts == ["https://elsewhere.invalid/pixel.png"]
    assert any("a message" in message for message in seen.messages)
    assert any("a mistake" in message for message in seen.messages)
    assert any("net::" in failure and "elsewhere" in failure for failure in seen.failed)
    assert "404 /missing.png" in seen.failed
    assert [fault.split(" at ")[1] for fault in seen.sideways] == ["320 px", "390 px"]
    assert "no alternative text: missing.png" in seen.images
    assert "does not load: missing.png" in seen.images


def test_dead_links_are_told_from_live_ones(bad_site):
    dead = dead_links(bad_site, "/")
    assert dead == [
        "index.html -> missing.png: no such file",
        "index.html -> nowhere.html: no such file",
        "index.html -> #nowhere: no such anchor",
    ]


@pytest.mark.parametrize(("theme", "readable"), [("light", True), ("dark", False)])
def test_a_figure_that_does_not_follow_the_theme_is_faint_in_the_dark(bad_site, browser, theme, readable):
    with serving(bad_site) as server, tab(browser, theme) as page:
        page.goto(f"{server.address}ink.html")
        assert (contrast(page.locator("img").screenshot()) >= ENOUGH) is readable


def test_axe_finds_the_faults_of_a_bad_page(bad_site, browser):
    with serving(bad_site) as server, tab(browser) as page:
        found = violations(page, server, "index.html")
    assert {"image-alt", "html-has-lang"} <= {fault.split(":")[0] for fault in found}
