"""Where everything stands: names on the axes, and the size at which nothing is cut."""

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from attention_book.heatmaps.fonts import text_style

BAR = 0.13  # inches: the height of the colour bar
LABEL_SIZE, NOTE_SIZE, TITLE_SIZE = 9, 8, 11  # points


def name_ticks(ax: Axes, queries: list[str], keys: list[str], cell_width: float, cell_height: float, name_rows: bool) -> list[str]:
    """Names rows and columns, as many as fit without touching; returns the notes that say which have no name."""
    style = text_style("".join({*queries, *keys}), LABEL_SIZE)
    probe = ax.text(0, 0, "", **style)
    widest, line = 0.0, 0.0  # inches
    for label in sorted({*queries, *keys}, key=lambda label: (label.isascii(), -len(label)))[:64]:  # the tallest, the longest
        probe.set_text(label)
        box = probe.get_window_extent().transformed(figure_of(ax).dpi_scale_trans.inverted())
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


def fit(
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


def figure_of(ax: Axes) -> Figure:
    if not isinstance(ax, Axes):
        raise TypeError(f"ax is a {type(ax).__name__}; give one matplotlib Axes")
    fig = ax.get_figure(root=True)
    if fig is None:
        raise ValueError("ax belongs to no figure; give axes that have one")
    return fig
