"""Mend what the toolchain writes wrong for a reader with a screen reader or a keyboard.

Each repair answers one rule of axe-core, named beside it. They run over the finished pages, because most
of these faults are in the templates of the theme. A page that is mended once is not changed again.
"""

import html
import re
from pathlib import Path

from sphinx.util.typing import ExtensionMetadata

# The narrowest phone shows about this many characters of code, of a formula: more will scroll.
CODE_FITS = 24
FORMULA_FITS = 20
FIGURE_FITS = 480  # pixels: book.css draws no figure narrower that is wider by itself, or its numbers could not be read
FIGURE_IS_WIDE = 640


def text_of(markup):
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


def named(tag, label):
    """A box that scrolls takes part in the tab order, and says what it is. A group, because a region is a landmark."""
    return f'{tag[:-1]} tabindex="0" role="group" aria-label="{label}">'


def mend_code(found):
    longest = max(map(len, text_of(found["body"]).splitlines()), default=0)
    return named("<pre>", "Code") + found["body"] if longest > CODE_FITS else found[0]


def mend_formula(found):
    return named(found["tag"], "Formula") + found["body"] if len(text_of(found["body"])) > FORMULA_FITS else found[0]


def mend_figure(found):
    if int(found["width"]) <= FIGURE_FITS:
        return found[0]
    kind = "wide-figure wider" if int(found["width"]) > FIGURE_IS_WIDE else "wide-figure"
    return f'<span class="{kind}" tabindex="0" role="group" aria-label="Figure">{found[0]}</span>'


def mend_thumbnail(found):
    return f'{found["link"]} aria-label="{html.escape(text_of(found["title"]).strip())}">{found["title"]}'


def mend_citations(found):
    """A list holds items; axe counts doc-biblioentry as outdated and out of place."""
    return found[0].replace('role="doc-biblioentry"', 'role="listitem"')


REPAIRS = [
    # scrollable-region-focusable: wide code, tables and formulas scroll, and the keyboard could not reach them.
    (r"<pre>(?P<body>.*?)(?=</pre>)", mend_code),
    (r'<div class="table-wrapper[^>"]*">', lambda found: named(found[0], "Table")),
    (r'(?P<tag><div class="math [^>"]*"(?: id="[^"]*")?>)(?P<body><math.*?</math>)', mend_formula),
    (r'(?<!aria-label="Figure">)<img [^>]*width="(?P<width>\d+)"[^>]*/>', mend_figure),
    # empty-table-header: Markdown cannot say that the corner of a table is no header.
    (r'<th class="head"><p></p></th>', '<td class="head"></td>'),
    # aria-required-attr: the captions of the navigation are headings without a level.
    (r'(<p class="caption" role="heading")>', r'\1 aria-level="2">'),
    # landmark-unique: the theme has two asides, both without a name.
    (r'<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Site">'),
    (r'<aside class="(toc-drawer[^"]*)">', r'<aside class="\1" aria-label="On this page">'),
    # region: the links "View" and "Edit this page", and "Back to top", stand outside every landmark.
    (r'<div class="content-icon-container">', '<div class="content-icon-container" role="navigation" aria-label="Page tools">'),
    (r'(?<!<nav aria-label="Top">)<a href="#" class="back-to-top.*?</a>', r'<nav aria-label="Top">\g<0></nav>'),
    # link-name: the link over a thumbnail of the gallery has only hidden text.
    (r'(?P<link><a class="reference internal" href="[^"]*")>(?P<title><span class="[^"]*">[^\n]*</span></a></p>'
     r'\s*<div class="sphx-glr-thumbnail-title">)', mend_thumbnail),
    # aria-required-children, aria-allowed-role, aria-deprecated-role: the bibliography.
    (r'<div role="list" class="citation-list">.*?</article>', mend_citations),
    # page-has-heading-one: the search page has none.
    (r'(?<!</h1>\n)<div id="search-results">', '<h1>Search</h1>\n<div id="search-results">'),
]
REPAIRS = [(re.compile(pattern, re.DOTALL), repair) for pattern, repair in REPAIRS]


def mend(page):
    """Return the page's HTML, mended."""
    for pattern, repair in REPAIRS:
        page = pattern.sub(repair, page)
    return page


def mend_all(app, exception):
    if exception or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        if path.relative_to(app.outdir).parts[0] in ("_static", "_downloads"):
            continue
        written = path.read_text("utf-8")
        mended = mend(written)
        if mended != written:
            path.write_text(mended, "utf-8")


def setup(app) -> ExtensionMetadata:
    app.connect("build-finished", mend_all, priority=900)  # after every extension that still writes pages
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
