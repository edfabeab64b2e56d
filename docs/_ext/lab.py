"""Put the lab on a page: `{lab}` all of it, `{lab} act3` locked to what that act knows. The role of the same name links to a view in it:
`` :lab:`your sentence <example=text&heads=4>` ``.

While the site is built the numbers of its first view are computed by torch and written as tables, which stay where no script runs.
With one, `lab.js` takes their place: all modules of `attention_book/lab` as one script, and only on pages that hold a lab.
"""

import html
import json
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.typing import ExtensionMetadata
from static_files import put

LAB_PAGE = "lab"
EVERY_VIEW = ("scores", "scaled", "masked", "weights", "output")
# What each act knows: its state, and what may be changed in it.
LOCKS = {
    "act1": {
        "state": {"attention": "simple"},
        "views": ("scores", "weights", "output"),
        "controls": (),
    },
    "act2": {
        "state": {"attention": "SelfAttention_v2", "seed": "789", "scale": True},
        "attentions": ("SelfAttention_v1", "SelfAttention_v2"),
        "views": ("scores", "scaled", "weights", "output"),
        "controls": ("attention", "seed", "scale"),
        "slide": True,
    },
    "act3": {
        "state": {"attention": "CausalAttention", "scale": True, "causal": True},
        "views": EVERY_VIEW,
        "controls": ("causal", "scale"),
    },
    "act4": {
        "state": {"attention": "MultiHeadAttentionWrapper", "scale": True, "causal": True, "heads": 2},
        "attentions": ("MultiHeadAttentionWrapper", "MultiHeadAttention"),
        "views": EVERY_VIEW,
        "controls": ("attention", "d_out", "heads", "causal"),
    },
    "all": {
        "state": {},
        "attentions": ("simple", "SelfAttention_v1", "SelfAttention_v2", "CausalAttention", "MultiHeadAttentionWrapper", "MultiHeadAttention"),
        "views": EVERY_VIEW,
        "controls": ("example", "text", "attention", "seed", "d_model", "d_out", "heads", "causal", "scale", "temperature"),
        "slide": True,
    },
}


class lab(nodes.General, nodes.Element):
    """One lab: its lock, and the tables that stand for it."""


class Lab(SphinxDirective):
    """Show the lab, all of it or locked to an act."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        # Imported here: a build that reads no page with a lab needs no torch.
        from attention_book.lab.states import DEFAULT
        from attention_book.lab.tables import tables

        kind = self.arguments[0] if self.arguments else "all"
        if kind not in LOCKS:
            raise self.error(f"lab: there is no lock {kind!r}; give one of {', '.join(LOCKS)}, or nothing for all of it")
        lock = LOCKS[kind]
        state = DEFAULT | lock["state"]
        settings = {
            "state": state,
            "attentions": lock.get("attentions", (state["attention"],)),
            "views": lock["views"],
            "controls": lock["controls"],
            "slide": lock.get("slide", False),
            "own": kind == "all",  # whether the page's address holds the state
        }
        return [lab("", kind=kind, settings=settings, tables=tables(state, lock["views"]))]


class View(SphinxRole):
    """A link to the lab in a state that is written as in its address."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        words, _, state = self.text.removesuffix(">").rpartition(" <")
        builder = self.env.app.builder
        to = builder.get_relative_uri(self.env.docname, LAB_PAGE)
        return [nodes.reference("", words, refuri=f"{to}#{state}")], []


def visit_lab(translator, node):
    builder = translator.builder
    # Empty on the page itself, as addresses go.
    page = builder.get_relative_uri(builder.current_docname, LAB_PAGE).removesuffix("#") or builder.get_target_uri(LAB_PAGE)
    settings = node["settings"] | {"page": page}
    translator.body.append(
        f'<div class="lab" data-kind="{node["kind"]}" data-lab="{html.escape(json.dumps(settings))}">\n'
        f'<div class="lab-still">\n{node["tables"]}\n'
        "<noscript><p>These numbers were computed when the page was built. With JavaScript you can drive them yourself.</p></noscript>\n"
        "</div>\n</div>\n"
    )
    raise nodes.SkipNode


def skip(translator, node):
    raise nodes.SkipNode


def add_files(app, pagename, templatename, context, doctree):
    """Only to the pages that hold a lab."""
    if doctree is None or not doctree.next_node(lab):
        return
    from attention_book.lab.bundle import bundle, style

    for name, text in (("lab.js", bundle), ("lab.css", style)):
        if name not in app.lab_files:
            put(Path(app.outdir, "_static"), name, text())
            app.lab_files.add(name)
    app.add_css_file("lab.css")
    app.add_js_file("lab.js", loading_method="defer")


def begin(app):
    app.lab_files = set()  # what this build has written: each file once


def setup(app) -> ExtensionMetadata:
    app.add_node(lab, html=(visit_lab, None), text=(skip, None), latex=(skip, None))
    app.add_directive("lab", Lab)
    app.add_role("lab", View())
    app.connect("builder-inited", begin)
    app.connect("html-page-context", add_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
