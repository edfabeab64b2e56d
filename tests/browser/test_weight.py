"""What a phone on a slow network has to fetch, compressed as every host compresses it; and what search engines are told."""

import gzip
import re

import pytest
from bs4 import BeautifulSoup

from tests.browser.visit import IMAGES, pages_of, tab

#: Bytes that a page may transfer, all of its pictures included: the first kind that its path begins with.
LIMITS = {"index.html": 150_000, "acts/": 250_000, "gallery/": 300_000, "lab.html": 200_000, "": 300_000}
COMPRESSED = {".html", ".css", ".js", ".json", ".svg"}
#: Lists of names, which Sphinx makes.
WITHOUT_TEXT = {"genindex.html", "py-modindex.html", "search.html", "404.html"}


@pytest.fixture(scope="module")
def transferred(site, server, browser):
    """The files that each page asks for, with what each weighs on the way."""
    found = {}
    for path in pages_of(site):
        with tab(browser) as page:
            files = set()
            page.on("response", lambda response, files=files: files.add(re.sub(r"[?#].*", "", response.url)))
            page.goto(server.address + path, wait_until="networkidle")
            page.evaluate(IMAGES)  # those below the fold too
        names = [url.removeprefix(server.address) for url in files if url.startswith(server.address)]
        found[path] = {name: weight(site / name) for name in names}
    return found


def weight(path):
    content = path.read_bytes()
    return len(gzip.compress(content, 6)) if path.suffix in COMPRESSED else len(content)


def limit(path):
    return next(most for start, most in LIMITS.items() if path.startswith(start))


def test_no_page_is_heavy(transferred):
    assert "_static/lab.js" in transferred["lab.html"]
    heavy = {path: sizes for path, sizes in transferred.items() if sum(sizes.values()) > limit(path)}
    assert heavy == {}


def test_no_page_asks_for_what_it_does_not_use(transferred):
    """Each of these is an extension's file that one page needs and another does not."""
    assert "_static/copybutton.js" in transferred["acts/act1.html"]
    assert "_static/copybutton.js" not in transferred["search.html"]
    assert "_static/sg_gallery.css" in transferred["gallery/acts/act1_1_scores.html"]
    assert "_static/sg_gallery.css" not in transferred["acts/act1.html"]
    assert not any("sg-tags.js" in name for files in transferred.values() for name in files)


def test_every_page_has_a_description_of_its_own(site):
    said = {}
    for path in pages_of(site):
        head = BeautifulSoup((site / path).read_text("utf-8"), "html.parser").head
        found = [tag["content"] for tag in head.select('meta[name="description"]')]
        if path in WITHOUT_TEXT or path.startswith("_modules/"):
            continue
        assert len(found) == 1, path
        assert 40 <= len(found[0]) <= 161, path
        assert not re.search(r"[\\$`]", found[0]), path
        said[path] = found[0]
    assert len(set(said.values())) == len(said) > 30
