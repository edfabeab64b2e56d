"""Large inputs are computed elsewhere and drawn in turns; `make bench` measures how long it takes."""

import pytest

from attention_book.lab.states import DEFAULT
from tests.browser.lab_page import GO, hash_of, open_lab
from tests.browser.visit import tab

LARGE = DEFAULT | {"example": "text", "seed": "42", "scale": True, "attention": "MultiHeadAttention", "heads": 12, "d_model": 48}

@pytest.fixture
def page(server, browser):
    with tab(browser) as page:
        page.set_default_timeout(30_000)
        open_lab(page, server)
        yield page


def test_a_long_computation_says_so_and_leaves_the_page_alive(page):
    page.evaluate("location.hash = '" + hash_of(LARGE | {"text": " ".join(f"w{k}" for k in range(512)), "d_model": 1024, "heads": 8}) + "'")
    page.get_by_text("Computing…").wait_for()
    assert page.locator(".lab[data-kind]").get_attribute("aria-busy") == "true"
    page.get_by_role("radio", name="scores").check(force=True)  # still answers
    page.locator(".lab[data-kind]:not([aria-busy])").wait_for()
    assert page.locator(".lab-down span").count() == 512
    assert page.locator(".lab-progress").inner_text() == ""
    assert page.get_by_role("radio", name="scores").is_checked()


def test_512_tokens_and_8_heads_are_drawn_in_turns_until_all_are_there(page):
    for view in ("weights", "masked"):
        page.evaluate(GO, hash_of(LARGE | {"text": " ".join(f"word{k}" for k in range(512)), "heads": 8, "d_model": 64, "view": view}))
        page.wait_for_function("document.querySelectorAll('.lab-heads canvas').length === 8")
        assert page.locator(".lab-down span").count() == 512
