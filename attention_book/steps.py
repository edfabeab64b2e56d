"""The steps of multi-head attention, right, and in the wrong ways of ``mistakes.py``: how queries meet keys, how tokens are cut
into heads, how heads are joined, what comes last, and which weights are told.

In the wrong ways a query that may look at nothing becomes NaN, as in the plain code that commits them.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

from attention_book.functional import hide, masked_softmax

Pair: TypeAlias = tuple[Tensor, Tensor]
Attend: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor | None], Pair]


def right_attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    weights = masked_softmax(query @ key.mT / math.sqrt(query.shape[-1]), mask)
    return weights @ value, weights


def right_split(x: Tensor, num_heads: int) -> Tensor:
    b, n, d_model = x.shape
    return x.view(b, n, num_heads, d_model // num_heads).transpose(1, 2)  # (b, h, n, d)


def right_merge(heads: Tensor) -> Tensor:
    b, h, n, d = heads.shape
    return heads.transpose(1, 2).reshape(b, n, h * d)


def right_finish(merged: Tensor, out_proj: Callable[[Tensor], Tensor]) -> Tensor:
    return out_proj(merged)


def right_report(weights: Tensor) -> Tensor:
    return weights


def plain(scaled: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    """Hide, softmax, average, as most code has it: a query that may look at nothing becomes NaN."""
    weights = hide(scaled, mask).softmax(dim=-1)
    return weights @ value, weights


def no_scale(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    return plain(query @ key.mT, value, mask)


def scale_by_width(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    return plain(query @ key.mT / query.shape[-1], value, mask)


def scale_by_model_width(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    num_heads = query.shape[-3] if query.dim() > 3 else 1
    return plain(query @ key.mT / math.sqrt(num_heads * query.shape[-1]), value, mask)


def keys_not_transposed(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    reshaped = key.reshape(key.mT.shape)
    return plain(query @ reshaped / math.sqrt(query.shape[-1]), value, mask)


def softmax_over_queries(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    weights = hide(query @ key.mT / math.sqrt(query.shape[-1]), mask).softmax(dim=-2)
    return weights @ value, weights


def inverted_mask(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    return plain(query @ key.mT / math.sqrt(query.shape[-1]), value, None if mask is None else ~mask)


def lower_triangle(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    return plain(query @ key.mT / math.sqrt(query.shape[-1]), value, None if mask is None else mask.mT)


def mask_hides_itself(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    others = None if mask is None else mask & ~torch.eye(*mask.shape[-2:], dtype=torch.bool, device=mask.device)
    return plain(query @ key.mT / math.sqrt(query.shape[-1]), value, others)


def mask_after_softmax(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).softmax(dim=-1)
    weights = weights if mask is None else weights * mask
    return weights @ value, weights


def zeros_for_infinity(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    scaled = query @ key.mT / math.sqrt(query.shape[-1])
    return plain(scaled if mask is None else scaled.masked_fill(~mask, 0.0), value, None)


def keys_as_values(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    return plain(query @ key.mT / math.sqrt(query.shape[-1]), key, mask)


def dropout_in_evaluation(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Pair:
    _, weights = plain(query @ key.mT / math.sqrt(query.shape[-1]), value, mask)
    weights = torch.nn.functional.dropout(weights, p=0.5, training=True)
    return weights @ value, weights


def view_for_split(x: Tensor, num_heads: int) -> Tensor:
    b, n, d_model = x.shape
    return x.reshape(b, num_heads, n, d_model // num_heads)


def merge_without_transpose(heads: Tensor) -> Tensor:
    b, h, n, d = heads.shape
    return heads.reshape(b, n, h * d)


def no_output_projection(merged: Tensor, out_proj: Callable[[Tensor], Tensor]) -> Tensor:
    return merged


def average_over_heads(weights: Tensor) -> Tensor:
    return weights.mean(dim=-3) if weights.dim() > 3 else weights
