"""Texts, links and states that are meant to break the lab, the same ones on every run."""

import random
import sys
from collections.abc import Iterator
from typing import Any

from tests.lab.by_torch import ATTENTIONS

STATE = "example text attention seed d_model d_out heads causal scale temperature view head row column d_k".split()
SPACES = [c for c in map(chr, range(sys.maxunicode + 1)) if c.isspace()]
NO_SPACES = list("\ufeff\u200b\u200c\u200d\u2060\u180e")  # they look like spaces, but Python does not split there
BIDI = list("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
HALVES = ["\ud800", "\udbff", "\udc00", "\udfff"]
MARKUP = ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "</title>", "]]>", "<!--", "-->", "&amp;", "&", "&#0;", "<", ">", "javascript:alert(1)"]
QUOTES = ['"', "'", '"""', "'''", "\\", "\\n", "\\u202e", "{", "}", "{number}", "${alert(1)}", "`", "#", "%", "%s", "%ED%A0%80", "=", "?", "+"]
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|'/C calc'!A0", "'=1", "''@x", "＝1", ",", ";", "a,b", '"a"', "|"]
CONTROLS = list("\0\x01\x07\x7f\x80\x9f\ufffe\uffff\ufffd\ue000\U000e0041\U0010ffff\u0378\u2028\u2029") + ["\x1b[31m"]
SCRIPTS = ["é", "e\u0301", "\u0301", "ñ", "ß", "İ", "ı", "שלום", "مرحبا", "你好", "ไทย", "हिन्दी", "😀", "🇩🇪"]
EMOJI = ["👨\u200d👩\u200d👧", "🏴\U000e0067\U000e0062\U000e007f"]
NAMES = ["nan", "-inf", "None", "__proto__", "constructor", "toString", "the", "The", "cat"]
PIECES = [*MARKUP, *QUOTES, *FORMULAS, *CONTROLS, *SCRIPTS, *EMOJI, *NAMES, *NO_SPACES, *BIDI, *HALVES]


def joined(text: str) -> str:
    """Two halves that meet are one character, in JavaScript at once and in Python once it is told."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def texts(count: int, seed: int) -> Iterator[str]:
    """Sentences of hostile words between all spaces there are; the first are each piece alone."""
    dice = random.Random(seed)
    for turn in range(count):
        if turn < len(PIECES):
            yield PIECES[turn]
            continue
        parts = []
        for _ in range(dice.randint(0, 12)):
            anything = chr(dice.randint(0, sys.maxunicode)) if dice.random() < 0.3 else ""
            parts += [dice.choice(SPACES) * dice.randint(0, 2), *dice.choices(PIECES, k=dice.randint(0, 2)), anything]
        yield joined("".join(parts))


def tokens(count: int, seed: int, longest: int = 6) -> Iterator[list[str]]:
    """Lists of 1 to ``longest`` tokens, blank and empty ones too: a trace's tokens need not come from a sentence."""
    dice = random.Random(seed)
    for turn in range(count):
        if turn * longest < len(PIECES):
            yield PIECES[turn * longest : (turn + 1) * longest]
        else:
            yield [joined("".join(dice.choices([*PIECES, *SPACES, "\r\n"], k=dice.randint(0, 3)))) for _ in range(dice.randint(1, longest))]


def states(count: int, seed: int, longest: int = 12) -> Iterator[dict[str, Any]]:
    """States that the lab takes: all attentions and views in turn, on the six tokens and on hostile texts, each with a cell chosen."""
    dice = random.Random(seed)
    words = [piece for piece in PIECES if piece.split() == [piece]]
    for turn in range(count):
        attention = ATTENTIONS[turn % len(ATTENTIONS)]
        example = dice.choice(["journey", "text"])
        text = joined("".join(dice.choice(words) + dice.choice(SPACES) for _ in range(dice.randint(1, longest))))
        d_model, d_out = dice.choice([1, 2, 3, 5, 8, 12, 16, 31, 64]), dice.randint(1, 8)
        width = d_out if example == "journey" else d_model
        several = dice.choice([h for h in range(1, 9) if width % h == 0] if attention == "MultiHeadAttention" else [1, 2, 3])
        heads = several if attention.startswith("MultiHead") else 1
        view = dice.choice(["scores", "scaled", "masked", "weights", "output"])
        n = 6 if example == "journey" else len(text.split())
        output = {"simple": 3 if example == "journey" else d_model, "MultiHeadAttentionWrapper": heads * width}.get(attention, width)
        yield {
            "example": example,
            "text": text,
            "attention": attention,
            "seed": str(dice.choice([0, 123, 789, -1, 2**32, 2**63, 2**64 - 1, -(2**63), dice.randint(-(2**63), 2**64 - 1)])),
            "d_model": d_model,
            "d_out": d_out,
            "heads": heads,
            "causal": dice.random() < 0.5,
            "scale": dice.random() < 0.6,
            "temperature": dice.choice([1, 1, 0.1, 10, 0.5, 10 ** dice.uniform(-1, 1)]),
            "view": view,
            "head": dice.randrange(heads),
            "row": dice.randrange(n),
            "column": dice.randrange(output if view == "output" else n),
            "d_k": dice.randint(1, 1024),
        }


def hashes(count: int, seed: int, good: list[str]) -> Iterator[str]:
    """Links that were cut, shuffled, doubled, mistyped or invented."""
    dice = random.Random(seed)
    names = [*STATE, "__proto__", "toString", "", "Seed", "x"]
    numbers = ["", "0", "-1", "1e9", "NaN", "Infinity", "0x10", "1.5", "9" * 23, "18446744073709551616", "-9223372036854775809", "1,5", "٣", " 1", "+1"]
    words = ["true", "TRUE", "null", "journey", "text", "output", "MultiHeadAttention", "constructor", "word " * 600, "x" * 30000]
    values = [*numbers, *words, *MARKUP, "%", "%E0%A4%A", "%00", "%ED%A0%80", "%FF", "a%20b", "\ud800"]
    for _ in range(count):
        link = dice.choice(good)
        at = dice.randrange(len(link) + 1)
        yield dice.choice([
            "#" + "&".join(f"{dice.choice(names)}={dice.choice(values)}" for _ in range(dice.randint(1, 4))),
            link[:at],
            f"{link}&{dice.choice(names)}={dice.choice(values)}",
            link[:at] + dice.choice(PIECES) + link[at:],
            "#" + "".join(dice.choices(PIECES, k=3)),
            link.replace("=", dice.choice(["", "==", ":"]), 1),
        ])
