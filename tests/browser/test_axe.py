"""axe-core finds nothing on any page, in light and in dark."""

from axe_playwright_python.sync_playwright import Axe

from tests.browser.visit import pages_of, tab

axe = Axe()
EVERYTHING = {"resultTypes": ["violations"]}
# Only colours differ between the themes.
COLOURS = EVERYTHING | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}

# Code and signatures hold thousands of words in a dozen colours, and each costs axe some milliseconds:
# one word of each kind and place stays for all. Inner words come first, and links stay whole.
MERGE_REPETITIONS = """() => {
    const seen = new Set()
    for (const word of [...document.querySelectorAll('.highlight span, .sig span, span.pre')].reverse()) {
        if (word.firstElementChild || word.closest('.highlight a')) continue
        const around = word.parentElement.parentElement
        const kind = [word, word.parentElement, around, around.parentElement].map(e => e.tagName + e.className).join()
        // Left as bare text in a line of code, it would count as the text that a link must stand out from.
        if (seen.has(kind)) word.replaceWith(word.closest('.highlight') ? '' : word.textContent)
        seen.add(kind)
    }
}"""


def violations(page, server, path, options=EVERYTHING) -> list[str]:
    """`rule: element` for each fault that axe names."""
    page.goto(server.address + path, wait_until="load")
    page.evaluate(MERGE_REPETITIONS)
    found = axe.run(page, options=options).response["violations"]
    return [f"{rule['id']}: {node['html'][:200]}" for rule in found for node in rule["nodes"]]


def on_all_pages(site, server, browser, theme, options):
    with tab(browser, theme) as page:
        return [f"{path}: {fault}" for path in pages_of(site) for fault in violations(page, server, path, options)]


def test_axe_finds_nothing_in_the_light(site, server, browser):
    faults = on_all_pages(site, server, browser, "light", EVERYTHING)
    assert not faults, "\n".join(faults)


def test_axe_finds_nothing_in_the_dark(site, server, browser):
    faults = on_all_pages(site, server, browser, "dark", COLOURS)
    assert not faults, "\n".join(faults)
