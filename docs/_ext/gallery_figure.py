"""Show the figures of gallery scripts on other pages, with the alternative text that the script gave them.

`:::{gallery-figure} acts/act1_1_scores 1` shows one with a link to its script; the content is the caption.
The thumbnails of the gallery, which sphinx-gallery leaves without a text, get theirs here too.
"""

import re
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)
# What gallery_svg.py writes into the page of a script.
IMAGE = re.compile(
    r"^\.\. image:: (?P<uri>\S+)\n +:alt: (?P<alt>.*)\n +:width: (?P<width>\d+)\n +:height: (?P<height>\d+)", re.MULTILINE
)
THUMBNAIL = re.compile(r"(?P<folder>.*)/images/thumb/sphx_glr_(?P<script>.*)_thumb\.svg")


class Figure(NamedTuple):
    """One figure of a script, as its page shows it."""

    uri: str
    alt: str
    width: str
    height: str


def figures(page: Path) -> list[Figure]:
    """All figures on the generated page of a script, in order."""
    return [Figure(**found.groupdict()) for found in IMAGE.finditer(page.read_text("utf-8"))]


class GalleryFigure(SphinxDirective):
    """Show one figure of a gallery script."""

    required_arguments = 2  # the script without its suffix, and the number of the figure
    has_content = True

    def run(self) -> list[nodes.Node]:
        script, number = self.arguments
        page = Path(self.env.srcdir, "gallery", f"{script}.rst")
        made = figures(page) if page.is_file() else []
        problem = ""
        if not page.is_file():
            problem = f"there is no gallery script {script}"
        elif not (number.isdecimal() and 1 <= int(number) <= len(made)):
            problem = f"there is no figure {number} in {script}, which makes {len(made)}"
        elif not self.content:
            problem = "the figure has no caption"
        if problem:
            logger.warning("gallery-figure: %s", problem, location=self.get_location(), type="gallery_figure")
            return []
        self.env.note_dependency(str(page))
        return [self._figure(made[int(number) - 1], f"/gallery/{script}")]

    def _figure(self, made, docname):
        image = nodes.image(uri=made.uri, alt=made.alt, width=made.width, height=made.height)
        first, *others = self.parse_content_to_nodes()
        caption = nodes.caption("", "", *first.children, nodes.Text(" ("))
        how = addnodes.pending_xref(
            "", nodes.inline("", "how it is made"), refdomain="std", reftype="doc", reftarget=docname,
            refexplicit=True, refwarn=True, refdoc=self.env.docname,
        )
        caption += [how, nodes.Text(")")]
        figure = nodes.figure("", image, caption, classes=["gallery-figure"])
        if others:
            figure += nodes.legend("", *others)
        self.set_source_info(figure)
        self.set_source_info(how)
        return figure


def describe_thumbnails(app, doctree):
    for image in doctree.findall(nodes.image):
        found = THUMBNAIL.fullmatch(image["uri"])
        if found:
            page = Path(app.srcdir, found["folder"], f"{found['script']}.rst")
            # None where the script failed, which has been told.
            image["alt"] = next((figure.alt for figure in figures(page)), "")


def refuse_spaces(app):
    """Sphinx-gallery drops a space from the names of figures, and not from those of pages."""
    for script in sorted(Path(app.confdir, "gallery").rglob("*.py")):
        if " " in script.name:
            raise ExtensionError(f"gallery script {script.name!r}: a space breaks the links to its figures; write an underscore")


def setup(app) -> ExtensionMetadata:
    app.connect("builder-inited", refuse_spaces, priority=10)  # before any script runs
    app.connect("doctree-read", describe_thumbnails)
    app.add_directive("gallery-figure", GalleryFigure)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
