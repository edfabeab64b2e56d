"""Every page of the built site, opened in Chromium with every other host out of reach."""

import pytest

from tests.browser.links import dead_links
from tests.browser.visit import pages_of, tab, visit


@pytest.fixture(scope="module")
def visits(site, server, browser):
    """Each page and what was seen on it."""
    with tab(browser) as page:
        seen = {path: visit(page, server, path) for path in pages_of(site)}
    assert seen, "the site has no page"
    return seen


def faults(visits, kind):
    return "\n".join(f"{path}: {fault}" for path, seen in visits.items() for fault in getattr(seen, kind))


def test_no_page_asks_another_host_for_anything(visits):
    assert not (found := faults(visits, "other_hosts")), found


def test_no_page_writes_to_the_console_or_throws(visits):
    assert not (found := faults(visits, "messages")), found


def test_everything_that_a_page_asks_for_is_there(visits):
    assert not (found := faults(visits, "failed")), found


def test_no_page_scrolls_sideways_on_phone_or_desktop(visits):
    assert not (found := faults(visits, "sideways")), found


def test_every_image_loads_and_has_alternative_text(visits):
    assert not (found := faults(visits, "images")), found


def test_every_link_inside_the_site_leads_somewhere(site, server):
    dead = dead_links(site, server.below)
    assert not dead, "\n".join(dead)


def test_the_search_finds_softmax_and_links_to_where_it_is(server, browser):
    with tab(browser) as page:
        page.goto(f"{server.address}search.html?q=softmax")
        first = page.locator("#search-results ul.search li a").first
        first.wait_for()
        first.click()
        page.wait_for_load_state()
        assert "softmax" in page.locator("article").inner_text().lower()
