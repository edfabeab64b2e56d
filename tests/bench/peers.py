"""What the library's module is measured against: the same four layers around other ways to attend."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention_book import MultiHeadAttention


class BareFused(nn.Module):
    """Four layers and PyTorch's op, with no check and no option: the limit of what a module can reach."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model)

    def attend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(query, key, value, is_causal=True)

    def forward(self, x: Tensor) -> Tensor:
        b, n, _ = x.shape
        query, key, value = (W(x).view(b, n, self.num_heads, -1).transpose(1, 2) for W in (self.W_query, self.W_key, self.W_value))
        return self.out_proj(self.attend(query, key, value).transpose(1, 2).reshape(b, n, -1))


class Textbook(BareFused):
    """The explicit module as it stands in textbooks."""

    def __init__(self, d_model: int, num_heads: int, context_length: int) -> None:
        super().__init__(d_model, num_heads)
        self.dropout = nn.Dropout(0.0)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def attend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        n = query.shape[-2]
        scores = query @ key.transpose(2, 3)
        scores.masked_fill_(self.mask.bool()[:n, :n], -torch.inf)
        weights = self.dropout(torch.softmax(scores / key.shape[-1] ** 0.5, dim=-1))
        return weights @ value


def contenders(n: int, d_model: int, num_heads: int) -> dict[str, Callable[[Tensor], Any]]:
    """Every way to attend, by name; the first is the limit that the others are divided by."""
    torch.manual_seed(0)
    ours = {fused: MultiHeadAttention(d_model, d_model, n, 0.0, num_heads, fused=fused) for fused in (True, False)}
    official = nn.MultiheadAttention(d_model, num_heads, batch_first=True)
    later = torch.ones(n, n, dtype=torch.bool).triu(1)

    def run_official(need_weights: bool) -> Callable[[Tensor], Any]:
        # In training mode, as in a training step: the module's fast path is for inference alone.
        def run(x: Tensor) -> Any:
            return official(x, x, x, attn_mask=later, is_causal=True, need_weights=need_weights, average_attn_weights=False)[0]

        return run

    return {
        "bare F.scaled_dot_product_attention": BareFused(d_model, num_heads),
        "ours, fused": ours[True],
        "ours, explicit": ours[False],
        "ours, explicit, weights returned": lambda x: ours[False](x, need_weights=True)[0],
        "textbook, explicit": Textbook(d_model, num_heads, n),
        "nn.MultiheadAttention": run_official(need_weights=False),
        "nn.MultiheadAttention, weights returned": run_official(need_weights=True),
    }
