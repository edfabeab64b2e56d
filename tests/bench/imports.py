"""What `import attention_book` costs beyond `import torch`, and what it brings in."""

import subprocess
import sys
import time
from typing import Any


def _seconds(program: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return time.perf_counter() - start


def measure(rounds: int = 7) -> dict[str, Any]:
    taken: dict[str, list[float]] = {"import torch": [], "import attention_book": []}
    for _ in range(rounds):
        for program, values in taken.items():
            values.append(_seconds(program))
    best = {program: min(values) for program, values in taken.items()}
    brings = subprocess.run(
        [sys.executable, "-c", "import sys, attention_book; print('matplotlib' in sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    )
    return {
        "import torch, ms": 1000 * best["import torch"],
        "attention_book beyond torch, ms": 1000 * (best["import attention_book"] - best["import torch"]),
        "imports matplotlib": brings.stdout.strip() == "True",
    }
