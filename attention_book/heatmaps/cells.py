"""The cells: their colours on one stated scale, and their numbers in an ink that stands out."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, Normalize, to_rgba
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from attention_book.heatmaps.fonts import text_style
from attention_book.heatmaps.layout import LABEL_SIZE
from attention_book.heatmaps.maps import Map, Values, faults

HUGE = 1e300  # beyond it matplotlib's own arithmetic overflows, as it would on a float64 score filled with finfo.min
COLOUR_MAP = "viridis"
NOT_A_NUMBER = "#d7301f"  # a red that viridis does not have
HIDDEN, HATCH = "#8c8c8c", "#c4c4c4"  # a grey that stands out from white pages and from dark ones
DARK_INK, LIGHT_INK = "#010101", "#ffffff"  # not quite black, so that a page that recolours its ink leaves cells alone


def colour_scale(maps: list[Map], limits: tuple[float, float] | None) -> tuple[Normalize, str, list[str]]:
    """Returns the norm of all maps, the ends at which values lie beyond it, and the sentences that say what it is."""
    seen = np.concatenate([each.values[np.isfinite(each.values) & ~each.hidden] for each in maps])
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0)
    if limits is None:
        whose = "this map's own range" if len(maps) == 1 else "the range of these maps together"
        notes = [f"value, {low:.4g} to {high:.4g}, {whose}" if seen.size else "no finite value to show"]
        # Where all values are equal the colour bar widens the range, so that they get its middle and not its lowest colour.
        return Normalize(max(low, -HUGE), min(high, HUGE)), "neither", notes
    try:
        bottom, top = (float(limit) for limit in limits)
    except (TypeError, ValueError):
        raise TypeError(f"limits is {limits!r}; give two numbers (lowest, highest), or None for the map's own range") from None
    if not (math.isfinite(bottom) and math.isfinite(top) and bottom < top):
        raise ValueError(f"limits go from {bottom} to {top}; both must be finite and the first below the second")
    notes = [f"{'weight' if (bottom, top) == (0, 1) else 'value'}, {bottom:g} to {top:g}, one scale for all maps"]
    beyond = (bool(seen.size) and low < bottom, bool(seen.size) and high > top)
    if any(beyond):
        notes.append(f"values run from {low:.4g} to {high:.4g}: those beyond the scale take the colour of its end")
    ends = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
    return Normalize(bottom, top), ends[beyond], notes


def numbers_of(each: Map, decimals: int) -> dict[tuple[int, int], str]:
    """Returns the text of every cell that shows a number, by (query, key)."""
    texts = {}
    for i, j in np.argwhere(~each.hidden):
        value = each.values[i, j]
        text = f"{value:.{decimals}f}" if abs(value) < 1e5 else f"{value:.1e}"
        # A small negative number rounds to "-0.00"; the sign would say what the digits do not.
        texts[i, j] = "NaN" if np.isnan(value) else text.lstrip("-") if float(text) == 0 else text
    return texts


def paint(ax: Axes, each: Map, norm: Normalize, interpolation: str) -> AxesImage:
    """Draws the cells: colours where there are numbers, red where there are faults, a hatched ground where hidden."""
    rows, columns = each.values.shape
    at_fault = faults(each.values)
    layout: dict[str, Any] = {"interpolation": interpolation, "origin": "upper", "aspect": "auto"}
    if each.hidden.any():
        # One ground under a transparent image, not one patch a cell: a causal map of 512 tokens hides 130816.
        ground: dict[str, Any] = {"facecolor": HIDDEN, "edgecolor": HATCH, "hatch": "////", "linewidth": 0, "zorder": -1}
        ax.add_patch(Rectangle((-0.5, -0.5), columns, rows, **ground))
    numbers = np.ma.masked_array(np.clip(each.values, -HUGE, HUGE), each.hidden | at_fault)
    image = ax.imshow(numbers, cmap=COLOUR_MAP, norm=norm, **layout)
    if at_fault.any():
        ax.imshow(np.ma.masked_array(at_fault, ~at_fault), cmap=ListedColormap([NOT_A_NUMBER]), **layout)
    ax.grid(False)
    return image


def print_numbers(ax: Axes, values: Values, texts: dict[tuple[int, int], str]) -> None:
    """Prints each number in the ink, dark or light, that stands out more from its cell: at least 4.5 to 1."""
    image, style = ax.images[0], text_style("", LABEL_SIZE)
    for (i, j), text in texts.items():
        seen = np.clip(values[i, j], image.norm.vmin, image.norm.vmax)
        colour = to_rgba(NOT_A_NUMBER) if text in ("NaN", "inf") else tuple(image.cmap(image.norm(seen)))
        ink = DARK_INK if luminance(colour) > 0.18 else LIGHT_INK
        ax.text(j, i, text, color=ink, ha="center", va="center", **style)


def luminance(colour: Sequence[float]) -> float:
    """Returns the relative luminance of an sRGB colour, as WCAG 2 defines it."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
