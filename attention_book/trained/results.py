"""Results that take too long for a build, or need a large package: small files, each with the command that made it."""

import json
from pathlib import Path
from typing import Any

import torch

FOLDER = Path(__file__).parent / "results"
NAMES = ("who_is_it", "induction", "storyteller", "real_heads")


def committed(name: str) -> dict[str, Any]:
    """What was measured, with the ``"command"`` that measures it again.

    Raises:
        ValueError: there is no such result.
    """
    if name not in NAMES:
        raise ValueError(f"there is no result {name!r}; choose one of {', '.join(NAMES)}")
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def command(name: str) -> str:
    """What to type in a shell, to measure again."""
    return f"python -m attention_book.trained {name}"


def write(name: str, content: dict[str, Any], file: Path | None = None) -> Path:
    """Writes a result, one line for each of its parts, so that a change of one seed is a change of one line."""
    whole = {"command": command(name), "torch": torch.__version__.split("+")[0], **content}
    parts = []
    for key, value in whole.items():
        rows = isinstance(value, list) and value and isinstance(value[0], dict)
        text = "[\n" + ",\n".join(json.dumps(row) for row in value) + "\n]" if rows else json.dumps(value)
        parts.append(f"{json.dumps(key)}: {text}")
    file = FOLDER / f"{name}.json" if file is None else file
    file.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")
    return file


def agree(one: Any, other: Any, within: float) -> bool:
    """Whether two results are the same but for that much in each number."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(agree(value, other[key], within) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(agree(a, b, within) for a, b in zip(one, other, strict=True))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= within
    return bool(one == other)
