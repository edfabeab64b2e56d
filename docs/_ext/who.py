"""Put "Who is it?" on a page: the directive `{who}`.

While the site is built both of the book's sentences are computed by torch. With a script, near its place on the page, `who.js` takes
over, and only then loads the model.
"""

import html
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata
from static_files import put


class who(nodes.General, nodes.Element):
    """The model with its sentences."""


class Who(SphinxDirective):
    """Show the model that knows who is "it"."""

    def run(self) -> list[nodes.Node]:
        # Imported here: a build that reads no such page needs no torch.
        from attention_book.lab.who import finding, still

        return [who("", still=still(), finding=finding())]


def visit_who(translator, node):
    translator.body.append(
        f'<div class="lab who" data-near="who.js">\n{node["still"]}\n'
        "<noscript><p>These numbers were computed when the page was built. With JavaScript you can choose the words and switch heads off.</p></noscript>\n"
        f'</div>\n<p class="who-finding">{html.escape(node["finding"])}</p>\n'
    )
    raise nodes.SkipNode


def skip(translator, node):
    raise nodes.SkipNode


def add_files(app, pagename, templatename, context, doctree):
    """Only to the pages that hold it."""
    if doctree is None or not doctree.next_node(who):
        return
    from attention_book.lab.bundle import bundle
    from attention_book.lab.who import script

    static = Path(app.outdir, "_static")
    put(static, "who.js", bundle(page="view/who.js", worker=None))
    put(static, "who_is_it.js", script())
    app.add_css_file("who.css")
    app.add_js_file("near.js", loading_method="defer")


def setup(app) -> ExtensionMetadata:
    app.add_node(who, html=(visit_who, None), text=(skip, None), latex=(skip, None))
    app.add_directive("who", Who)
    app.connect("html-page-context", add_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
