"""Notebooks that run elsewhere: their first cell fetches the library, and their page says below its title where to take or open them."""

import tomllib
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.typing import ExtensionMetadata

COLAB = "https://colab.research.google.com/github/{github}/blob/gh-pages/{path}"
FIRST_CELL = """\
# Install the library of this book where it is missing, as in Colab.
import importlib.util

if importlib.util.find_spec("attention_book") is None:
    {otherwise}
"""
INSTALL = '%pip install --quiet "attention-book @ git+{repository.url}@{repository.ref}"'
# A name asked of a package index might be anybody's.
SAY = 'raise ModuleNotFoundError("this notebook needs the library of its book: %pip install <the folder of the book>, then run all again")'


def version_of(root: Path) -> str:
    """The version in pyproject.toml, the one place where it stands."""
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def first_cell(repository) -> str:
    """It takes the library from the sources that this site was built from; where their address is not known, it says what is missing."""
    return FIRST_CELL.format(otherwise=INSTALL.format(repository=repository) if repository.url else SAY)


def add_first_cell(app, config):
    version = version_of(Path(app.confdir))
    config.version = config.release = version
    config.sphinx_gallery_conf["first_notebook_cell"] = first_cell(config.book_repository)


def add_link(app, doctree):
    """Say it in the note at the head of a gallery page, beside the way to the downloads."""
    github = app.config.book_repository.github
    if not github:
        return
    for download in doctree.findall(addnodes.download_reference):
        if not download["reftarget"].endswith(".ipynb"):
            continue
        for note in doctree.findall(nodes.note):
            if "sphx-glr-download-link-note" in note["classes"]:
                # The name of a download's folder is a digest of its path in the sources, so it stays.
                path = f"_downloads/{download['filename']}"
                link = nodes.reference("", "Open in Colab", refuri=COLAB.format(github=github, path=path))
                note += nodes.paragraph("", "", link)


def move_note(app, doctree):
    """A page begins with its title and its question; the way to the downloads, which sphinx-gallery puts above both, follows them."""
    for note in doctree.findall(nodes.note):
        if "sphx-glr-download-link-note" not in note["classes"]:
            continue
        moved = note.parent if isinstance(note.parent, addnodes.only) else note
        section = next(doctree.findall(nodes.section))
        moved.parent.remove(moved)
        after = next((place for place, child in enumerate(section) if place and not isinstance(child, nodes.paragraph)), len(section))
        section.insert(after, moved)
        return


def setup(app) -> ExtensionMetadata:
    app.connect("config-inited", add_first_cell)
    # After the collector of downloads, which decides their names.
    app.connect("doctree-read", add_link, priority=900)
    app.connect("doctree-read", move_note, priority=910)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
