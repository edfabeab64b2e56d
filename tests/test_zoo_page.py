"""The page of the bug zoo: every mistake with its maps, its numbers and what `diagnose` says, all from the library."""

import gzip
import re

import pytest
import torch
from bs4 import BeautifulSoup

from attention_book import MISTAKES, diagnose
from attention_book.fingerprints import fingerprint, noticed
from tests.diagnosis import zoo

EACH = pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
MOST = 300_000  # bytes on the wire: the page and its maps


@pytest.fixture(scope="module")
def page(site):
    return BeautifulSoup((site / "zoo.html").read_text(), "html.parser")


def words(element):
    """The text as the library has it: the page turns quotation marks and dashes."""
    said = element.get_text()
    for turned, plain in {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "--", "…": "..."}.items():
        said = said.replace(turned, plain)
    return " ".join(said.split())


@EACH
def test_each_mistake_has_a_section_with_its_words_and_a_link_from_the_top(page, mistake):
    section = page.find("section", id=mistake.anchor)
    said = words(section)
    for sentence in (mistake.title, mistake.cause, noticed(mistake), mistake.hint, mistake.also):
        assert sentence.replace("`", "") in said
    assert section.find("a", href=mistake.report)
    assert page.find("article").find("ul").find("a", href=f"#{mistake.anchor}").get_text() == mistake.name


@EACH
def test_code_in_the_sentences_is_set_as_code(page, mistake):
    """So that nothing in it is turned into a quotation mark, and a copy of it runs."""
    section = page.find("section", id=mistake.anchor)
    set_as_code = {code.get_text() for code in section.find_all("code")}
    marked = [text.split("`")[1::2] for text in (mistake.cause, mistake.hint, mistake.also, noticed(mistake))]
    assert {" ".join(part.split()) for parts in marked for part in parts} == {" ".join(code.split()) for code in set_as_code}
    assert "`" not in section.get_text()


@EACH
def test_each_answer_of_diagnose_is_what_it_says_to_a_module_of_somebody_else_too(page, mistake):
    lead = page.find("section", id=mistake.anchor).find("strong", string="diagnose answers:")
    hint = mistake.hint.replace("`", "")
    assert words(lead.parent).startswith(f"diagnose answers: Not yet: {mistake.name}. {hint}")
    assert diagnose(zoo.ByLayers(mistake, causal=True)).mistake == mistake.name


@EACH
def test_each_map_and_each_table_shows_the_fingerprint_beside_right_numbers(page, site, mistake):
    section = page.find("section", id=mistake.anchor)
    pictures = section.find_all("img")
    assert len(pictures) == (3 if mistake.name == "averaged weights" else 2)
    for picture in pictures:
        assert (site / picture["src"]).is_file()
        assert picture["alt"].startswith(("Right", "Weights", "Output"))
    (output, weights), (right_output, right) = fingerprint(mistake), fingerprint(mistake, right=True)
    same = weights.shape == right.shape and torch.equal(weights, right)
    shown = [right_output, output] if same else [*right.reshape(-1, 6, 6)[: len(pictures) - 1], weights.reshape(-1, 6, 6)[0]]
    cells = [[cell.get_text() for cell in row.find_all("td")] for row in section.find("tbody").find_all("tr")]
    assert cells == [[cells[k][0], *(f"{x[1, k]:.4f}" for x in shown)] for k in range(shown[0].shape[1])]


def test_the_page_and_its_maps_are_light(page, site):
    files = {site / "zoo.html", *(site / picture["src"] for picture in page.find("article").find_all("img"))}
    assert sum(len(gzip.compress(file.read_bytes(), mtime=0)) for file in files) < MOST
    assert all(picture["loading"] == "lazy" for picture in page.find("article").find_all("img"))


def test_home_the_four_things_and_the_wrap_up_lead_to_the_zoo(site):
    for name in ("index.html", "four_things.html", "gallery/project/project_7_wrap_up.html"):
        article = BeautifulSoup((site / name).read_text(), "html.parser").find("article")
        assert article.find("a", href=re.compile(r"zoo\.html")), name


def test_each_step_of_the_project_links_its_mistakes_to_the_zoo(page, site):
    anchors = {section["id"] for section in page.find_all("section")}
    linked = set()
    for made in sorted((site / "gallery/project").glob("project_*.html")):
        article = BeautifulSoup(made.read_text(), "html.parser").find("article")
        found = {link["href"].split("#")[1] for link in article.find_all("a", href=re.compile(r"zoo\.html#"))}
        assert found <= anchors, made.name
        linked |= found
    assert {mistake.anchor for mistake in MISTAKES} - linked <= {"keys-not-transposed", "dropout-in-evaluation"}
