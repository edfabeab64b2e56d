"""Every number of ``reference/project_numbers.json`` stands in what the project's pages print, to the digits printed."""

import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

NUMBERS = json.loads((Path(__file__).parent / "reference" / "project_numbers.json").read_text())
#: What is no number of the page: the recipe, the tolerance, differences that depend on the machine, and the sentences that are not true.
NOT_PRINTED = {"sentence", "recipe", "tolerance", "official_max_abs_diff_seen", "official_causal_max_abs_diff_seen"}
TUTORIALS_SAY = "claims_of_the_tutorial_that_do_not_hold"
PRINTED = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\d)")


def leaves(node, path=()):
    """Each number, or list of numbers, by its path; heads are counted from 0 on the pages, and their count is no number."""
    if isinstance(node, dict):
        for name, child in node.items():
            if name not in NOT_PRINTED | {TUTORIALS_SAY, "head"}:
                yield from leaves(child, (*path, name))
    elif isinstance(node, list) and isinstance(node[0], dict):
        for k, child in enumerate(node):
            yield from leaves(child, (*path, str(k)))
    else:
        yield "/".join(path), node if isinstance(node, list) else [node]


@pytest.fixture(scope="module")
def outputs(site):
    """What each block of each page prints, as the texts of its numbers."""
    pages = [BeautifulSoup(page.read_text(), "html.parser") for page in sorted((site / "gallery/project").glob("project_*.html"))]
    assert len(pages) == 7
    return [PRINTED.findall(block.get_text()) for page in pages for block in page.select(".sphx-glr-script-out pre")]


def is_printed(number, text):
    """Whether a text is this number: a whole one, or one with four decimals or more."""
    if isinstance(number, int):
        return text == str(number)
    decimals = len(text.partition(".")[2])
    return decimals >= 4 and text == f"{number:.{decimals}f}"


def in_order(numbers, texts):
    """Whether the numbers stand in a block one after another, whatever else stands between them."""
    rest = iter(texts)
    return all(any(is_printed(number, text) for text in rest) for number in numbers)


@pytest.mark.parametrize("path, numbers", [*leaves(NUMBERS)], ids=lambda value: value if isinstance(value, str) else "")
def test_each_published_number_is_printed_on_a_page_of_the_project(path, numbers, outputs):
    assert any(in_order(numbers, block) for block in outputs), f"{path}: {numbers}"


def test_a_number_that_is_off_in_its_last_digit_would_be_noticed(outputs):
    path, (number, *_) = next(leaves(NUMBERS["raw_scores"]))
    assert any(in_order([number], block) for block in outputs)
    assert not any(in_order([number + 1e-4], block) for block in outputs), path


def test_what_tutorials_say_and_torch_denies_is_denied_on_the_pages(site):
    said = " ".join(BeautifulSoup((site / "gallery/project" / f"project_{page}.html").read_text(), "html.parser").find("article").get_text(" ")
                    for page in ("2_query_key_value", "4_multi_head", "5_validate"))  # fmt: skip
    said = " ".join(said.split())
    assert len(NUMBERS[TUTORIALS_SAY]) == 4
    assert "Not one lies beyond 10, as is often said" in said
    assert "of the ten rows, one has a weight above 0.9, and five have none above 0.7" in said
    assert "Random heads do not specialise" in said
    assert "its digits depend on the machine" in said
