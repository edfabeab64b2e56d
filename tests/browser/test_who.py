"""The model that knows who is "it" on the page of the lab: words chosen, heads switched off, the numbers torch's."""

import gzip
import json
import re

import pytest

from attention_book.lab.who import SENTENCES, best, finding, models, says
from attention_book.trained.ablate import without
from attention_book.trained.grammar import IDS
from attention_book.trained.who_is_it import answer
from tests.browser.test_axe import EVERYTHING, axe, violations
from tests.browser.test_predict import SMALL_TARGETS, strict
from tests.browser.visit import SIDEWAYS, tab
from tests.trained.conftest import trained_weights  # noqa: F401 (pytest finds fixtures by name)

pytestmark = pytest.mark.usefixtures("trained_weights")
PLACE = "lab.html#who-is-it"
WITHIN = 1.5e-4  # of the browser, and half of the last digit shown
READ = """() => JSON.stringify([...document.querySelectorAll('.who-tables table')].map(table => ({
    caption: table.caption.textContent,
    heads: [...table.tHead.querySelectorAll('th')].map(each => each.textContent),
    words: [...table.tBodies[0].querySelectorAll('th')].map(each => each.textContent),
    nouns: [...table.tBodies[0].querySelectorAll('th.who-noun')].map(each => each.textContent),
    rows: [...table.tBodies[0].rows].map(row => [...row.querySelectorAll('td')].map(each => each.textContent)),
    shades: [...table.tBodies[0].rows].map(row => [...row.querySelectorAll('td')].map(each => Number(each.className.match(/^m(\\d+)/)[1]))),
})))"""
NAME = "document.activeElement.ariaLabel ?? document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent"
WATCH = """() => { window.moved = 0; new PerformanceObserver(list =>
    list.getEntries().forEach(each => window.moved += each.value)).observe({type: 'layout-shift'}) }"""


@pytest.fixture
def both(trained_weights):  # noqa: F811
    return models()


def open_who(page, address):
    page.goto(address)
    page.locator(".who .lab-controls").wait_for()
    return page


@pytest.fixture
def page(server, browser):
    """The place in a new tab; whatever it throws or writes to the console fails the test."""
    with tab(browser) as page:
        told = []
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        yield open_who(page, server.address + PLACE)
        assert told == []


def choose(page, **words):
    """By the names that the boxes have."""
    for name, word in words.items():
        page.locator(".who").get_by_label(name.replace("_", " "), exact=True).select_option(word)


def pattern(page, words):
    page.locator(".who").get_by_label("Pattern").select_option(label=words)


def head(page, layer, number):
    return page.locator(".who").get_by_role("group", name=f"Layer {layer}: heads that are on").get_by_label(f"head {number}")


def said(page):
    return page.locator(".who").get_by_role("status").inner_text()


def check_tables(told, both, tokens, right, wrong, off=()):
    """What two tables show is what torch gives."""
    assert len(told) == 2
    for (name, model), table in zip(both.items(), told, strict=True):
        _, probabilities, weights = answer(without(model, off), tokens)
        from_it = weights[1][:, tokens.index("it")]
        assert table["words"] == list(tokens)
        assert sorted(table["nouns"]) == sorted((right, wrong))
        assert table["heads"] == [f"head {h}{' off' if (1, h) in off else ''}" for h in range(4)]
        for j, (row, shades) in enumerate(zip(table["rows"], table["shades"], strict=True)):
            for h in range(4):
                assert re.fullmatch(r"[01]\.\d{4}", row[h])
                assert abs(float(row[h]) - from_it[h, j].item()) <= WITHIN
                assert abs(shades[h] - 63 * from_it[h, j].item()) <= 0.52
        shown = re.fullmatch(rf"{name}: weights from “it” to each word\. Answer: {right} ([\d.]+), {wrong} ([\d.]+)", table["caption"])
        assert shown, table["caption"]
        for noun, number in zip((right, wrong), shown.groups(), strict=True):
            assert abs(float(number) - probabilities[IDS[noun]].item()) <= WITHIN


def alike(sentence, expected):
    """The same words, and numbers that are near."""
    number = r"\d\.\d{4}"
    assert re.sub(number, "#", sentence) == re.sub(number, "#", expected)
    for mine, right in zip(re.findall(number, sentence), re.findall(number, expected), strict=True):
        assert abs(float(mine) - float(right)) <= WITHIN + 5e-5


def check(page, both, sentence, right, wrong):
    tokens = sentence.split()
    check_tables(json.loads(page.evaluate(READ)), both, tokens, right, wrong)
    alike(said(page), says(both, tokens, right))


def test_tired_becomes_soft_and_the_numbers_are_torchs(page, both):
    check(page, both, "the cat sat on the mat because it was tired", "cat", "mat")
    assert "“cat”" in said(page).split(".")[0]
    choose(page, adjective="soft")
    check(page, both, "the cat sat on the mat because it was soft", "mat", "cat")
    trained = json.loads(page.evaluate(READ))[0]
    assert max(trained["shades"][trained["words"].index("mat")]) >= 62


def test_every_word_can_be_chosen_and_every_pattern(page, both):
    choose(page, animal="wolf", sat="slept", on="behind", thing="log", how_much="very", adjective="wooden")
    check(page, both, "the wolf slept behind the log because it was very wooden", "log", "wolf")
    pattern(page, "because it was adjective the chased was caught by the chaser")
    choose(page, chased="hen", caught="followed", chaser="fox", adjective="weak", how_much="so")
    check(page, both, "because it was so weak the hen was followed by the fox", "hen", "fox")
    pattern(page, "the inner did not fit in the outer because it was too adjective")
    assert page.locator(".who").get_by_label("how much").count() == 0
    choose(page, inner="sofa", outer="box", adjective="large")
    check(page, both, "the sofa did not fit in the box because it was too large", "sofa", "box")
    pattern(page, "the animal sat on the thing because it was adjective")
    assert page.locator(".who").get_by_label("how much").input_value() == ""


def test_no_noun_can_be_both_and_nothing_can_be_typed(page):
    pattern(page, "the chaser caught the chased because it was adjective")
    taken = page.locator(".who").get_by_label("chaser").input_value()
    disabled = page.locator(".who").get_by_label("chased").locator("option:disabled")
    assert disabled.all_text_contents() == [taken]
    choose(page, chaser="lion")
    assert disabled.all_text_contents() == ["lion"]
    assert page.locator(".who :is(input:not([type=checkbox]), textarea, [contenteditable])").count() == 0


def test_a_head_that_is_switched_off_hands_over_nothing(page, both):
    choose(page, adjective="soft")
    tokens, model = SENTENCES["mat"], both["Trained"]
    layer, number = (int(each) for each in re.search(r"without head (\d) of layer (\d) “soft”", finding()).groups()[::-1])
    for off in [(layer, number)], [(layer, number), (1, (number + 1) % 4)]:
        for each in off:
            head(page, *each).uncheck()
        check_tables(json.loads(page.evaluate(READ)), both, tokens, "mat", "cat", off)
        (word, probability), whole = best(without(model, off), tokens), best(model, tokens)
        assert word != "mat", "the finding says so"
        listed = " and ".join(f"head {h} of layer {each}" for each, h in sorted(off))
        drawn, chance = best(without(both["Random"], off), tokens)
        alike(
            said(page),
            f"Trained, the model answers “{word}” with probability {probability:.4f}, but the grammar means “mat”. "
            f"The answer changes: with all heads on it is “mat” with probability {whole[1]:.4f}; off {'is' if len(off) == 1 else 'are'} {listed}. "
            f"With random weights it answers “{drawn}” with probability {chance:.4f}.",
        )
    page.get_by_role("button", name="All heads on").click()
    check(page, both, "the cat sat on the mat because it was soft", "mat", "cat")
    assert page.locator(".who input:checked").count() == 8


def test_heads_that_are_not_missed_leave_the_answer(page):
    idle = re.findall(r"\d", re.search(r"Switch off (.*?):", finding())[1])
    for each in idle:
        head(page, 1, each).uncheck()
    for adjective, noun in (("tired", "cat"), ("soft", "mat")):
        choose(page, adjective=adjective)
        assert said(page).startswith(f"Trained, the model answers “{noun}”")
        assert "The answer stays: with all heads on" in said(page)
    assert finding() in page.locator("article").inner_text()


def test_it_works_by_keyboard_and_focus_stays(page, both):
    page.locator(".who").get_by_label("Pattern").focus()
    names = []
    for _ in range(16):
        names.append(page.evaluate(NAME))
        if names[-1] == "adjective":
            page.keyboard.type("so")
            assert page.evaluate("document.activeElement.value") == "soft"
        if names[-1] == "head 0":
            page.keyboard.press("Space")
            assert page.evaluate("document.activeElement.checked") is False
            page.keyboard.press("Space")
        page.keyboard.press("Tab")
    heads = [f"head {h}" for h in range(4)]
    assert names == ["Pattern", "animal", "sat", "on", "thing", "how much", "adjective", *heads, *heads, "All heads on"]
    scrolls = [page.evaluate("document.activeElement.ariaLabel")]
    page.keyboard.press("Tab")
    scrolls.append(page.evaluate("document.activeElement.ariaLabel"))
    assert scrolls == [f"{name}: what each head gives" for name in both]
    check(page, both, "the cat sat on the mat because it was soft", "mat", "cat")
    assert page.locator(".who [role=status]").get_attribute("aria-live") == "polite"


def test_the_model_is_loaded_only_near_its_place(server, browser):
    with tab(browser) as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[-1]))
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(f"{server.address}lab.html")
        page.locator(".lab-live").first.wait_for()
        page.wait_for_timeout(300)
        assert not {"who.js", "who_is_it.js"} & {name.split("?")[0] for name in asked}
        page.locator(".who").scroll_into_view_if_needed()
        page.locator(".who .lab-controls").wait_for()
        assert [name.split("?")[0] for name in asked if name.startswith("who") and not name.startswith("who.css")] == ["who.js", "who_is_it.js"]


def test_the_page_of_the_lab_stays_light(site, server, browser):
    def packed(path):
        return len(gzip.compress(path.read_bytes(), 9))

    assert sum(packed(site / "_static" / name) for name in ("lab.js", "lab.css", "near.js", "who.css")) <= 40 * 1024
    with tab(browser) as page:
        asked = set()
        page.on("request", lambda request: asked.add(request.url.removeprefix(server.address).split("?")[0]))
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(f"{server.address}lab.html", wait_until="networkidle")
        assert "_static/lab.js" in asked
        assert sum(packed(site / path) for path in asked) <= 200_000


def test_it_works_from_a_folder_and_under_a_strict_policy(site, browser, both):
    with tab(browser) as page, strict(site) as address:
        for start in ((site / "lab.html").as_uri() + "#who-is-it", address + PLACE):
            open_who(page, start)
            choose(page, adjective="soft")
            check(page, both, "the cat sat on the mat because it was soft", "mat", "cat")


def test_without_javascript_both_sentences_stand_there(server, browser, both):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.address + PLACE)
    tables = page.locator(".who table").all()
    assert [table.is_visible() for table in tables] == [True] * 4
    for number, (right, tokens) in enumerate(SENTENCES.items()):
        assert page.locator(".who .who-reading").nth(number).inner_text() == says(both, tokens, right)
        for table, model in zip(tables[2 * number : 2 * number + 2], both.values(), strict=True):
            cells = [float(cell) for cell in table.locator("td").all_inner_texts() if cell.strip()]
            weights = answer(model, tokens)[2][1][:, tokens.index("it")].T.flatten().tolist()
            assert cells == [float(f"{weight:.4f}") for weight in weights]
    assert "With JavaScript you can choose the words" in page.locator(".who noscript").inner_text()
    context.close()


@pytest.mark.parametrize("missing", ["who.js", "who_is_it.js"])
def test_what_cannot_be_loaded_leaves_both_sentences(server, browser, missing):
    with tab(browser) as page:
        page.route(f"**/{missing}", lambda route: route.abort())
        page.goto(server.address + PLACE)
        page.locator(".who.alone").wait_for()
        assert [table.is_visible() for table in page.locator(".who table").all()] == [True] * 4
        told = "The model could not be loaded: is who_is_it.js still beside this page's other files?"
        assert page.get_by_text(told).count() == (1 if missing == "who_is_it.js" else 0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_before_and_after(server, browser, theme):
    with tab(browser, theme) as page:
        assert violations(page, server, PLACE) == []
        page.locator(".who .lab-controls").wait_for()
        head(page, 1, 2).uncheck()
        choose(page, adjective="soft")
        found = axe.run(page, options=EVERYTHING).response["violations"]
        assert [(rule["id"], node["html"][:200]) for rule in found for node in rule["nodes"]] == []


def test_it_fits_a_phone(page):
    for width in (320, 390):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate(SIDEWAYS) <= 0
        assert page.evaluate("() => [...document.querySelectorAll('.who .lab-scroll')].filter(each => each.scrollWidth > each.clientWidth).length") == 0
    assert page.evaluate(SMALL_TARGETS.replace(":is(.predict, .quiz) :is(input, button, summary)", ".who :is(select, button, .lab-check)")) == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_moves_when_the_script_takes_over(server, browser, width):
    with tab(browser) as page:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{server.address}lab.html")
        page.locator(".lab-live").first.wait_for()
        page.evaluate(WATCH)
        page.evaluate("document.querySelector('.who-finding').scrollIntoView({block: 'end'})")
        page.locator(".who .lab-controls").wait_for()
        page.wait_for_timeout(300)
        assert page.evaluate("moved") < 0.05


def test_the_script_about_it_links_here(server, browser):
    with tab(browser) as page:
        page.goto(f"{server.address}gallery/trained/trained_1_who_is_it.html")
        page.locator("article a", has_text="the lab").click()
        page.wait_for_url(f"**/{PLACE}")
        page.locator(".who .lab-controls").wait_for()
