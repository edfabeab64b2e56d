"""Weights as tables: plain text for a terminal, HTML for a notebook. Any token stays text, and columns stay aligned.

Rows are queries, columns are keys. A hidden weight is shown as "-", which no number looks like.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from html import escape

from torch import Tensor

LONGEST_TOKEN = 20  # columns of a terminal; what exceeds them ends in an ellipsis
MOST_CELLS, MOST_A_SIDE = 2048, 40  # what a notebook shows at once
HIDDEN, GREY, DARK_INK, LIGHT_INK = "-", "#8c8c8c", "#010101", "#ffffff"  # as in the heatmaps
# Viridis at 0, 1/16, ... 1, so that a table needs no matplotlib and yet agrees with the heatmaps.
VIRIDIS = (
    "440154 47186a 472c7b 424085 3a528b 32628d 2c728e 26818e 20908c "
    "1e9f88 28ae7f 3ebc73 5ec961 83d34b addc30 d7e219 fde724"
)
STOPS = [tuple(bytes.fromhex(stop)) for stop in VIRIDIS.split()]
ZERO_WIDTH_JOINER, EMOJI_STYLE = "\u200d", "\ufe0f"
JOINERS = ("\u200c", ZERO_WIDTH_JOINER)  # parts of the spelling of Persian and Hindi, and of many emoji
LEFT_TO_RIGHT_MARK = "\u200e"


def text_table(weights: Tensor, tokens: Sequence[str], mask: Tensor | None = None, *, width: int | None = None) -> str:
    """Writes every head's weights, shape ``(h, n, n)``, to four decimals.

    ``mask`` is ``True`` where a query may look. ``width`` is the longest line wanted: wider tables continue below in
    blocks of columns.
    """
    names = [plain(token) for token in tokens]
    first = max(map(columns, names))
    widths = [max(columns(name), 6) + 2 for name in names]
    parts = []
    for head, rows in enumerate(_numbers(weights, mask, decimals=4)):
        blocks = []
        for keys in _blocks(widths, None if width is None else width - first):
            lines = [" " * first + "".join(_padded(names[j], -widths[j]) for j in keys)]
            for name, row in zip(names, rows, strict=True):
                lines.append(_padded(name, first) + "".join(row[j].rjust(widths[j]) for j in keys))
            blocks.append("\n".join(lines))
        title = f"head {head}\n" if len(weights) > 1 else ""
        parts.append(title + "\n\n".join(blocks))
    return "\n\n".join(parts)


def html_table(weights: Tensor, tokens: Sequence[str], mask: Tensor | None = None, *, caption: str) -> str:
    """Writes one coloured table for each head, as many as a notebook can show, and says what it leaves out.

    Styles stand on the cells themselves: a notebook that is not trusted drops style sheets, and scripts.
    """
    heads, n = weights.shape[:2]
    shown = min(n, MOST_A_SIDE)
    tables = max(1, min(heads, MOST_CELLS // shown**2))
    notes = [caption]
    if mask is not None:
        notes.append(f'"{HIDDEN}": hidden, a later token.')
    if shown < n:
        notes.append(f"Only the first {shown} of {n} tokens are shown here, so the rest of a row is missing: .heatmap() draws all.")
    if tables < heads:
        notes.append(f"Only {tables} of {heads} heads are shown here: .heads() draws all.")
    names = [_markup(plain(token)) for token in tokens[:shown]]
    header = "".join(f'<th scope="col">{name}</th>' for name in names)
    parts = ["<div>", f"<p>{_markup(' '.join(notes))}</p>"]
    corner = weights[:tables, :shown, :shown]
    looks = None if mask is None else mask[:shown, :shown]
    for head, rows in enumerate(_numbers(corner, looks, decimals=3)):
        which = f"head {head}: " if heads > 1 else ""
        lines = [f'<tr><th scope="row">{name}</th>{"".join(map(_cell, row))}</tr>' for name, row in zip(names, rows, strict=True)]
        parts += [
            '<div style="overflow-x:auto">',
            f'<table style="text-align:right"><caption>{which}rows are queries, columns are keys</caption>',
            f"<thead><tr><td></td>{header}</tr></thead>",
            "<tbody>",
            *lines,
            "</tbody></table></div>",
        ]
    return "\n".join([*parts, "</div>"])


def plain(text: str, longest: int = LONGEST_TOKEN) -> str:
    """Returns one line in which every character is seen: controls, and what stands for no character, by code."""
    kept: list[str] = []
    for piece in _clusters(text):
        kept.append(piece)
        if sum(map(columns, kept)) > longest:
            break
    else:
        return "".join(kept)
    while sum(map(columns, kept)) > longest - 1:  # room for the ellipsis
        kept.pop()
    return "".join(kept) + "…"


def columns(text: str) -> int:
    """Returns how many columns of a terminal the text takes: East Asian characters and emoji take two, marks none."""
    return sum(_cluster_width(cluster) for cluster in _clusters(text))


def _clusters(text: str) -> Iterator[str]:
    """Yields each character together with the marks, joiners and skin tones that belong to it."""
    cluster = ""
    for character in text:
        kind = unicodedata.category(character)
        follows = kind[0] == "M" or character in JOINERS or "\u1160" <= character <= "\u11ff" or "\U0001f3fb" <= character <= "\U0001f3ff"
        if cluster and (follows or cluster.endswith(ZERO_WIDTH_JOINER)) and (character.isprintable() or character in JOINERS):
            cluster += character
            continue
        if cluster:
            yield cluster
        cluster = ""
        if kind[0] == "M":
            cluster = "◌" + character  # else it would sit on whatever stands before the token
        elif character.isprintable():
            cluster = character
        else:
            yield from f"<U+{ord(character):04X}>"
    if cluster:
        yield cluster


def _cluster_width(cluster: str) -> int:
    wide = EMOJI_STYLE in cluster or unicodedata.east_asian_width(cluster[0]) in "WF"
    return 1 + wide + sum(unicodedata.category(character) == "Mc" for character in cluster[1:])  # Mc: marks beside a letter


def _padded(text: str, width: int) -> str:
    """Returns the text with blanks behind it, or before it for a negative width.

    A text that runs from right to left would take the numbers beside it along; a mark of no width ends its reign.
    """
    blanks = " " * (abs(width) - columns(text))
    if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
        text += LEFT_TO_RIGHT_MARK
    return blanks + text if width < 0 else text + blanks


def _blocks(widths: Sequence[int], width: int | None) -> Iterator[range]:
    """Yields the columns that fit beside one another, at least one at a time."""
    start, used = 0, 0
    for j, column in enumerate(widths):
        if width is not None and j > start and used + column > width:
            yield range(start, j)
            start, used = j, 0
        used += column
    yield range(start, len(widths))


def _numbers(weights: Tensor, mask: Tensor | None, decimals: int) -> Iterator[list[list[str]]]:
    """Yields for each head the rows of its cells, as they are shown."""
    looks = None if mask is None else mask.tolist()
    for head in weights.tolist():
        yield [
            [f"{weight:.{decimals}f}" if looks is None or looks[i][j] else HIDDEN for j, weight in enumerate(row)]
            for i, row in enumerate(head)
        ]


def _cell(number: str) -> str:
    """Returns a cell with its number in the ink, dark or light, that stands out more."""
    if number == HIDDEN:
        return f'<td style="background-color:{GREY};color:{DARK_INK}">{HIDDEN}</td>'
    red, green, blue = viridis(float(number))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red / 255, green / 255, blue / 255)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]  # relative luminance, WCAG 2
    ink = DARK_INK if luminance > 0.18 else LIGHT_INK
    return f'<td style="background-color:#{red:02x}{green:02x}{blue:02x};color:{ink}">{number}</td>'


def viridis(weight: float) -> tuple[int, int, int]:
    """Returns the colour of a weight from 0 to 1, as red, green and blue from 0 to 255."""
    place = min(max(weight, 0.0), 1.0) * (len(STOPS) - 1)
    k = min(int(place), len(STOPS) - 2)
    red, green, blue = (round(a + (b - a) * (place - k)) for a, b in zip(STOPS[k], STOPS[k + 1], strict=True))
    return red, green, blue


def _markup(text: str) -> str:
    """Returns the text as markup that shows it literally, in its own direction.

    Notebooks typeset what stands between dollars, or after a backslash; alone in an element neither begins anything.
    """
    escaped = escape(text).replace("$", "<span>$</span>").replace("\\", "<span>\\</span>")
    return f"<bdi>{escaped}</bdi>"
