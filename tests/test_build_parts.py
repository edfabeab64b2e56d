"""The small extensions of the build, each by itself."""

import re
import sys
import time
import zipfile
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from tests.small_book import SmallBook

sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "_ext"))
from fresh import fingerprint
from gallery_svg import INK, alternative_text, draw, page_style
from gallery_zip import rewrite
from notebook_text import markdown
from repository import Repository, read


@pytest.fixture
def figure():
    with plt.rc_context(page_style()):
        figure, axes = plt.subplots(1, 2, figsize=(4, 2))
        axes[0].imshow([[0.0, 1.0]], cmap="viridis")
        axes[0].text(0, 0, "own colour", color="#123456")
        yield figure
    plt.close(figure)


def test_alternative_text_is_the_title_then_those_of_the_panels(figure):
    assert alternative_text(figure) == ""
    figure.axes[1].set_title("softmax")
    assert alternative_text(figure) == "softmax"
    figure.suptitle("Scores\nand weights")
    figure.axes[0].set_title("raw", loc="left")
    assert alternative_text(figure) == "Scores and weights: raw, softmax"


def test_ink_follows_the_page_and_every_other_colour_stays(figure):
    svg, _, _ = draw(figure, "salt", "A title")
    rule, rest = re.search(r"<style>svg.*?</style>", svg)[0], re.sub(r"<style>svg.*?</style>", "", svg)
    assert "prefers-color-scheme:dark" in rule
    assert INK not in rest
    assert "currentColor" in rest
    assert "#123456" in rest


def test_the_ground_of_a_figure_is_transparent(figure):
    svg, _, _ = draw(figure, "salt", "A title")
    assert "#ffffff" not in svg
    assert re.search(r'<g id="patch_1">\s*<path [^>]*style="fill: none"', svg)


def test_the_same_figure_gives_the_same_bytes_and_no_address(figure):
    first = draw(figure, "salt", "a < b")
    assert draw(figure, "salt", "a < b") == first
    assert "<title>a &lt; b</title>" in first[0]
    assert "DOCTYPE" not in first[0]
    assert not re.search(r"dc:date|Matplotlib v", first[0])


def test_the_size_is_that_of_the_picture_in_css_pixels(figure):
    svg, width, height = draw(figure, "salt", "A title")
    points = [float(number) for number in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups()]
    assert [width, height] == [round(number * 96 / 72) for number in points]


def test_a_zip_depends_on_its_files_alone(tmp_path):
    names = ["b.py", "a.py"]
    made = []
    for days_ago in (1, 2):
        folder = tmp_path / str(days_ago)
        folder.mkdir()
        with zipfile.ZipFile(folder / "all.zip", "w") as archive:
            for name in reversed(names) if days_ago == 2 else names:
                (folder / name).write_text(name)
                then = time.localtime(time.time() - days_ago * 86400)
                archive.writestr(zipfile.ZipInfo(name, then[:6]), name)
        rewrite(folder / "all.zip")
        made.append((folder / "all.zip").read_bytes())
        newest = max((folder / name).stat().st_mtime for name in names)
        assert (folder / "all.zip").stat().st_mtime == pytest.approx(newest, abs=0.01)
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("the ``scores`` grow", "the `scores` grow"),
        (":func:`attention_book.trace` and :py:class:`~torch.Tensor`", "`attention_book.trace` and `torch.Tensor`"),
        ("see :doc:`Act 1 </acts/act1>`.", "see *Act 1*."),
        ("the next: :doc:`Two heads\nread <act4_1>`.", "the next: *Two heads\nread*."),
        ("$\\sqrt{d_k}$ and `code`", "$\\sqrt{d_k}$ and `code`"),
    ],
)
def test_no_rest_stays_in_the_text_of_a_notebook(rest, expected):
    assert markdown(rest) == expected


@pytest.mark.parametrize("path", ["conf.py", "requirements.lock", "attention_book/__init__.py"])
def test_a_change_of_the_settings_the_lock_or_the_library_makes_another_fingerprint(tmp_path, path):
    book = SmallBook(tmp_path)
    before = fingerprint(book.folder)
    assert fingerprint(book.folder) == before
    book.write(path, (book.folder / path).read_text("utf-8") + "\n# changed\n")
    assert fingerprint(book.folder) != before


ACTIONS = {
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "Someone/book",
    "GITHUB_REF_NAME": "main",
    "GITHUB_SHA": "abc",
}
HOSTED = {
    "READTHEDOCS": "True", "READTHEDOCS_GIT_CLONE_URL": "git@github.com:someone/book.git", "READTHEDOCS_GIT_IDENTIFIER": "v1",
    "READTHEDOCS_CANONICAL_URL": "https://book.readthedocs.io/en/latest",
}  # fmt: skip


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, Repository()),
        (ACTIONS, Repository("https://github.com/Someone/book", "main", "https://someone.github.io/book/")),
        (
            ACTIONS | {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF_NAME": "12/merge"},
            Repository("https://github.com/Someone/book", "abc", "https://someone.github.io/book/"),
        ),
        (ACTIONS | {"GITHUB_REPOSITORY": "Me/me.github.io"}, Repository("https://github.com/Me/me.github.io", "main", "https://me.github.io/")),
        (HOSTED, Repository("https://github.com/someone/book", "v1", "https://book.readthedocs.io/en/latest/")),
        (
            {"BOOK_REPOSITORY": "https://gitlab.com/me/book/", "BOOK_SITE_URL": "https://book.example"},
            Repository("https://gitlab.com/me/book", "main", "https://book.example/"),
        ),
        ({"BOOK_SITE_URL": "https://book.example/"}, Repository("", "", "https://book.example/")),
    ],
)
def test_addresses_are_read_from_the_environment(environment, expected):
    assert read(environment) == expected


def test_only_notebooks_on_github_open_in_colab():
    assert Repository("https://github.com/me/book", "main").github == "me/book"
    assert Repository("https://gitlab.com/me/book", "main").github == ""


def test_gitlab_keeps_its_pages_behind_a_dash():
    assert Repository("https://gitlab.com/me/book", "main").link("edit", "a.md") == "https://gitlab.com/me/book/-/edit/main/a.md"
