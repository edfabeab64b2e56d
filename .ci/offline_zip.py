"""Packs the built site into one file that opens from a folder, without a network.

usage: python .ci/offline_zip.py (after `make site`; writes build/attention-from-scratch.zip)

    attention-from-scratch/
      start.html    a double click opens the book
      book/         the site
      scripts/      the gallery's scripts, to run
      notebooks/    the same as notebooks
      answers/      the right answers to the book's questions, for whoever teaches
"""

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from answers import stored  # noqa: E402 (it stands in the folder named above)
from question import questions  # noqa: E402

NAME, LIMIT = "attention-from-scratch", 25_000_000  # bytes
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # one time for all, so that the same site gives the same bytes
START = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Attention from Scratch</title>\n'
    '<meta http-equiv="refresh" content="0; url=book/index.html"></head>\n'
    '<body><p><a href="book/index.html">Open the book</a></p></body></html>\n'
)


def answers_of(script: Path) -> str:
    """The questions of one script, each with its right answer and why, as Markdown; empty if it asks nothing."""
    # A question stands in a comment; without the sign it reads as on the page.
    text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in script.read_text("utf-8").splitlines())
    found = stored(ROOT / "docs" / "gallery" / script.parent.name / script.name)
    entries = []
    for question in questions(text):
        answer = found.get(question.answer, {})
        if problem := question.problem(answer.get("value"), answer.get("error", "")):
            raise SystemExit(f"{script.name}: {question.text} {problem}: run 'make clean site' and try again.")
        entries.append(f"**{question.text}**\n\n{question.right(answer['value'])}\n\n{question.explanation}\n")
    return f"# {script.stem}\n\n" + "\n".join(entries) if entries else ""


def members(site: Path) -> dict[str, bytes]:
    """Every file of the zip by its name below the top folder."""
    found = {"start.html": START.encode()}
    for path in site.rglob("*"):
        inside = path.relative_to(site)
        if path.is_file() and inside.parts[0] not in ("_sources", ".doctrees") and inside.name != ".buildinfo":
            found[f"book/{inside.as_posix()}"] = path.read_bytes()
    for path in sorted((site / "_downloads").rglob("*")):
        if path.suffix in (".py", ".ipynb"):
            found[f"{'scripts' if path.suffix == '.py' else 'notebooks'}/{path.name}"] = path.read_bytes()
    for script in sorted((ROOT / "gallery").glob("*/*.py")):
        if text := answers_of(script):
            found[f"answers/{script.stem}.md"] = text.encode()
    return dict(sorted(found.items()))


def write(site: Path, target: Path) -> int:
    """Packs the site and returns the size in bytes; refuses what a mail or a school's server would."""
    if not (site / "index.html").is_file():
        raise SystemExit(f"{site.name} holds no built site: run 'make site' first.")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, content in members(site).items():
            info = zipfile.ZipInfo(f"{NAME}/{name}", LONG_AGO)
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            packed.writestr(info, content)
    size = target.stat().st_size
    if size > LIMIT:
        target.unlink()
        raise SystemExit(f"The zip would have {size / 1e6:.1f} MB, and {LIMIT / 1e6:.0f} MB is the limit: make figures smaller.")
    return size


if __name__ == "__main__":
    target = ROOT / "build" / f"{NAME}.zip"
    size = write(ROOT / "build" / "html", target)
    print(f"Written: build/{target.name}, {size / 1e6:.1f} MB. Unpack it anywhere and open start.html.")
