"""Any text as literal labels: one line in which every character is seen, never mathematics, never a lost glyph."""

import textwrap
import unicodedata
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from attention_book.heatmaps.fonts import characters, font_for, text_style

LONGEST_LABEL = 14  # characters
SPACE, SIGNS = "␣", {"\n": "↵", "\t": "⇥"}
JOINERS = "\u200c\u200d"  # parts of the spelling of Persian and Hindi


def labels(name: str, tokens: Sequence[str] | None, count: int, axis: str) -> list[str]:
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
    return [literal(token, LONGEST_LABEL) or "(empty)" for token in tokens]


def wrapped(text: str, size: int, inches: float) -> tuple[str, dict[str, Any]]:
    """Returns the text in lines of about that width, and its style."""
    longest = max(20, int(inches * 72 / (0.52 * size)))  # a character is about half as wide as its size
    lines = [line for part in text.splitlines() for line in textwrap.wrap(literal(part.strip()), longest)]
    return "\n".join(lines), text_style("".join(lines), size)


def literal(text: str, longest: int | None = None) -> str:
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
    font, kind = font_for(character), unicodedata.category(character)[0]
    if kind == "M" or character in JOINERS:
        font = font_for(previous)
    return font is not None and ord(character) in characters(font.path) and (kind not in "CZ" or character in JOINERS)


def undrawable(tokens: Sequence[str] | None, key_tokens: Sequence[str] | None, titles: Sequence[str]) -> list[str]:
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
