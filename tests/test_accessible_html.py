"""What the toolchain writes wrong for a screen reader or a keyboard is mended, on a small site with all of its features."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from tests.browser.server import serving
from tests.browser.test_axe import violations
from tests.browser.visit import pages_of, tab

EXTENSIONS = Path(__file__).parent.parent / "docs" / "_ext"
sys.path.insert(0, str(EXTENSIONS))
from accessible_html import mend, mend_all  # noqa: E402  the folder of extensions is no package

CONF = f"""
import sys
sys.path[:0] = [{str(EXTENSIONS)!r}, "."]
project = "Trial"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_gallery.gen_gallery", "sphinx_design",
              "sphinx_copybutton", "sphinxcontrib.bibtex", "notfound.extension", "static_math"]
html_theme = "furo"
html_static_path = [{str(EXTENSIONS.parent / "_static")!r}]
html_css_files = ["book.css"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
notfound_urls_prefix = "/"
nb_execution_mode = "off"
bibtex_bibfiles = ["all.bib"]
pygments_dark_style = "a11y-dark"
html_theme_options = {{"source_repository": "https://example.org/x/y", "source_branch": "main", "source_directory": "docs/"}}
sphinx_gallery_conf = {{"examples_dirs": ["scripts"], "gallery_dirs": ["gallery"], "filename_pattern": r"\\.py$",
    "write_computation_times": False, "min_reported_time": float("inf"), "capture_repr": (), "download_all_examples": False}}
exclude_patterns = ["html", "gallery/*.ipynb", "scripts"]
"""
LONG = "x = " + " + ".join(f"variable_{number}" for number in range(30))
INDEX = f"""# Trial

Some {{cite}}`one`, a note[^1] and $x_i$; {{bdg-success}}`badge`.

[^1]: The note.

$$
\\operatorname{{Attention}}(Q, K, V)
= \\operatorname{{softmax}}\\left(\\frac{{QK^\\top}}{{\\sqrt{{d_k}}}}\\right) V \\in \\mathbb{{R}}^{{n \\times d}}
$$ (long)

```python
{LONG}
```

|   | b | c | d |
|---|---|---|---|
| `F.scaled_dot_product_attention` | `nn.MultiheadAttention` | `attention_book.MultiHeadAttention` | more |

::::{{tab-set}}
:::{{tab-item}} One
First
:::
:::{{tab-item}} Two
Second
:::
::::

:::{{dropdown}} Line by line
`code`
:::

:::{{card}} A card
:link: gallery/index
:link-type: doc
Text
:::

:::{{sidebar}} One
Beside
:::

```{{code-block}} python
:linenos:
:caption: Numbered

{LONG}
```

```{{toctree}}
:caption: Pages
notebook
gallery/index
api
sources
```
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trial")
    notebook = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_markdown_cell("# Notebook"),
        nbformat.v4.new_code_cell(LONG, id="one", outputs=[nbformat.v4.new_output("stream", text=LONG)]),
        nbformat.v4.new_code_cell("1", id="two", metadata={"tags": ["hide-cell"]}),
    ])
    notebook.cells[0].id = "zero"
    files = {
        "conf.py": CONF,
        "index.md": INDEX,
        "notebook.ipynb": nbformat.writes(notebook),
        "module.py": '"""A module."""\n\n\ndef double(value: int) -> int:\n    """Twice the value."""\n    return 2 * value\n',
        "api.md": "# API\n\n```{eval-rst}\n.. automodule:: module\n   :members:\n```\n",
        "sources.md": "# Sources\n\n```{bibliography}\n```\n",
        "all.bib": "@book{one, title={One}, author={A. B}, year=2017, publisher={C}}\n",
        "scripts/GALLERY_HEADER.rst": "Scripts\n=======\n",
        "scripts/plot.py": f'"""\nA script\n========\n\nOne question.\n"""\n\nprint("{LONG}")\n',
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def plain(source):
    """The site as the toolchain writes it."""
    command = [sys.executable, "-m", "sphinx", "-q", ".", "html"]
    process = subprocess.run(command, cwd=source, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return source / "html"


def finish(site):
    """What Sphinx does at the end of a build."""
    mend_all(SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=site), None)


@pytest.fixture(scope="module")
def mended(plain, tmp_path_factory):
    site = tmp_path_factory.mktemp("mended") / "html"
    shutil.copytree(plain, site)
    finish(site)
    return site


def faults(site, browser, pages, theme="light", options=None):
    with serving(site) as server, tab(browser, theme) as page:
        page.set_viewport_size({"width": 320, "height": 800})
        return {path: found for path in pages if (found := violations(page, server, path, options))}


def test_axe_finds_nothing_on_any_page_of_a_phone(mended, browser):
    pages = pages_of(mended)
    assert {"404.html", "genindex.html", "search.html", "gallery/plot.html", "_modules/module.html"} <= set(pages)
    assert faults(mended, browser, pages) == {}


def test_axe_finds_enough_contrast_in_the_dark(mended, browser):
    only_colours = {"runOnly": ["color-contrast", "link-in-text-block"]}
    assert faults(mended, browser, ["index.html", "notebook.html", "gallery/plot.html", "api.html"], "dark", only_colours) == {}


def test_without_the_repairs_axe_names_each_rule_that_they_answer(plain, browser):
    found = faults(plain, browser, ["index.html", "gallery/index.html", "sources.html", "search.html"])
    assert {fault.split(":")[0] for page in found.values() for fault in page} == {
        "scrollable-region-focusable", "empty-table-header", "aria-required-attr", "landmark-unique", "region", "link-name",
        "aria-required-children", "aria-allowed-role", "aria-deprecated-role", "page-has-heading-one",
    }


def test_a_mended_page_is_not_changed_again(mended):
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in mended.rglob("*.html")}
    finish(mended)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before} == before


def test_only_what_can_be_wider_than_a_phone_enters_the_tab_order():
    page = "<pre><span>x</span> = 1\n</pre><pre>a line of more than twenty-four characters\n</pre>"
    assert mend(page) == page.replace("<pre>a", '<pre tabindex="0" role="group" aria-label="Code">a')
    short, long = (f'<div class="math notranslate"><math><mi>{letters}</mi></math></div>' for letters in ("x" * 9, "x" * 40))
    assert mend(short) == short
    assert mend(long) == long.replace('te">', 'te" tabindex="0" role="group" aria-label="Formula">')


def test_a_wide_figure_scrolls_and_can_be_reached_and_a_narrow_one_stays():
    wider, wide, narrow = (f'<img alt="a" src="a.svg" width="{width}" />' for width in (978, 640, 480))
    for picture, kind in ((wider, "wide-figure wider"), (wide, "wide-figure")):
        mended = mend(picture)
        assert mended == f'<span class="{kind}" tabindex="0" role="group" aria-label="Figure">{picture}</span>'
        assert mend(mended) == mended
    assert mend(narrow) == narrow
