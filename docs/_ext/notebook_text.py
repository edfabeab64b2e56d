"""Finish what sphinx-gallery begins: the text of a notebook is Markdown, without reST's roles and double backticks."""

import json
import re
from pathlib import Path

from sphinx.util.typing import ExtensionMetadata

ROLE = re.compile(r":[a-z:]+:`~?(?P<said>[^`<]+?)(?:\s*<[^`>]*>)?`")


def markdown(text: str) -> str:
    """A role becomes the words that it shows, code stays code."""
    return ROLE.sub(r"`\g<said>`", text).replace("``", "`")


def rewrite(path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = [markdown("".join(cell["source"]))]
    text = json.dumps(notebook, indent=2)
    if text != path.read_text("utf-8"):
        path.write_text(text, "utf-8")


def rewrite_all(app):
    for path in Path(app.srcdir, "gallery").rglob("*.ipynb"):
        rewrite(path)


def setup(app) -> ExtensionMetadata:
    # After sphinx-gallery, which writes them at the same event, and before gallery_zip, which packs them.
    app.connect("builder-inited", rewrite_all, priority=800)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
