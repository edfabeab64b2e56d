"""The steps of a trace as text, without what follows from other steps to the bit: in a notebook that is half of a large trace."""

import base64
from typing import Any

import numpy
from torch import Tensor

from attention_book.trace import Trace

STEPS = ("query", "key", "value", "scores", "scaled", "masked", "weights", "output")


def packed(trace: Trace) -> dict[str, dict[str, Any]]:
    """Each step as its shape and its float32 numbers in base64, the lower byte first: infinities and NaN too.

    Instead of numbers stands how they come about, where this gives the same bits: ``scaled`` may be the scores, ``times`` the
    scale or not; ``masked`` is ``scaled``, ``-inf`` where a key is ``"later"`` or where a bit of ``hidden`` is 1.
    """
    numbers = {name: _numbers(getattr(trace, name)) for name in STEPS}
    out: dict[str, dict[str, Any]] = {name: {"shape": list(x.shape), "data": _text(x)} for name, x in numbers.items()}
    scores, scaled, masked = numbers["scores"], numbers["scaled"], numbers["masked"]
    if _same(scaled, scores):
        out["scaled"] = {"is": "scores"}
    elif not numpy.isnan(scaled).any() and _same(scaled, _times(scores, trace.scale)):  # a NaN may have other bits elsewhere
        out["scaled"] = {"is": "scores", "times": trace.scale}
    hidden = numpy.isneginf(masked)
    later = numpy.triu(numpy.ones(masked.shape[-2:], bool), 1)
    if _same(masked, scaled):
        out["masked"] = {"is": "scaled"}
    elif masked.shape[-1] == masked.shape[-2] and _same(masked, _hide(scaled, later)):
        out["masked"] = {"is": "scaled", "hidden": "later"}
    elif masked.shape == scaled.shape and _same(masked, _hide(scaled, hidden)):
        out["masked"] = {"is": "scaled", "hidden": _text(numpy.packbits(hidden, bitorder="little"))}
    return out


def _numbers(x: Tensor) -> Any:
    return x.detach().cpu().float().contiguous().numpy().astype("<f4")


def _times(scores: Any, scale: float) -> Any:
    with numpy.errstate(all="ignore"):
        return scores * numpy.float32(scale)


def _hide(scaled: Any, hidden: Any) -> Any:
    return numpy.where(hidden, numpy.float32("-inf"), scaled)


def _same(a: Any, b: Any) -> bool:
    """Whether two arrays hold the same bits: 0 is not -0, and NaN is NaN."""
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def _text(x: Any) -> str:
    return base64.b64encode(x.tobytes()).decode()
