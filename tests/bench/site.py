"""How long the site takes to build, against the plain run time of its scripts and executed pages."""

import os
import runpy
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
        shutil.rmtree(tree / "build/html")
        shutil.rmtree(tree / "build/doctrees")
        shutil.rmtree(tree / "docs/gallery")
        kept = _run(*sphinx, cwd=tree)
        start = _start(Path(folder) / "empty")
    return {
        "scripts and pages run plainly, s": scripts + cells,
        "cold build, s": cold,
        "cold build over plain run": cold / (scripts + cells),
        "cold build, trained weights kept from before, s": kept,
        "unchanged build, s": unchanged,
        "unchanged build beyond Sphinx's own start, s (wanted: at most 3)": unchanged - start,
    }


def _start(folder: Path) -> float:
    """Seconds that Sphinx takes to build again, unchanged, a book of one empty page with the same theme and the extensions of others."""
    folder.mkdir()
    settings = runpy.run_path(str(ROOT / "conf.py"))
    extensions = [name for name in settings["extensions"] if not (ROOT / "docs" / "_ext" / f"{name}.py").is_file()]
    gallery = {"examples_dirs": "examples", "gallery_dirs": "made"}
    (folder / "conf.py").write_text(
        f"extensions = {extensions}\nsphinx_gallery_conf = {gallery}\nhtml_theme = {settings['html_theme']!r}\nbibtex_bibfiles = []\n"
    )
    (folder / "index.md").write_text("# Nothing\n")
    (folder / "examples").mkdir()
    (folder / "examples" / "README.txt").write_text("Nothing\n=======\n")
    command = (sys.executable, "-m", "sphinx", "-q", ".", "out")
    _run(*command, cwd=folder)
    return _run(*command, cwd=folder)


def _notebook(page: Path, folder: Path) -> Path:
    """The executable cells of a page as a notebook of their own, outside the tree that Sphinx reads."""
    import re

    import nbformat

    cells = re.findall(r"```\{code-cell\}.*?\n(?::.*\n)*(.*?)```", page.read_text(), re.DOTALL)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    target = folder / f"{page.stem}.ipynb"
    nbformat.write(notebook, target)
    return target
