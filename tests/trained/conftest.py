"""Weights that the build keeps serve the tests too: they have the names of what they were made from."""

from pathlib import Path

import pytest

from attention_book.trained.cache import FOLDER


@pytest.fixture
def trained_weights(monkeypatch):
    """The build's folder of weights."""
    monkeypatch.setenv(FOLDER, str(Path(__file__).parent.parent.parent / "build" / "trained"))
