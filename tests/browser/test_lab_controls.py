"""The lab driven with the mouse: each control changes the state, and the page shows what torch computes for it."""

import csv
import io
import json
import re

import pytest

from attention_book.lab.states import DEFAULT, trace_of
from tests.browser.lab_page import LAB, READ, hash_of, open_lab, quiet_lab
from tests.browser.visit import tab

CAT = DEFAULT | {"example": "text", "attention": "MultiHeadAttention", "seed": "42", "heads": 4, "scale": True}


@pytest.fixture
def page(server, browser):
    with quiet_lab(browser, server) as page:
        yield page


def shows(page, state):
    """Whether the table holds torch's numbers for the state."""
    page.wait_for_function("!document.querySelector('.lab[aria-busy]')")
    said = json.loads(page.evaluate(READ))
    matrix = getattr(trace_of(state), state["view"])
    matrix = matrix[state["head"]] if matrix.dim() == 3 else matrix
    rows = [[float(number) for number in row[: matrix.shape[1]]] for row in said["rows"]]
    assert len(rows) == matrix.shape[0]
    for row, expected in zip(rows, matrix.tolist(), strict=True):
        assert row == pytest.approx(expected, abs=6e-5)
    return said


def test_the_lab_starts_with_the_last_numbers_of_act_1(page):
    said = shows(page, DEFAULT)
    assert said["rows"][1][:6] == ["0.1385", "0.2379", "0.2333", "0.1240", "0.1082", "0.1581"]
    assert page.evaluate("location.hash") == ""


@pytest.mark.parametrize(("attention", "brings"), [
    ("SelfAttention_v1", {"seed": "123", "scale": True}),
    ("SelfAttention_v2", {"seed": "789", "scale": True}),
    ("CausalAttention", {"seed": "123", "scale": True, "causal": True}),
    ("MultiHeadAttentionWrapper", {"seed": "123", "scale": True, "causal": True, "heads": 2}),
    ("MultiHeadAttention", {"seed": "123", "scale": True, "causal": True, "heads": 2}),
])
def test_each_attention_of_the_acts_brings_its_seed_and_its_numbers(page, attention, brings):
    page.get_by_label("Attention", exact=True).select_option(attention)
    state = DEFAULT | {"attention": attention} | brings
    shows(page, state)
    page.get_by_role("radio", name="output").check(force=True)
    shows(page, state | {"view": "output"})


def test_mask_scale_and_views_are_switched(page):
    page.get_by_label("Causal mask: hide later tokens").check()
    page.get_by_label("Divide by the root of d_k").check()
    state = DEFAULT | {"causal": True, "scale": True}
    for view in ("scores", "scaled", "masked", "weights", "output"):
        page.locator(".lab-views label", has_text=re.compile(f"^{view}$")).click()
        shows(page, state | {"view": view})
    page.get_by_label("Causal mask: hide later tokens").uncheck()
    shows(page, state | {"causal": False, "view": "output"})


def test_the_temperature_slides_from_a_tenth_to_ten_with_one_marked(page):
    slider = page.get_by_role("slider", name="Temperature")
    assert slider.get_attribute("aria-valuetext") == "1"
    assert page.locator(".lab-ticks").first.inner_text().split() == ["0.1", "1", "10"]
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    for share, temperature in ((1, 10), (0, 0.1), (0.5, 1)):
        page.mouse.click(box["x"] + 1 + share * (box["width"] - 2), box["y"] + box["height"] / 2)
        assert slider.get_attribute("aria-valuetext") == str(temperature)
        shows(page, DEFAULT | {"temperature": temperature})
    slider.focus()
    page.keyboard.press("End")
    for _ in range(30):
        page.keyboard.press("ArrowLeft")
    warm = float(slider.get_attribute("aria-valuetext"))
    assert 8 < warm < 9
    shows(page, DEFAULT | {"temperature": warm})


def test_a_sliders_way_is_one_step_back(page):
    slider = page.get_by_role("slider", name="Temperature")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    for k in range(10):
        page.mouse.move(box["x"] + box["width"] * (0.5 + k / 25), y)
    page.mouse.up()
    assert float(slider.get_attribute("aria-valuetext")) > 3
    page.get_by_role("button", name="Undo").click()
    assert slider.get_attribute("aria-valuetext") == "1"
    shows(page, DEFAULT)


def test_a_sentence_of_ones_own_is_read_as_torch_reads_it(page):
    page.get_by_role("radio", name="your own sentence").check()
    field = page.get_by_label("Your sentence")
    field.fill("  one\u2003two\u00a0 three\nfour\x1cfive\ufeffsix  ")
    state = DEFAULT | {"example": "text", "seed": "42", "text": field.input_value()}
    said = shows(page, state)
    assert len(said["names"]) == len(trace_of(state).tokens) == 5
    assert page.locator(".lab-count").inner_text() == "5 of at most 512 tokens"
    page.get_by_label("Attention", exact=True).select_option("MultiHeadAttention")
    page.get_by_label("Seed").fill("18446744073709551615")
    page.get_by_label("d_model").fill("12")
    page.get_by_role("textbox", name="Heads").fill("3")
    wide = state | {"attention": "MultiHeadAttention", "scale": True, "seed": str(2**64 - 1), "d_model": 12, "heads": 3}
    shows(page, wide)
    page.locator(".lab-head").nth(2).click()
    shows(page, wide | {"head": 2})


def test_too_long_a_sentence_is_refused_and_nothing_is_lost(page):
    page.get_by_role("radio", name="your own sentence").check()
    field = page.get_by_label("Your sentence")
    long = " ".join(f"w{k}" for k in range(515))
    field.fill(long)
    assert page.locator(".lab-sentence [role=status]").inner_text() == "The text has 515 tokens, but at most 512 are read; take away 3."
    assert page.locator(".lab-count").inner_text() == "515 of at most 512 tokens"
    assert field.input_value() == long
    assert field.get_attribute("aria-invalid") == "true"
    shows(page, DEFAULT | {"example": "text", "seed": "42"})  # the map is still that of the last sentence that was read
    field.fill("")
    assert page.locator(".lab-sentence [role=status]").inner_text() == "The text is empty; type at least 1 word."
    field.fill("back again")
    assert page.locator(".lab-sentence [role=status]").inner_text() == ""
    shows(page, DEFAULT | {"example": "text", "seed": "42", "text": "back again"})


def test_what_is_still_being_composed_is_not_read(page):
    page.get_by_role("radio", name="your own sentence").check()
    field = page.get_by_label("Your sentence")
    field.fill("")
    field.focus()
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": "に", "selectionStart": 1, "selectionEnd": 1})
    session.send("Input.imeSetComposition", {"text": "にほん", "selectionStart": 3, "selectionEnd": 3})
    assert field.input_value() == "にほん"
    shows(page, DEFAULT | {"example": "text", "seed": "42"})
    session.send("Input.insertText", {"text": "日本"})
    assert field.input_value() == "日本"
    shows(page, DEFAULT | {"example": "text", "seed": "42", "text": "日本"})


def test_a_number_that_does_not_fit_is_told_beside_its_field_and_stays_in_it(page):
    page.get_by_label("Attention", exact=True).select_option("MultiHeadAttention")
    for label, typed, sentence in (
        ("d_out", "3", "d_out 3 is not divisible by 2 heads"),
        ("Heads", "x", "heads is “x”; give a whole number from 1 to 64"),
        ("Seed", "99999999999999999999", "which needs more than 64 bits"),
    ):
        field = page.get_by_label(label, exact=True)
        field.fill(typed)
        assert sentence in page.locator(f"[id='{field.get_attribute('aria-describedby')}']").inner_text()
        assert field.input_value() == typed
    shows(page, DEFAULT | {"attention": "MultiHeadAttention", "causal": True, "scale": True, "heads": 2})


def test_a_click_explains_a_cell_and_undo_redo_and_reset_go_back_and_forth(page):
    cells = page.locator(".lab-cells")
    box = cells.bounding_box()
    cells.click(position={"x": box["width"] * 2.5 / 6, "y": box["height"] * 1.5 / 6})
    assert page.locator(".lab-steps-heading strong").inner_text() == "Query journey, key starts, weight 0.2333"
    assert page.locator(".lab-reading").inner_text() == "query journey, key starts, weight 0.2333; it likes journey most"
    page.get_by_label("Causal mask: hide later tokens").check()
    assert page.locator(".lab-steps-heading strong").inner_text() == "Query journey, key starts, weight 0.0000, hidden: a later token"
    undo, redo = page.get_by_role("button", name="Undo"), page.get_by_role("button", name="Redo")
    undo.click()
    assert not page.get_by_label("Causal mask: hide later tokens").is_checked()
    undo.click()
    assert page.locator(".lab-steps li").count() == 0
    assert undo.is_disabled()
    redo.click()
    redo.click()
    assert page.locator(".lab-steps-heading strong").inner_text().endswith("hidden: a later token")
    assert redo.is_disabled()
    page.get_by_role("button", name="Reset").click()
    shows(page, DEFAULT)
    undo.click()  # a reset can be taken back too
    assert page.get_by_label("Causal mask: hide later tokens").is_checked()


def test_pointing_at_a_cell_reads_it_and_leaving_goes_back(page):
    cells = page.locator(".lab-cells")
    box = cells.bounding_box()
    cells.hover(position={"x": box["width"] * 1.5 / 6, "y": box["height"] * 5.5 / 6})
    assert page.locator(".lab-reading").inner_text() == "query step, key journey, weight 0.2184; it likes journey most"
    assert [page.locator(f".lab-{edge} .on").inner_text() for edge in ("down", "across")] == ["step", "journey"]
    page.mouse.move(5, 5)
    assert page.locator(".lab-reading").inner_text() == "Point at a cell to read it."


def test_share_gives_an_address_that_shows_the_same(page, server, browser):
    page.get_by_role("radio", name="your own sentence").check()
    page.get_by_label("Your sentence").fill("שלום <b> \u202e & # = % \"x\" 🙂")
    page.get_by_label("Attention", exact=True).select_option("MultiHeadAttention")
    page.locator(".lab-head").nth(3).click()
    page.get_by_role("button", name="Share").click()
    link = page.locator(".lab-address").get_attribute("href")
    assert link.startswith(server.address + LAB + "#")
    before = json.loads(page.evaluate(READ))
    with tab(browser) as other:
        other.goto(link)
        other.locator(".lab-live").wait_for()
        after = json.loads(other.evaluate(READ))
    assert after == before
    page.wait_for_function("link => location.href === link", arg=link)  # the page's own address follows


def taken(page, kind):
    with page.expect_download() as started:
        page.get_by_role("button", name=kind, exact=True).click()
    return started.value.suggested_filename, started.value.path().read_bytes()


def test_every_export_holds_the_view(page, server):
    open_lab(page, server, CAT | {"head": 2, "causal": True})
    steps = trace_of(CAT | {"causal": True})
    name, content = taken(page, "CSV")
    rows = list(csv.reader(io.StringIO(content.decode())))
    assert name == "attention_weights.csv"
    assert rows[0] == ["query", *steps.tokens]
    assert [float(number) for number in rows[9][1:]] == pytest.approx(steps.weights[2, 8].tolist(), abs=5e-6)
    name, content = taken(page, "JSON")
    read = json.loads(content)
    assert read["tokens"] == list(steps.tokens)
    assert read["weights"]["shape"] == [4, 10, 10]
    assert read["output"]["data"] == pytest.approx(steps.output.flatten().tolist(), abs=5e-6)
    name, content = taken(page, "SVG")
    assert (name, content[:4]) == ("attention_weights.svg", b"<svg")
    assert "tired" in content.decode()
    name, content = taken(page, "PNG")
    assert (name, content[:4]) == ("attention_weights.png", b"\x89PNG")
    assert len(content) > 5000


def test_the_program_is_copied_and_downloaded(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    code = page.locator(".lab > .lab-code")
    code.locator("summary").click()
    shown = code.locator("pre").inner_text()
    code.get_by_role("button", name="Copy").click()
    assert code.get_by_role("status").inner_text() == "Copied."
    assert page.evaluate("navigator.clipboard.readText()").strip() == shown.strip()
    with page.expect_download() as started:
        code.get_by_role("button", name="Download").click()
    assert started.value.suggested_filename == "attention.py"
    assert started.value.path().read_text("utf-8").strip() == shown.strip()


@pytest.mark.parametrize("hash", ["#seed=x", "#attention=Evil&row=3", "#text=%E0%A4%A", "#row=9", "#heads=2", "#nonsense=1", "#<img src=x onerror=alert(1)>=1"])
def test_a_stale_or_hostile_address_gives_the_first_view_and_a_sentence(page, server, hash):
    page.goto(server.address + "genindex.html")
    page.goto(server.address + LAB + hash)
    page.locator(".lab-live").wait_for()
    shows(page, DEFAULT)
    assert page.get_by_role("alert").inner_text().startswith("The link cannot be read, so the lab starts from its first view:")
    assert page.locator(".lab img").count() == 0


def test_a_heading_of_the_page_is_no_state(page, server):
    open_lab(page, server, DEFAULT | {"causal": True})
    page.evaluate("location.hash = '#what-to-try'")
    page.wait_for_timeout(100)
    assert page.get_by_label("Causal mask: hide later tokens").is_checked()
    assert not page.get_by_role("alert").is_visible()


def test_the_address_follows_the_state(page):
    page.get_by_label("Causal mask: hide later tokens").check()
    page.wait_for_function("location.hash === '#causal=true'")
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function("location.hash === ''")
    page.evaluate("hash => { location.hash = hash }", hash_of(CAT))
    page.locator(".lab-head").nth(3).wait_for()
    shows(page, CAT)
