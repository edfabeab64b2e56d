"""The build is strict, repeatable, and runs again what a change makes stale, and nothing else."""

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from tests.small_book import PAGE, REFERENCE, ROOT, SmallBook

# The files in which two clean builds in different folders may differ: none.
MAY_DIFFER = set()
# Everything that a browser fetches by itself, and where it stands.
FETCHED = {
    "script": ("src",), "img": ("src", "srcset"), "iframe": ("src",), "source": ("src", "srcset"), "video": ("src", "poster"),
    "audio": ("src",), "track": ("src",), "embed": ("src",), "object": ("data",), "input": ("src",),
    "use": ("href", "xlink:href"), "image": ("href", "xlink:href"),
}
NOT_FETCHED = {"canonical", "index", "search", "next", "prev", "author", "license", "alternate"}
OTHER_HOST = re.compile(r"\s*(?:[a-z]+:)?//", re.IGNORECASE)
IN_CSS = re.compile(r"""(?:url\(|@import)\s*["']?\s*(?:[a-z]+:)?//""", re.IGNORECASE)
CHANGES_FROM_BUILD_TO_BUILD = re.compile(
    r"\b0x[0-9a-f]{8,}|\b\d\d:\d\d:\d\d\b|[Ll]ast updated|running time|Executed notebook|file://|site-packages|/home/|/tmp/|/Users/"
)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Books begun at once, two at a time; `begun[name]()` waits for one and returns it with Sphinx's answer."""
    books = {
        "clean": SmallBook(tmp_path_factory.mktemp("clean")),
        "grown": SmallBook(tmp_path_factory.mktemp("a-folder-with-a-longer-name") / "deeper"),
        "mistaken": mistaken(tmp_path_factory.mktemp("mistaken")),
        "warned": warned(tmp_path_factory.mktemp("warned")),
        "raising": raising(tmp_path_factory.mktemp("raising")),
        "parallel": SmallBook(tmp_path_factory.mktemp("parallel")),
        "leaking": leaking(tmp_path_factory.mktemp("leaking")),
    }
    options = {"parallel": ("-j", "2")}
    with ThreadPoolExecutor(2) as workers:
        builds = {name: workers.submit(book.build, *options.get(name, ())) for name, book in books.items()}
        yield {name: partial(lambda name: (books[name], builds[name].result()), name) for name in books}


@pytest.fixture(scope="module")
def clean(begun):
    """A small book, built once from nothing; no test changes it."""
    book, result = begun["clean"]()
    assert result.returncode == 0, result.stderr
    assert result.ran == ["first", "one", "second", "two"]
    return book


@pytest.fixture(scope="module")
def grown(begun):
    """The same book in another folder, changed and built again by one test after the other."""
    book, result = begun["grown"]()
    assert result.returncode == 0, result.stderr
    return book


def mistaken(folder):
    """A book with mistakes that are told in one build."""
    book = SmallBook(folder)
    book.change("gallery/acts/first.py", 'plt.title("Line of first")\n', "")
    book.change("gallery/acts/second.py", "plt.show()", "plt.show()\nimport warnings\nwarnings.warn('beware')")
    return book


def warned(folder):
    """A book whose build goes to its end, with warnings."""
    book = SmallBook(folder)
    book.change("gallery/acts/first.py", "import os\n", "import os\nopen(os.environ['RAN'])\n")
    show = ":::{{gallery-figure}} {}\nA caption.\n:::\n\n"
    book.write("docs/two.md", "# Two\n\n" + show.format("acts/second 7") + show.format("acts/third 1"))
    return book


def leaking(folder):
    """A book whose first script leaves its own settings behind, and whose second says what it finds."""
    book = SmallBook(folder)
    book.change(
        "gallery/acts/first.py", "plt.show()",
        "plt.show()\nplt.rcParams['image.cmap'] = 'jet'\nimport random, numpy, torch\ntorch.set_default_dtype(torch.float64)\n"
        "torch.set_printoptions(precision=2)\nnumpy.set_printoptions(precision=2)\ntorch.set_grad_enabled(False)",
    )
    book.change(
        "gallery/acts/second.py", "plt.plot(",
        "import numpy, torch\nprint(plt.rcParams['image.cmap'], torch.tensor([1 / 3]), torch.is_grad_enabled(), numpy.array([1 / 3]))\n"
        "plt.plot(",
    )
    return book


def raising(folder):
    """A book with an exception in a cell."""
    book = SmallBook(folder)
    for script in book.folder.glob("gallery/acts/*.py"):
        script.unlink()
    book.write("docs/one.md", PAGE.format(name="one", number="1 / 0"))
    return book


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def other_hosts(page: str) -> list[str]:
    """What a browser that opens this page would ask of another host."""
    soup = BeautifulSoup(page, "html.parser")
    links = [(tag, tag.get("href", "")) for tag in soup("link") if not NOT_FETCHED & set(tag.get("rel", []))]
    tags = [(tag, tag.get(name, "")) for kind, names in FETCHED.items() for tag in soup(kind) for name in names]
    styles = [(tag, tag.get_text()) for tag in soup("style")] + [(tag, tag["style"]) for tag in soup(style=True)]
    return [str(tag) for tag, address in links + tags if OTHER_HOST.match(address)] + [
        str(tag) for tag, text in styles if IN_CSS.search(text)
    ]


def test_two_clean_builds_in_different_folders_are_identical(clean, grown):
    one, other = files(clean.html), files(grown.html)
    assert one.keys() == other.keys()
    assert {name for name in one if one[name] != other[name]} == MAY_DIFFER


def test_two_jobs_at_once_build_the_same_book(clean, begun):
    book, result = begun["parallel"]()
    assert result.returncode == 0, result.stderr
    one, other = files(clean.html), files(book.html)
    assert one.keys() == other.keys()
    assert {name for name in one if one[name] != other[name]} == MAY_DIFFER


def test_no_setting_of_a_script_reaches_the_next(begun):
    book, result = begun["leaking"]()
    assert result.returncode == 0, result.stderr
    assert "viridis tensor([0.3333]) True [0.33333333]" in BeautifulSoup(book.page("gallery/acts/second"), "html.parser").text


def test_nothing_runs_and_torch_is_not_even_imported_when_nothing_changed(grown):
    result = grown.build(PYTHONPROFILEIMPORTTIME="1")
    assert result.returncode == 0, result.stderr
    assert result.ran == []
    assert "0 added, 0 changed, 0 removed" in result.stdout
    assert "| sphinx\n" in result.stderr  # the list of imports is there
    assert re.search(r"\| +torch$", result.stderr, re.MULTILINE) is None


def test_one_changed_script_runs_alone_and_its_figure_changes_where_it_is_shown(grown):
    figure = grown.html / "_images" / "sphx_glr_first_001.svg"
    before = figure.read_bytes()
    grown.change("gallery/acts/first.py", "twice(3)]", "twice(3), 1]")
    result = grown.build()
    assert result.returncode == 0, result.stderr
    assert result.ran == ["first", "one"]  # page one shows the figure
    assert figure.read_bytes() != before


def test_one_changed_page_runs_alone(grown):
    grown.change("docs/two.md", "twice(20)", "twice(21)")
    result = grown.build()
    assert result.returncode == 0, result.stderr
    assert result.ran == ["two"]
    assert "two shows 42" in grown.page("two")


def test_a_change_of_the_library_reaches_every_number_and_description(grown):
    figure = grown.html / "_images" / "sphx_glr_second_001.svg"
    before = figure.read_bytes()
    grown.change("attention_book/__init__.py", "FACTOR = 2", "FACTOR = 5")
    grown.change("attention_book/__init__.py", "twice the number", "five times the number")
    result = grown.build()
    assert result.returncode == 0, result.stderr
    assert result.ran == ["first", "one", "second", "two"]
    assert "one shows 50" in grown.page("one")
    assert "second prints 20" in grown.page("gallery/acts/second")
    assert "five times the number" in grown.page("reference")
    assert figure.read_bytes() != before


def test_a_removed_module_leaves_no_page_of_its_source_behind(grown):
    grown.write("docs/reference.md", REFERENCE + "\n```{eval-rst}\n.. autofunction:: attention_book.more.thrice\n```\n")
    grown.write("attention_book/more.py", '"""More."""\n\n\ndef thrice(x):\n    """Return three times the number."""\n    return 3 * x\n')
    assert grown.build().returncode == 0
    assert "three times" in grown.page("_modules/attention_book/more")
    grown.write("docs/reference.md", REFERENCE)
    (grown.folder / "attention_book/more.py").unlink()
    assert grown.build().returncode == 0
    assert not (grown.html / "_modules/attention_book/more.html").exists()
    assert (grown.html / "_modules/attention_book.html").exists()


@pytest.fixture(scope="module")
def addressed(grown):
    """The grown book without its second script, built where the environment tells its address."""
    (grown.folder / "gallery/acts/second.py").unlink()
    result = grown.build(
        GITHUB_SERVER_URL="https://github.com", GITHUB_REPOSITORY="Someone/some-book", GITHUB_REF_NAME="main", GITHUB_SHA="0" * 40
    )
    assert result.returncode == 0, result.stderr
    return grown


def test_a_removed_script_leaves_no_page_behind(addressed):
    assert not list((addressed.folder / "docs/gallery").rglob("*second*"))
    assert "second" not in addressed.page("gallery/acts/index")


def test_with_known_addresses_pages_say_where_they_and_their_sources_are(addressed):
    page = BeautifulSoup(addressed.page("gallery/acts/first"), "html.parser")
    site = "https://someone.github.io/some-book/"
    assert page.find("link", rel="canonical")["href"] == f"{site}gallery/acts/first.html"
    edit = page.select_one(".edit-this-page a")["href"]
    assert edit == "https://github.com/Someone/some-book/edit/main/gallery/acts/first.py"
    notebook = page.select_one('a.download[href$=".ipynb"]')["href"].removeprefix("../../")
    assert page.find("a", string="Open in Colab")["href"] == (
        f"https://colab.research.google.com/github/Someone/some-book/blob/gh-pages/{notebook}"
    )
    first_cell = json.loads((addressed.html / notebook).read_text("utf-8"))["cells"][0]["source"][0]
    assert '%pip install --quiet "attention-book @ git+https://github.com/Someone/some-book@main"' in first_cell
    assert f"<loc>{site}one.html</loc>" in (addressed.html / "sitemap.xml").read_text("utf-8")
    assert '<meta property="og:title" content="Page one" />' in addressed.page("one")
    assert 'href="/some-book/_static/' in addressed.page("404")
    assert other_hosts(str(page)) == []


def test_without_an_address_no_page_guesses_one(clean):
    page = clean.page("gallery/acts/first")
    assert "Colab" not in page
    assert "canonical" not in page
    assert "edit-this-page" not in BeautifulSoup(page, "html.parser").article.prettify()
    assert not (clean.html / "sitemap.xml").exists()
    assert 'href="/_static/' in clean.page("404")


def test_a_page_begins_with_its_title_and_the_way_to_the_downloads_follows_its_question(clean):
    article = BeautifulSoup(clean.page("gallery/acts/first"), "html.parser").find("article")
    parts = [each for each in article.find_all(["h1", "p"]) if each.get_text(strip=True)]
    assert parts[0].name == "h1"
    assert parts[1].get_text() == "One question."
    assert "sphx-glr-download-link-note" in parts[2].parent["class"]
    assert len(article.select(".sphx-glr-download-link-note")) == 1


def test_a_figure_stands_on_another_page_with_its_text_its_caption_and_a_way_back(clean):
    figure = BeautifulSoup(clean.page("one"), "html.parser").figure
    assert figure.img["alt"] == "Line of first"
    assert (clean.html / figure.img["src"]).is_file()
    assert figure.figcaption.get_text(" ", strip=True).startswith("A caption with one word in italics. ( how it is made )")
    assert figure.a["href"] == "gallery/acts/first.html"


def test_thumbnails_say_what_they_show(clean):
    gallery = BeautifulSoup(clean.page("gallery/acts/index"), "html.parser")
    assert [image["alt"] for image in gallery.select(".sphx-glr-thumbcontainer img")] == ["Line of first", "Line of second"]


def test_a_script_links_to_the_library_and_the_library_back(clean):
    script = BeautifulSoup(clean.page("gallery/acts/first"), "html.parser")
    assert "../../reference.html#attention_book.twice" in {link["href"] for link in script.select(".highlight a")}
    library = BeautifulSoup(clean.page("reference"), "html.parser")
    assert {"gallery/acts/first.html", "gallery/acts/second.html"} <= {link["href"] for link in library.article("a")}


def test_a_figure_without_a_title_and_a_warning_in_a_script_fail_the_build(begun):
    _, result = begun["mistaken"]()
    assert result.returncode != 0
    assert "first.py: a figure without a title has no alternative text" in result.stderr
    assert "UserWarning: beware" in result.stderr


def test_warnings_fail_this_build_and_the_next(begun):
    book, first = begun["warned"]()
    for result in first, book.build():
        assert result.returncode != 0
        assert "first.py: Python ignored this exception: ResourceWarning" in result.stderr
        assert "two.md:3: WARNING: gallery-figure: there is no figure 7 in acts/second, which makes 1" in result.stderr
        assert "two.md:7: WARNING: gallery-figure: there is no gallery script acts/third" in result.stderr


def test_a_space_in_the_name_of_a_script_is_refused_before_any_script_runs(tmp_path):
    book = SmallBook(tmp_path)
    shutil.move(book.folder / "gallery/acts/second.py", book.folder / "gallery/acts/a second.py")
    result = book.build()
    assert result.returncode != 0
    assert "gallery script 'a second.py': a space breaks the links to its figures; write an underscore" in result.stderr
    assert result.ran == []


def test_an_exception_in_a_cell_fails_the_build_and_is_shown(begun):
    _, result = begun["raising"]()
    assert result.returncode == 2
    assert "ZeroDivisionError" in result.stderr
    assert "division by zero" in result.stderr
    assert "cells raised exceptions, told above, in: one" in result.stderr


def test_the_settings_stay_short():
    assert len((ROOT / "conf.py").read_text("utf-8").splitlines()) < 80


@pytest.mark.parametrize("which", ["small", "real"])
def test_no_page_asks_another_host(request, which):
    folder = request.getfixturevalue("clean").html if which == "small" else request.getfixturevalue("site")
    pages = sorted(folder.rglob("*.html"))
    assert pages
    assert {page.name: found for page in pages if (found := other_hosts(page.read_text("utf-8")))} == {}
    for style in [*folder.rglob("*.css"), *folder.rglob("*.svg")]:
        assert IN_CSS.search(style.read_text("utf-8")) is None, style
    for picture in folder.rglob("*.svg"):
        assert re.findall(r"""href=["'](?!#|data:)[^"']*""", picture.read_text("utf-8")) == [], picture


@pytest.mark.parametrize("which", ["small", "real"])
def test_no_page_names_a_folder_an_address_in_memory_or_a_time(request, which):
    folder = request.getfixturevalue("clean").html if which == "small" else request.getfixturevalue("site")
    builder = str(request.getfixturevalue("clean").folder if which == "small" else ROOT)
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".html", ".js", ".svg", ".py", ".ipynb", ".xml", ".inv"):
            text = path.read_bytes().decode("utf-8", errors="replace")
            assert builder not in text, path
            # Scripts of the toolchain may speak of such things; what this project wrote may not.
            if path.suffix != ".js":
                assert CHANGES_FROM_BUILD_TO_BUILD.findall(text) == [], path


@pytest.mark.parametrize(
    "fragment",
    ['<script src="https://example.org/a.js">', '<link rel="stylesheet" href="//example.org/a.css">', '<img src="HTTP://example.org/a.png">',
     '<img srcset="https://example.org/a.png 2x">', "<style>@import 'https://example.org/a.css'</style>",
     '<p style="background: url(https://example.org/a.png)">', '<svg><use xlink:href="https://example.org/a.svg#b"/></svg>'],
)  # fmt: skip
def test_the_search_for_other_hosts_finds_them(fragment):
    assert other_hosts(f"<html>{fragment}</html>")
