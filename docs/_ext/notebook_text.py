"""Finish what sphinx-gallery begins: the text of a notebook is Markdown, without reST's roles, double backticks and questions."""

import json
import re
from pathlib import Path
from textwrap import dedent

from answers import stored
from question import BLOCK, read
from sphinx.util.typing import ExtensionMetadata

ROLE = re.compile(r":[a-z:]+:`~?(?P<said>[^`<]+?)(?:\s*<[^`>]*>)?`")
PAGE = re.compile(r":doc:`(?P<said>[^`<]+?)\s*<[^`>]*>`")


def markdown(text: str) -> str:
    """A role becomes the words that it shows, the title of another page in italics; code stays code, and a fence of three a fence."""
    return re.sub(r"(?<!`)``(?!`)", "`", ROLE.sub(r"`\g<said>`", PAGE.sub(r"*\g<said>*", text)))


def fold(block: re.Match, answers: dict, label: str = "Predict") -> str:
    """A question, its choices, and its answer behind a line that unfolds; a quiz is a row of them."""
    if block["name"] == "quiz":
        asked = enumerate(BLOCK.finditer(dedent(block["body"])), start=1)
        return "".join(fold(found, answers, f"Question {number}") for number, found in asked)
    question = read(block)
    value = answers.get(question.answer, {}).get("value")
    # A question that is wrongly put has been told by its page, and fails the build.
    right = "?" if question.problem(value) else question.right(value)
    within = f" ({question.within()})" if question.within() else ""
    lines = [f"**{label}.** {question.text}", "\n".join(f"- {choice}" for choice in question.choices)]
    lines += ["<details><summary>Show the answer</summary>", f"Answer: {right}{within}", question.explanation, "</details>"]
    return "\n\n".join(filter(None, lines)) + "\n\n"


def rewrite(path: Path) -> None:
    answers = stored(path)
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
            if BLOCK.search(text + "\n"):
                text = BLOCK.sub(lambda block: fold(block, answers), text + "\n").rstrip()
            cell["source"] = [markdown(text)]
    text = json.dumps(notebook, indent=2)
    if text != path.read_text("utf-8"):
        path.write_text(text, "utf-8")


def rewrite_all(app):
    for path in Path(app.srcdir, "gallery").rglob("*.ipynb"):
        rewrite(path)


def setup(app) -> ExtensionMetadata:
    # After sphinx-gallery, which writes them at the same event, and before gallery_zip, which packs them.
    app.connect("builder-inited", rewrite_all, priority=800)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
