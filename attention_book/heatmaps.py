"""Heatmaps of attention: rows are queries, the first on top; columns are keys; all maps on one stated scale.

The only file of the library that imports matplotlib. Nothing global is changed: no setting, no random state, no
argument. Everything outside the cells is drawn in the reader's own text and tick colours, so that a page may recolour it;
everything inside the cells has colours of its own. Colour map: viridis, whose lightness only rises (van der Walt and
Smith, 2015), so that it serves colour-blind readers and grey prints too.
"""

import math
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, Normalize, to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from torch import Tensor

CELL = 0.45  # inches a side, for a number of four characters; longer numbers get wider cells
WIDTH = 9.1  # inches: maps with numbers stay this narrow, or a page would shrink the numbers beyond reading
BAR = 0.13  # inches: the height of the colour bar
MOST_NUMBERS, MOST_A_SIDE = 2048, 64  # each number takes about a millisecond, and an image has at most 65535 pixels a side
HUGE = 1e300  # beyond it matplotlib's own arithmetic overflows, as it would on a float64 score filled with finfo.min
MOST_MAPS = 144  # twelve layers of twelve heads
LONGEST_LABEL = 14  # characters
LABEL_SIZE, NOTE_SIZE, TITLE_SIZE = 9, 8, 11  # points
COLOUR_MAP = "viridis"
NOT_A_NUMBER = "#d7301f"  # a red that viridis does not have
HIDDEN, HATCH = "#8c8c8c", "#c4c4c4"  # a grey that stands out from white pages and from dark ones
DARK_INK, LIGHT_INK = "#010101", "#ffffff"  # not quite black, so that a page that recolours its ink leaves cells alone
SPACE, SIGNS = "␣", {"\n": "↵", "\t": "⇥"}
JOINERS = "\u200c\u200d"  # parts of the spelling of Persian and Hindi


Values = np.ndarray[Any, np.dtype[np.float64]]
Where = np.ndarray[Any, np.dtype[np.bool_]]


class _Map(NamedTuple):
    name: str
    values: Values  # (i, j)
    hidden: Where  # (i, j)


def heatmap(
    weights: Tensor,
    tokens: Sequence[str] | None = None,
    *,
    key_tokens: Sequence[str] | None = None,
    mask: Tensor | None = None,
    title: str | None = None,
    limits: tuple[float, float] | None = (0.0, 1.0),
    decimals: int = 2,
    annotate: bool | None = None,
    ax: Axes | None = None,
) -> Figure:
    r"""Draws one map of attention: how much each query (row) takes from each key (column).

    .. math:: \text{colour}_{ij} = \text{viridis}\left(\frac{\text{weights}_{ij} - lo}{hi - lo}\right)

    Hidden cells (``mask`` is ``False`` there, or the score is ``-inf``) are hatched, never drawn as 0. NaN and ``+inf`` are red,
    hidden or not, for they are faults. The legend under the map says what the scale and these marks mean.

    Args:
        weights: weights or scores, shape ``(i, j)``, any real dtype, on any device that holds numbers.
        tokens: one label for each query, and for each key unless ``key_tokens`` is given; positions if ``None``. Drawn as
            literal text: a character that no installed font has is shown as ``<U+1F916>``, and the legend says so.
        key_tokens: one label for each key.
        mask: boolean, shape ``(i, j)``, ``True`` where a query may look.
        title: says what the map shows; a web page reads it to those who cannot see. Made from the shape if ``None``.
        limits: the values at the two ends of the colour scale; ``None`` takes the map's own range, and the legend says so.
        decimals: digits after the point in the printed numbers, 0 to 10.
        annotate: ``None`` prints the numbers while they are legible, at most 20 cells a side, and else says that it does not;
            ``True`` prints up to 2048 numbers, however large the figure; ``False`` prints none.
        ax: axes to fill, best in a figure with ``layout="constrained"``; a new pyplot figure if ``None``.

    Returns:
        The figure that holds the map.

    Raises:
        TypeError: ``weights`` is ``None`` or not a real tensor, ``mask`` is not boolean, or a label is not a string.
        ValueError: ``weights`` is not two-dimensional, has no cell or no data; a number of labels or a shape disagrees; the
            limits do not rise; or more numbers are asked for than can be printed.

    Example:
        >>> import matplotlib.pyplot as plt
        >>> from attention_book import JOURNEY, simple_attention
        >>> from attention_book.heatmaps import heatmap
        >>> output, weights = simple_attention(JOURNEY.embeddings)
        >>> figure = heatmap(weights, JOURNEY.tokens, title="Six tokens, compared with no dials")
        >>> figure.axes[0].get_title()
        'Six tokens, compared with no dials'
        >>> plt.close(figure)
    """
    _check("weights", weights, 2, "give one map, shape (i, j): pick a head, or draw all heads with head_grid")
    rows, columns = weights.shape
    heading = f"Attention, {rows} x {columns} (query x key)" if title is None else title
    return _draw(_maps({heading: weights}, mask), tokens, key_tokens, None, limits, decimals, annotate, ax)


def compare(
    maps: Mapping[str, Tensor],
    tokens: Sequence[str] | None = None,
    *,
    key_tokens: Sequence[str] | None = None,
    mask: Tensor | None = None,
    title: str | None = None,
    limits: tuple[float, float] | None = (0.0, 1.0),
    decimals: int = 2,
    annotate: bool | None = None,
) -> Figure:
    """Draws maps side by side on one scale with one legend, so that equal colours are equal numbers.

    Args:
        maps: the maps by name, each of shape ``(i, j)``; the names become their titles.
        tokens, key_tokens, decimals, annotate: as in :func:`heatmap`.
        mask: boolean, shape ``(i, j)`` for all maps, or ``(len(maps), i, j)``; ``True`` where a query may look.
        title: what the figure shows; made from the shape if ``None``.
        limits: the values at the two ends of the colour scale; ``None`` takes the range of all these maps together.

    Returns:
        A new pyplot figure.

    Raises:
        TypeError: as in :func:`heatmap`, or ``maps`` is not a mapping.
        ValueError: as in :func:`heatmap`, ``maps`` is empty, or two maps differ in shape.

    Example:
        >>> import matplotlib.pyplot as plt
        >>> from attention_book import JOURNEY, scaled_dot_product_attention
        >>> from attention_book.heatmaps import compare
        >>> x = JOURNEY.embeddings
        >>> unscaled, scaled = (scaled_dot_product_attention(x, x, x, scale=scale)[1] for scale in (1.0, None))
        >>> figure = compare({"unscaled": unscaled, "scaled": scaled}, JOURNEY.tokens, title="What scaling does")
        >>> [ax.get_title() for ax in figure.axes]
        ['unscaled', 'scaled', '']
        >>> plt.close(figure)
    """
    if not isinstance(maps, Mapping):
        raise TypeError(f"maps is a {type(maps).__name__}; give a mapping such as {{'unscaled': a, 'scaled': b}}")
    if not maps:
        raise ValueError("maps is empty, so there is nothing to draw; give one map or more")
    first_name, first = next(iter(maps.items()))
    for name, weights in maps.items():
        _check(f"maps[{name!r}]", weights, 2, "give one map, shape (i, j)")
        if weights.shape != first.shape:
            raise ValueError(f"{name} has shape {tuple(weights.shape)} but {first_name} has {tuple(first.shape)}")
    heading = f"{len(maps)} maps, {first.shape[0]} x {first.shape[1]} (query x key)"
    title = heading if title is None else title
    return _draw(_maps(maps, mask), tokens, key_tokens, title, limits, decimals, annotate)


def head_grid(
    weights: Tensor,
    tokens: Sequence[str] | None = None,
    *,
    key_tokens: Sequence[str] | None = None,
    mask: Tensor | None = None,
    title: str | None = None,
    limits: tuple[float, float] | None = (0.0, 1.0),
    decimals: int = 2,
    annotate: bool | None = None,
) -> Figure:
    """Draws every head's map on one scale, side by side, in as many rows as legible cells need.

    Args:
        weights: shape ``(h, i, j)``, weights per head, not averaged.
        tokens, key_tokens, decimals, annotate: as in :func:`heatmap`.
        mask: boolean, shape ``(i, j)`` for all heads, or ``(h, i, j)``; ``True`` where a query may look.
        title: what the figure shows; made from the shape if ``None``.
        limits: the values at the two ends of the colour scale; ``None`` takes the range of all heads together.

    Returns:
        A new pyplot figure, each map titled "head 0", "head 1" and so on.

    Raises:
        TypeError: as in :func:`heatmap`.
        ValueError: as in :func:`heatmap`, or ``weights`` is not three-dimensional.

    Example:
        >>> import matplotlib.pyplot as plt
        >>> import torch
        >>> from attention_book.heatmaps import head_grid
        >>> figure = head_grid(torch.eye(3).expand(2, 3, 3), ["a", "b", "c"], title="Two heads, each at itself")
        >>> [ax.get_title() for ax in figure.axes]
        ['head 0', 'head 1', '']
        >>> plt.close(figure)
    """
    _check("weights", weights, 3, "give the heads of one sample, shape (h, i, j): pick an item of the batch first")
    heads, rows, columns = weights.shape
    title = f"{heads} heads, {rows} x {columns} (query x key)" if title is None else title
    maps = _maps({f"head {head}": weights[head] for head in range(heads)}, mask)
    return _draw(maps, tokens, key_tokens, title, limits, decimals, annotate)


def _check(name: str, weights: Tensor, axes: int, hint: str) -> None:
    """Refuses what is not a drawable tensor with that many axes."""
    if weights is None:
        raise TypeError(
            f"{name} is None: a fused attention op returns no weights; take them from "
            "attention_book.scaled_dot_product_attention, or from a module by need_weights=True"
        )
    if not isinstance(weights, Tensor):
        raise TypeError(f"{name} is a {type(weights).__name__}; give a torch.Tensor")
    if weights.is_complex():
        raise TypeError(f"{name} holds {weights.dtype}; a colour needs a real number")
    if weights.dim() != axes:
        raise ValueError(f"{name} has {weights.dim()} axes, shape {tuple(weights.shape)}, but {axes} are drawn: {hint}")
    if weights.numel() == 0:
        raise ValueError(f"{name} has shape {tuple(weights.shape)}, so there is no cell to draw")
    if weights.is_meta:
        raise ValueError(f"{name} is on the 'meta' device, which holds shapes but no numbers; use a device with data")


def _maps(maps: Mapping[str, Tensor], mask: Tensor | None) -> list[_Map]:
    """Turns maps and mask into arrays, so that neither gradients, dtype nor device matter from here on."""
    shape = tuple(next(iter(maps.values())).shape)  # (i, j)
    if mask is not None:
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
            found = mask.dtype if isinstance(mask, Tensor) else f"a {type(mask).__name__}"
            raise TypeError(f"mask is {found}; give a boolean tensor, True where a query may look")
        if tuple(mask.shape) not in (shape, (len(maps), *shape)):
            raise ValueError(f"mask has shape {tuple(mask.shape)} but the map needs {shape}, or {(len(maps), *shape)} for all")
        if mask.is_meta:
            raise ValueError("mask is on the 'meta' device, which holds shapes but no values; use a device with data")
    looks = torch.ones(shape, dtype=torch.bool) if mask is None else mask.detach().cpu()
    drawn = []
    for (name, weights), look in zip(maps.items(), looks.expand(len(maps), *shape), strict=True):
        values = weights.detach().cpu().double().numpy(force=True)
        hidden = (~look.numpy(force=True) | np.isneginf(values)) & ~_faults(values)
        drawn.append(_Map(name, values, hidden))
    return drawn


def _draw(
    maps: list[_Map],
    tokens: Sequence[str] | None,
    key_tokens: Sequence[str] | None,
    title: str | None,
    limits: tuple[float, float] | None,
    decimals: int,
    annotate: bool | None,
    ax: Axes | None = None,
) -> Figure:
    """Checks what is left to check, then draws all maps with one scale and one legend."""
    count, (rows, columns) = len(maps), maps[0].values.shape
    size = f"{rows} x {columns}" if count == 1 else f"{count} maps of {rows} x {columns}"
    few = count * rows * columns <= MOST_NUMBERS and max(rows, columns) <= MOST_A_SIDE
    for name in (title or "", *(each.name for each in maps)):
        if not isinstance(name, str):
            raise TypeError(f"title or name {name!r} is a {type(name).__name__}; give a string")
    if isinstance(decimals, bool) or not isinstance(decimals, int) or not 0 <= decimals <= 10:
        raise ValueError(f"decimals is {decimals!r}; give a whole number from 0 to 10")
    if tokens is not None and key_tokens is None and rows != columns:
        raise ValueError(f"the map has {rows} queries but {columns} keys; give key_tokens for the keys")
    if count > MOST_MAPS:
        raise ValueError(f"{count} maps are too many for one figure: at most {MOST_MAPS}; draw some of them")
    if annotate and not few:
        raise ValueError(
            f"{size} makes {count * rows * columns} numbers, but at most {MOST_NUMBERS} can be printed, and at most "
            f"{MOST_A_SIDE} in a row or column; leave annotate out"
        )
    queries = _labels("tokens", tokens, rows, "queries")
    keys = queries if key_tokens is None and tokens is not None else _labels("key_tokens", key_tokens, columns, "keys")
    norm, extend, notes = _scale(maps, limits)

    numbers = [_numbers(each, decimals) for each in maps] if few and annotate is not False else []
    longest = max((len(number) for each in numbers for number in each.values()), default=0)
    cell = max(CELL, 0.13 + 0.08 * longest)  # a digit of 9 points is 0.08 inches wide
    across = min(count, max(2, int(WIDTH / (columns * cell))))
    if ax is None:
        printed = bool(numbers) and (bool(annotate) or max(across * columns, rows) * cell <= WIDTH)
        across = math.ceil(count / math.ceil(count / (across if printed else min(count, 3))))  # rows of equal length
        fig = plt.figure(layout="none")
        largest = min(5.0, WIDTH / across - 0.3)  # cells without numbers may shrink: to a pixel, in 10 inches at most
        width, height = (n * cell if printed else min(n * CELL, max(largest, min(n / fig.dpi, 10.0))) for n in (columns, rows))
        fig.set_size_inches(width + 8, height + 8)  # room to measure in; _fit cuts it to size
        place = (4 / (width + 8), 4 / (height + 8), width / (width + 8), height / (height + 8))
        panels = [fig.add_axes(place) for _ in maps]
    else:
        fig, panels = _figure(ax), [ax]
        box = ax.get_window_extent()
        width, height = 0.8 * box.width / fig.dpi, box.height / fig.dpi  # the legend takes a fifth of the width
        printed = bool(numbers) and (bool(annotate) or (width >= 0.9 * cell * columns and height >= 0.2 * rows))

    if annotate is None and not printed:
        notes.append(f"{size}: too many cells to print their numbers")
    if any(each.hidden.any() for each in maps):
        notes.append("hatched: hidden, the query may not look there")
    if any(_faults(each.values).any() for each in maps):
        notes.append("red: NaN or inf, not a number")
    tiny = min(width / columns, height / rows) * fig.dpi < 0.99
    if tiny:
        notes.append("cells are smaller than a pixel: neighbours are averaged")
    for k, (panel, each) in enumerate(zip(panels, maps, strict=True)):
        image = _cells(panel, each, norm, "auto" if tiny else "none")
        heading, style = _wrapped(each.name, TITLE_SIZE, max(width, 2.8))
        panel.set_title(heading, **style)
        notes += _ticks(panel, queries, keys, width / columns, height / rows, k % across == 0)
    notes += _undrawable(tokens, key_tokens, [title or "", *(each.name for each in maps)])

    bar_width = min(max(across * width, 2.8), 4.5) if ax is None else height
    legend, style = _wrapped("\n".join(dict.fromkeys(notes)), NOTE_SIZE, bar_width)
    if ax is None:
        bar_place = (place[0], place[1], bar_width / (width + 8), BAR / (height + 8))
        bar = fig.colorbar(image, cax=fig.add_axes(bar_place), extend=extend, orientation="horizontal")
    else:
        bar = fig.colorbar(image, ax=ax, extend=extend, fraction=0.15, pad=0.05)
    bar.ax.tick_params(labelsize=NOTE_SIZE)
    bar.set_label(legend, **style)
    if ax is None:
        heading, style = _wrapped(title or "", TITLE_SIZE, max(across * width, 2.8))
        _fit(fig, panels, bar.ax, fig.suptitle(heading, **style) if heading else None, across, width, height, bar_width)
    if printed:
        for panel, each, texts in zip(panels, maps, numbers, strict=True):
            _print(panel, each.values, texts)
    return fig


def _figure(ax: Axes) -> Figure:
    if not isinstance(ax, Axes):
        raise TypeError(f"ax is a {type(ax).__name__}; give one matplotlib Axes")
    fig = ax.get_figure(root=True)
    if fig is None:
        raise ValueError("ax belongs to no figure; give axes that have one")
    return fig


def _labels(name: str, tokens: Sequence[str] | None, count: int, axis: str) -> list[str]:
    """Returns one drawable line for each position of the axis."""
    if tokens is None:
        return [str(position) for position in range(count)]
    if isinstance(tokens, str):
        raise TypeError(f"{name} is one string; give a sequence of strings, such as sentence.split()")
    for position, token in enumerate(tokens):
        if not isinstance(token, str):
            raise TypeError(f"{name}[{position}] is {token!r}, a {type(token).__name__}; give a string")
    if len(tokens) != count:
        raise ValueError(f"{name} has {len(tokens)} labels but the map has {count} {axis}")
    return [_literal(token, LONGEST_LABEL) or "(empty)" for token in tokens]


def _scale(maps: list[_Map], limits: tuple[float, float] | None) -> tuple[Normalize, str, list[str]]:
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


def _faults(values: Values) -> Where:
    """Returns where the map holds what cannot be a weight or a score."""
    return np.isnan(values) | np.isposinf(values)


def _numbers(each: _Map, decimals: int) -> dict[tuple[int, int], str]:
    """Returns the text of every cell that shows a number, by (query, key)."""
    texts = {}
    for i, j in np.argwhere(~each.hidden):
        value = each.values[i, j]
        text = f"{value:.{decimals}f}" if abs(value) < 1e5 else f"{value:.1e}"
        # A small negative number rounds to "-0.00"; the sign would say what the digits do not.
        texts[i, j] = "NaN" if np.isnan(value) else text.lstrip("-") if float(text) == 0 else text
    return texts


def _cells(ax: Axes, each: _Map, norm: Normalize, interpolation: str) -> AxesImage:
    """Draws the cells: colours where there are numbers, red where there are faults, a hatched ground where hidden."""
    rows, columns = each.values.shape
    faults = _faults(each.values)
    layout: dict[str, Any] = {"interpolation": interpolation, "origin": "upper", "aspect": "auto"}
    if each.hidden.any():
        # One ground under a transparent image, not one patch a cell: a causal map of 512 tokens hides 130816.
        ground: dict[str, Any] = {"facecolor": HIDDEN, "edgecolor": HATCH, "hatch": "////", "linewidth": 0, "zorder": -1}
        ax.add_patch(Rectangle((-0.5, -0.5), columns, rows, **ground))
    numbers = np.ma.masked_array(np.clip(each.values, -HUGE, HUGE), each.hidden | faults)
    image = ax.imshow(numbers, cmap=COLOUR_MAP, norm=norm, **layout)
    if faults.any():
        ax.imshow(np.ma.masked_array(faults, ~faults), cmap=ListedColormap([NOT_A_NUMBER]), **layout)
    ax.grid(False)
    return image


def _print(ax: Axes, values: Values, texts: dict[tuple[int, int], str]) -> None:
    """Prints each number in the ink, dark or light, that stands out more from its cell: at least 4.5 to 1."""
    image, style = ax.images[0], _style("", LABEL_SIZE)
    for (i, j), text in texts.items():
        seen = np.clip(values[i, j], image.norm.vmin, image.norm.vmax)
        colour = to_rgba(NOT_A_NUMBER) if text in ("NaN", "inf") else tuple(image.cmap(image.norm(seen)))
        ink = DARK_INK if _luminance(colour) > 0.18 else LIGHT_INK
        ax.text(j, i, text, color=ink, ha="center", va="center", **style)


def _luminance(colour: Sequence[float]) -> float:
    """Returns the relative luminance of an sRGB colour, as WCAG 2 defines it."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _ticks(ax: Axes, queries: list[str], keys: list[str], cell_width: float, cell_height: float, name_rows: bool) -> list[str]:
    """Names rows and columns, as many as fit without touching; returns the notes that say which have no name."""
    style = _style("".join({*queries, *keys}), LABEL_SIZE)
    probe = ax.text(0, 0, "", **style)
    widest, line = 0.0, 0.0  # inches
    for label in sorted({*queries, *keys}, key=lambda label: (label.isascii(), -len(label)))[:64]:  # the tallest, the longest
        probe.set_text(label)
        box = probe.get_window_extent().transformed(_figure(ax).dpi_scale_trans.inverted())
        widest, line = max(widest, box.width if label in keys else 0), max(line, 1.1 * box.height)
    probe.remove()
    level = len(keys) <= 32 and widest + 0.06 <= cell_width  # 32 keys: so that all were measured
    # Labels at 45 degrees are parallel lines, cell_width times sin 45 apart.
    row_step = math.ceil(line / cell_height)
    column_step = 1 if level else math.ceil(line / (cell_width * math.sqrt(0.5)))
    if min(row_step, column_step) > 1:
        row_step = column_step = max(row_step, column_step)
    turned: dict[str, Any] = {} if level else {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(range(0, len(keys), column_step), keys[::column_step], **style, **turned)
    ax.set_yticks(range(0, len(queries), row_step), queries[::row_step], **style)
    ax.tick_params(labelleft=name_rows)
    ax.set_xlabel("key")
    ax.set_ylabel("query" if name_rows else "")
    if row_step == column_step > 1:
        return [f"one label for every {row_step} tokens"]
    steps = {"queries": row_step, "keys": column_step}
    return [f"one label for every {step} {axis}" for axis, step in steps.items() if step > 1]


def _fit(
    fig: Figure,
    panels: list[Axes],
    bar: Axes,
    heading: Text | None,
    across: int,
    width: float,
    height: float,
    bar_width: float,
) -> None:
    """Gives the figure the size at which every map is ``width`` by ``height`` inches and nothing is cut or overlaps."""

    def overhang(ax: Axes) -> list[float]:
        """How far titles and labels stand out at the left, right, bottom and top, in inches."""
        inner = ax.get_window_extent()
        outer = ax.get_tightbbox() or inner
        edges = inner.x0 - outer.x0, outer.x1 - inner.x1, inner.y0 - outer.y0, outer.y1 - inner.y1
        return [edge / fig.dpi for edge in edges]

    space, down = 0.12, math.ceil(len(panels) / across)
    overhangs = [overhang(panel) for panel in panels]
    left, right, bottom, top = (max(side) for side in zip(*overhangs, strict=True))
    between = right + space + max((sides[0] for k, sides in enumerate(overhangs) if k % across), default=0)
    maps_width = across * width + (across - 1) * between
    bar_left, bar_right, bar_bottom, _ = overhang(bar)
    title_box = heading.get_window_extent() if heading else None
    title_width, title_height = (title_box.width / fig.dpi, title_box.height / fig.dpi) if title_box else (0, 0)

    # Maps, legend and title share one vertical middle line; the widest on either side of it sets the margins.
    before = max(left + maps_width / 2, bar_left + bar_width / 2, title_width / 2) + space
    after = max(right + maps_width / 2, bar_right + bar_width / 2, title_width / 2) + space
    floor = space + bar_bottom + BAR + space + bottom  # where the lowest maps stand
    step = height + top + bottom + space
    ceiling = floor + (down - 1) * step + height + top + space
    total, tall = before + after, ceiling + (title_height + space if heading else 0)
    fig.set_size_inches(total, tall)
    for k, panel in enumerate(panels):
        x = before - maps_width / 2 + k % across * (width + between)
        y = floor + (down - 1 - k // across) * step
        panel.set_position((x / total, y / tall, width / total, height / tall))
    bar.set_position(((before - bar_width / 2) / total, (space + bar_bottom) / tall, bar_width / total, BAR / tall))
    if heading:
        heading.set(x=before / total, y=ceiling / tall, va="bottom")


def _style(text: str, size: int) -> dict[str, Any]:
    """Literal text, never mathematics, in the reader's own fonts and in installed ones that have what those lack."""
    families = list(mpl.rcParams["font.family"])
    needed = {font.family for character in set(text) if (font := _font(character)) and font.family not in families}
    return {"fontsize": size, "fontfamily": families + sorted(needed), "parse_math": False, "usetex": False}


def _wrapped(text: str, size: int, inches: float) -> tuple[str, dict[str, Any]]:
    """Returns the text in lines of about that width, and its style."""
    longest = max(20, int(inches * 72 / (0.52 * size)))  # a character is about half as wide as its size
    lines = [line for part in text.splitlines() for line in textwrap.wrap(_literal(part.strip()), longest)]
    return "\n".join(lines), _style("".join(lines), size)


def _literal(text: str, longest: int | None = None) -> str:
    """Returns one line in which every character is seen, with an ellipsis in place of what exceeds ``longest``.

    Controls, and what no font draws, are shown by code; outer spaces by a mark. A wide East Asian character counts as two.
    """
    pieces = [_visible(previous, character) for previous, character in zip(" " + text, text, strict=False)]
    start, stop = len(text) - len(text.lstrip(" ")), len(text.rstrip(" "))
    pieces = [piece if start <= k < stop else SPACE for k, piece in enumerate(pieces)]
    ends = list(accumulate(sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in piece) for piece in pieces))
    if longest is None or not ends or ends[-1] <= longest:
        return "".join(pieces)
    keep = max(1, sum(end < longest for end in ends))
    while keep > 1 and unicodedata.category(pieces[keep][0])[0] == "M":  # a mark stays with its letter
        keep -= 1
    return "".join(pieces[:keep]) + "…"


def _visible(previous: str, character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    return SIGNS.get(character) or (character if _drawable(previous, character) else f"<U+{ord(character):04X}>")


def _drawable(previous: str, character: str) -> bool:
    """Tells whether an installed font draws the character, and a mark or joiner together with the letter before it."""
    font, kind = _font(character), unicodedata.category(character)[0]
    if kind == "M" or character in JOINERS:
        font = _font(previous)
    return font is not None and ord(character) in _characters(font.path) and (kind not in "CZ" or character in JOINERS)


def _undrawable(tokens: Sequence[str] | None, key_tokens: Sequence[str] | None, titles: Sequence[str]) -> list[str]:
    """Returns the note that says which texts no installed font draws in full: a sentence in a figure breaks no build."""
    texts = {f"token {k}": token for k, token in enumerate(tokens or ())}
    texts |= {f"key token {k}": token for k, token in enumerate(key_tokens or ())}
    texts |= {"title": " ".join(titles)}
    lost = [
        place
        for place, text in texts.items()
        if not text.isascii() and any(not _drawable(p, c) for p, c in zip(" " + text, text, strict=False) if unicodedata.category(c)[0] not in "CZ")
    ]
    if not lost:
        return []
    places = ", ".join(lost[:4]) + (f" and {len(lost) - 4} more" if len(lost) > 4 else "")
    return [f"{places}: no installed font draws all characters, so codes stand for some; install a Noto font for the script"]


class _Font(NamedTuple):
    family: str
    path: str


def _font(character: str) -> _Font | None:
    """Returns the first font that draws the character: one of the reader's own, else an installed one, else ``None``."""
    rc = mpl.rcParams
    generic = rc["font.sans-serif"], rc["font.serif"], rc["font.monospace"], rc["font.cursive"], rc["font.fantasy"]
    return _search(character, tuple(rc["font.family"]), tuple(map(tuple, generic)))


@lru_cache(maxsize=100_000)
def _search(character: str, families: tuple[str, ...], generic: tuple[tuple[str, ...], ...]) -> _Font | None:
    """Does what ``_font`` says; ``generic`` is part of the cache's key, for it decides what a family such as "serif" is."""
    for family in families:
        path = findfont(FontProperties(family=[family]))
        if ord(character) in _characters(path):
            return _Font(family, path)
    return next((font for font in _installed() if ord(character) in _characters(font.path)), None)


@cache
def _characters(path: str) -> frozenset[int]:
    return frozenset(get_font(path).get_charmap())


@cache
def _installed() -> list[_Font]:
    """Returns the installed upright fonts, sans serif first, in an order that is the same on each run."""
    names = {font.name for font in fontManager.ttflist if (font.style, font.weight, font.stretch) == ("normal", 400, "normal")}
    # Last Resort draws boxes and colour fonts nothing; the others give symbols the codes of letters.
    unfit = ("last", ".last", "noto color", "apple color", "cm", "stixnon", "stixsize")
    fit = [name for name in names if not name.lower().startswith(unfit)]
    fit.sort(key=lambda name: (name != "DejaVu Sans", name != "Noto Sans CJK SC", "Sans" not in name, "Mono" in name, name))
    return [_Font(name, findfont(FontProperties(family=[name]))) for name in fit]
