"""Attention as plain functions: scores, softmax, weighted average.

Formula 1 of Vaswani et al. (2017), "Attention Is All You Need", section 3.2.1; the version without dials follows
Raschka, "Build a Large Language Model (From Scratch)", section 3.3.

A query that may look at nothing gets zero weights and a zero output, with finite gradients. Half-precision inputs
are compared and normalised in float32, under autocast too, so that scores do not overflow. No input is changed in place.
"""

import math
from contextlib import nullcontext

import torch
from torch import Tensor

from attention_book.checks import autocasts, check_inputs, check_tensor


def simple_attention(x: Tensor) -> tuple[Tensor, Tensor]:
    r"""Replaces each token by a weighted average of all tokens, with no dials: the vectors are compared as they stand.

    .. math:: \text{weights} = \operatorname{softmax}(X X^\top), \qquad \text{output} = \text{weights}\, X

    Args:
        x: embeddings, shape ``(..., n, d)``, floating point.

    Returns:
        ``(output, weights)``: context vectors of shape ``(..., n, d)``, and weights of shape ``(..., n, n)``: rows are
        queries, columns keys, each row sums to 1.

    Raises:
        TypeError: ``x`` is not a floating-point tensor.
        ValueError: ``x`` has fewer than two axes or no width.

    Example:
        >>> from attention_book import JOURNEY, simple_attention
        >>> output, weights = simple_attention(JOURNEY.embeddings)
        >>> weights[1]
        tensor([0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581])
        >>> output[1]
        tensor([0.4419, 0.6515, 0.5683])
    """
    check_tensor("x", x)
    return scaled_dot_product_attention(x, x, x, scale=1.0)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None = None, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    r"""Compares every query with every key and averages the values by how well they match.

    .. math:: \text{weights} = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}} + \text{mask}\right),
              \qquad \text{output} = \text{weights}\, V

    Args:
        query: shape ``(..., i, d)``, floating point.
        key: shape ``(..., j, d)``, of the query's dtype.
        value: shape ``(..., j, e)``, of the query's dtype.
        mask: shape ``(i, j)``, or as many axes as the scores, ``(..., i, j)``, where an axis may be 1. Boolean:
            ``True`` where a query may look. Floating point: added to the scaled scores; ``-inf``, or the smallest
            number of its dtype or of the query's, hides.
        scale: factor on the scores; :math:`1/\sqrt{d_k}` unless given.

    Returns:
        ``(output, weights)``: context vectors of shape ``(..., i, e)``, and weights of shape ``(..., i, j)``. Each row of
        weights sums to 1, or is 0 throughout where a query may look at nothing; a hidden weight is exactly 0.

    Raises:
        TypeError: an input is not a floating-point tensor, dtypes differ, or the mask holds integers.
        ValueError: widths, lengths, batch axes, devices or the mask's shape do not fit.

    Example:
        >>> import torch
        >>> from attention_book import scaled_dot_product_attention
        >>> query, key = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> output, weights = scaled_dot_product_attention(query, key, value=torch.tensor([[10.0], [20.0]]))
        >>> weights
        tensor([[0.6698, 0.3302]])
        >>> output
        tensor([[13.3024]])
    """
    check_inputs(query, key, value, mask, scale)
    weights = attention_weights(query, key, mask=mask, scale=scale)
    return weights @ value, weights


def attention_weights(
    query: Tensor, key: Tensor, *, mask: Tensor | None = None, scale: float | None = None, no_empty_rows: bool = False
) -> Tensor:
    """The weights alone, shape ``(..., i, j)``, in the query's dtype. Inputs are taken as checked.

    ``no_empty_rows`` is the caller's word that a boolean mask leaves every query something to look at, as a causal mask
    of equal sides does; it saves two passes over the scores.
    """
    scale = default_scale(query) if scale is None else scale
    scaled = attention_scores(query, key).mul_(scale)  # in place: these scores are ours alone
    allowed, bias = split_mask(mask, query.dtype)
    if allowed is not None and bias is None and no_empty_rows:
        return scaled.masked_fill_(~allowed, -math.inf).softmax(dim=-1).to(query.dtype)
    return masked_softmax(scaled if bias is None else scaled + bias.to(scaled.dtype), allowed).to(query.dtype)


def attention_scores(query: Tensor, key: Tensor) -> Tensor:
    """Every query times every key, shape ``(..., i, j)``; in float32 for half-precision inputs, under autocast too."""
    if query.dtype in (torch.float16, torch.bfloat16):
        query, key = query.float(), key.float()
    with torch.autocast(query.device.type, enabled=False) if autocasts(query.device) else nullcontext():
        return query @ key.mT


def default_scale(query: Tensor) -> float:
    """One over the root of the width per head: keeps the scores of random vectors at a spread of about 1."""
    return 1 / math.sqrt(query.shape[-1])


def split_mask(mask: Tensor | None, dtype: torch.dtype) -> tuple[Tensor | None, Tensor | None]:
    """Any mask as two plain parts: boolean ``allowed`` (``True`` = may look), and ``bias`` to add to the scores.

    ``dtype`` is the query's: what is -inf there hides as well.
    """
    if mask is None or mask.dtype == torch.bool:
        return mask, None
    # The smallest number stands for -inf in many code bases; left as a number, an empty row would average the padding.
    hidden = mask <= max(torch.finfo(mask.dtype).min, torch.finfo(dtype).min)  # not NaN: that is to be seen
    return ~hidden, mask.masked_fill(hidden, 0.0)


def hide(scaled: Tensor, allowed: Tensor | None) -> Tensor:
    """Puts -inf where a query may not look."""
    return scaled if allowed is None else scaled.masked_fill(~allowed, -math.inf)


def masked_softmax(scaled: Tensor, allowed: Tensor | None) -> Tensor:
    """Softmax over the keys that each query may look at; a row without any becomes 0."""
    if allowed is None:
        return scaled.softmax(dim=-1)
    # softmax of a row of -inf is NaN, in the gradient too: leave such a row its scores, and clear it afterwards.
    empty = ~allowed.any(dim=-1, keepdim=True)  # (..., i, 1)
    return hide(scaled, allowed | empty).softmax(dim=-1).masked_fill(empty, 0.0)
