"""The file for a class without a network: everything is in it, and it opens from a folder."""

import runpy
import zipfile

import pytest

from tests.browser.visit import tab
from tests.conftest import ROOT

TOP = "attention-from-scratch"


@pytest.fixture(scope="module")
def program():
    return runpy.run_path(str(ROOT / ".ci" / "offline_zip.py"))


@pytest.fixture(scope="module")
def unpacked(program, site, tmp_path_factory):
    folder = tmp_path_factory.mktemp("class room")  # a name with a space, as teachers give
    program["write"](site, folder / "book.zip")
    with zipfile.ZipFile(folder / "book.zip") as packed:
        packed.extractall(folder)
    return folder / TOP


def test_a_double_click_opens_the_book_and_its_figures(unpacked, browser):
    with tab(browser) as page:
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((unpacked / "start.html").as_uri())
        page.wait_for_url("**/book/index.html")
        assert page.locator("h1").inner_text().startswith("Attention from Scratch")
        figure = page.locator("article img").first
        assert figure.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
        page.locator("a", has_text="Act 1").first.click()
        assert page.url.endswith("/book/acts/act1.html")
        assert not errors


def test_every_script_is_there_as_it_stands_and_as_a_notebook(unpacked):
    for script in (ROOT / "gallery").glob("*/*.py"):
        assert (unpacked / "scripts" / script.name).read_bytes() == script.read_bytes()
        assert (unpacked / "notebooks" / script.with_suffix(".ipynb").name).is_file()


def test_the_answers_stand_apart_for_each_script_that_asks(unpacked):
    asking = {path.stem for path in (ROOT / "gallery").glob("*/*.py") if ".. predict::" in path.read_text("utf-8")}
    assert asking == {path.stem for path in (unpacked / "answers").iterdir()}
    assert "\n0.698\n" in (unpacked / "answers" / "project_2_query_key_value.md").read_text("utf-8")


def test_the_same_site_gives_the_same_bytes(program, site, tmp_path):
    for name in ("a.zip", "b.zip"):
        program["write"](site, tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_too_large_a_file_is_refused_and_not_left_behind(program, site, tmp_path):
    limit, program["write"].__globals__["LIMIT"] = program["LIMIT"], 1000
    try:
        with pytest.raises(SystemExit, match=r"would have .* MB, and 0 MB is the limit"):
            program["write"](site, tmp_path / "a.zip")
    finally:
        program["write"].__globals__["LIMIT"] = limit
    assert not list(tmp_path.iterdir())


def test_without_a_built_site_it_says_what_to_do(program, tmp_path):
    with pytest.raises(SystemExit, match="run 'make site' first"):
        program["write"](tmp_path, tmp_path / "a.zip")
