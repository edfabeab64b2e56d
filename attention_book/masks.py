"""Boolean masks: which query may look at which key. ``True`` means *may look*.

This is the meaning that ``torch.nn.functional.scaled_dot_product_attention`` gives to a boolean mask, and the
opposite of the one in ``torch.nn.MultiheadAttention``. Causal masking: Vaswani et al. (2017), section 3.2.3.
"""

import torch
from torch import Tensor


def causal_mask(
    num_queries: int,
    num_keys: int | None = None,
    *,
    align: str | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    r"""Lets each token look at itself and at earlier tokens, never at a later one.

    .. math:: \text{mask}_{ij} = (j \le i + \text{offset})

    With as many queries as keys the offset is 0. When they differ in number "causal" has two meanings, and the
    caller says which: ``align="upper_left"`` (offset 0: the first query stands at the first key; what
    ``is_causal=True`` of PyTorch's op means) or ``align="lower_right"`` (offset ``num_keys - num_queries``: the last
    query stands at the last key; what writing with cached keys needs).

    Args:
        num_queries: number of queries, 0 or more.
        num_keys: number of keys; as many as there are queries unless given.
        align: ``"upper_left"`` or ``"lower_right"``; must be given when the two numbers differ.
        device: where the mask is made.

    Returns:
        Boolean tensor of shape ``(num_queries, num_keys)``, ``True`` where a query may look. Under ``lower_right`` with
        more queries than keys the first ``num_queries - num_keys`` rows are ``False`` throughout.

    Raises:
        TypeError: a number of tokens is not an integer.
        ValueError: it is negative, ``align`` is unknown, or it is missing though the numbers differ.

    Example:
        >>> from attention_book import causal_mask
        >>> causal_mask(3)
        tensor([[ True, False, False],
                [ True,  True, False],
                [ True,  True,  True]])
        >>> causal_mask(2, 5, align="lower_right")
        tensor([[ True,  True,  True,  True, False],
                [ True,  True,  True,  True,  True]])
    """
    num_keys = num_queries if num_keys is None else num_keys
    _check_number("num_queries", num_queries)
    _check_number("num_keys", num_keys)
    if align not in (None, "upper_left", "lower_right"):
        raise ValueError(f"align is {align!r}; give 'upper_left' or 'lower_right'")
    if align is None and num_queries != num_keys:
        raise ValueError(
            f"{num_queries} queries and {num_keys} keys differ in number, so 'causal' has two meanings: give "
            f"align='upper_left' (first query at the first key) or align='lower_right' (last query at the last key)"
        )
    offset = num_keys - num_queries if align == "lower_right" else 0
    return torch.ones(num_queries, num_keys, dtype=torch.bool, device=device).tril(offset)


def padding_mask(lengths: Tensor, num_keys: int) -> Tensor:
    r"""Lets every query of a sample look at that sample's real tokens and not at its padding.

    .. math:: \text{mask}_{b,1,j} = (j < \text{length}_b)

    Args:
        lengths: real tokens in each sample, integer tensor of shape ``(b,)``, each from 0 to ``num_keys``.
        num_keys: number of keys in the padded batch.

    Returns:
        Boolean tensor of shape ``(b, 1, num_keys)``, ``True`` where a query may look; combine it with a causal mask by
        ``&``.

    Raises:
        TypeError: ``lengths`` is not an integer tensor, or ``num_keys`` not an integer.
        ValueError: ``lengths`` is not one-dimensional, a length lies outside 0 to ``num_keys``, or ``num_keys`` is
            negative.

    Example:
        >>> import torch
        >>> from attention_book import padding_mask
        >>> padding_mask(torch.tensor([3, 1]), 3)
        tensor([[[ True,  True,  True]],
        <BLANKLINE>
                [[ True, False, False]]])
    """
    if (
        not isinstance(lengths, Tensor)
        or lengths.dtype in (torch.bool,)
        or lengths.is_floating_point()
        or lengths.is_complex()
    ):
        found = lengths.dtype if isinstance(lengths, Tensor) else type(lengths).__name__
        raise TypeError(f"lengths is {found}; give an integer tensor with one length for each sample")
    _check_number("num_keys", num_keys)
    if lengths.dim() != 1:
        raise ValueError(f"lengths has shape {tuple(lengths.shape)}; give one length for each sample, shape (b,)")
    readable = not (lengths.is_meta or torch.compiler.is_compiling())  # else there is no number to look at yet
    if readable and lengths.numel() and (lengths.min() < 0 or lengths.max() > num_keys):
        raise ValueError(
            f"lengths run from {lengths.min().item()} to {lengths.max().item()}, but there are {num_keys} keys: "
            f"each length must lie between 0 and {num_keys}"
        )
    return (torch.arange(num_keys, device=lengths.device) < lengths[:, None])[:, None, :]  # (b, 1, j)


def _check_number(name: str, number: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int | torch.SymInt):  # SymInt: torch.export counts with it
        raise TypeError(f"{name} is {number!r}; give a whole number of tokens")
    if number < 0:
        raise ValueError(f"{name} is {number}; a number of tokens is 0 or more")
