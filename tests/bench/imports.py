"""What `import attention_book` costs beyond `import torch`, and what it brings in."""

import os
import statistics
import subprocess
import sys
import tempfile
from typing import Any

PROGRAM = """
import sys, time
start = time.perf_counter()
import torch
middle = time.perf_counter()
import attention_book
print(middle - start, time.perf_counter() - middle, "matplotlib" in sys.modules)
"""


def measure(rounds: int = 7) -> dict[str, Any]:
    """Medians of fresh interpreters, with bytecode as an installed library has it: a first one, not counted, writes it."""
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPYCACHEPREFIX": bytecode}
        told = [
            subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, env=environment).stdout.split()
            for _ in range(rounds + 1)
        ][1:]
    return {
        "import torch, ms": 1000 * statistics.median(float(each[0]) for each in told),
        "attention_book beyond torch, ms (wanted: at most 50)": 1000 * statistics.median(float(each[1]) for each in told),
        "imports matplotlib": told[0][2] == "True",
    }
