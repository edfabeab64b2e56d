"""The pages that are timed: the same attention weights, as the lab and each peer show them in a notebook.

Run as a program it writes those of one viewer: `python -m tests.bench.map_pages NAME FOLDER`; a peer's need its package on the path.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.bench.map_peers import here

SEED = 123
SIZES = ((10, 4), (64, 12), (256, 12))  # tokens, heads
LAB, FRAME = "the lab", "the lab in its notebook frame"


@dataclass(frozen=True)
class Viewer:
    """A way to look at attention.

    Attributes:
        html: what it puts into a notebook's cell for weights ``(h, n, n)`` and tokens.
        drawn: a JavaScript expression that is true once the map of ``n`` tokens and ``h`` heads is drawn.
        pointed: selector of what is pointed at.
    """

    html: Callable[[Tensor, list[str]], str]
    drawn: str
    pointed: str


def lab_in_frame(weights: Tensor, tokens: list[str]) -> str:
    from attention_book.trace import Trace

    scores = weights.log()  # whose softmax they are
    value = torch.ones(*weights.shape[:2], 1)
    output = (weights @ value).squeeze(-1).T
    return Trace(tuple(tokens), value, value, value, scores, scores, scores, weights, output, 1.0).lab()._repr_html_()


def lab(weights: Tensor, tokens: list[str]) -> str:
    """The same without the frame, whose process of its own costs as much as the map: peers write into the notebook's page itself."""
    framed = re.search(r'srcdoc="([^"]*)"', lab_in_frame(weights, tokens))
    if not framed:
        raise RuntimeError("the lab's frame holds no srcdoc")
    return unescape(framed[1])


def bertviz(weights: Tensor, tokens: list[str]) -> str:
    from bertviz import head_view

    return here(head_view([weights[None]], tokens, html_action="return").data)


def circuitsvis(weights: Tensor, tokens: list[str]) -> str:
    from circuitsvis.attention import attention_heads

    # As its notebook shows it without a network; and every weight, as the others do, not half of them.
    return attention_heads(weights, tokens, mask_upper_tri=False).local_src


def inspectus(weights: Tensor, tokens: list[str]) -> str:
    import inspectus
    import IPython.display

    shown: list[Any] = []
    IPython.display.display = shown.append  # it offers no other way to its page
    inspectus.attention(weights[None], tokens)
    return "".join(part.data for part in shown)


# A canvas is drawn when a pixel of it is; all else appears in one task.
PAINTED = "canvas => canvas.width > 1 && canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data[3] > 0"
LAB_DRAWN = f"""document.querySelector('.lab-live:not([aria-busy])') && document.querySelectorAll('.lab-head canvas').length === h
    && document.querySelector('.lab-pixels').width === n && [...document.querySelectorAll('.lab-head canvas, .lab-pixels')].every({PAINTED})"""
VIEWERS = {
    LAB: Viewer(lab, LAB_DRAWN, ".lab-cells"),
    FRAME: Viewer(lab_in_frame, LAB_DRAWN, ".lab-cells"),
    "BertViz head view": Viewer(
        bertviz, "document.querySelector('#attention line[stroke-opacity]') && document.querySelectorAll('#attention line').length === h * n * n",
        "#left > g:last-child",
    ),
    "CircuitsVis attention": Viewer(
        circuitsvis, f"document.querySelectorAll('canvas').length === h + 1 && [...document.querySelectorAll('canvas')].every({PAINTED})",
        "canvas >> nth=-1",
    ),
    "Inspectus": Viewer(
        inspectus, "document.querySelector('.dimension-values .value') && document.querySelectorAll('svg.matrix .cell').length === n * n", "svg.matrix .grid",
    ),
}


def file_of(name: str, n: int, h: int) -> str:
    return f"{name.replace(' ', '_')}_{n}x{h}.html"


def page(name: str, n: int, h: int) -> str:
    """The page of a viewer: rows of random softmax, from one seed whatever shows them."""
    weights = torch.randn(h, n, n, generator=torch.Generator().manual_seed(SEED)).softmax(-1)
    html = VIEWERS[name].html(weights, [f"word{k}" for k in range(n)])
    icon = '<link rel="icon" href="data:,">'  # or the browser asks for one
    if html.startswith("<!DOCTYPE html>"):
        return html.replace("<head>", f"<head>{icon}", 1)
    return f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>{icon}</head><body>{html}</body></html>'


if __name__ == "__main__":
    for n, h in SIZES:
        Path(sys.argv[2], file_of(sys.argv[1], n, h)).write_text(page(sys.argv[1], n, h), "utf-8")
