"""The pages with the library's source: where it is, and when they must be written again."""

from pathlib import Path

from sphinx.ext import viewcode
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.typing import ExtensionMetadata

_written = False  # whether this build has written any page


def find_source(app, modname):
    """Return the text of a module of the library and the lines of what it defines; None for other modules.

    Viewcode would find it by importing torch in every build.
    """
    path = Path(app.confdir, *modname.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not modname.startswith("attention_book") or not path.is_file():
        return None
    text = path.read_text("utf-8")
    return text, ModuleAnalyzer.for_string(text, modname).find_tags()


def begin(app):
    global _written
    _written = False


def note(app, pagename, templatename, context, doctree):
    """A change of the library, the settings or a page writes at least one page that comes from a document."""
    global _written
    _written = _written or doctree is not None


def needs_page(app, modname):
    """Viewcode asks by the age of a file that it was told no name of, and would write all of them in every build."""
    return _written or not Path(app.outdir, viewcode.OUTPUT_DIRNAME, *modname.split(".")).with_suffix(app.builder.out_suffix).is_file()


def forget_removed(app, exception):
    """A module that is no more, or was renamed, leaves no page behind."""
    pages = Path(app.outdir, viewcode.OUTPUT_DIRNAME)
    known = getattr(app.env, "_viewcode_modules", {})
    for page in pages.rglob("*.html") if app.builder.format == "html" else ():
        name = ".".join(page.relative_to(pages).with_suffix("").parts)
        if name != "index" and not known.get(name):
            page.unlink()


def setup(app) -> ExtensionMetadata:
    app.setup_extension("sphinx.ext.viewcode")
    viewcode.should_generate_module_page = needs_page
    app.connect("viewcode-find-source", find_source)
    app.connect("builder-inited", begin)
    app.connect("html-page-context", note)
    app.connect("build-finished", forget_removed)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
