"""The bug zoo's page: `:::{zoo}` writes one section for each of `attention_book.mistakes`, all numbers computed as it is read.

Elsewhere ``:mistake:`no scale` `` links to a mistake's section; a name that is none fails the build.
"""

import re
from itertools import cycle
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.typing import ExtensionMetadata

ROW = 1  # "journey"


def label(name: str) -> str:
    return f"zoo-{name.replace(' ', '-')}"


def candidate(mistake):
    """The mistake as somebody would hand it to `diagnose`: a function, or a module where it takes several heads."""
    from torch import nn

    from attention_book import causal_mask  # here, because a build that reads no zoo needs no torch

    if mistake.needs != "heads":
        return lambda query, key, value, mask=None: mistake.attend(query, key, value, mask)

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.W_query, self.W_key, self.W_value, self.out_proj = (nn.Linear(12, 12) for _ in range(4))
            self.num_heads = 3

        def forward(self, x):
            projected = self.W_query(x), self.W_key(x), self.W_value(x)
            return mistake.multi_head(*projected, self.num_heads, self.out_proj, causal_mask(x.shape[1]))

    return Attention()


def paragraph(lead: str, *children: nodes.Node | str) -> nodes.paragraph:
    said = [nodes.Text(child) if isinstance(child, str) else child for child in children]
    return nodes.paragraph("", "", nodes.strong("", lead), nodes.Text(" "), *said)


def said(text: str) -> list[nodes.Node]:
    """Running text whose code stands between backticks."""
    return [nodes.literal("", part) if code else nodes.Text(part) for code, part in zip(cycle((False, True)), text.split("`"), strict=False)]


def reported(address: str) -> str:
    """Words for the address of an issue or a pull request."""
    owner, kind, number = re.fullmatch(r"https://github\.com/([^/]+/[^/]+)/(issues|pull)/(\d+)", address).groups()
    return f"{owner}, {'issue' if kind == 'issues' else 'pull request'} {number}"


def table(head: list[str], rows: list[list[str]]) -> nodes.table:
    def row(cells):
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", cell)) for cell in cells))

    columns = [nodes.colspec(colwidth=1) for _ in head]
    group = nodes.tgroup("", *columns, nodes.thead("", row(head)), nodes.tbody("", *map(row, rows)), cols=len(head))
    return nodes.table("", group, classes=["zoo-numbers"])


class Zoo(SphinxDirective):
    """All mistakes: a list of links, then a section for each."""

    def run(self) -> list[nodes.Node]:
        from attention_book.mistakes import MISTAKES

        links = []
        for mistake in MISTAKES:
            link = nodes.reference("", mistake.name, internal=True, refid=mistake.anchor)
            links.append(nodes.list_item("", nodes.paragraph("", "", link, nodes.Text(f": {mistake.title}."))))
            self.env.domains.standard_domain.note_hyperlink_target(label(mistake.name), self.env.docname, mistake.anchor, mistake.name)
        return [nodes.bullet_list("", *links, bullet="*"), *(self._section(mistake) for mistake in MISTAKES)]

    def _section(self, mistake):
        from attention_book import diagnose
        from attention_book.fingerprints import noticed

        parts = [
            nodes.title("", mistake.name[0].upper() + mistake.name[1:]),
            paragraph(f"{mistake.title}.", *said(mistake.cause)),
            self._pictures(mistake),
            paragraph("You would notice:", *said(noticed(mistake))),
            self._numbers(mistake),
            paragraph("diagnose answers:", *said(str(diagnose(candidate(mistake))))),
        ]
        if mistake.also:
            parts.append(paragraph("The same numbers come from", *said(f"{mistake.also}.")))
        report = nodes.reference("", reported(mistake.report), internal=False, refuri=mistake.report)
        parts.append(paragraph("A report of this kind:", report, "."))
        return nodes.section("", *parts, ids=[mistake.anchor], names=[mistake.name])

    def _pictures(self, mistake):
        from zoo_maps import draw

        drawn = draw(mistake, Path(self.env.srcdir))
        images = [nodes.image(uri=each.uri, alt=each.alt, width=str(each.width), height=str(each.height), loading="lazy") for each in drawn]
        return nodes.container("", *images, classes=["zoo-maps"])

    def _numbers(self, mistake):
        from zoo_maps import maps, shows_weights

        from attention_book import JOURNEY

        shown = maps(mistake)
        columns = [f"right, head {head}" for head in range(len(shown) - 1)] if len(shown) > 2 else ["right"]
        names = JOURNEY.tokens if shows_weights(mistake) else [f"number {number}" for number in range(4)]
        numbers = [[f"{number:.4f}" for number in each[ROW].tolist()] for each in shown.values()]
        query = JOURNEY.tokens[ROW]
        head = "head 0, " if mistake.needs == "heads" and shows_weights(mistake) and len(shown) == 2 else ""
        corner = f'{head}"{query}" to' if shows_weights(mistake) else f'output of "{query}"'
        return table([corner, *columns, "here"], [list(row) for row in zip(names, *numbers, strict=True)])


class MistakeRole(SphinxRole):
    """A link to the section of a mistake."""

    def run(self):
        link = addnodes.pending_xref(
            "", nodes.inline("", self.text, classes=["std", "std-ref"]), refdomain="std", reftype="ref", reftarget=label(self.text),
            refexplicit=True, refwarn=True, refdoc=self.env.docname,
        )  # fmt: skip
        self.set_source_info(link)
        return [link], []


def add_style(app, pagename, templatename, context, doctree):
    """Only to the page of the zoo."""
    if doctree is not None and any("zoo-maps" in node["classes"] for node in doctree.findall(nodes.container)):
        app.add_css_file("zoo.css")


def setup(app) -> ExtensionMetadata:
    app.add_directive("zoo", Zoo)
    app.add_role("mistake", MistakeRole())
    app.connect("html-page-context", add_style)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
