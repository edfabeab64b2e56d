"""Which font draws a character: one of the reader's own, else an installed one."""

from functools import cache, lru_cache
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font


def text_style(text: str, size: int) -> dict[str, Any]:
    """Literal text, never mathematics, in the reader's own fonts and in installed ones that have what those lack."""
    families = list(mpl.rcParams["font.family"])
    needed = {font.family for character in set(text) if (font := font_for(character)) and font.family not in families}
    return {"fontsize": size, "fontfamily": families + sorted(needed), "parse_math": False, "usetex": False}


class Font(NamedTuple):
    family: str
    path: str


def font_for(character: str) -> Font | None:
    """Returns the first font that draws the character: one of the reader's own, else an installed one, else ``None``."""
    rc = mpl.rcParams
    generic = rc["font.sans-serif"], rc["font.serif"], rc["font.monospace"], rc["font.cursive"], rc["font.fantasy"]
    return _search(character, tuple(rc["font.family"]), tuple(map(tuple, generic)))


@lru_cache(maxsize=100_000)
def _search(character: str, families: tuple[str, ...], generic: tuple[tuple[str, ...], ...]) -> Font | None:
    """Does what ``font_for`` says; ``generic`` is part of the cache's key, for it decides what a family such as "serif" is."""
    for family in families:
        path = findfont(FontProperties(family=[family]))
        if ord(character) in characters(path):
            return Font(family, path)
    return next((font for font in _installed() if ord(character) in characters(font.path)), None)


@cache
def characters(path: str) -> frozenset[int]:
    return frozenset(get_font(path).get_charmap())


@cache
def _installed() -> list[Font]:
    """Returns the installed upright fonts, sans serif first, in an order that is the same on each run."""
    names = {font.name for font in fontManager.ttflist if (font.style, font.weight, font.stretch) == ("normal", 400, "normal")}
    # Last Resort draws boxes and colour fonts nothing; the others give symbols the codes of letters.
    unfit = ("last", ".last", "noto color", "apple color", "cm", "stixnon", "stixsize")
    fit = [name for name in names if not name.lower().startswith(unfit)]
    fit.sort(key=lambda name: (name != "DejaVu Sans", name != "Noto Sans CJK SC", "Sans" not in name, "Mono" in name, name))
    return [Font(name, findfont(FontProperties(family=[name]))) for name in fit]
