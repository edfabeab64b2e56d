"""The slide of d_k never keeps the page waiting: a worker draws it, and the page itself only where a browser refuses workers."""

import re

import pytest

from tests.browser.lab_page import open_lab
from tests.browser.test_lab_programs import slid
from tests.browser.visit import tab

ASKED = """(() => {
    const post = Worker.prototype.postMessage
    window.asked = []
    Worker.prototype.postMessage = function (message) {
        if (message.job === "slide") asked.push(String(message.input))
        post.call(this, message)
    }
})()"""
REFUSALS = {
    "at once": "window.Worker = class { constructor() { throw new Error('no workers here') } }",
    "later": """window.Worker = class extends EventTarget {
        constructor() { super(); setTimeout(() => this.dispatchEvent(new Event('error', {cancelable: true}))) }
        postMessage() {}
    }""",
}


def open_slide(browser_tab, server, script):
    browser_tab.add_init_script(script)
    open_lab(browser_tab, server)
    browser_tab.locator(".lab-slide > summary").click()
    browser_tab.get_by_text("At d_k 64 the scores spread").wait_for()


def says(page, seed):
    spread = float(re.search(r"spread by (\d+\.\d{4})", page.locator(".lab-slide-sentence").inner_text())[1])
    return spread == pytest.approx(slid(seed, 64)[1], abs=6e-5)


def test_a_worker_draws_the_slide_once_a_seed(server, browser):
    with tab(browser) as page:
        open_slide(page, server, ASKED)
        page.get_by_role("slider", name="d_k").fill("700")
        page.get_by_role("slider", name="d_k").fill("600")
        assert page.evaluate("asked") == ["123"]


@pytest.mark.parametrize("when", REFUSALS)
def test_where_workers_are_refused_the_page_draws_the_slide(server, browser, when):
    with tab(browser) as page:
        page.set_default_timeout(10_000)
        open_slide(page, server, REFUSALS[when])
        assert says(page, 123)


def test_of_several_seeds_the_newest_is_shown(server, browser):
    with tab(browser) as page:
        page.set_default_timeout(10_000)
        open_slide(page, server, ASKED)
        page.get_by_role("radio", name="your own sentence").check(force=True)
        for seed in (7, 8):
            page.get_by_label("Seed", exact=True).fill(str(seed))
            page.keyboard.press("Enter")
        page.locator(".lab-slide:not([aria-busy])").wait_for()
        assert page.evaluate("asked")[-1] == "8"
        assert says(page, 8)
        assert not says(page, 7)
