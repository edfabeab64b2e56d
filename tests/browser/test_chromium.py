"""Which browser the tests take, and what they say where there is none."""

import os

import pytest

from tests.browser import chromium

# An apt-get that notes what it was asked, and installs a browser when asked for one.
APT_GET = '#!/bin/sh\necho "$*" >>"{0}/asked"\ncase "$*" in *install*) echo >"{0}/chromium"; chmod +x "{0}/chromium" ;; esac\n'


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without a browser: PATH holds only the folder that is returned, and playwright offers none."""
    (tmp_path / "chmod").symlink_to("/bin/chmod")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BOOK_CHROMIUM", raising=False)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(chromium, "ON_A_MAC", ())
    monkeypatch.setattr(chromium, "install_from_playwright", lambda: None)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return tmp_path


def program(path, text="#!/bin/sh\n"):
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_an_installed_browser_is_used(machine):
    chrome = program(machine / "google-chrome")
    assert chromium.find_chromium() == chrome


def test_the_browser_that_is_named_comes_first(machine, monkeypatch):
    program(machine / "chromium")
    monkeypatch.setenv("BOOK_CHROMIUM", program(machine / "mine"))
    assert chromium.find_chromium() == str(machine / "mine")


def test_a_browser_that_is_named_but_not_there_is_told_in_one_sentence(machine, monkeypatch):
    monkeypatch.setenv("BOOK_CHROMIUM", "/no/such/browser")
    with pytest.raises(RuntimeError, match=r"^BOOK_CHROMIUM is '/no/such/browser', and no program is there: .*\.$"):
        chromium.find_chromium()


def test_root_gets_debians_package(machine, monkeypatch):
    program(machine / "apt-get", APT_GET.format(machine))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert chromium.find_chromium() == str(machine / "chromium")
    assert (machine / "asked").read_text().split("\n")[1] == "-qq install -y --no-install-recommends chromium"


def test_nobody_elses_machine_is_changed(machine):
    program(machine / "apt-get", APT_GET.format(machine))
    with pytest.raises(RuntimeError):
        chromium.find_chromium()
    assert not (machine / "asked").exists()


def test_without_any_browser_one_sentence_says_what_to_do(machine):
    with pytest.raises(RuntimeError, match=r"^The browser tests need Chrome or Chromium, .* install one, or name one in BOOK_CHROMIUM\.$"):
        chromium.find_chromium()
