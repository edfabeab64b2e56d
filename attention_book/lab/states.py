"""What a state of the lab means in torch: the numbers that its pages show without a script, and that its tests expect with one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attention_book.examples import JOURNEY
from attention_book.functional import default_scale, hide, masked_softmax, simple_attention
from attention_book.masks import causal_mask
from attention_book.modules import (
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v1,
    SelfAttention_v2,
)
from attention_book.trace import Trace, Traceable, trace

#: What an act's lab, or the lab page, shows first; the names are those of the address of the page.
DEFAULT: dict[str, Any] = {
    "example": "journey",
    "text": "The cat sat on the mat because it was tired",
    "attention": "simple",
    "seed": "123",
    "d_model": 64,
    "d_out": 2,
    "heads": 1,
    "causal": False,
    "scale": False,
    "temperature": 1,
    "view": "weights",
    "head": 0,
    "row": -1,
    "column": 0,
    "d_k": 64,
}


def trace_of(state: Mapping[str, Any]) -> Trace:
    """Draws and computes what the lab shows in a state: rows of query, key and value for each head, and all that follows.

    The global random state stays as it was. Causal, scale and temperature apply to every attention alike.

    Args:
        state: the lab's state, complete.

    Returns:
        A trace with tokens; several heads stand on an axis of their own.

    Raises:
        ValueError: ``state["attention"]`` is no class of this book.
    """
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.default_generator.manual_seed(int(state["seed"]))
        if state["example"] == "journey":
            tokens, x, width = JOURNEY.tokens, JOURNEY.embeddings, int(state["d_out"])
        else:
            tokens, width = tuple(str(state["text"]).split()), int(state["d_model"])
            x = torch.randn(len(tokens), width, device="cpu", dtype=torch.float32)
        module = _module(state, x, width)
        steps = trace(module, x, tokens=tokens)
        scale = (default_scale(steps.query) if state["scale"] else 1.0) / float(state["temperature"])
        mask = causal_mask(len(tokens), device="cpu") if state["causal"] else None
        scaled = steps.scores * scale
        weights = masked_softmax(scaled, mask)
        output = weights @ steps.value
        if isinstance(module, MultiHeadAttentionWrapper | MultiHeadAttention):
            output = module.merge(output)
    return replace(steps, scaled=scaled, masked=hide(scaled, mask), weights=weights, output=output, scale=scale)


def heads_of(matrix: Tensor) -> list[Tensor]:
    """Returns one matrix for each head: as many as there are, or the only one."""
    return list(matrix) if matrix.dim() == 3 else [matrix]


def _module(state: Mapping[str, Any], x: Tensor, width: int) -> Traceable:
    n, d_in = x.shape
    heads = int(state["heads"])
    match state["attention"]:
        case "simple":
            return simple_attention
        case "SelfAttention_v1":
            return SelfAttention_v1(d_in, width)
        case "SelfAttention_v2":
            return SelfAttention_v2(d_in, width)
        case "CausalAttention":
            return CausalAttention(d_in, width, n, 0.0)
        case "MultiHeadAttentionWrapper":
            return MultiHeadAttentionWrapper(d_in, width, n, 0.0, heads)
        case "MultiHeadAttention":
            return MultiHeadAttention(d_in, width, n, 0.0, heads, out_bias=state["example"] == "journey")
        case other:
            raise ValueError(f"attention is {other!r}; give one of the book's classes, or simple")
