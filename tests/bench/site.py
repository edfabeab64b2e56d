"""How long the site takes to build, against the plain run time of its scripts and executed pages."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
QUIET = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}


def _run(*command: str, cwd: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, env=QUIET, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure() -> dict[str, Any]:
    """A cold build and an unchanged one, in a copy of the tree."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "book"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", "build", "docs/gallery", "__pycache__"))
        shutil.rmtree(tree / "docs/gallery", ignore_errors=True)
        scripts = sum(_run(sys.executable, str(script), cwd=Path(folder)) for script in sorted(tree.glob("gallery/*/*.py")))
        pages = [page for page in sorted(tree.glob("docs/**/*.md")) if "{code-cell}" in page.read_text()]
        cells = sum(
            _run(sys.executable, "-m", "jupyter", "execute", str(_notebook(page, Path(folder))), cwd=Path(folder)) for page in pages
        )
        sphinx = (sys.executable, "-m", "sphinx", "-c", ".", "-W", "--keep-going", "-n", "-d", "build/doctrees", "docs", "build/html")
        cold, unchanged = _run(*sphinx, cwd=tree), _run(*sphinx, cwd=tree)
    return {
        "scripts and pages run plainly, s": scripts + cells,
        "cold build, s": cold,
        "cold build over plain run": cold / (scripts + cells),
        "unchanged build, s": unchanged,
    }


def _notebook(page: Path, folder: Path) -> Path:
    """The executable cells of a page as a notebook of their own, outside the tree that Sphinx reads."""
    import re

    import nbformat

    cells = re.findall(r"```\{code-cell\}.*?\n(?::.*\n)*(.*?)```", page.read_text(), re.DOTALL)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    target = folder / f"{page.stem}.ipynb"
    nbformat.write(notebook, target)
    return target
