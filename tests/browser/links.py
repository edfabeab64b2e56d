"""Finds links inside a built site that lead nowhere."""

from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from bs4 import BeautifulSoup

from tests.browser.visit import pages_of

HERE = "http://site.invalid"
POINTERS = {"a": "href", "link": "href", "area": "href", "img": "src", "script": "src", "source": "src", "iframe": "src"}


def read(folder: Path, path: str) -> tuple[set[str], list[str]]:
    """The anchors of a page, and where it points to."""
    soup = BeautifulSoup((folder / path).read_text("utf-8"), "html.parser")
    anchors = {tag["id"] for tag in soup.find_all(id=True)} | {tag["name"] for tag in soup.find_all("a", attrs={"name": True})}
    pointers = [tag[POINTERS[tag.name]] for tag in soup.find_all(list(POINTERS)) if tag.has_attr(POINTERS[tag.name])]
    return anchors, pointers


def dead_links(folder: Path, below: str) -> list[str]:
    """`page -> target` for each link within the site whose file or anchor does not exist."""
    content = {path: read(folder, path) for path in pages_of(folder)}
    dead = []
    for path, (_, pointers) in content.items():
        for pointer in pointers:
            url = urlsplit(urljoin(f"{HERE}{below}{path}", pointer))
            if f"{url.scheme}://{url.netloc}" != HERE:
                continue
            target = unquote(url.path).removeprefix(below)
            if target.endswith("/") or not target:
                target += "index.html"
            anchor = unquote(url.fragment)
            if not url.path.startswith(below) or not (folder / target).is_file():
                dead.append(f"{path} -> {pointer}: no such file")
            elif target == "lab.html" and "=" in anchor:
                continue  # a view of the lab, not a place on its page: test_lab_links opens each
            elif anchor and target in content and anchor not in content[target][0]:
                dead.append(f"{path} -> {pointer}: no such anchor")
    return dead
