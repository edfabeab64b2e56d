"""Questions as a reader meets them: answered, left empty, without JavaScript, by keyboard, on a phone."""

import http.server
import json
from contextlib import contextmanager
from threading import Thread

import pytest

from tests.asking_book import built_asking_book
from tests.browser.server import serving
from tests.browser.test_axe import EVERYTHING, axe, violations
from tests.browser.visit import SIDEWAYS, tab, visit

PAGES = ("one.html", "gallery/acts/second.html")
NO_STORAGE = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('refused', 'SecurityError') }})"
SMALL_TARGETS = """() => [...document.querySelectorAll(':is(.predict, .quiz) :is(input, button, summary)')]
    .map(target => target.getBoundingClientRect()).filter(box => box.width < 24 || box.height < 24).length"""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return built_asking_book(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def pages(book):
    """The address of the site."""
    with serving(book.html) as server:
        yield server


@pytest.fixture
def page(pages, browser):
    """The page of questions in a new tab; whatever it throws or writes to the console fails the test."""
    with tab(browser) as page:
        told = []
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.goto(pages.address + "one.html")
        yield page
        assert told == []


def question(page, number):
    return page.locator(".predict").nth(number)


def answer(page, number, said):
    """Type or choose, check, and return what the page says."""
    asked = question(page, number)
    if isinstance(said, int):
        asked.get_by_role("radio").nth(said).check()
    elif said is not None:
        asked.get_by_role("textbox").fill(said)
    asked.get_by_role("button", name="Check").click()
    return asked.get_by_role("status").inner_text().split("\n\n")


def test_a_number_close_enough_is_right_and_explained(page):
    for said in "6.11", "6,11", " 5.2 ", "+7", "7.11", "61e-1", "6.":
        sentence, why = answer(page, 0, said)
        assert sentence == "Right: 6.11.", said
        assert why.startswith("Twice of a number is its double"), said


def test_another_number_is_wrong_and_is_told_as_it_was_understood(page):
    meant = {"10": "10", "-6.11": "-6.11", "\u22126,11": "-6.11", "7.12": "7.12", "5.1": "5.1", "1e-3": "0.001", "1 000": "1000", "0": "0"}
    told = {said: answer(page, 0, said) for said in meant}
    assert {said: sentence for said, (sentence, _) in told.items()} == {
        said: f"Not quite: it is 6.11. You said {understood}." for said, understood in meant.items()
    }


def test_what_is_no_number_is_asked_for_again_and_stays_text(page):
    field = question(page, 0).get_by_role("textbox")
    for said in "six", "1.2.3", "1,234.5", "0x10", "Infinity", "1e999", "--1", "e5", ".", "<img src=x onerror=alert(1)>":
        assert answer(page, 0, said) == [f"\u201c{said}\u201d is not a number I can read. Write it like 6.1, -0.25 or 1e-3."]
        assert field.get_attribute("aria-invalid") == "true"
    assert page.locator(".predict-result img").count() == 0
    assert answer(page, 0, "6")[0] == "Right: 6.11."
    assert field.get_attribute("aria-invalid") == "false"


@pytest.mark.parametrize(("number", "sentence"), [(0, "Type a number first."), (2, "Choose one first.")])
def test_nothing_is_no_answer(page, number, sentence):
    assert answer(page, number, None) == [sentence]
    assert page.evaluate("Object.keys(localStorage).filter(key => key !== 'theme')") == []


def test_small_and_exact_numbers_are_compared_as_such(page):
    assert answer(page, 1, "-3.05e-6")[0] == "Right: -3.00e-6."
    assert answer(page, 1, "-3.2e-6")[0].startswith("Not quite")
    assert answer(page, 4, "2")[0] == "Right: 2."
    assert answer(page, 4, "2.0000001")[0].startswith("Not quite")


def test_a_choice_is_right_or_wrong_and_shown_as_it_is_written(page):
    assert answer(page, 2, 0)[0] == "Not quite: it is \u201ctwice(2)\u201d. You said \u201ctwice of one\u201d."
    assert question(page, 2).locator(".predict-result p").first.locator("code").inner_text() == "twice(2)"
    assert answer(page, 2, 2)[0].startswith("Not quite: it is \u201ctwice(2)\u201d. You said \u201c")
    assert question(page, 2).locator(".predict-result math").count() == 1
    assert answer(page, 2, 1)[0] == "Right: \u201ctwice(2)\u201d."


def test_a_quiz_counts_and_the_page_does_not_jump(page):
    count = page.locator(".quiz-count")
    assert count.inner_text() == "0 of 3 right"
    page.set_viewport_size({"width": 390, "height": 500})
    question(page, 4).evaluate("asked => asked.scrollIntoView({block: 'center'})")
    before = page.evaluate("scrollY")
    assert before > 100
    answer(page, 4, "2")
    assert page.evaluate("scrollY") == pytest.approx(before, abs=1)  # the screen rounds
    assert page.url.endswith("one.html")
    assert count.inner_text() == "1 of 3 right"
    answer(page, 3, 1)
    answer(page, 2, 0)
    assert count.inner_text() == "2 of 3 right"
    answer(page, 4, "3")
    assert count.inner_text() == "1 of 3 right"
    answer(page, 0, "6")  # stands outside the quiz
    assert count.inner_text() == "1 of 3 right"


def test_answers_are_kept_in_this_browser_until_they_are_forgotten(page):
    answer(page, 0, "10")
    answer(page, 2, 1)
    kept = page.evaluate("({...localStorage})")
    assert kept.keys() == {"theme", "attention-book-answers"}
    page.reload()
    assert question(page, 0).get_by_role("textbox").input_value() == "10"
    assert question(page, 0).get_by_role("status").inner_text().startswith("Not quite: it is 6.11. You said 10.")
    assert question(page, 2).get_by_role("radio").nth(1).is_checked()
    assert question(page, 1).get_by_role("status").inner_text() == ""
    assert page.locator(".quiz-count").inner_text() == "1 of 3 right"
    page.get_by_role("button", name="Forget my answers").click()
    assert page.locator(".quiz-count").inner_text() == "0 of 3 right. Your answers are forgotten."
    assert question(page, 0).get_by_role("status").inner_text() == ""
    assert page.evaluate("Object.keys(localStorage)") == ["theme"]
    page.reload()
    assert question(page, 0).get_by_role("textbox").input_value() == ""
    assert page.locator("input:checked[name^=predict]").count() == 0


def test_a_spoilt_memory_does_no_harm(page):
    number, choice = (question(page, which).locator("form").get_attribute("id") for which in (0, 2))
    for kept in "not JSON", "null", "7", json.dumps({number: 5, choice: '"]'}), json.dumps({number: "<b>x</b>", choice: "99"}):
        page.evaluate("kept => localStorage.setItem('attention-book-answers', kept)", kept)
        page.reload()
        assert page.locator(".predict-result *").count() == 0
        assert answer(page, 0, "6")[0] == "Right: 6.11."
        assert answer(page, 2, 1)[0] == "Right: \u201ctwice(2)\u201d."


def test_it_works_where_the_browser_keeps_nothing(pages, browser):
    with tab(browser) as page:
        page.add_init_script(NO_STORAGE)
        page.goto(pages.address + "one.html")
        assert answer(page, 2, 1)[0] == "Right: \u201ctwice(2)\u201d."
        assert page.locator(".quiz-count").inner_text() == "1 of 3 right"
        page.get_by_role("button", name="Forget my answers").click()
        assert page.locator(".quiz-count").inner_text() == "0 of 3 right. Your answers are forgotten."


def test_the_keyboard_is_enough(page):
    question(page, 0).get_by_role("textbox").focus()
    page.keyboard.type("6.5")
    page.keyboard.press("Enter")
    assert question(page, 0).get_by_role("status").inner_text().startswith("Right: 6.11.")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Check"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Show the answer"
    page.keyboard.press("Enter")
    assert question(page, 0).locator("details").get_attribute("open") is not None
    for _ in range(4):  # the next number, Check, Show the answer; then the first choice
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert question(page, 2).get_by_role("status").inner_text().startswith("Right: \u201ctwice(2)\u201d.")


def test_a_screen_reader_is_told_the_question_the_field_and_the_result(page):
    group = page.get_by_role("group", name="How large is twice(3), roughly?")
    field = group.get_by_role("textbox", name="Your number (within 1 is right)")
    answer(page, 0, "10")
    described = page.locator(f"[id='{field.get_attribute('aria-describedby')}']")
    assert described.get_attribute("role") == "status"
    assert described.inner_text().startswith("Not quite")
    assert page.get_by_role("group", name="Which is larger?").get_by_role("radio", name="twice of one").count() == 1
    assert page.get_by_role("group", name="Which is larger?").get_by_role("radio", name="\\sqrt{2}").count() == 1
    # What is copied into the result brings no name a second time.
    assert page.evaluate("[...document.querySelectorAll('[id]')].length === new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size")


def test_without_javascript_the_question_and_the_folded_answer_remain(pages, browser):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(pages.address + "one.html")
        assert page.locator("legend").first.is_visible()
        assert page.locator(".predict button:visible, .quiz button:visible, input[type=text]:visible").count() == 0
        assert page.locator("input[type=radio]:visible").count() == 5
        question(page, 2).get_by_role("radio").first.focus()
        page.keyboard.press("Enter")
        assert page.url.endswith("one.html")  # nothing is sent
        details = question(page, 0).locator("details")
        assert not details.locator("p").first.is_visible()
        details.locator("summary").click()
        assert details.locator("p").first.inner_text() == "Answer: 6.11 (within 1 is right)"
        assert details.locator(".predict-why").is_visible()
    finally:
        context.close()


def test_nothing_moves_when_the_script_arrives(pages, browser):
    with tab(browser) as page:
        held = []
        page.route("**/predict.js*", lambda route: held.append(route))
        page.goto(pages.address + "one.html", wait_until="commit")
        page.locator(".quiz").wait_for()
        page.wait_for_timeout(300)
        bottom = "document.querySelector('.quiz').getBoundingClientRect().bottom"
        before = page.evaluate(bottom)
        assert not page.get_by_role("button", name="Check").first.is_visible()
        held[0].continue_()
        page.get_by_role("button", name="Check").first.wait_for()
        assert page.evaluate(bottom) == before


def test_it_works_from_a_file(book, browser):
    with tab(browser) as page:
        page.goto((book.html / "one.html").as_uri())
        assert answer(page, 0, "6")[0] == "Right: 6.11."


class Strict(http.server.SimpleHTTPRequestHandler):
    """Allows what comes from here and nothing inline."""

    def end_headers(self):
        self.send_header("Content-Security-Policy", "default-src 'self'")
        super().end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def strict(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *args: Strict(*args, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def test_it_works_under_a_strict_policy_and_adds_nothing_that_the_policy_refuses(book, browser):
    refused = {}
    with strict(book.html) as address, tab(browser) as page:
        page.on("console", lambda message: refused[path].append(message.text) if "inline" in message.text else None)
        for path in ("two.html", "one.html"):
            refused[path] = []
            page.goto(address + path)
        assert answer(page, 0, "6")[0] == "Right: 6.11."
    # The theme has an inline script and inline styles, on pages without a question too.
    assert len(refused["one.html"]) == len(refused["two.html"]) > 0


@pytest.mark.parametrize("path", PAGES)
def test_the_page_fits_every_phone_and_asks_no_other_host(pages, browser, path):
    with tab(browser) as page:
        seen = visit(page, pages, path)
        assert (seen.other_hosts, seen.messages, seen.failed, seen.sideways) == ([], [], [], [])


def test_every_target_is_large_enough_at_320_pixels_also_with_results(page):
    page.set_viewport_size({"width": 320, "height": 700})
    answer(page, 0, "9" * 40)
    answer(page, 1, "w" * 40)
    answer(page, 2, 0)
    assert page.evaluate(SIDEWAYS) <= 0
    assert page.evaluate(SMALL_TARGETS) == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_before_and_after_answers(pages, browser, theme):
    with tab(browser, theme) as page:
        for path in PAGES:
            assert violations(page, pages, path) == []
        page.goto(pages.address + "one.html")
        answer(page, 0, "6")
        answer(page, 1, "six")
        answer(page, 2, 0)
        page.locator("summary").first.click()
        assert page.locator(".predict-result p").count() >= 3
        assert axe.run(page, options=EVERYTHING).response["violations"] == []


def test_forced_colours_keep_the_edges_and_the_focus(page):
    page.emulate_media(forced_colors="active")
    edges = page.locator(".predict").first.evaluate("box => getComputedStyle(box).borderTopStyle")
    assert edges == "solid"
    field = question(page, 0).get_by_role("textbox")
    field.focus()
    assert field.evaluate("field => getComputedStyle(field).outlineStyle") == "solid"
