"""What several test files share: the built site, its address on this machine, and a real Chromium."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.browser.chromium import open_chromium
from tests.browser.server import serving
from tests.clean_slate import clean_slate  # noqa: F401 (pytest finds fixtures by name)

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site, brought up to date first."""
    # Not as a part of the make that may have started the tests.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    built = subprocess.run(
        ["make", "html"], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert built.returncode == 0, f"make html failed:\n{built.stdout[-4000:]}\n{built.stderr[-4000:]}"
    return ROOT / "build" / "html"


@pytest.fixture(scope="session")
def server(site):
    """The site on 127.0.0.1, on a port of its own; `.address` is its root, `.missing` what it was asked for in vain."""
    with serving(site) as running:
        yield running


@pytest.fixture(scope="session")
def browser():
    """One Chromium for the whole run."""
    with open_chromium() as chromium:
        yield chromium
