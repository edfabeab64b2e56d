"""A real Chrome or Chromium: the installed one, else Debian's package where it may be installed, else playwright's own."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ON_A_MAC = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
ARGUMENTS = [
    "--no-sandbox",  # root, as in CI, may not use the sandbox
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Whatever slips past the tests' own refusal finds no host but this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]


def installed() -> str | None:
    """The path of a browser that is already here; BOOK_CHROMIUM names one."""
    named = os.environ.get("BOOK_CHROMIUM")
    if named:
        if not shutil.which(named):
            raise RuntimeError(f"BOOK_CHROMIUM is {named!r}, and no program is there: correct it, or unset it.")
        return named
    on_path = (shutil.which(name) for name in NAMES)
    return next((path for path in (*on_path, *ON_A_MAC) if path and Path(path).exists()), None)


def install_from_debian() -> None:
    """Only as root, or in CI where sudo asks no password: nobody else's machine is changed."""
    if not shutil.which("apt-get"):
        return
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"] if os.environ.get("CI") and shutil.which("sudo") else None
    if as_root is None:
        return
    for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        subprocess.run([*as_root, "apt-get", "-qq", *command], stdin=subprocess.DEVNULL, capture_output=True)


def install_from_playwright() -> str | None:
    """Ask playwright for its own build; it lands in the user's cache."""
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], stdin=subprocess.DEVNULL, capture_output=True)
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def find_chromium() -> str:
    """The path of a Chrome or Chromium; raises RuntimeError with one sentence where there is none."""
    path = installed()
    if path is None:
        install_from_debian()
        path = installed() or install_from_playwright()
    if path is None:
        raise RuntimeError(
            "The browser tests need Chrome or Chromium, and none is installed or could be installed: "
            "install one, or name one in BOOK_CHROMIUM."
        )
    return path


@contextmanager
def open_chromium():
    """A running headless browser."""
    path = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()
