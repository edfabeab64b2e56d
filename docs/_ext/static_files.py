"""Write a file that the browser fetches, whole or not at all: of two processes that write pages, one may read what the other writes."""

import os
import tempfile
from pathlib import Path


def put(folder, name, text):
    """The file `name` in this folder of the site."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, prefix=".", delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)  # a temporary file is its owner's alone
    os.replace(file.name, folder / name)
