"""One figure of one map or many: checks what is asked for, then draws with one scale and one legend."""

import math
from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attention_book.heatmaps.cells import colour_scale, numbers_of, paint, print_numbers
from attention_book.heatmaps.labels import labels, undrawable, wrapped
from attention_book.heatmaps.layout import BAR, NOTE_SIZE, TITLE_SIZE, figure_of, fit, name_ticks
from attention_book.heatmaps.maps import Map, faults

CELL = 0.45  # inches a side, for a number of four characters; longer numbers get wider cells
WIDTH = 9.1  # inches: maps with numbers stay this narrow, or a page would shrink the numbers beyond reading
MOST_NUMBERS, MOST_A_SIDE = 2048, 64  # each number takes about a millisecond, and an image has at most 65535 pixels a side
MOST_MAPS = 144  # twelve layers of twelve heads


def draw(
    maps: list[Map],
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
    queries = labels("tokens", tokens, rows, "queries")
    keys = queries if key_tokens is None and tokens is not None else labels("key_tokens", key_tokens, columns, "keys")
    norm, extend, notes = colour_scale(maps, limits)

    numbers = [numbers_of(each, decimals) for each in maps] if few and annotate is not False else []
    longest = max((len(number) for each in numbers for number in each.values()), default=0)
    cell = max(CELL, 0.13 + 0.08 * longest)  # a digit of 9 points is 0.08 inches wide
    across = min(count, max(2, int(WIDTH / (columns * cell))))
    if ax is None:
        printed = bool(numbers) and (bool(annotate) or max(across * columns, rows) * cell <= WIDTH)
        across = math.ceil(count / math.ceil(count / (across if printed else min(count, 3))))  # rows of equal length
        fig = plt.figure(layout="none")
        largest = min(5.0, WIDTH / across - 0.3)  # cells without numbers may shrink: to a pixel, in 10 inches at most
        width, height = (n * cell if printed else min(n * CELL, max(largest, min(n / fig.dpi, 10.0))) for n in (columns, rows))
        fig.set_size_inches(width + 8, height + 8)  # room to measure in; fit cuts it to size
        place = (4 / (width + 8), 4 / (height + 8), width / (width + 8), height / (height + 8))
        panels = [fig.add_axes(place) for _ in maps]
    else:
        fig, panels = figure_of(ax), [ax]
        box = ax.get_window_extent()
        width, height = 0.8 * box.width / fig.dpi, box.height / fig.dpi  # the legend takes a fifth of the width
        printed = bool(numbers) and (bool(annotate) or (width >= 0.9 * cell * columns and height >= 0.2 * rows))

    if annotate is None and not printed:
        notes.append(f"{size}: too many cells to print their numbers")
    if any(each.hidden.any() for each in maps):
        notes.append("hatched: hidden, the query may not look there")
    if any(faults(each.values).any() for each in maps):
        notes.append("red: NaN or inf, not a number")
    tiny = min(width / columns, height / rows) * fig.dpi < 0.99
    if tiny:
        notes.append("cells are smaller than a pixel: neighbours are averaged")
    for k, (panel, each) in enumerate(zip(panels, maps, strict=True)):
        image = paint(panel, each, norm, "auto" if tiny else "none")
        heading, style = wrapped(each.name, TITLE_SIZE, max(width, 2.8))
        panel.set_title(heading, **style)
        notes += name_ticks(panel, queries, keys, width / columns, height / rows, k % across == 0)
    notes += undrawable(tokens, key_tokens, [title or "", *(each.name for each in maps)])

    bar_width = min(max(across * width, 2.8), 4.5) if ax is None else height
    legend, style = wrapped("\n".join(dict.fromkeys(notes)), NOTE_SIZE, bar_width)
    if ax is None:
        bar_place = (place[0], place[1], bar_width / (width + 8), BAR / (height + 8))
        bar = fig.colorbar(image, cax=fig.add_axes(bar_place), extend=extend, orientation="horizontal")
    else:
        bar = fig.colorbar(image, ax=ax, extend=extend, fraction=0.15, pad=0.05)
    bar.ax.tick_params(labelsize=NOTE_SIZE)
    bar.set_label(legend, **style)
    if ax is None:
        heading, style = wrapped(title or "", TITLE_SIZE, max(across * width, 2.8))
        fit(fig, panels, bar.ax, fig.suptitle(heading, **style) if heading else None, across, width, height, bar_width)
    if printed:
        for panel, each, texts in zip(panels, maps, numbers, strict=True):
            print_numbers(panel, each.values, texts)
    return fig
