"""On paper: dark on white whatever the theme, nothing folded that holds text, no button, no box that holds nothing."""

import pytest

from tests.browser.visit import tab


@pytest.fixture
def paper(server, browser):
    with tab(browser, theme="dark") as page:
        page.set_viewport_size({"width": 720, "height": 1000})

        def show(path):
            page.goto(server.address + path, wait_until="networkidle")
            page.emulate_media(media="print")
            return page

        yield show


@pytest.mark.parametrize("path", ["index.html", "acts/act3.html", "gallery/project/project_3_scale_and_complete.html", "lab.html"])
def test_a_dark_page_is_printed_dark_on_white(paper, path):
    page = paper(path)
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.querySelector('article p')).color") == "rgb(0, 0, 0)"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_is_folded_is_printed(paper):
    page = paper("gallery/project/project_3_scale_and_complete.html")
    folded = page.locator("article details:not([open])")
    assert folded.count() > 0
    assert folded.evaluate_all("all => all.every(each => each.lastElementChild.getBoundingClientRect().height > 0)")
    assert not page.locator(".sphx-glr-download-link-note").first.is_visible()


def test_a_lab_is_printed_as_its_map_without_buttons_and_empty_boxes(paper):
    page = paper("lab.html")
    parts = page.locator(".lab").first.locator(":scope > *")
    shown = parts.evaluate_all("all => all.filter(each => each.getBoundingClientRect().height > 0).map(each => each.className)")
    assert shown == ["lab-reading", "", "lab-legend"]
    assert page.locator(".lab-live button:visible, .lab-live input:visible").count() == 0
