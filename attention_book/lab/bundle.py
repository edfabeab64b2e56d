"""One classic script made of the lab's modules: browsers refuse module files over file://, and a notebook has no files at all.

The same script serves as page and as worker, so that a worker costs no second download, and can be made from the script's own
text where its file may not be loaded again.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from attention_book.lab.tables import shades

HERE = Path(__file__).parent
IMPORT = re.compile(r'import \{ ([\w$]+(?:, [\w$]+)*) \} from "(\.{1,2}/[\w./-]+\.js)";')
INLINE_COMMENT = re.compile(r" */\*\* @[^`]*?\*/ ?|(?<=[;{},)]) // [^`\"']*$")  # a type in passing, or a remark behind code
EXPORT = re.compile(r"export ((?:async )?function\*?|const|class) ([\w$]+)")
# `book` is the whole script, which a worker may be made from.
SCRIPT = """\
(function book() {{
"use strict";
{modules}
if (typeof document === "undefined") {{
{worker}
}} else {{
{page}
{start}({{ program: String(book), address: document.currentScript.src }});
}}
}})();
"""


def bundle(root: Path = HERE, *, page: str = "view/start.js", worker: str | None = "worker.js", start: str = "start") -> str:
    """Joins the modules that two of them import, each before those that need it.

    Args:
        root: folder of the modules.
        page: what runs in a page; it exports the function ``start``, which is called with the script's ``program`` and ``address``.
        worker: what runs in a worker; ``None`` if the page has none.
        start: name of that function.

    Raises:
        ValueError: a module is written in another form than this joins, or two modules need each other.
    """
    order: list[str] = []
    for entry in filter(None, (worker, page)):
        _collect(root, entry, order, ())
    short = {name: f"m{k}" for k, name in enumerate(order)}  # a page loads its names again and again
    bodies = {name: _body(root, name, short) for name in order}
    modules = [
        f"const {short[name]} = (() => {{\n{bodies[name]}\nreturn {{ {', '.join(_exports(root, name))} }};\n}})();"
        for name in order
        if name not in (page, worker)
    ]
    return SCRIPT.format(modules="\n".join(modules), worker=bodies[worker] if worker else "", page=bodies[page], start=start)


def style(root: Path = HERE) -> str:
    """Returns the lab's style sheet, with a rule for each shade of a cell, because a strict policy refuses style attributes."""
    written = re.sub(r"/\*.*?\*/|^ +", "", (root / "lab.css").read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return written + shades()


def _lines(root: Path, name: str) -> Iterator[tuple[int, str, bool]]:
    """Yields the lines that are neither blank nor comment, each with its number and whether it begins inside a template.

    Comments are half of what a page would load.
    """
    comment, template = False, False
    for number, line in enumerate((root / name).read_text("utf-8").splitlines(), 1):
        bare = line.strip()
        if template and bare.startswith(("//", "/*")):
            raise ValueError(f"{name}, line {number}: {bare!r} stands in a template and looks like a comment; join it to the line before")
        if comment or (not template and bare.startswith("/*")):
            _, end, after = bare.partition("*/")
            if comment and after:
                raise ValueError(f"{name}, line {number}: {bare!r} has code behind a comment of several lines; put it on a line of its own")
            comment = not end
            if not after:
                continue
        if not template and (not bare or bare.startswith("//")):
            continue
        if not template:
            line = INLINE_COMMENT.sub(" ", bare).strip()
        yield number, line, template
        template ^= len(re.findall(r"(?<!\\)`", line)) % 2 == 1


def _imports(root: Path, name: str) -> list[tuple[str, str]]:
    """Returns the names that a module imports, and from which file."""
    found = []
    for number, line, template in _lines(root, name):
        if template or not line.startswith("import "):
            continue
        match = IMPORT.fullmatch(line)
        if not match:
            raise ValueError(f'{name}, line {number}: {line!r}; write import {{ a, b }} from "./x.js"; on one line')
        target = (root / name).parent.joinpath(match[2]).resolve()
        if not target.is_file():
            raise ValueError(f"{name}, line {number}: there is no {match[2]}; correct the name")
        found.append((match[1], target.relative_to(root.resolve()).as_posix()))
    return found


def _collect(root: Path, name: str, order: list[str], needed_by: tuple[str, ...]) -> None:
    if name in needed_by:
        raise ValueError(f"{' needs '.join((*needed_by, name))}: no module may need itself; move what both need to a file of its own")
    for _, target in _imports(root, name):
        _collect(root, target, order, (*needed_by, name))
    if name not in order:
        order.append(name)


def _exports(root: Path, name: str) -> list[str]:
    names = []
    for number, line, template in _lines(root, name):
        if template or not line.startswith("export "):
            continue
        match = EXPORT.match(line)
        if not match:
            raise ValueError(f"{name}, line {number}: {line!r}; write export function f, export const c or export class C")
        names.append(match[2])
    return names


def _body(root: Path, name: str, short: dict[str, str]) -> str:
    taken = [f"const {{ {names} }} = {short[target]};" for names, target in _imports(root, name)]
    _exports(root, name)
    kept = [
        line if template else line.removeprefix("export ")
        for _, line, template in _lines(root, name)
        if template or not line.startswith("import ")
    ]
    return "\n".join([*taken, *kept])
