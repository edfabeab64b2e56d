"""What the tests of the lab's texts share: its modules in Chromium, and its first state."""

import pytest

from tests.lab.text_rig import text_modules_in


@pytest.fixture(scope="module")
def ask(browser):
    """Runs a job of `text_jobs.js` on many inputs at once."""
    with text_modules_in(browser) as asking:
        yield asking


@pytest.fixture(scope="module")
def default(ask):
    """The state in which the lab opens."""
    return ask("default", [None])[0]
