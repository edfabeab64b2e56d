"""Run again what a change makes stale, and nothing else.

sphinx-gallery runs a script again when the script changes; Sphinx reads a page again, and myst-nb runs its cells, when
the page changes. None of them sees the library behind the numbers. So one fingerprint stands for everything that any
number depends on: when it changes, all scripts and cells run again, and all pages are read again.
"""

import hashlib
from pathlib import Path

from sphinx.application import ENV_PICKLE_FILENAME
from sphinx.util.typing import ExtensionMetadata

EVERYTHING_RESTS_ON = ("attention_book", "conf.py", "requirements.lock", "pyproject.toml", "docs/_ext", "docs/_inventories")


def fingerprint(root: Path, *more: object) -> str:
    """A digest of those files, by name and content, and of whatever else is given."""
    digest = hashlib.sha256(repr(more).encode())
    for top in EVERYTHING_RESTS_ON:
        top = root / top
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"\0{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def take_fingerprint(app, config):
    """Late, when all other extensions have completed the configuration."""
    config.book_fingerprint = fingerprint(Path(app.confdir), config.book_repository)


def forget_gallery(app):
    """Before sphinx-gallery looks: which scripts count as already run, and which pages still have a script."""
    made = Path(app.srcdir, "gallery")
    made.mkdir(exist_ok=True)
    stamp = made / "fingerprint"
    if not stamp.exists() or stamp.read_text("utf-8") != app.config.book_fingerprint:
        # One file a script says that it has run. A script that then fails leaves none, and runs next time.
        for done in made.rglob("*.md5"):
            done.unlink()
        stamp.write_text(app.config.book_fingerprint, "utf-8")
    for copy in made.rglob("*.py"):
        if not Path(app.confdir, "gallery", copy.relative_to(made)).exists():
            for leftover in [*copy.parent.glob(f"{copy.stem}.*"), *copy.parent.glob(f"images/**/sphx_glr_{copy.stem}_*")]:
                leftover.unlink()


def forget_pages(app, exception):
    """A page that warned would not be read again, and the next build would pass: read all of them then."""
    if exception is None and app._warncount:
        Path(app.doctreedir, ENV_PICKLE_FILENAME).unlink(missing_ok=True)


def setup(app) -> ExtensionMetadata:
    app.add_config_value("book_fingerprint", "", "env", types=frozenset({str}))
    app.connect("config-inited", take_fingerprint, priority=900)
    app.connect("builder-inited", forget_gallery, priority=100)
    app.connect("build-finished", forget_pages, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
