"""How long `diagnose` takes: the first call in a fresh interpreter, and the slowest of many later ones, against half a second."""

import statistics
import subprocess
import sys
import time
from typing import Any

from attention_book import MISTAKES, MultiHeadAttention, diagnose, scaled_dot_product_attention
from attention_book.mistakes import RIGHT
from tests.diagnosis import zoo

LIMIT = 0.5  # seconds that somebody waits who asks
FIRST = """
import sys, time
import torch
from attention_book import MultiHeadAttention, diagnose, scaled_dot_product_attention
candidate = {candidate}
start = time.perf_counter()
diagnose(candidate)
print(time.perf_counter() - start)
"""


def first_call(candidate: str, rounds: int = 3) -> float:
    """Seconds that the first call takes, the imports before it not counted."""
    runs = [subprocess.run([sys.executable, "-c", FIRST.format(candidate=candidate)], check=True, capture_output=True, text=True) for _ in range(rounds)]
    return min(float(run.stdout) for run in runs)


def later_call(candidate: Any, rounds: int = 3) -> float:
    """Seconds of a later call, the middle one of a few."""
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        diagnose(candidate)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def measure() -> dict[str, Any]:
    function, module = "scaled_dot_product_attention", "MultiHeadAttention(10, 12, 6, 0.5, 3)"
    diagnose(scaled_dot_product_attention)
    small = {f"{mistake.name}, heads guessed": zoo.ByLayers(mistake, causal=True, declared=False) for mistake in (RIGHT, *MISTAKES)}
    slowest = max((later_call(candidate), name) for name, candidate in small.items())
    wide = {"wide": MultiHeadAttention(768, 768, 1024, 0.0, 12), "wide, no scale": zoo.ByLayers(MISTAKES[0], d_in=768, width=768, heads=12, causal=True)}
    return {
        "first call, our function, over half a second": first_call(function) / LIMIT,
        "first call, our module, over half a second": first_call(module) / LIMIT,
        f"slowest small module ({slowest[1]}), over half a second": slowest[0] / LIMIT,
        **{f"{name} module, 768 numbers, over half a second": later_call(candidate) / LIMIT for name, candidate in wide.items()},
    }
