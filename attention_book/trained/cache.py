"""Keep trained weights, so that an unchanged book does not train them again.

Off unless ``ATTENTION_BOOK_CACHE`` names a folder, as the book's own build does. A file's name holds a digest of everything that
its weights depend on: the module that trains, all files of the library that it imports, torch, the processor's abilities, the
number of threads, and the arguments. A change of any of them trains anew.
"""

import ast
import hashlib
import inspect
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from attention_book.trained.transformer import Transformer

FOLDER = "ATTENTION_BOOK_CACHE"
PACKAGE = Path(__file__).parent.parent


def sources(start: Path) -> list[Path]:
    """A file of the library and each other one that it imports, directly or not."""
    waiting, found = [start], set[Path]()
    while waiting:
        path = waiting.pop()
        if path.is_file() and path not in found:
            found.add(path)
            for line in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(line, ast.ImportFrom) and line.module:
                    names = [line.module, *(f"{line.module}.{each.name}" for each in line.names)]
                    paths = [PACKAGE.parent.joinpath(*name.split(".")) for name in names]
                    waiting += [file for path in paths for file in (path.with_suffix(".py"), path / "__init__.py")]
    return sorted(found)


def fingerprint(start: Path, *arguments: object) -> str:
    """A digest of those files and of whatever else the weights depend on."""
    machine = (torch.__version__, torch.get_num_threads(), torch.backends.cpu.get_cpu_capability())
    digest = hashlib.sha256(repr((machine, arguments)).encode())
    for path in sources(start):
        name = path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.name
        digest.update(f"\0{name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def remembered(make: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """``make(*arguments, **keywords)``, a model or a model and what was watched, from the cache if it is there.

    The result is whatever ``make`` returns: a ``Transformer``, or a tuple that begins with one and goes on with lists
    of numbers.
    """
    folder = os.environ.get(FOLDER)
    if not folder:
        return make(*arguments, **keywords)
    bound = inspect.signature(make).bind(*arguments, **keywords)
    bound.apply_defaults()
    digest = fingerprint(Path(inspect.getfile(make)), make.__name__, sorted(bound.arguments.items()))
    path = Path(folder, f"{make.__name__}-{digest}.pt")
    if path.is_file():
        saved = torch.load(path, weights_only=True)
        model = Transformer(**saved["sizes"])
        model.load_state_dict(saved["state"])
        model.eval()
        return (model, *saved["rest"]) if saved["rest"] else model
    made = make(*arguments, **keywords)
    model, *rest = made if isinstance(made, tuple) else (made,)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Written aside and then renamed, so that two builds at once never read half a file.
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        torch.save({"sizes": model.sizes, "state": model.state_dict(), "rest": rest}, file)
    os.replace(file.name, path)
    return made
