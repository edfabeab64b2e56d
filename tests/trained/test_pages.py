"""What the built site offers of the trained heads."""

import json

from bs4 import BeautifulSoup

from attention_book.trained.export import LARGEST, reference_forward
from attention_book.trained.results import NAMES, command
from attention_book.trained.studies import SOFT, TIRED


def test_the_site_holds_the_model_that_knows_who_was_tired(site):
    text = (site / "_static" / "who_is_it.js").read_text("utf-8")
    assert len(text) <= LARGEST
    content = json.loads(text.removeprefix("globalThis.attentionBookWho = ").removesuffix(";\n"))
    for sentence, noun in ((TIRED, "cat"), (SOFT, "mat")):
        probabilities, _ = reference_forward(content, sentence)
        assert content["words"][probabilities.index(max(probabilities))] == noun


def test_each_page_with_committed_numbers_says_so_and_how_they_are_made(site):
    pages = sorted((site / "gallery" / "trained").glob("trained_*.html"))
    texts = [BeautifulSoup(page.read_text("utf-8"), "html.parser").article.get_text() for page in pages]
    assert len(texts) == len(NAMES)
    for name, text in zip(NAMES, texts, strict=True):
        assert f"made by: {command(name)}" in text
    assert "this page is built without it" in texts[-1]
