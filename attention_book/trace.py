"""Every step of one attention by name: what the pages show, what the tests read, and what a browser can recompute."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor

from attention_book.checks import check_scale, check_tensor
from attention_book.functional import (
    attention_scores,
    default_scale,
    hide,
    masked_softmax,
    simple_attention,
    split_mask,
)
from attention_book.modules import (
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v1,
    SelfAttention_v2,
)

if TYPE_CHECKING:  # the lab is imported when somebody asks for it, and not before
    import attention_book.lab

Masked: TypeAlias = CausalAttention | MultiHeadAttentionWrapper | MultiHeadAttention
Traceable: TypeAlias = Masked | SelfAttention_v1 | SelfAttention_v2 | Callable[[Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Trace:
    """The steps of one attention, in the order in which they are computed.

    Attributes:
        tokens: the tokens' names, or ``None``.
        query: shape ``(..., i, d)``.
        key: shape ``(..., j, d)``.
        value: shape ``(..., j, e)``.
        scores: every query times every key, ``(..., i, j)``.
        scaled: the scores times the scale.
        masked: the scaled scores, ``-inf`` where a query may not look.
        weights: their softmax; each row sums to 1, or is 0 where a query may look at nothing.
        output: what the attention returns.
        scale: the factor between ``scores`` and ``scaled``.
    """

    tokens: tuple[str, ...] | None
    query: Tensor
    key: Tensor
    value: Tensor
    scores: Tensor
    scaled: Tensor
    masked: Tensor
    weights: Tensor
    output: Tensor
    scale: float

    def to_dict(self) -> dict[str, Any]:
        """The trace in plain lists: each tensor as ``{"shape": [...], "data": [...]}``, row by row, in this order of
        names.

        JSON has no infinities and no NaN; they stand as the strings ``"-inf"``, ``"inf"`` and ``"nan"``.
        """
        return {name: _plain(value) if isinstance(value, Tensor) else value for name, value in vars(self).items()}

    def to_json(self) -> str:
        """The trace as one line of JSON, the same bytes for the same numbers."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    def lab(self) -> "attention_book.lab.Lab":
        """The lab on these numbers: a notebook shows it in the output cell, without a network.

        The numbers are shown as they were traced; scale, mask and temperature may be turned from there. An output behind
        a last layer is shown without it once something is turned.

        Raises:
            ValueError: the trace holds a batch, or more than 512 tokens, 64 heads or 1048576 weights.
        """
        from attention_book.lab import lab_of_trace

        return lab_of_trace(self)


def trace(
    attention: Traceable,
    x: Tensor,
    *,
    tokens: Sequence[str] | None = None,
    mask: Tensor | None = None,
    scale: float | None = None,
) -> Trace:
    """Runs an attention on ``x`` and keeps every step.

    Dropout is off, whether the module is in training or not; nothing carries a gradient, and the module stays as it
    was.

    Args:
        attention: ``simple_attention``, or one of this book's modules.
        x: embeddings, shape ``(n, d)`` or ``(b, n, d)``.
        tokens: names of the ``n`` tokens.
        mask: what a query may look at, as the module's ``forward`` takes it; only for a module that takes one.
        scale: factor on the scores, in place of the attention's own.

    Returns:
        A ``Trace``. Several heads stand on an axis of their own, ``(..., h, i, j)``; scores of half-precision inputs
        are float32.

    Raises:
        TypeError: ``attention`` is none of the above, or takes no mask though one is given.
        ValueError: the number of tokens differs from ``n``; and as the attention itself.

    Example:
        >>> from attention_book import JOURNEY, simple_attention, trace
        >>> steps = trace(simple_attention, JOURNEY.embeddings, tokens=JOURNEY.tokens)
        >>> steps.scores[1]
        tensor([0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865])
        >>> steps.weights[1]
        tensor([0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581])
    """
    check_tensor("x", x)
    if tokens is not None and len(tokens) != x.shape[-2]:
        raise ValueError(f"{len(tokens)} tokens are named but x has {x.shape[-2]} rows; give one name for each row")
    if scale is not None:
        check_scale(scale)
    if mask is not None and not isinstance(attention, Masked):
        raise TypeError(f"{_name(attention)} takes no mask; give a causal or multi-head module")
    with torch.no_grad():
        allowed, bias = None, None
        if isinstance(attention, Masked):
            visible = attention.visible(x, mask)
            query, key, value = attention.project(x)
            allowed, bias = split_mask(visible, query.dtype)
        elif isinstance(attention, SelfAttention_v1 | SelfAttention_v2):
            attention.check(x)
            query, key, value = attention.project(x)
        elif attention is simple_attention:
            query = key = value = x.detach().clone()
            scale = 1.0 if scale is None else scale
        else:
            raise TypeError(
                f"{_name(attention)} cannot be traced; give simple_attention or one of attention_book's modules"
            )
        scale = default_scale(query) if scale is None else float(scale)
        scores = attention_scores(query, key)
        scaled = scores * scale
        biased = scaled if bias is None else scaled + bias.to(scaled.dtype)
        masked = hide(biased, allowed)
        weights = masked_softmax(biased, allowed).to(query.dtype)
        context = weights @ value
        output = (
            attention.merge(context)
            if isinstance(attention, MultiHeadAttentionWrapper | MultiHeadAttention)
            else context
        )
    names = None if tokens is None else tuple(tokens)
    return Trace(names, query, key, value, scores, scaled, masked, weights, output, scale)


def _name(attention: object) -> str:
    return getattr(attention, "__name__", type(attention).__name__)


def _plain(x: Tensor) -> dict[str, Any]:
    return {"shape": list(x.shape), "data": [v if math.isfinite(v) else str(v) for v in x.flatten().tolist()]}
