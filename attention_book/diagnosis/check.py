"""``python -m attention_book check my_attention.py``: ``diagnose`` on somebody's file, in a process of its own with a time limit."""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

RIGHT, NOT_RIGHT, UNUSABLE = 0, 1, 2
START_LIMIT = 120.0  # seconds for torch to be imported, which is not the file's fault


def main(argv: Sequence[str]) -> int:
    """Runs the command; returns 0 if the attention is right, 1 if not, 2 if the file cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m attention_book check",
        description="Say whether the attention in a file is right, or which mistake it makes. "
        "Masks are handed in with True where a query may look, as in F.scaled_dot_product_attention; in nn.MultiheadAttention True means hidden.",
    )
    parser.add_argument("file", type=Path, help="a Python file with a function of (query, key, value) or a module of (x)")
    parser.add_argument("--name", help="what to check, if the file holds several functions or modules")
    parser.add_argument("--timeout", type=_seconds, default=10.0, metavar="SECONDS", help="time limit (default: 10)")
    chosen = parser.parse_args(argv)
    status, text = check(chosen.file, chosen.name, chosen.timeout)
    print(text, file=sys.stderr if status == UNUSABLE else sys.stdout)
    return status


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no time limit; give seconds, more than 0")
    return seconds


def check(file: Path, name: str | None = None, timeout: float = 10.0) -> tuple[int, str]:
    """The exit status and the text for a file."""
    if not file.exists():
        return UNUSABLE, f"There is no file {file}."
    if file.is_dir():
        return UNUSABLE, f"{file} is a folder; give a Python file."
    if file.suffix == ".ipynb":
        return UNUSABLE, f"{file} is a notebook; copy the function into a Python file, such as my_attention.py."
    with tempfile.TemporaryDirectory() as folder:
        return _watch(file, name, timeout, Path(folder))


def _watch(file: Path, name: str | None, timeout: float, folder: Path) -> tuple[int, str]:
    """Starts the child, waits for it as long as it may take, and reads what it wrote into the folder."""
    package = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "attention_book.diagnosis.check_child", str(file), str(folder), *([name] if name else [])],
        env=os.environ | {"PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # so that whatever the file starts ends with it
    )
    stage, result = folder / "stage", folder / "result.json"
    try:
        started = time.monotonic()
        while not stage.exists() and child.poll() is None and time.monotonic() - started < START_LIMIT:
            time.sleep(0.02)
        code = child.wait(timeout)
    except subprocess.TimeoutExpired:
        return UNUSABLE, f"{file} was stopped after {timeout:g} seconds, {_doing(stage)}: is there a loop without an end? --timeout allows more."
    finally:
        _end(child)
    if result.exists():
        status, text = json.loads(result.read_text(encoding="utf-8"))
        return status, text
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
    return UNUSABLE, f"{file} ended its process ({how}) {_doing(stage)}, so there is nothing to compare."


def _doing(stage: Path) -> str:
    return f"while {stage.read_text(encoding='utf-8')}" if stage.exists() else "while Python was starting"


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends the child and whatever it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    child.wait()
