"""Write the gallery's zips again so that the same files give the same bytes.

sphinx-gallery stores each file with its time, in the order in which the folder lists them, and a notebook before
notebook_text.py has seen it.
"""

import os
import zipfile
from pathlib import Path

from sphinx.util.typing import ExtensionMetadata

LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first day that a zip can hold


def rewrite(path: Path) -> None:
    """Read the members anew, sort them, give all of them one time and one mode."""
    with zipfile.ZipFile(path) as old:
        members = {name: (path.parent / name).read_bytes() for name in sorted(old.namelist())}
    with zipfile.ZipFile(path, "w") as new:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, LONG_AGO)
            info.create_system = 3  # Unix, wherever it is built
            info.external_attr = 0o644 << 16
            new.writestr(info, content)
    # As old as its newest member: an unchanged zip does not make Sphinx read its page again.
    newest = max(((path.parent / name).stat().st_mtime for name in members), default=0)
    os.utime(path, (newest, newest))


def rewrite_all(app):
    for path in sorted(Path(app.srcdir, "gallery").rglob("*.zip")):
        rewrite(path)


def setup(app) -> ExtensionMetadata:
    # After sphinx-gallery, which makes them at the same event.
    app.connect("builder-inited", rewrite_all, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
