"""Time and peak memory of one causal multi-head module, as ratios against the bare fused one."""

import gc
import multiprocessing
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.bench.peers import contenders

SIZES = ((1, 10, 64, 4), (2, 512, 768, 12), (1, 2048, 768, 12))  # b, n, d_model, h


def step(attention: Any, x: Tensor, backward: bool) -> None:
    if backward:
        attention(x).sum().backward()
    else:
        with torch.no_grad():
            attention(x)


def times(b: int, n: int, d_model: int, num_heads: int, backward: bool, seconds: float) -> dict[str, float]:
    """Median seconds of a step, the contenders taking turns so that a busy moment meets them all."""
    x = torch.randn(b, n, d_model, generator=torch.Generator().manual_seed(0))
    ways = contenders(n, d_model, num_heads)
    for attention in ways.values():
        step(attention, x, backward)
    taken: dict[str, list[float]] = {name: [] for name in ways}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(taken["ours, fused"]) < 7:
        for name, attention in ways.items():
            start = time.perf_counter()
            step(attention, x, backward)
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in taken.items()}


def _peak(send: Any, name: str, b: int, n: int, d_model: int, num_heads: int, backward: bool) -> None:
    x = torch.randn(b, n, d_model)
    attention = contenders(n, d_model, num_heads)[name]
    gc.collect()
    # Not ru_maxrss: a child starts with its parent's peak, and a small step would not show.
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    step(attention, x, backward)
    send.send(_status("VmHWM") - before)


def _status(name: str) -> int:
    """A line of this process's memory, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def peak_megabytes(name: str, *size: int, backward: bool) -> float | None:
    """How far one step raises the peak memory of a fresh process, in MB; Linux alone tells."""
    if not sys.platform.startswith("linux"):
        return None
    context = multiprocessing.get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_peak, args=(send, name, *size, backward))
    process.start()
    kilobytes = receive.recv()
    process.join()
    return kilobytes / 1024


def measure(seconds: float = 6.0) -> list[dict[str, Any]]:
    """One row for each size, direction and contender."""
    rows = []
    for size in SIZES:
        for backward in (False, True):
            medians = times(*size, backward=backward, seconds=seconds)
            limit = next(iter(medians.values()))
            for name, median in medians.items():
                rows.append(
                    {
                        "b, n, d_model, h": size,
                        "pass": "forward + backward" if backward else "forward",
                        "module": name,
                        "milliseconds": 1000 * median,
                        "times the bare fused": median / limit,
                        "peak MB": peak_megabytes(name, *size, backward=backward) if size[1] >= 512 else None,
                    }
                )
                print(format_row(rows[-1]), flush=True)
    return rows


def format_row(row: dict[str, Any]) -> str:
    peak = "" if row["peak MB"] is None else f"{row['peak MB']:7.0f} MB"
    return (
        f"{row['b, n, d_model, h']!s:19} {row['pass']:18} {row['module']:40} "
        f"{row['milliseconds']:9.2f} ms  {row['times the bare fused']:5.2f} x {peak}"
    )
