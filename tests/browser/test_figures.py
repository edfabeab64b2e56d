"""Every figure can be read in light and in dark."""

import pytest
from bs4 import BeautifulSoup

from tests.browser.ink import contrast
from tests.browser.visit import pages_of, tab

ENOUGH = 7  # the stricter of the two levels that the accessibility guidelines ask of text


def figures(site):
    """`page -> files` with each drawing once. A thumbnail is the same file again, too small to read, and comes last."""
    pages, drawings = {}, set()
    for path in sorted(pages_of(site), key=lambda path: (path.endswith("index.html"), path)):
        for image in BeautifulSoup((site / path).read_text("utf-8"), "html.parser").select("article img"):
            file = (site / path).parent / image["src"]
            if "_static" not in image["src"] and file.read_bytes() not in drawings:
                drawings.add(file.read_bytes())
                pages.setdefault(path, []).append(image["src"])
    return pages


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_title_of_every_figure_stands_out(site, server, browser, theme):
    pages = figures(site)
    assert pages, "the site has no figure"
    faint = []
    with tab(browser, theme) as page:
        for path, sources in pages.items():
            page.goto(server.address + path)
            for source in sources:
                shown = contrast(page.locator(f'article img[src="{source}"]').first.screenshot())
                if shown < ENOUGH:
                    faint.append(f"{path}: {source} has a contrast of {shown:.1f}")
    assert not faint, "\n".join(faint)
