"""Compute the right answers to the book's questions, so that none is typed.

In a gallery script an answer is an expression over the script's own variables, as they stand at its end. sphinx-gallery
hands them to `remember` after each block of code and calls `settle` after the script; the answers then wait in a JSON
file beside the generated page. On other pages an answer is computed where it is asked, over the library alone.
"""

import json
import operator
import warnings
from pathlib import Path

from question import questions

NAMES = "import torch\nfrom attention_book import *\n"
_running: dict | None = None  # what sphinx-gallery knows of the script that runs


def compute(expression: str, names: dict) -> dict:
    """`{"value": number}`, or `{"error": sentence}` if there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            value = eval(expression, dict(names))  # the author's own code, as the script around it
            return {"value": plain(value)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def plain(value) -> int | float:
    """A number that JSON can hold; 0 and 1 for no and yes."""
    if isinstance(value, str):
        raise TypeError(f"{value!r} is text and not a number")
    try:
        return int(operator.index(value))
    except TypeError:
        return float(value)


def compute_on_page(expression: str, setup: str) -> dict:
    """The answer to a question that no script stands behind; it leaves torch's generator as it was."""
    import torch  # here, because most builds read no page that asks

    names = {}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        try:
            exec(NAMES + setup, names)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
        return compute(expression, names)


def file_of(page: Path) -> Path:
    """Where the answers for a generated page, its script or its notebook are."""
    return page.with_suffix(".answers.json")


def stored(page: Path) -> dict:
    """The answers for a generated page by their expressions; none if its script did not come to its end."""
    file = file_of(page)
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}


def remember(block, block_vars, gallery_conf):
    """Called by sphinx-gallery as an image scraper; this one takes no image."""
    global _running
    _running = block_vars
    return ""


def settle(gallery_conf, fname, when):
    """Called by sphinx-gallery before and after each script; afterwards it writes down the answers."""
    global _running
    script, _running = _running, None
    if when != "after" or script is None:
        return
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    file = file_of(Path(script["target_file"]))
    _, blocks = split_code_and_text_blocks(script["src_file"])
    asked = [question for block in blocks if block.type == "text" for question in questions(block.content)]
    if asked and "formatted_exception" not in script:
        found = {question.answer: compute(question.answer, script["example_globals"]) for question in asked}
        file.write_text(json.dumps(found, indent=1), "utf-8")
    else:
        file.unlink(missing_ok=True)
