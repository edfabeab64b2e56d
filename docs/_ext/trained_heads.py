"""The trained heads' part of a build: where weights are kept, and training on a second core.

Kept weights have names that hold a digest of all that they depend on (see `attention_book/trained/cache.py`), so nothing
stale is ever read; what no build has read for a while can be deleted with the folder.
"""

import os
import subprocess
import sys
from pathlib import Path

from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

GALLERY = "gallery/trained"
logger = logging.getLogger(__name__)
_training = None


def has_gallery(app):
    return GALLERY in app.config.sphinx_gallery_conf["gallery_dirs"]


def keep_weights(app, config):
    os.environ.setdefault("ATTENTION_BOOK_CACHE", str(Path(app.confdir, "build", "trained")))


def train_ahead(app):
    """Begin beside the other galleries, whose scripts run first, where all of them will run again."""
    global _training
    stamp = Path(app.srcdir, "gallery", "fingerprint")
    unchanged = stamp.is_file() and stamp.read_text("utf-8") == app.config.book_fingerprint
    if has_gallery(app) and not unchanged and (os.cpu_count() or 1) > 1:
        _training = subprocess.Popen(
            [sys.executable, "-m", "attention_book.trained.ahead"], cwd=app.confdir, stdin=subprocess.DEVNULL
        )


def wait(app, exception):
    """The trained weights are kept for the next build, even where this one did not need them."""
    global _training
    if _training is not None:
        failed, _training = _training.wait(), None
        if failed and exception is None:
            logger.warning("training ahead of the scripts failed, for the reason above", type="trained_heads")


def setup(app) -> ExtensionMetadata:
    app.connect("config-inited", keep_weights)
    app.connect("builder-inited", train_ahead, priority=50)  # before fresh.py writes its stamp anew
    app.connect("build-finished", wait, priority=100)  # before fresh.py counts the warnings
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
