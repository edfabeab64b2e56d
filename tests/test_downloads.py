"""Every script and notebook that the gallery offers runs as published and prints what its page shows."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "_ext"))
from colab import first_cell
from repository import Repository

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.glob("gallery/*/*.py"))
# reST that a notebook's reader would see as it stands: a role, a directive, the tail of a link.
RAW_MARKUP = re.compile(r":[a-z][a-z:]*:`[^`]*`|^ *\.\. .*|`__?(?!\w)", re.MULTILINE)

# A pip that only writes down what it was asked for, and a Python that has forgotten where the library is.
NO_PIP = "import sys, pathlib; pathlib.Path('asked').write_text(' '.join(sys.argv[1:]))"
NO_LIBRARY = "import sys; sys.meta_path = [finder for finder in sys.meta_path if 'editable' not in finder.__module__]"
# Read once, here: pytest changes os.environ between tests, while the threads that run the downloads would walk through it.
INHERITED = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
# What the build has trained need not be trained again: its keys hold all that it depends on.
INHERITED["ATTENTION_BOOK_CACHE"] = str(ROOT / "build" / "trained")


def page_of(site, script):
    return BeautifulSoup((site / f"{script}.html").read_text("utf-8"), "html.parser")


def download(site, script, suffix) -> Path:
    """The file behind the page's own download link."""
    links = {tag["href"] for tag in page_of(site, script).select("a.download") if tag["href"].endswith(suffix)}
    assert len(links) == 1, f"{script}: {len(links)} downloads end in {suffix}"
    return (site / script).parent / links.pop()


def lines(text: str) -> list[str]:
    """The page trims blank lines at the ends of its blocks, so they do not count."""
    return [line.rstrip() for line in text.expandtabs().splitlines() if line.strip()]


def shown(site, script) -> list[str]:
    blocks = page_of(site, script).select(".sphx-glr-script-out pre")
    return lines("\n".join(block.get_text() for block in blocks))


def run_python(folder: Path, *arguments: str, **environment: str) -> str:
    """Run a fresh interpreter in a folder and return what it prints."""
    ran = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=INHERITED | environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


def run_script(path: Path, folder: Path) -> list[str]:
    return lines(run_python(folder, str(path), MPLBACKEND="agg"))


def run_notebook(path: Path, folder: Path, **environment: str) -> list[str]:
    """Run a copy, cell by cell, in a kernel of its own; a cell that fails ends the run."""
    shutil.copy(path, folder)
    run_python(folder, "-c", "from nbclient.cli import main; main()", "--inplace", path.name, **environment)
    cells = json.loads((folder / path.name).read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    return lines("\n".join("".join(output["text"]) for output in outputs if output.get("name") == "stdout"))


@pytest.fixture(scope="module")
def runs(site, tmp_path_factory):
    """Both forms of every script, begun two at a time; `runs[script, suffix].result()` waits for one."""

    def run(script, suffix):
        folder = tmp_path_factory.mktemp(Path(script).name)
        run_it = run_script if suffix == ".py" else run_notebook
        return run_it(download(site, script, suffix), folder)

    with ThreadPoolExecutor(2) as workers:
        yield {(script, suffix): workers.submit(run, script, suffix) for script in SCRIPTS for suffix in (".py", ".ipynb")}


@pytest.mark.parametrize("suffix", [".py", ".ipynb"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_download_prints_what_its_page_shows(site, runs, script, suffix):
    assert runs[script, suffix].result() == shown(site, script)


def test_every_script_has_its_downloads_and_there_are_no_others(site):
    offered = {path.name for path in site.glob("_downloads/*/*") if path.suffix in (".py", ".ipynb")}
    assert offered == {Path(script).name + suffix for script in SCRIPTS for suffix in (".py", ".ipynb")}
    assert SCRIPTS


def test_a_zip_holds_the_same_files_as_its_page_offers(site):
    singles = {path.name: path.read_bytes() for path in site.glob("_downloads/*/*") if path.suffix != ".zip"}
    zips = [zipfile.ZipFile(io.BytesIO(path.read_bytes())) for path in site.glob("_downloads/*/*.zip")]
    assert zips
    for archive in zips:
        for name in archive.namelist():
            if not name.endswith((".rst", "/")):
                assert archive.read(name) == singles[Path(name).name], name


def test_no_download_names_a_file_or_folder_of_the_builder(site):
    for path in site.glob("_downloads/*/*"):
        if path.suffix in (".py", ".ipynb"):
            text = path.read_text("utf-8")
            assert "file://" not in text, path.name
            assert str(ROOT) not in text, path.name


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_text_of_a_notebook_holds_no_raw_markup(site, script):
    cells = json.loads(download(site, script, ".ipynb").read_text("utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert RAW_MARKUP.findall(text) == []


ADDRESS = {"known": Repository("https://github.com/someone/book", "main", ""), "unknown": Repository()}


@pytest.mark.parametrize("address", ADDRESS)
@pytest.mark.parametrize("missing", [True, False], ids=["missing", "there"])
def test_the_first_cell_installs_the_library_where_it_is_missing_and_only_there(site, tmp_path, missing, address):
    tools = tmp_path / "tools"
    (tools / "pip").mkdir(parents=True)
    (tools / "pip" / "__init__.py").touch()
    (tools / "pip" / "__main__.py").write_text(NO_PIP)
    if missing:
        (tools / "sitecustomize.py").write_text(NO_LIBRARY)
    notebook = json.loads(download(site, SCRIPTS[0], ".ipynb").read_text("utf-8"))
    del notebook["cells"][1:]
    (first,) = notebook["cells"]
    assert first["cell_type"] == "code"
    assert "".join(first["source"]).startswith(first_cell(Repository()).partition("    ")[0])
    first["source"] = [first_cell(ADDRESS[address])]
    (tools / "first.ipynb").write_text(json.dumps(notebook))
    if missing and address == "unknown":  # no package index is asked for a name that might be anybody's
        with pytest.raises(AssertionError, match="needs the library of its book: %pip install <the folder of the book>"):
            run_notebook(tools / "first.ipynb", tmp_path, PYTHONPATH=str(tools))
    else:
        run_notebook(tools / "first.ipynb", tmp_path, PYTHONPATH=str(tools))
    asked = (tmp_path / "asked").read_text() if (tmp_path / "asked").exists() else ""
    assert asked == ("install --quiet attention-book @ git+https://github.com/someone/book@main" if missing and address == "known" else "")
