"""The book is one thread: each page opens on a question and ends on the next page's, with the way there."""

import pytest
from bs4 import BeautifulSoup

#: Lists and the page of an address that is none: nobody reads them in a row. The changelog is the last page.
NO_PART_OF_IT = {"genindex.html", "py-modindex.html", "search.html", "404.html"}
LAST = "changelog.html"


@pytest.fixture(scope="module")
def pages(site):
    """Every page that stands in the contents, by its path."""
    found = {path.relative_to(site).as_posix(): path for path in sorted(site.rglob("*.html"))}
    skipped = ("_modules/", "_static/", "_downloads/")
    return {
        path: BeautifulSoup(file.read_text("utf-8"), "html.parser")
        for path, file in found.items()
        if path not in NO_PART_OF_IT and not path.startswith(skipped)
    }


def paragraphs(page):
    """The running text in order, without notes, boxes, and what a script prints."""
    article = page.find("article", role="main")
    for box in article.select(".admonition, .lab, .predict, .quiz, figure, .sphx-glr-thumbnails, .sphx-glr-footer, details, noscript"):
        box.decompose()
    return [each for each in article.find_all("p") if each.get_text(strip=True) and not each.find_parent(class_="sphx-glr-signature")]


def test_every_page_opens_on_a_question(pages):
    assert [path for path, page in pages.items() if not any("?" in each.get_text() for each in paragraphs(page)[:2])] == []


def test_every_page_ends_on_a_question_and_a_link_to_the_next(pages):
    astray = {}
    for path, page in pages.items():
        following = page.select_one("a.next-page")
        if path == LAST:
            assert following is None
            continue
        end = paragraphs(page)[-1]
        links = {link["href"].partition("#")[0] for link in end.find_all("a")}
        if following["href"] not in links or "?" not in end.get_text():
            astray[path] = end.get_text()
    assert astray == {}


def test_a_link_to_the_next_script_names_its_title(pages):
    for path, page in pages.items():
        if path.startswith("gallery/"):
            end, following = paragraphs(page)[-1], page.select_one("a.next-page")
            if following["href"].count("/") == 0:
                title = following.select_one(".title").get_text(strip=True)
                assert title in {" ".join(link.get_text().split()) for link in end.find_all("a")}, path
