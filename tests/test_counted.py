"""The page Numbers counts what it says: examples as doctest finds them, published numbers one by one."""

import doctest
import importlib
import json
import pkgutil
import sys
from pathlib import Path

import pytest

import attention_book

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def counted():
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        yield importlib.import_module("counted")
    finally:
        sys.path.remove(str(ROOT / "docs" / "_ext"))


def test_an_example_counts_when_it_says_what_it_prints(counted, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A title\n\n```pycon\n>>> x = 2\n>>> x\n2\n>>> for i in range(2):\n...     i\n0\n1\n\n```\n", "utf-8")
    assert (counted.on_page(page), counted.title(page)) == (2, "A title")


def test_the_library_has_as_many_examples_as_doctest_finds_in_its_modules(counted):
    names = [module.name for module in pkgutil.walk_packages(attention_book.__path__, "attention_book.") if not module.name.endswith("__main__")]
    modules = [importlib.import_module(name) for name in ["attention_book", *names]]
    finder = doctest.DocTestFinder()
    found = {test.name: sum(bool(example.want) for example in test.examples) for module in modules for test in finder.find(module, module=module)}
    assert counted.in_library(ROOT / "attention_book") == sum(found.values()) > 20


def test_pages_are_those_written_by_hand(counted):
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in counted.pages(ROOT / "docs")]
    assert {"acts/act1.md", "conventions.md", "numbers.md"} <= set(pages)
    assert not [page for page in pages if page.startswith("gallery")]


def test_published_results_are_counted_without_their_settings(counted):
    published = {
        "cell": [1, 2], "seed": 3, "shape": [4, 5], "tokens": ["a"], "why": "text", "same": True,
        "max": 0.5, "rows": [[1.0, 2.0], [3.0, 4.0]], "heads": [{"head": 1, "max": 0.25}, {"head": 2, "max": 0.75}], "masked": [["-inf", 1.0]],
    }  # fmt: skip
    found = counted.results(published)
    assert found == [0.5, [[1.0, 2.0], [3.0, 4.0]], 0.25, 0.75, [["-inf", 1.0]]]
    assert [counted.numbers(result) for result in found] == [1, 4, 1, 1, 2]


def test_every_published_tensor_of_the_acts_is_among_the_results(counted):
    printed = json.loads((ROOT / "tests/reference/act_numbers.json").read_text("utf-8"))["printed"]
    found = counted.results(printed)
    own = [node["v"] for section in printed.values() for node in [section, *section.values()] if isinstance(node, dict) and "v" in node]
    assert len(own) > 20
    assert all(tensor in found for tensor in own)


def test_a_table_puts_whole_numbers_under_one_another(counted):
    assert counted.table(["name", "numbers"], [["a", "1,234"], ["b", 5]]) == "| name | numbers |\n| :-- | --: |\n| a | 1,234 |\n| b | 5 |"
