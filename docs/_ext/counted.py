"""Counts what the book pins, for the page Numbers, whose cells import this file by its folder."""

import ast
import doctest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Numbers that stand beside published ones, and are settings or places and no results.
NO_RESULT = ("cell", "seed", "seeds", "head", "num_heads", "d_out", "head_dim", "d_k", "tolerance", "tokens")


def pages(docs: Path) -> list[Path]:
    """The pages that are written by hand."""
    return [path for path in sorted(docs.rglob("*.md")) if not path.is_relative_to(docs / "gallery")]


def title(page: Path) -> str:
    return next(line for line in page.read_text("utf-8").splitlines() if line.startswith("# "))[2:]


def on_page(page: Path) -> int:
    """How many examples of a page say what they print."""
    return _printing(page.read_text("utf-8"))


def in_library(package: Path) -> int:
    """The same in the docstrings of all modules."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted(package.rglob("*.py"))]
    return sum(_printing(ast.get_docstring(node) or "") for tree in trees for node in ast.walk(tree) if isinstance(node, documented))


def _printing(text: str) -> int:
    return sum(bool(example.want) for example in doctest.DocTestParser().get_examples(text))


def results(published: Any, name: str = "") -> list[Any]:
    """Every number, and every list of numbers, as one result each."""
    if isinstance(published, dict):
        return [found for key, child in published.items() for found in results(child, key)]
    if isinstance(published, list) and published and isinstance(published[0], dict):
        return [found for child in published for found in results(child)]
    is_number = isinstance(published, float | int) and not isinstance(published, bool)
    is_list = isinstance(published, list) and published and not isinstance(published[0], str)
    return [published] if (is_number or is_list) and name not in NO_RESULT and not name.endswith("shape") else []


def numbers(result: Any) -> int:
    """How many numbers a result holds."""
    return sum(map(numbers, result)) if isinstance(result, list) else 1


def table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown, whole numbers under one another."""
    whole = [all(str(row[at]).replace(",", "").isdigit() for row in rows) for at in range(len(head))]
    lines = [head, ["--:" if each else ":--" for each in whole], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
