"""One head that sees no later token, and the mask that it carries: act 3."""

from typing import Any

import torch
from torch import Tensor, nn

from attention_book.checks import check_dropout, check_mask, check_sizes, check_x
from attention_book.functional import attention_weights
from attention_book.masks import causal_mask
from attention_book.modules.self_attention import Result


class CausalAttention(nn.Module):
    """Self-attention in which no token looks at a later one, with dropout on the weights in training.

    Args:
        d_in: width of a token's embedding.
        d_out: width of query, key, value and context vector.
        context_length: longest sequence taken.
        dropout: share of the weights set to 0 in training, from 0 to 1.
        qkv_bias: whether the three layers add a bias.

    Raises:
        TypeError: a size is not an integer, or ``dropout`` no number.
        ValueError: a size is below 1 or ``dropout`` outside 0 to 1; in ``forward``, ``x`` is longer than
            ``context_length`` or has another width than ``d_in``.

    Example:
        >>> import torch
        >>> from attention_book import JOURNEY, CausalAttention
        >>> _ = torch.manual_seed(123)
        >>> attention = CausalAttention(d_in=3, d_out=2, context_length=6, dropout=0.0)
        >>> attention(JOURNEY.embeddings)[1]
        tensor([-0.5874,  0.0058], grad_fn=<SelectBackward0>)
    """

    W_query: nn.Linear
    W_key: nn.Linear
    W_value: nn.Linear
    dropout: nn.Dropout
    mask: Tensor  # True = may look

    def __init__(self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False) -> None:
        check_sizes(d_in=d_in, d_out=d_out, context_length=context_length)
        check_dropout(dropout)
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        register_causal_mask(self, context_length)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value of each token, each of shape ``(..., n, d_out)``."""
        return self.W_query(x), self.W_key(x), self.W_value(x)

    def visible(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """What each query may look at: the causal mask joined with ``mask``; refuses what does not fit."""
        check_x(x, self.W_query.weight, d_in=self.W_query.in_features, context_length=len(self.mask))
        n = x.shape[-2]
        if mask is not None:
            check_mask(mask, [(n, n), (*x.shape[:-2], n, n)], x.device)
        return both(first_tokens(self.mask, n), mask)

    def forward(self, x: Tensor, *, mask: Tensor | None = None, need_weights: bool = False) -> Result:
        """Context vectors ``(..., n, d_out)``; with ``need_weights`` also the weights ``(..., n, n)``.

        ``mask`` hides more than the future does: ``(n, n)``, or ``(b, n, n)`` for one a sample; boolean (``True`` = may
        look) or added.
        """
        visible = self.visible(x, mask)
        query, key, value = self.project(x)
        weights = attention_weights(query, key, mask=visible, no_empty_rows=mask is None)
        output = self.dropout(weights) @ value
        return (output, weights) if need_weights else output


def first_tokens(mask: Tensor, n: int) -> Tensor:
    """The corner of a mask that ``n`` tokens need."""
    if torch.compiler.is_exporting():  # torch 2.13 takes a slice to be shorter than the whole for ever: pick instead
        tokens = torch.arange(n, device=mask.device)
        return mask[tokens[:, None], tokens]
    return mask[:n, :n]


def both(causal: Tensor, mask: Tensor | None) -> Tensor:
    """Hidden by either mask is hidden."""
    if mask is None:
        return causal
    return causal & mask if mask.dtype == torch.bool else mask.masked_fill(~causal, -torch.inf)


def register_causal_mask(module: nn.Module, context_length: int) -> None:
    """Gives the module its mask: it moves with the module, and is no part of its saved state."""
    module.register_buffer("mask", causal_mask(context_length), persistent=False)
    module.register_load_state_dict_pre_hook(_ignore_saved_mask)


def _ignore_saved_mask(module: nn.Module, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
    # Files saved by the book's own classes carry the mask, in its opposite meaning; it holds nothing that was learned.
    state_dict.pop(prefix + "mask", None)
