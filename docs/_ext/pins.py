"""Write what the book pins beside the page Numbers: `pins.json` for other books, and for the page's own button the same as a script.

The page counts the examples of other pages, so it is read again when one of them changes, comes or goes.
"""

import json
from pathlib import Path

from sphinx.util.typing import ExtensionMetadata
from static_files import put

PAGE = "numbers"
COUNTED = ("README.md", "docs/**/*.md", "attention_book/**/*.py", "tests/reference/*.json")


def note_what_is_counted(app, docname, source):
    if docname == PAGE:
        for pattern in COUNTED:
            for path in sorted(Path(app.confdir).glob(pattern)):
                app.env.note_dependency(str(path), docname=docname)


def read_again(app, env, added, changed, removed):
    return [PAGE] if (added or removed) and PAGE in env.found_docs else []


def write(app, pagename, templatename, context, doctree):
    """Only with the page: a build in which nothing changed imports no torch."""
    if pagename != PAGE or doctree is None:
        return
    from attention_book.lab.bundle import bundle
    from attention_book.lab.pins import pins

    text = json.dumps(pins(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    static = Path(app.outdir, "_static")
    put(app.outdir, "pins.json", text + "\n")
    put(static, "pins.js", f"globalThis.attentionBookPins = {text};\n")
    put(static, "recheck.js", bundle(page="view/recheck.js", worker=None))
    app.add_css_file("numbers.css")
    app.add_js_file("recheck.js", loading_method="defer")


def setup(app) -> ExtensionMetadata:
    app.connect("source-read", note_what_is_counted)
    app.connect("env-get-outdated", read_again)
    app.connect("html-page-context", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
