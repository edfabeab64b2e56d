"""The lab without a script: a state's views as coloured tables, the numbers and colours that the script would show."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from torch import Tensor

from attention_book.lab.states import heads_of, trace_of
from attention_book.tables import plain, viridis

LEVELS = 64  # shades of a cell, one class of the style sheet for each: a strict policy refuses style attributes
FEW_TOKENS = 20  # up to here weights are coloured from 0 to 1, as in `attend(...).heatmap()`


def tables(state: Mapping[str, Any], views: Sequence[str]) -> str:
    """Writes the chosen view's tables, one for each head, and folds the other views below."""
    steps = trace_of(state)
    tokens = [escape(plain(token)) for token in steps.tokens or ()]
    parts = []
    for view in sorted(views, key=lambda view: view != state["view"]):
        maps = heads_of(getattr(steps, view))
        low, high = limits(view, maps)
        shown = "\n".join(_table(view, maps, head, tokens, low, high) for head in range(len(maps)))
        parts.append(shown if view == state["view"] else f"<details><summary>{view}</summary>\n{shown}\n</details>")
    return "\n".join(parts)


def limits(view: str, maps: Sequence[Tensor]) -> tuple[float, float]:
    """The ends of the colour scale, the same for all heads."""
    n = maps[0].shape[-1]
    if view == "weights":
        return (0.0, 1.0) if n <= FEW_TOKENS else (0.0, 4 / n)
    numbers = [number for matrix in maps for number in matrix[matrix.isfinite()].tolist()]
    return (min(numbers), max(numbers)) if numbers else (0.0, 1.0)


def shades() -> str:
    """The style sheet's rules for the shades of a cell, dark to light, each with the ink that stands out from it."""
    rules = []
    for level in range(LEVELS):
        red, green, blue = viridis(level / (LEVELS - 1))
        ink = "#010101" if _luminance(red, green, blue) > 0.18 else "#fff"
        rules.append(f".lab .m{level}{{background:#{red:02x}{green:02x}{blue:02x};color:{ink}}}")
    return "\n".join(rules) + "\n"


def _luminance(*channels: int) -> float:
    """Relative luminance, WCAG 2, of 8-bit sRGB."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (channel / 255 for channel in channels))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _table(view: str, maps: Sequence[Tensor], head: int, tokens: Sequence[str], low: float, high: float) -> str:
    columns = tokens if view != "output" else [str(k) for k in range(maps[0].shape[-1])]
    what = view if len(maps) == 1 else f"{view} of head {head}"
    across = "columns are keys" if view != "output" else "columns are coordinates"
    header = "".join(f'<th scope="col"><bdi>{name}</bdi></th>' for name in columns)
    rows = [
        f'<tr><th scope="row"><bdi>{token}</bdi></th>{"".join(_cell(number, low, high) for number in row)}</tr>'
        for token, row in zip(tokens, maps[head].tolist(), strict=True)
    ]
    return "\n".join([
        f'<div class="lab-scroll" tabindex="0" role="group" aria-label="{what}">',
        f"<table><caption>{what}: rows are queries, {across}</caption>",
        f"<thead><tr><td></td>{header}</tr></thead>",
        "<tbody>", *rows, "</tbody></table></div>",
    ])


def _cell(number: float, low: float, high: float) -> str:
    if number == -float("inf"):
        return '<td class="lab-hidden">-inf</td>'
    place = (number - low) / (high - low) if high > low else 0.0
    return f'<td class="m{round(min(max(place, 0.0), 1.0) * (LEVELS - 1))}">{number:.4f}</td>'
