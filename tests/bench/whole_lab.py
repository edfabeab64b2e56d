"""The whole lab on a page of its own, as the site shows it, but without the site: what it does with large inputs, and how often it updates."""

import json
import sys
from html import escape
from pathlib import Path
from typing import Any

from attention_book.lab.bundle import bundle, style
from attention_book.lab.states import DEFAULT
from tests.bench.map_peers import ROOT
from tests.browser.lab_page import hash_of

SMALL = DEFAULT | {"example": "text", "attention": "MultiHeadAttention", "seed": "42", "heads": 4, "scale": True, "text": " ".join(["word"] * 64)}
LONG = " ".join(f"word{k}" for k in range(512))
SECONDS = 3
IDLE = "async () => { while (document.querySelector('.lab[aria-busy]')) await new Promise(done => setTimeout(done, 20)) }"
# Each frame moves the slider of the temperature; a browser draws at most 60 a second.
UPDATES = """async seconds => {
    const slider = [...document.querySelectorAll(".lab-slider")].find(box => box.querySelector("label").textContent === "Temperature").querySelector("input");
    const frame = () => new Promise(done => requestAnimationFrame(done));
    const taken = [];
    const end = (await frame()) + 1000 * seconds;
    const start = performance.now();
    for (let k = 0, now = start; now < end; k++) {
        const before = performance.now();
        slider.value = String(k % 900);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        taken.push(performance.now() - before);
        now = await frame();
    }
    return { updates: taken.length / (performance.now() - start) * 1000, milliseconds: taken.sort((a, b) => a - b)[taken.length >> 1] };
}"""
TASKS = "window.tasks = []; new PerformanceObserver(list => tasks.push(...list.getEntries().map(entry => entry.duration))).observe({ type: 'longtask' });"


def write_page(folder: Path) -> str:
    """Writes page, script and style, and returns the page's name."""
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    from lab import LOCKS

    lock = LOCKS["all"]
    settings = {name: lock[name] for name in ("attentions", "views", "controls", "slide")} | {"state": DEFAULT, "own": True, "page": "whole_lab.html"}
    (folder / "lab.js").write_text(bundle(), "utf-8")
    (folder / "lab.css").write_text(style(), "utf-8")
    (folder / "whole_lab.html").write_text(
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>The lab</title><link rel="icon" href="data:,">'
        '<link rel="stylesheet" href="lab.css"><script defer src="lab.js"></script></head>'
        f'<body><div class="lab" data-lab="{escape(json.dumps(settings))}"></div></body></html>',
        "utf-8",
    )
    return "whole_lab.html"


def measure(browser: Any, address: str) -> dict[str, float]:
    """Updates a second of the whole page, the median of one update, and the longest task (0: none of 50 ms) of three things a reader does."""
    context = browser.new_context(viewport={"width": 1280, "height": 1400}, accept_downloads=True)
    try:
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.add_init_script(TASKS)
        page.goto(address + hash_of(SMALL))
        page.wait_for_selector(".lab-live:not([aria-busy])")
        page.evaluate(UPDATES, 0.5)  # its code is compiled now
        updates = page.evaluate(UPDATES, SECONDS)
        found = {"updates": updates["updates"], "one update": updates["milliseconds"]}

        def longest() -> float:
            page.evaluate(IDLE)
            page.wait_for_timeout(300)  # an observer hears of a task a little later
            return max(page.evaluate("tasks.splice(0)"), default=0.0)

        longest()
        page.get_by_label("Your sentence").fill(LONG)
        found["longest task: 512 tokens"] = longest()
        if page.locator(".lab-pixels").evaluate("canvas => canvas.width") != 512:
            raise RuntimeError("the lab does not show 512 tokens")
        page.locator(".lab-slide > summary").click()
        found["longest task: slide of d_k"] = longest()
        with page.expect_download():
            page.get_by_role("button", name="SVG").click()
        found["longest task: SVG of 512 tokens"] = longest()
        return found
    finally:
        context.close()
