"""Links from other pages into the lab open the view that they name."""

import json
import re
from urllib.parse import urljoin

import pytest

from tests.browser.lab_page import READ
from tests.browser.visit import tab

LINK = re.compile(r'href="([^"]*lab\.html#[^"]+)"')


@pytest.fixture(scope="module")
def links(site):
    """Each link to a view of the lab below the site's root, and the pages that hold it."""
    found = {}
    for page in sorted(site.glob("gallery/project/*.html")):
        for link in LINK.findall(page.read_text("utf-8")):
            to = urljoin(page.relative_to(site).as_posix(), link.replace("&amp;", "&"))
            found.setdefault(to, []).append(page.stem)
    return found


def test_each_step_that_draws_a_map_links_to_the_readers_own_sentence(links):
    pages = {page[: len("project_1")] for held in links.values() for page in held}
    assert pages == {f"project_{step}" for step in (2, 3, 4, 6, 7)}
    assert all("example=text" in link for link in links)


def test_each_link_opens_what_it_names_without_a_complaint(links, server, browser):
    with tab(browser) as page:
        for link in links:
            page.goto("about:blank")  # another hash alone would not load the page anew
            page.goto(server.address + link)
            page.locator(".lab-table").first.wait_for()
            shown = json.loads(page.evaluate(READ))
            assert shown["complaint"] == ""
            assert shown["names"] == "The cat sat on the mat because it was tired".split()
            assert ("causal=true" in link) == any(map(any, shown["hidden"]))
