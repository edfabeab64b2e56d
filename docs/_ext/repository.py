"""Links that need an address: edit and view this page, the canonical address, the sitemap, the 404 page's root.

The addresses come from the environment of the machine that builds. Where it says nothing, the pages say nothing.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sphinx.util.typing import ExtensionMetadata


@dataclass(frozen=True)
class Repository:
    """Where the sources are (`url` at `ref`) and where the pages will be (`site`); empty where not known."""

    url: str = ""
    ref: str = ""
    site: str = ""

    @property
    def github(self) -> str:
        """`owner/name` on github.com, the only place that Colab opens notebooks from."""
        parts = urlsplit(self.url)
        return parts.path.strip("/") if parts.netloc == "github.com" else ""

    def link(self, action: str, path: str) -> str:
        """The address at which `path` is read (`blob`) or changed (`edit`)."""
        between = "/-" if "gitlab" in self.url else ""
        return f"{self.url}{between}/{action}/{self.ref}/{path}"


def read(environ) -> Repository:
    """Read GitHub Actions' variables, or Read the Docs', or BOOK_REPOSITORY, BOOK_REF and BOOK_SITE_URL before both."""
    url = ref = site = ""
    if environ.get("GITHUB_REPOSITORY"):
        url = f"{environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{environ['GITHUB_REPOSITORY']}"
        ref = environ.get("GITHUB_REF_NAME", "main")
        if environ.get("GITHUB_EVENT_NAME", "").startswith("pull_request"):
            ref = environ.get("GITHUB_SHA", ref)  # "12/merge" is no branch
    elif environ.get("READTHEDOCS") == "True":
        url = environ.get("READTHEDOCS_GIT_CLONE_URL", "")
        ref = environ.get("READTHEDOCS_GIT_IDENTIFIER", "main")
        site = environ.get("READTHEDOCS_CANONICAL_URL", "")
    url = environ.get("BOOK_REPOSITORY") or url
    ref = environ.get("BOOK_REF") or ref or "main"
    url = re.sub(r"^git@([^:]+):", r"https://\1/", url).rstrip("/").removesuffix(".git")
    pages = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+)", url)
    if pages and not site:
        host, name = f"{pages[1].lower()}.github.io", pages[2]
        site = f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"
    site = environ.get("BOOK_SITE_URL") or site
    return Repository(url, ref if url else "", site.rstrip("/") + "/" if site else "")


def source_of(pagename: str, suffix: str, root: Path) -> str:
    """The file to edit for a page: gallery pages are made from scripts."""
    if pagename.startswith("gallery/"):
        for candidate in (f"{pagename}.py", f"{pagename.removesuffix('index')}GALLERY_HEADER.rst"):
            if (root / candidate).is_file():
                return candidate
    return f"docs/{pagename}{suffix}"


def say_where(app, config):
    """Give the addresses to those who ask the configuration."""
    site = config.book_repository.site
    config.html_baseurl = config.html_baseurl or site
    config.notfound_urls_prefix = urlsplit(site).path or "/"


def add_source_links(app, pagename, templatename, context, doctree):
    """Fill in furo's two buttons."""
    repository = app.config.book_repository
    if repository.url and context.get("page_source_suffix"):
        path = source_of(pagename, context["page_source_suffix"], Path(app.confdir))
        context["theme_source_edit_link"] = repository.link("edit", path)
        context["theme_source_view_link"] = repository.link("blob", path)


def setup(app) -> ExtensionMetadata:
    repository = read(os.environ)
    app.add_config_value("book_repository", repository, "env", types=frozenset({Repository}))
    if repository.site:
        # Without the site's address both have nothing to say, and one warns.
        app.setup_extension("sphinx_sitemap")
        app.setup_extension("sphinxext.opengraph")
        app.config.sitemap_url_scheme = "{link}"
        app.config.ogp_site_url = repository.site
        app.config.ogp_social_cards = {"enable": False}
    app.connect("config-inited", say_where)
    app.connect("html-page-context", add_source_links)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
