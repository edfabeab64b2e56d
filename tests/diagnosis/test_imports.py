"""The first answer waits for nothing heavy; `make bench` measures how long it takes."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
import torch
from torch import nn
from attention_book import MultiHeadAttention, diagnose, scaled_dot_product_attention
candidate = {candidate}
before = set(sys.modules)
diagnose(candidate)
print(json.dumps(sorted(set(sys.modules) - before)))
"""
CANDIDATES = ["scaled_dot_product_attention", "MultiHeadAttention(192, 192, 32, 0.0, 12)", "nn.MultiheadAttention(12, 3)"]


@pytest.mark.parametrize("candidate", CANDIDATES)
def test_the_first_diagnosis_imports_nothing_heavy(candidate):
    ran = subprocess.run([sys.executable, "-c", PROGRAM.format(candidate=candidate)], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    imported = json.loads(ran.stdout)
    assert len(imported) < 50, imported  # sympy, which torch fetches for its tracing, is five hundred and takes a second
