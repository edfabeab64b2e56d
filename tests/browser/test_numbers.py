"""The page Numbers as a reader meets it: every pin computed again in the browser, over http, from a folder, by keyboard, without JavaScript."""

import json
import re

import pytest

from attention_book.lab.pins import numbers_in
from tests.browser.test_axe import EVERYTHING, axe, violations
from tests.browser.test_predict import strict
from tests.browser.visit import SIDEWAYS, tab, visit

BUTTON = "Compute all of these again in your browser"
SHIFT = """() => new Promise(resolve => new PerformanceObserver(list =>
    resolve(list.getEntries().reduce((sum, entry) => sum + entry.value, 0))).observe({type: 'layout-shift', buffered: true})
    || setTimeout(() => resolve(0), 500))"""


@pytest.fixture(scope="module")
def pinned(site):
    return json.loads((site / "pins.json").read_text("utf-8"))


@pytest.fixture
def page(server, browser):
    """The page in a new tab; whatever it throws or writes to the console fails the test."""
    with tab(browser) as page:
        told = []
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.goto(f"{server.address}numbers.html")
        yield page
        assert told == []


def recheck(page):
    """Press the button, wait, and return what the page says."""
    page.get_by_role("button", name=BUTTON).click()
    return said(page)


def said(page):
    status = page.locator(".recheck [role=status]")
    page.wait_for_function("() => { const text = document.querySelector('.recheck [role=status]').textContent; return text && text !== 'Computing…' }")
    return status.inner_text()


def agreeing(sentence):
    found = re.match(r"([\d,]+) of ([\d,]+) numbers agree: ([\d,]+) to the last bit, ([\d,]+) within [\d.]+\.", sentence)
    assert found, sentence
    return [int(number.replace(",", "")) for number in found.groups()]


def test_the_button_computes_every_pin_again_and_all_agree(page, pinned):
    sentence = recheck(page)
    agree, total, exact, near = agreeing(sentence)
    assert agree == total == exact + near == numbers_in(pinned)
    assert "does not" not in sentence
    rows = [row.split("\t") for row in page.locator(".recheck table").inner_text().splitlines()]
    names = [*(f"Draws of seed {draw['seed']}" for draw in pinned["draws"]), *(trace["name"] for trace in pinned["traces"])]
    assert [row[0] for row in rows[-len(names):]] == names
    assert [int(row[1].replace(",", "")) for row in rows[-len(names):]] == [numbers_in(pin) for pin in [*pinned["draws"], *pinned["traces"]]]
    assert {row[4] for row in rows[-len(names):]} == {"0"}


def test_it_works_from_a_folder(site, browser, pinned):
    with tab(browser) as page:
        page.goto((site / "numbers.html").as_uri())
        assert agreeing(recheck(page))[:2] == [numbers_in(pinned)] * 2


def test_it_works_under_a_strict_policy(site, browser, pinned):
    with strict(site) as address, tab(browser) as page:
        page.goto(f"{address}numbers.html")
        assert agreeing(recheck(page))[:2] == [numbers_in(pinned)] * 2


def test_it_works_by_keyboard_and_can_be_pressed_again(page):
    page.locator(".recheck").evaluate("box => { const before = document.createElement('a'); before.href = '#'; before.id = 'before'; box.before(before) }")
    page.locator("#before").focus()
    page.keyboard.press("Tab")
    for key in "Enter", "Space":
        page.keyboard.press(key)
        sentence = said(page)
        agreeing(sentence)
        assert page.evaluate("document.activeElement.textContent") == BUTTON, "whoever pressed it is still there"
        page.evaluate("document.querySelector('.recheck [role=status]').textContent = ''")
    assert page.locator(".recheck table").count() == 1
    assert page.locator(".recheck [role=status]").get_attribute("aria-live") == "polite"


def spoil(page, pinned, change):
    """Serve other pins than those of the book."""
    other = json.loads(json.dumps(pinned))
    change(other)
    page.route("**/pins.js", lambda route: route.fulfill(content_type="text/javascript", body=f"globalThis.attentionBookPins = {json.dumps(other)};"))


def test_a_number_that_differs_is_counted_and_the_first_is_named(page, pinned):
    def change(pins):
        causal = next(trace for trace in pins["traces"] if trace["name"] == "Causal attention")
        causal["steps"]["weights"]["data"][6] = 0.25
        causal["steps"]["output"]["data"][0] = 9.5

    spoil(page, pinned, change)
    sentence = recheck(page)
    agree, total, *_ = agreeing(sentence)
    assert (agree, total) == (numbers_in(pinned) - 2, numbers_in(pinned))
    told = re.search(r"The first that does not: Causal attention, weights\[1, 0\] is ([\d.]+) here and 0\.25 in the book\.$", sentence)
    assert told, sentence
    right = next(trace for trace in pinned["traces"] if trace["name"] == "Causal attention")["steps"]["weights"]["data"][6]
    assert abs(float(told[1]) - right) <= 5e-6
    assert page.locator(".recheck tbody tr", has_text="Causal attention").locator("td").last.inner_text() == "2"


def test_pins_that_are_not_there_are_told_so(server, browser):
    with tab(browser) as page:
        page.route("**/pins.js", lambda route: route.abort())
        page.goto(f"{server.address}numbers.html")
        assert recheck(page) == "The pins could not be loaded: is pins.js still beside this page's other files?"
        page.unroute("**/pins.js")
        agreeing(recheck(page))


def test_without_javascript_the_page_says_what_the_button_would_do(server, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server.address}numbers.html")
    assert page.get_by_role("button", name=BUTTON).is_disabled()
    text = page.locator(".recheck").inner_text()
    assert "draws every tensor above from its seed" in text
    assert "It needs JavaScript, which is off here." in text
    context.close()


def test_the_json_for_other_books_holds_what_the_button_checks(site, pinned):
    script = (site / "_static" / "pins.js").read_text("utf-8")
    assert json.loads(script.removeprefix("globalThis.attentionBookPins = ").removesuffix(";\n")) == pinned
    assert set(pinned["ran_on"]) == {"torch", "machine", "capability"}
    assert all(trace["lines"] and trace["settings"]["attention"] for trace in pinned["traces"])


def test_the_page_says_where_it_was_built_and_what_it_counted(page, pinned):
    text = page.locator("article").inner_text()
    for value in pinned["ran_on"].values():
        assert value in text
    assert f"{numbers_in(pinned):,} numbers in one file" in text
    tables = [table.inner_text() for table in page.locator("article table").all()]
    assert ["examples" in tables[0], pinned["ran_on"]["torch"] in tables[1], "SelfAttention_v2(64, 64)" in tables[2]] == [True] * 3
    assert "|" not in text
    assert re.search(r"to the character: \d{3,} examples", text)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_before_and_after(server, browser, theme):
    with tab(browser, theme) as page:
        assert violations(page, server, "numbers.html") == []
        recheck(page)
        assert axe.run(page, options=EVERYTHING).response["violations"] == []


def test_it_fits_a_phone_and_asks_no_other_host(server, browser):
    with tab(browser) as page:
        seen = visit(page, server, "numbers.html")
        assert (seen.other_hosts, seen.messages, seen.failed, seen.sideways) == ([], [], [], [])
        page.set_viewport_size({"width": 320, "height": 700})
        recheck(page)
        assert page.evaluate(SIDEWAYS) <= 0
        box = page.get_by_role("button", name=BUTTON).bounding_box()
        assert box["height"] >= 24
        assert box["width"] >= 24


def test_nothing_moves_when_the_page_opens(page):
    assert page.evaluate(SHIFT) < 0.05
