"""A book of two pages and two scripts, built with the real conf.py and extensions, for the tests of the build.

Its library is one file without torch, so that its pages run fast. Every script and every cell that runs says so in a
file, which is how a test knows what ran.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ADDRESSES = ("GITHUB_", "READTHEDOCS", "BOOK_")
FROM_THE_REAL_BOOK = ("conf.py", "pyproject.toml", "docs/_ext", "docs/_static", "docs/_inventories")

LIBRARY = '''\
"""A library."""

FACTOR = 2


def twice(x):
    """Return {docstring}.

    Args:
        x: a number.
    """
    return FACTOR * x
'''

SCRIPT = '''\
"""
{title}
============

One question.
"""

import os

import matplotlib.pyplot as plt
from attention_book import twice

print("{name} prints", twice({number}))
with open(os.environ["RAN"], "a") as ran:
    ran.write("{name} ")

# %%
# Look at the ``line``: it ends at :math:`2 x`.
plt.plot([0, twice({number})])
plt.title("Line of {name}")
plt.show()
'''

PAGE = '''\
---
file_format: mystnb
kernelspec:
  name: python3
---
# Page {name}

```{{code-cell}} python
import os
from attention_book import twice
with open(os.environ["RAN"], "a") as ran:
    ran.write("{name} ")
print("{name} shows", twice({number}))
```
'''

FIGURE = '''
:::{gallery-figure} acts/first 1
A caption with *one* word in italics.
:::
'''

INDEX = '''\
# A book

```{toctree}
one
two
gallery/acts/index
reference
```
'''

REFERENCE = '''\
# Reference

```{eval-rst}
.. autofunction:: attention_book.twice
```
'''


class SmallBook:
    """The sources in a folder of their own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.html = folder / "build" / "html"
        for name in FROM_THE_REAL_BOOK:
            source, target = ROOT / name, folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
        # The small book has one gallery, the acts.
        conf = (self.folder / "conf.py").read_text()
        self.write("conf.py", re.sub(r', "(\.\./)?gallery/(project|trained)"', "", conf))
        self.write("requirements.lock", "")
        self.write("docs/references.bib", "")
        self.write("attention_book/__init__.py", LIBRARY.format(docstring="twice the number"))
        self.write("gallery/acts/GALLERY_HEADER.rst", "Gallery\n=======\n\nAll of it.\n")
        self.write("gallery/acts/first.py", SCRIPT.format(name="first", title="First title", number=3))
        self.write("gallery/acts/second.py", SCRIPT.format(name="second", title="Second title", number=4))
        self.write("docs/index.md", INDEX)
        self.write("docs/reference.md", REFERENCE)
        self.write("docs/one.md", PAGE.format(name="one", number=10) + FIGURE)
        self.write("docs/two.md", PAGE.format(name="two", number=20))

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, "utf-8")

    def change(self, path: str, old: str, new: str) -> None:
        text = (self.folder / path).read_text("utf-8")
        assert old in text
        self.write(path, text.replace(old, new))

    def page(self, name: str) -> str:
        return (self.html / f"{name}.html").read_text("utf-8")

    def build(self, *options, builder="html", **environment):
        """Run Sphinx as the Makefile does; the result also says what `ran`."""
        ran = self.folder / "ran"
        ran.write_text("")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(ADDRESSES)}
        clean |= {"PYTHONPATH": str(self.folder), "RAN": str(ran), "OMP_NUM_THREADS": "1", "NO_COLOR": "1"} | environment
        command = ["-m", "sphinx", "-c", ".", "-W", "--keep-going", "-n", "-d", "build/doctrees", "-b"]
        result = subprocess.run(
            [sys.executable, *command, builder, *options, "docs", f"build/{builder}"],
            cwd=self.folder, env=clean, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )
        result.ran = sorted(ran.read_text().split())
        return result
