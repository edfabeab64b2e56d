"""Write each figure of a gallery script as one SVG that is right on light and on dark pages.

Whatever a script leaves in the default colour is drawn in `INK` (gallery_reset.py sees to it). Here that becomes
`currentColor`, which a rule inside the file turns light on a dark page; every colour that a script chose stays.
"""

import io
import re
from pathlib import Path
from xml.sax.saxutils import escape

from sphinx.errors import ExtensionError

INK = "#1b1d21"
INK_IN_THE_DARK = "#d6d9df"
STYLE = f"<style>svg{{color:{INK}}}@media (prefers-color-scheme:dark){{svg{{color:{INK_IN_THE_DARK}}}}}</style>"
IMAGE = """
.. image:: /{uri}
   :alt: {alt}
   :width: {width}
   :height: {height}
   :class: sphx-glr-single-img
"""


def page_style():
    """What a script leaves open is drawn in ink on nothing, so that the page's own background shows."""
    ink = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "hatch.color")
    bare = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    # "none" keeps the cells of an image sharp: the browser enlarges them, not matplotlib.
    return dict.fromkeys(ink, INK) | dict.fromkeys(bare, "none") | {"image.interpolation": "none"}


def scrape(block, block_vars, gallery_conf):
    """Return the reST that shows every figure now open, and close them."""
    import matplotlib.pyplot as plt

    try:
        return "".join(
            _show(plt.figure(number), block_vars, Path(gallery_conf["src_dir"])) for number in plt.get_fignums()
        )
    finally:
        plt.close("all")


def alternative_text(figure):
    """The figure's title, then those of its panels."""
    panels = ", ".join(
        title for axes in figure.axes for loc in ("left", "center", "right") if (title := axes.get_title(loc=loc))
    )
    return " ".join(": ".join(filter(None, (figure.get_suptitle(), panels))).split())


def draw(figure, salt, title):
    """Return the SVG and its size in CSS pixels; the same figure gives the same bytes."""
    import matplotlib

    file = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "path"}):
        figure.savefig(file, format="svg", bbox_inches="tight", metadata=nothing)
    svg = re.sub(r"^.*?(?=<svg)", "", file.getvalue(), count=1, flags=re.DOTALL)  # no prolog: it names a DTD
    svg = svg.replace(INK, "currentColor")
    svg = re.sub(r"<svg[^>]*>", rf"\g<0>\n<title>{escape(title)}</title>\n{STYLE}", svg, count=1)
    points = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', svg)
    return svg, *(round(float(size) * 4 / 3) for size in points.groups())


def _show(figure, block_vars, srcdir):
    script = Path(block_vars["src_file"]).name
    path = Path(block_vars["image_path_iterator"].next()).with_suffix(".svg")
    title = alternative_text(figure)
    if not title:
        raise ExtensionError(f"{script}: a figure without a title has no alternative text; give it one")
    svg, width, height = draw(figure, path.stem, title)
    # An unchanged figure keeps its time, so that the pages that show it are not read again.
    if not path.exists() or path.read_text("utf-8") != svg:
        path.write_text(svg, "utf-8")
    return IMAGE.format(uri=path.relative_to(srcdir).as_posix(), alt=title, width=width, height=height)
