"""Give every gallery script the same start, whatever ran before it, and turn its warnings into errors."""

import gc
import random
import sys
import warnings
from pathlib import Path

from sphinx.util import logging

logger = logging.getLogger(__name__)
_guard = None
_ignored = []
_numpy_printing = None


def reset(gallery_conf, fname, when):
    """Called by sphinx-gallery before and after each script."""
    # Imported here, since this file is loaded by builds that run no script as well.
    import matplotlib
    import matplotlib.pyplot
    import numpy
    import torch
    from gallery_svg import page_style

    global _numpy_printing
    if _numpy_printing is None:
        _numpy_printing = numpy.get_printoptions()
    random.seed(0)
    numpy.random.seed(0)
    numpy.set_printoptions(**_numpy_printing)
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.set_grad_enabled(True)
    torch.set_printoptions(profile="default", sci_mode=None)
    matplotlib.use("agg")
    matplotlib.rcdefaults()
    if when == "before":
        matplotlib.rcParams.update(page_style())
    _be_strict(when == "before", fname, Path(gallery_conf["src_dir"], "gallery"))


def _be_strict(on, script, made):
    """A warning would print the path of a file of this machine into the page."""
    global _guard
    if _guard is not None:
        gc.collect()
        _guard.__exit__(None, None, None)
        _guard = None
        sys.unraisablehook = sys.__unraisablehook__
        while _ignored:
            logger.warning("%s: Python ignored this exception: %s", script, _ignored.pop())
            for done in made.rglob(f"{script}.md5"):  # it has not passed: run it again next time
                done.unlink()
    if on:
        _guard = warnings.catch_warnings()
        _guard.__enter__()
        warnings.simplefilter("error")
        # A script calls plt.show() for its readers; here the figure goes to the page instead.
        warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive", category=UserWarning)
        # What is raised while an object is cleared away, such as "unclosed file", stops no script and is only printed.
        sys.unraisablehook = lambda raised: _ignored.append(repr(raised.exc_value))
