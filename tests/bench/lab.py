"""The lab against others that show attention: the same weights, in the same Chromium, in one run; and the lab's engine alone.

Each value stands beside what issue 4 wants; none of it is a test, since a busy machine makes everything slow.
"""

import os
import statistics
from pathlib import Path
from typing import Any

from tests.bench import map_peers, map_times, whole_lab
from tests.bench.map_pages import FRAME, LAB, SIZES, VIEWERS, file_of
from tests.browser.chromium import open_chromium
from tests.browser.server import serving
from tests.lab.rig import engine_in

ROUNDS = 3
SLOW = 10_000  # milliseconds: a page that takes longer is opened once
FRAME_LIMIT = 33  # milliseconds: a pointer's move waits for the next frame, and the one after that has drawn the answer
SENTENCE = {
    "example": "text", "attention": "SelfAttention_v2", "seed": "42", "d_model": 64, "d_out": 64, "heads": 1,
    "causal": True, "scale": True, "temperature": 1,
}


def measure() -> dict[str, Any]:
    """Every map at every size, then the engine and the whole page; a peer that cannot be had is named with the reason."""
    pages = map_peers.PEERS / "pages"
    (pages / "maps").mkdir(parents=True, exist_ok=True)
    (pages / "index.html").write_text("", "utf-8")  # the server reads in it below which path the site is
    missing = _write(pages / "maps")
    load = os.getloadavg()
    with serving(pages) as server, open_chromium() as browser:
        maps = [row for size in SIZES for row in _maps(browser, f"{server.address}maps/", missing, *size)]
        print("  the lab's engine and page ...", flush=True)
        engine = _engine(browser) | whole_lab.measure(browser, server.address + whole_lab.write_page(pages))
    rows = _against_limits(engine)
    for row in rows:
        print(f"  {row['what']:48} {row['value']:8.1f} {row['unit']:5} wanted: {row['wanted']}", flush=True)
    return {"load before": load, "load after": os.getloadavg(), "maps": maps, "engine": rows, "not measured": missing}


def _write(folder: Path) -> dict[str, str]:
    missing = {}
    for name in VIEWERS:
        print(f"  writing the pages of {name} ...", flush=True)
        try:
            map_peers.write_pages(name, folder)
        except RuntimeError as error:
            if name not in map_peers.PINS:
                raise
            missing[name] = f"{map_peers.PINS[name]} cannot be had: {error}"
    return missing


def _maps(browser: Any, address: str, missing: dict[str, str], n: int, h: int) -> list[dict[str, Any]]:
    """The viewers of one size take turns, so that a busy moment meets them all; medians, and ratios to the lab."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in VIEWERS if name not in missing}
    for turn in range(ROUNDS):
        for name, seen in found.items():
            if name in missing or (turn and seen[0]["ready"] > SLOW):
                continue
            print(f"  {n} tokens x {h} heads, round {turn + 1} of {ROUNDS}: {name} ...", flush=True)
            try:
                seen.append(map_times.times(browser, address + file_of(name, n, h), name, VIEWERS[name], n, h))
            except RuntimeError as error:
                if name not in map_peers.PINS:
                    raise
                missing = missing | {name: f"{map_peers.PINS[name]} at this size: {error}"}
    rows: list[dict[str, Any]] = []
    for name in VIEWERS:
        if name in missing:  # said, and never left out
            rows.append({"tokens": n, "heads": h, "viewer": name, "not measured": missing[name]})
            print(f"  {n:3} x {h:2}  {name:30} not measured: {missing[name]}", flush=True)
            continue
        medians = {what: statistics.median(times[what] for times in found[name]) for what in ("ready", "hover")}
        ratios = {f"{what}, times the lab": value / rows[0][what] if rows else 1.0 for what, value in medians.items()}
        answered = all(times["answered"] for times in found[name])
        rows.append({"tokens": n, "heads": h, "viewer": name, "rounds": len(found[name]), "answered": answered} | medians | ratios)
        print(_format(rows[-1]), flush=True)
    return rows


def _format(row: dict[str, Any]) -> str:
    n, h, name = row["tokens"], row["heads"], row["viewer"]
    wanted = []
    if name in (LAB, FRAME):
        wanted = [f"hover under {FRAME_LIMIT} ms"] + (["ready under 300 ms"] if n == 256 else [])
    elif name.startswith("BertViz") and n > 10:
        wanted = ["ready at least 10 x"]
    if not row["answered"]:
        wanted.append("nothing in the page answers: the browser's own tooltip alone")
    return (
        f"  {n:3} x {h:2}  {name:30} ready {row['ready']:8.0f} ms {row['ready, times the lab']:6.1f} x   hover {row['hover']:6.0f} ms"
        f" {row['hover, times the lab']:6.1f} x  {'; '.join(wanted)}"
    )


def _engine(browser: Any) -> dict[str, float]:
    """The best of many runs of the engine without a page around it, in milliseconds."""
    small = SENTENCE | {"attention": "MultiHeadAttention", "heads": 4, "tokens": ["word"] * 64}
    long = SENTENCE | {"tokens": ["word"] * 512}
    with engine_in(browser) as engine:
        warmer = [small | {"temperature": 1 + k / 10} for k in range(10)]
        few, many = (engine("time", settings=settings, again=again, rounds=25) for settings, again in ((small, warmer), (long, [long])))
    return {"attend": few["attend"], "run": many["run"], "additions": min(few["chain"], many["chain"])}


def _against_limits(found: dict[str, float]) -> list[dict[str, Any]]:
    none = "none over 50"
    return [
        {"what": what, "value": value, "unit": unit, "wanted": wanted}
        for what, value, unit, wanted in (
            ("15 million additions, 20 ms at 3 GHz when quiet", found["additions"], "ms", "-"),
            ("engine: 64 tokens x 4 heads, updates", 1000 / found["attend"], "/s", "60"),
            ("page: 64 tokens x 4 heads, updates drawn", found["updates"], "/s", "60, the most a browser draws"),
            ("page: 64 tokens x 4 heads, script of one update", found["one update"], "ms", "under 16.7"),
            ("engine: 512 tokens x 64 wide, drawn and computed", found["run"], "ms", "under 60"),
            ("page: longest task while it takes 512 tokens", found["longest task: 512 tokens"], "ms", f"{none} (0: none)"),
            ("page: longest task while the slide opens", found["longest task: slide of d_k"], "ms", f"{none} (0: none)"),
            ("page: longest task of an SVG of 512 tokens", found["longest task: SVG of 512 tokens"], "ms", f"{none} (0: none)"),
        )
    ]
