"""End the description of each function and class with the gallery scripts that use it."""

import json
from pathlib import Path
from pydoc import locate

from sphinx.util.typing import ExtensionMetadata


def add_uses(app, what, name, obj, options, lines):
    if what not in ("function", "class", "method"):
        return
    listed = Path(app.srcdir, app.config.sphinx_gallery_conf["backreferences_dir"], "backreferences_all.json")
    app.env.note_dependency(str(listed))
    pages = {}
    for used, scripts in json.loads(listed.read_text("utf-8")).items():
        # A name can be reached by more than one path; what counts is what it names.
        if used.rsplit(".", 1)[-1] == name.rsplit(".", 1)[-1] and locate(used) is obj:
            for file, _, folder, _, title in scripts:
                docname = Path(folder, file).relative_to(app.srcdir).with_suffix("").as_posix()
                pages[docname] = f":doc:`{title} </{docname}>`"
    if pages:
        lines += ["", "Seen at work in " + "; ".join(pages[docname] for docname in sorted(pages)) + ".", ""]


def setup(app) -> ExtensionMetadata:
    # After napoleon, which reads the sections of the docstring.
    app.connect("autodoc-process-docstring", add_uses, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
