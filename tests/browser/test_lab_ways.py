"""Every way to the lab: keyboard alone, a thumb at 320 pixels, a screen reader, forced colours, no script, a file, a strict policy."""

import http.server
import json
from contextlib import contextmanager
from threading import Thread

import pytest
from bs4 import BeautifulSoup

from attention_book.lab.states import DEFAULT, heads_of, trace_of
from tests.browser.lab_page import READ, hash_of, open_lab, quiet_lab
from tests.browser.test_axe import EVERYTHING, axe
from tests.browser.visit import SIDEWAYS, pages_of, tab

ACTS = {
    "acts/act1.html": {"attention": "simple"},
    "acts/act2.html": {"attention": "SelfAttention_v2", "seed": "789", "scale": True},
    "acts/act3.html": {"attention": "CausalAttention", "scale": True, "causal": True},
    "acts/act4.html": {"attention": "MultiHeadAttentionWrapper", "scale": True, "causal": True, "heads": 2},
    "lab.html": {},
}
LONG = {"example": "text", "text": " ".join(f"word{k}" for k in range(100)), "seed": "42", "scale": True, "attention": "MultiHeadAttention", "heads": 4}
FOCUSED = "document.activeElement.getAttribute('aria-label')"


@pytest.fixture
def page(server, browser):
    with quiet_lab(browser, server) as page:
        yield page


def test_the_keyboard_reaches_and_explains_every_cell(page, server):
    open_lab(page, server, DEFAULT | {"attention": "CausalAttention", "causal": True, "scale": True})
    page.get_by_role("radio", name="weights").focus()
    page.keyboard.press("Tab")  # one stop for all cells
    assert page.evaluate("document.activeElement.role") == "gridcell"
    weights = trace_of(DEFAULT | {"attention": "CausalAttention", "causal": True, "scale": True}).weights
    names = ("Your", "journey", "starts", "with", "one", "step")
    for i in range(6):
        page.keyboard.press("Home")
        for j in range(6):
            said = page.evaluate(FOCUSED)
            assert said.startswith(f"query {names[i]}, key {names[j]}, weight {weights[i, j]:.4f}"), said
            assert page.get_by_role("status").filter(has_text=said).count() == 1  # what a screen reader hears
            page.keyboard.press("Enter")
            assert page.locator(".lab-steps-heading strong").inner_text().lower() == said.lower()
            assert page.evaluate("document.activeElement.role") == "gridcell"
            page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")


def test_home_end_and_pages_jump_and_edges_hold(page, server):
    open_lab(page, server, DEFAULT | LONG)
    page.locator("[role=gridcell]").focus()
    page.wait_for_function("document.querySelector('[role=grid]').getAttribute('aria-rowcount') === '100'")
    cell = page.locator("[role=gridcell]")
    for key, row, column in (
        ("End", 0, 99), ("PageDown", 10, 99), ("ArrowLeft", 10, 98), ("Control+End", 99, 99), ("ArrowDown", 99, 99), ("ArrowRight", 99, 99),
        ("PageUp", 89, 99), ("Home", 89, 0), ("ArrowLeft", 89, 0), ("ArrowUp", 88, 0), ("Control+Home", 0, 0), ("ArrowUp", 0, 0),
    ):
        page.keyboard.press(key)
        assert cell.get_attribute("aria-label").startswith(f"query word{row}, key word{column}, weight 0."), key
        assert (page.locator("[role=row]").first.get_attribute("aria-rowindex"), cell.get_attribute("aria-colindex")) == (str(row + 1), str(column + 1))
        seen = cell.evaluate("""cell => { const a = cell.getBoundingClientRect(), b = cell.closest('.lab-map').getBoundingClientRect()
            return a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1 }""")
        assert seen, f"{key} leaves the cell out of sight"


def test_the_whole_lab_is_driven_by_keyboard_alone(page):
    page.get_by_role("radio", name="the six words of the acts").focus()
    page.keyboard.press("ArrowRight")  # your own sentence
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("one two three")
    page.keyboard.press("Tab")
    page.keyboard.press("M")  # MultiHeadAttentionWrapper
    page.keyboard.press("ArrowDown")  # MultiHeadAttention
    for typed in ("7", "8", "2"):
        page.keyboard.press("Tab")
        page.keyboard.press("Control+a")
        page.keyboard.type(typed)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.wait_for_function("!document.querySelector('.lab[aria-busy]')")
    state = DEFAULT | {
        "example": "text", "text": "one two three", "attention": "MultiHeadAttention", "seed": "7", "d_model": 8, "heads": 2, "causal": True, "scale": True,
    }
    said = json.loads(page.evaluate(READ))
    assert [float(number) for row in said["rows"] for number in row[:3]] == pytest.approx(trace_of(state).weights[0].flatten().tolist(), abs=6e-5)


@pytest.fixture
def phone(server, browser):
    """The narrowest phone, with a thumb and no mouse."""
    context = browser.new_context(viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True, device_scale_factor=2, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(10_000)
    yield page
    context.close()


def test_a_thumb_at_320_pixels_drives_it(phone, server):
    open_lab(phone, server, DEFAULT | {"attention": "MultiHeadAttentionWrapper", "heads": 2, "causal": True, "scale": True})
    phone.get_by_text("Causal mask: hide later tokens").tap()
    phone.locator(".lab-head").nth(1).tap()
    cells = phone.locator(".lab-cells")
    box = cells.bounding_box()
    cells.tap(position={"x": box["width"] * 4.5 / 6, "y": box["height"] * 0.5 / 6})
    weight = trace_of(DEFAULT | {"attention": "MultiHeadAttentionWrapper", "heads": 2, "scale": True}).weights[1, 0, 4]
    assert phone.locator(".lab-steps-heading strong").inner_text() == f"Query Your, key one, weight {weight:.4f}"
    assert phone.evaluate(SIDEWAYS) <= 0


@pytest.mark.parametrize("path", ACTS)
def test_every_target_is_large_enough_at_320_pixels(phone, server, path):
    open_lab(phone, server, path=path)
    phone.evaluate("document.querySelectorAll('.lab details').forEach(part => { part.open = true })")
    phone.wait_for_timeout(300)
    small = phone.evaluate("""() => [...document.querySelectorAll('.lab :is(button, select, textarea, summary, input, [role=gridcell])')]
        .map(target => [target, (target.closest('label') ?? target).getBoundingClientRect()]).filter(([, box]) => box.width)
        .filter(([, box]) => box.width < 24 || box.height < 24).map(([target, box]) => `${target.outerHTML.slice(0, 80)} ${box.width} x ${box.height}`)""")
    assert small == []
    assert phone.evaluate(SIDEWAYS) <= 0


def test_a_wide_map_scrolls_by_itself_and_keeps_its_names_in_sight(phone, server):
    open_lab(phone, server, DEFAULT | LONG)
    phone.wait_for_function("document.querySelector('[role=grid]').getAttribute('aria-rowcount') === '100'")
    assert phone.evaluate(SIDEWAYS) <= 0
    places = phone.evaluate("""async () => {
        const map = document.querySelector('.lab-map')
        const name = at => { const found = document.querySelector(at).getBoundingClientRect(), box = map.getBoundingClientRect()
            return [found.left - box.left, found.top - box.top] }
        const before = [name('.lab-down')[0], name('.lab-across')[1]]
        map.scrollTo(1000, 900)
        await new Promise(requestAnimationFrame)
        return [before, [name('.lab-down')[0], name('.lab-across')[1]], map.scrollLeft, map.scrollTop]
    }""")
    before, after, left, top = places
    assert (left, top) == (1000, 900)
    assert after == pytest.approx(before, abs=1)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", ["lab.html", "acts/act4.html"])
def test_axe_finds_nothing_in_a_lab_with_everything_open(server, browser, theme, path):
    with tab(browser, theme) as page:
        state = DEFAULT | {"attention": "MultiHeadAttention", "heads": 2, "d_out": 4, "causal": True, "scale": True, "row": 4, "column": 2}
        open_lab(page, server, state if path == "lab.html" else None, path)
        page.evaluate("document.querySelectorAll('.lab details').forEach(part => { part.open = true })")
        page.wait_for_timeout(300)
        if path == "lab.html":
            page.get_by_role("textbox", name="Heads").fill("x")
        found = axe.run(page, context=".lab", options=EVERYTHING).response["violations"]
        assert [f"{rule['id']}: {node['html'][:200]}" for rule in found for node in rule["nodes"]] == []


def test_forced_colours_keep_the_maps_and_the_edges(page):
    page.emulate_media(forced_colors="active")
    assert page.locator(".lab-views > div").evaluate("box => getComputedStyle(box).borderTopStyle") == "solid"
    chosen = page.locator(".lab-views label:has(:checked)").evaluate("label => getComputedStyle(label).backgroundColor")
    other = page.locator(".lab-views label:not(:has(:checked))").first.evaluate("label => getComputedStyle(label).backgroundColor")
    assert chosen != other
    page.locator("[role=gridcell]").focus()
    assert page.locator("[role=gridcell]").evaluate("cell => getComputedStyle(cell).outlineStyle") == "solid"


def still(markup):
    """The tables of a lab without a script: `caption -> rows`."""
    tables = {}
    for table in BeautifulSoup(markup, "html.parser").select(".lab-still table"):
        tables[table.caption.text.split(":")[0]] = [[cell.text for cell in row.select("td")] for row in table.tbody.select("tr")]
    return tables


@pytest.mark.parametrize("path", ACTS)
def test_without_javascript_the_same_numbers_stand_there(site, server, browser, path):
    state = DEFAULT | ACTS[path]
    steps = trace_of(state)
    tables = still((site / path).read_text("utf-8"))
    assert len(tables) >= 3
    for name, rows in tables.items():
        view, _, head = name.partition(" of head ")
        matrix = heads_of(getattr(steps, view))[int(head or 0)]
        assert rows == [[f"{number:.4f}" for number in row] for row in matrix.tolist()], name
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(server.address + path)
        assert page.locator(".lab table").first.is_visible()
        first = page.locator(".lab tbody").first.inner_text()
        assert page.locator(".lab details summary").first.is_visible()
    finally:
        context.close()
    with tab(browser) as page:
        open_lab(page, server, path=path)
        said = json.loads(page.evaluate(READ))
    assert first.split() == [word for name, row in zip(said["names"], said["rows"], strict=True) for word in (name, *row[:6])]


@pytest.mark.parametrize("path", ACTS)
@pytest.mark.parametrize("width", [320, 390, 460, 580, 1280, 1600])
def test_nothing_moves_when_the_script_arrives(server, browser, path, width):
    with tab(browser) as page:
        page.set_viewport_size({"width": width, "height": 900})
        held = []
        page.route("**/lab.js*", lambda route: held.append(route))
        page.goto(server.address + path, wait_until="commit")
        page.locator(".lab-still table").first.wait_for()
        page.evaluate("""() => { window.shift = 0
            // The theme's scripts run after the lab's, and move the theme's header once the page is scrolled: only the lab page stays at its top.
            const ours = entry => !scrollY || entry.sources.some(({node}) => node?.parentElement?.closest('.lab'))
            const add = list => { for (const entry of list.getEntries()) if (ours(entry)) window.shift += entry.value }
            new PerformanceObserver(add).observe({type: 'layout-shift', buffered: true}) }""")
        page.locator(".lab[data-kind]").scroll_into_view_if_needed()
        page.wait_for_timeout(300)
        height = "document.querySelector('.lab').getBoundingClientRect().height"
        before = page.evaluate(height)
        page.evaluate("window.shift = 0")  # scrolling has moved the theme's own header
        held[0].continue_()
        page.locator(".lab-live").wait_for()
        page.wait_for_timeout(300)
        assert page.evaluate(height) == pytest.approx(before, abs=1)
        assert page.evaluate("window.shift") < 0.05


@pytest.mark.parametrize("path", ["lab.html", "acts/act4.html"])
def test_it_works_from_a_file_the_worker_included(site, browser, path):
    with tab(browser) as page:
        told = []
        # Browsers refuse a font that is asked for ahead of its style sheet over file://, and say so; the lab has none.
        page.on("console", lambda message: told.append(message.text) if "font" not in message.text + message.location["url"] else None)
        page.on("pageerror", lambda error: told.append(str(error)))
        large = hash_of(DEFAULT | LONG | {"text": "a b " * 250, "d_model": 64}) if path == "lab.html" else ""
        page.goto((site / path).as_uri() + large)
        page.locator(".lab-live").wait_for()
        page.wait_for_function("!document.querySelector('.lab[aria-busy]')", timeout=20_000)
        assert page.locator(".lab-down span").count() == (500 if large else 6)
        assert told == []


def policy_of(site) -> str:
    """The policy that the hosting guide of this very build prints."""
    page = BeautifulSoup((site / "hosting.html").read_text("utf-8"), "html.parser")
    [policy] = [block.text for block in page.select("pre") if "default-src" in block.text]
    return " ".join(policy.split())


class Strict(http.server.SimpleHTTPRequestHandler):
    """Sends the policy with every file."""

    protocol_version = "HTTP/1.1"

    def end_headers(self):
        self.send_header("Content-Security-Policy", self.server.policy)
        super().end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def strict(folder, policy):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *args: Strict(*args, directory=str(folder)))
    server.policy = policy
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def test_the_policy_of_the_hosting_guide_holds_on_every_page_with_the_lab_working(site, browser):
    policy = policy_of(site)
    assert policy.startswith("default-src 'self'; script-src 'self' 'sha256-")
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.split(";")[1]
    refused = []
    with strict(site, policy) as address, tab(browser) as page:
        page.set_default_timeout(20_000)
        page.on("console", lambda message: refused.append(f"{page.url}: {message.text}"))
        page.on("pageerror", lambda error: refused.append(f"{page.url}: {error}"))
        for path in pages_of(site):
            page.goto(address + path, wait_until="load")
        page.goto(address + "lab.html" + hash_of(DEFAULT | LONG | {"text": "a b " * 250, "d_model": 64}))
        page.locator(".lab-live:not([aria-busy])").wait_for()
        assert page.locator(".lab-down span").count() == 500
        for kind in ("CSV", "JSON", "SVG", "PNG"):
            with page.expect_download():
                page.get_by_role("button", name=kind, exact=True).click()
    assert refused == []


def test_the_lab_weighs_little(site):
    import gzip

    weights = {name: len(gzip.compress((site / "_static" / name).read_bytes(), 9)) for name in ("lab.js", "lab.css")}
    assert sum(weights.values()) <= 40_000, weights
    whole = sum((site / "_static" / name).stat().st_size for name in weights)
    assert 0.25 < sum(weights.values()) / whole < 0.4  # "about a third", says the hosting guide
