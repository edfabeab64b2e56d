"""``python -m attention_book.trained NAME``: measure again what the pages take from a committed file."""

import argparse
import sys
from pathlib import Path
from typing import Any

from attention_book.trained import real_heads, studies
from attention_book.trained.results import NAMES, write

SEEDS = 5


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    """Four decimals are enough for a table."""
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()}


def measure(name: str, seeds: int) -> dict[str, Any]:
    """The content of one result; a line for each seed on stderr."""
    if name == "real_heads":
        return {"apart from transformers": real_heads.against_transformers(), **real_heads.measure()}
    rows = []
    for seed in range(seeds):
        rows.append(rounded(studies.STUDIES[name](seed)))
        print(f"seed {seed}: {rows[-1]}", file=sys.stderr, flush=True)
    return {"rows": rows}


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m attention_book.trained", description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"how many, from 0 (default: {SEEDS})")
    parser.add_argument("--out", type=Path, help="file to write; the library's own result if left out")
    given = parser.parse_args()
    print(f"written to {write(given.name, measure(given.name, given.seeds), given.out).name}")


if __name__ == "__main__":
    main()
