"""Give each page the description that search engines show, and of the toolchain's styles and scripts only those that it uses.

Every extension adds its files to all pages; on a phone each of them is a request that the first picture waits for.
"""

import html

from docutils import nodes
from sphinx.util.typing import ExtensionMetadata

LONGEST = 160  # characters of a description that search engines show
# A file goes to the pages whose body holds one of these.
USED_BY = {
    "mystnb.": ('class="cell ', "cell_output"),
    "copybutton": ('class="highlight',),
    "clipboard": ('class="highlight',),
    "sphinx-design": ('class="sd-', " sd-"),
    "design-tabs": ("sd-tab-",),
    "sg_gallery.css": ("sphx-glr-",),
    "sg_gallery-binder": ("binder-badge",),
    "sg_gallery-dataframe": ("dataframe",),
    "sg_gallery-rendered-html": ("sphx-glr-", "rendered_html"),
    "sg-tags": ("data-sgtags=",),
}


def needed(filename, body):
    name = str(filename or "").rpartition("/")[2]
    for start, marks in USED_BY.items():
        if name.startswith(start):
            return any(mark in body for mark in marks)
    return True


def leave_out(app, pagename, templatename, context, doctree):
    """In place: Sphinx makes a fresh list for the next page."""
    body = context.get("body", "")
    for files in (context["css_files"], context["script_files"]):
        files[:] = [file for file in files if needed(getattr(file, "filename", None), body)]


def description(doctree):
    """The first paragraphs in running text, as far as search engines show them, ended at a word."""
    words, length = [], 0
    for paragraph in doctree.findall(nodes.paragraph):
        if not isinstance(paragraph.parent, nodes.section) or next(paragraph.findall(nodes.math), None):
            continue
        for word in paragraph.astext().split():
            length += len(word) + 1
            if length > LONGEST:
                return " ".join(words).rstrip(",;:") + "…"
            words.append(word)
    return " ".join(words)


def describe(app, pagename, templatename, context, doctree):
    """Where the site's address is known, opengraph has written one before."""
    metatags = context.get("metatags", "")
    if doctree is None or 'name="description"' in metatags or not (text := description(doctree)):
        return
    context["metatags"] = f'{metatags}\n<meta name="description" content="{html.escape(text)}" />'


def setup(app) -> ExtensionMetadata:
    app.connect("html-page-context", leave_out, priority=900)
    app.connect("html-page-context", describe, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
