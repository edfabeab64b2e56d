"""The packages of others that also show attention: fetched once into build/peers, beside the book's own and never among them.

BertViz's page asks a host elsewhere for three scripts; they come from npm's packages of the same name, and from this machine.
"""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PEERS = ROOT / "build" / "peers"
PINS = {"BertViz head view": "bertviz==1.4.1", "CircuitsVis attention": "circuitsvis==1.43.3", "Inspectus": "inspectus==0.2.0"}
# What the page asks for: npm's package, and the file in it. The page wants jQuery 2.0.0, and npm has none between 1.12 and 2.1.0.
ELSEWHERE = "https://cdnjs.cloudflare.com/ajax/libs/"
SCRIPTS = {
    "require.js/2.3.6/require.min.js": ("requirejs@2.3.6", "require.js"),
    "d3/5.7.0/d3.min.js": ("d3@5.7.0", "dist/d3.min.js"),
    "jquery/2.0.0/jquery.min.js": ("jquery@2.1.0", "dist/jquery.min.js"),
}


def here(html: str) -> str:
    """The page with its scripts' addresses turned to this machine."""
    return html.replace(ELSEWHERE, "/scripts/")


def write_pages(name: str, folder: Path) -> None:
    """Writes a viewer's pages in a process of its own, which alone sees that peer's package.

    Raises:
        RuntimeError: it cannot be had, with the reason.
    """
    paths = [str(ROOT)]
    if name in PINS:
        paths.append(str(_package(PINS[name])))
    if name == "BertViz head view":
        for path, (pin, file) in SCRIPTS.items():
            _script(pin, file, PEERS / "pages" / "scripts" / path)
    _run(sys.executable, "-m", "tests.bench.map_pages", name, str(folder), PYTHONPATH=os.pathsep.join(paths))


def _package(pin: str) -> Path:
    """The folder of a pinned package, without what it depends on: torch, numpy and IPython are the book's own."""
    folder = PEERS / pin
    if not folder.exists():
        print(f"  fetching {pin} into {folder.relative_to(ROOT)}", flush=True)
        _run(sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--only-binary=:all:", f"--target={folder}", pin)
    return folder


def _script(pin: str, file: str, target: Path) -> None:
    """One file of a pinned npm package; nothing of the package is run."""
    if target.exists():
        return
    print(f"  fetching {pin} into {PEERS.relative_to(ROOT)}", flush=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    packed = _run("npm", "pack", "--silent", f"--pack-destination={PEERS}", pin).splitlines()[-1]
    with tarfile.open(PEERS / packed) as archive:
        content = archive.extractfile(f"package/{file}")
        if content is None:
            raise RuntimeError(f"{pin} has no file {file}")
        target.write_bytes(content.read())


def _run(*command: str, **environment: str) -> str:
    """Runs a program and returns what it prints; its last words are the reason where it fails."""
    try:
        return subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError as error:
        raise RuntimeError(f"there is no {command[0]}") from error
    except subprocess.CalledProcessError as error:
        raise RuntimeError((error.stderr.strip().splitlines() or [f"{command[0]} ended with {error.returncode}"])[-1]) from error
