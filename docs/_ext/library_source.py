"""Tell viewcode where the library's source is, which it would else find by importing torch in every build."""

from pathlib import Path

from sphinx.pycode import ModuleAnalyzer
from sphinx.util.typing import ExtensionMetadata


def find_source(app, modname):
    """Return the text of a module of the library and the lines of what it defines; None for other modules."""
    path = Path(app.confdir, *modname.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not modname.startswith("attention_book") or not path.is_file():
        return None
    text = path.read_text("utf-8")
    return text, ModuleAnalyzer.for_string(text, modname).find_tags()


def setup(app) -> ExtensionMetadata:
    app.setup_extension("sphinx.ext.viewcode")
    app.connect("viewcode-find-source", find_source)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
