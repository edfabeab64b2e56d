"""Several heads, as a stack and as one projection that is split: act 4."""

from collections.abc import Iterable, Iterator
from typing import Self, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention_book.checks import check_dropout, check_mask, check_sizes, check_x
from attention_book.functional import attention_weights, split_mask
from attention_book.modules.causal import CausalAttention, both, first_tokens, register_causal_mask
from attention_book.modules.self_attention import Result
from attention_book.torch_layout import pack, unpack


class MultiHeadAttentionWrapper(nn.Module):
    """Several causal heads side by side, their outputs joined: the stack.

    Args:
        d_in: width of a token's embedding.
        d_out: width of *each* head; the output is ``num_heads * d_out`` wide.
        context_length: longest sequence taken.
        dropout: share of the weights set to 0 in training, from 0 to 1.
        num_heads: number of heads.
        qkv_bias: whether the layers of each head add a bias.

    Raises:
        TypeError: a size is not an integer, or ``dropout`` no number.
        ValueError: a size is below 1 or ``dropout`` outside 0 to 1; in ``forward``, as for ``CausalAttention``.

    Example:
        >>> import torch
        >>> from attention_book import JOURNEY, MultiHeadAttentionWrapper
        >>> _ = torch.manual_seed(123)
        >>> attention = MultiHeadAttentionWrapper(d_in=3, d_out=2, context_length=6, dropout=0.0, num_heads=2)
        >>> attention(JOURNEY.embeddings)[1]
        tensor([-0.5874,  0.0058,  0.5891,  0.3257], grad_fn=<SelectBackward0>)
    """

    heads: nn.ModuleList

    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ) -> None:
        check_sizes(num_heads=num_heads)
        super().__init__()
        self.heads = nn.ModuleList(
            CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)
        )

    def each_head(self) -> Iterator[CausalAttention]:
        """The heads, one after the other."""
        return iter(cast(Iterable[CausalAttention], self.heads))

    def visible(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """What each query may look at, in every head: ``(n, n)`` or ``(b, 1, n, n)``; refuses what does not fit."""
        visible = next(self.each_head()).visible(x, mask)
        return visible.unsqueeze(-3) if visible.dim() == 3 else visible

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value of each token in each head, each of shape ``(..., h, n, d)``."""
        query, key, value = zip(*(head.project(x) for head in self.each_head()), strict=True)
        return torch.stack(query, dim=-3), torch.stack(key, dim=-3), torch.stack(value, dim=-3)

    def merge(self, heads: Tensor) -> Tensor:
        """Each token's heads joined: ``(..., h, n, d)`` to ``(..., n, h * d)``."""
        return heads.transpose(-3, -2).flatten(-2)

    def forward(self, x: Tensor, *, mask: Tensor | None = None, need_weights: bool = False) -> Result:
        """Context vectors ``(..., n, num_heads * d_out)``; with ``need_weights`` also the weights ``(..., h, n, n)``."""
        if not need_weights:
            return torch.cat([head(x, mask=mask) for head in self.each_head()], dim=-1)
        outputs, weights = zip(*(head(x, mask=mask, need_weights=True) for head in self.each_head()), strict=True)
        return torch.cat(outputs, dim=-1), torch.stack(weights, dim=-3)


class MultiHeadAttention(nn.Module):
    r"""Several heads in one pass: one projection split into heads, and a last layer that mixes what they found.

    .. math:: \text{head}_h = \operatorname{softmax}\left(Q_h K_h^\top / \sqrt{d_k}\right) V_h, \qquad
              \text{output} = [\text{head}_1, \dots, \text{head}_H]\, W_o, \qquad d_k = d_\text{out} / H

    Args:
        d_in: width of a token's embedding.
        d_out: width of the output; ``num_heads`` must divide it.
        context_length: longest sequence taken.
        dropout: share of the weights set to 0 in training, from 0 to 1.
        num_heads: number of heads, each ``d_out // num_heads`` wide.
        qkv_bias: whether the query, key and value layers add a bias.
        causal: whether later tokens are hidden.
        out_bias: whether the last layer adds a bias.
        fused: whether to hand query, key and value to ``F.scaled_dot_product_attention`` (faster; the same numbers up
            to rounding). With ``need_weights=True`` the mathematics is explicit all the same: the fused op returns no
            weights.

    Raises:
        TypeError: a size is not an integer, or ``dropout`` no number.
        ValueError: a size is below 1, ``num_heads`` does not divide ``d_out`` or ``dropout`` lies outside 0 to 1; in
            ``forward``, ``x`` is longer than ``context_length`` or has another width than ``d_in``.

    Example:
        >>> import torch
        >>> from attention_book import JOURNEY, MultiHeadAttention
        >>> _ = torch.manual_seed(123)
        >>> attention = MultiHeadAttention(d_in=3, d_out=2, context_length=6, dropout=0.0, num_heads=2)
        >>> attention(JOURNEY.embeddings)[1]
        tensor([0.2943, 0.3897], grad_fn=<SelectBackward0>)
    """

    num_heads: int
    causal: bool
    fused: bool
    W_query: nn.Linear
    W_key: nn.Linear
    W_value: nn.Linear
    out_proj: nn.Linear
    dropout: nn.Dropout
    mask: Tensor  # True = may look

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
        *,
        causal: bool = True,
        out_bias: bool = True,
        fused: bool = False,
    ) -> None:
        check_sizes(d_in=d_in, d_out=d_out, context_length=context_length, num_heads=num_heads)
        check_dropout(dropout)
        if d_out % num_heads:
            raise ValueError(
                f"d_out {d_out} is not divisible by num_heads {num_heads}; each head takes an equal share of the width"
            )
        super().__init__()
        self.num_heads, self.causal, self.fused = num_heads, causal, fused
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out, bias=out_bias)
        self.dropout = nn.Dropout(dropout)
        register_causal_mask(self, context_length)

    def visible(self, x: Tensor, mask: Tensor | None = None) -> Tensor | None:
        """What each query may look at, laid over the scores; refuses what does not fit.

        The mask of one sample reaches every head of that sample.
        """
        check_x(x, self.W_query.weight, d_in=self.W_query.in_features, context_length=len(self.mask))
        batch, n = tuple(x.shape[:-2]), x.shape[-2]
        if mask is not None:
            per_sample = [(*batch, n, n)] if batch else []
            check_mask(mask, [(n, n), *per_sample, (*batch, self.num_heads, n, n)], x.device)
            if batch and mask.dim() == 3:
                mask = mask.unsqueeze(1)  # (b, 1, n, n)
        return both(first_tokens(self.mask, n), mask) if self.causal else mask

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value of each token in each head, each of shape ``(..., h, n, d)``."""
        return self.split(self.W_query(x)), self.split(self.W_key(x)), self.split(self.W_value(x))

    def split(self, x: Tensor) -> Tensor:
        """Each token's vector cut into heads: ``(..., n, h * d)`` to ``(..., h, n, d)``."""
        return x.reshape(*x.shape[:-1], self.num_heads, x.shape[-1] // self.num_heads).transpose(-3, -2)

    def merge(self, heads: Tensor) -> Tensor:
        """Each token's heads joined again and mixed: ``(..., h, n, d)`` to ``(..., n, h * d)``."""
        return self.out_proj(heads.transpose(-3, -2).flatten(-2))

    def forward(self, x: Tensor, *, mask: Tensor | None = None, need_weights: bool = False) -> Result:
        """Context vectors ``(..., n, d_out)``; with ``need_weights`` also the weights ``(..., h, n, n)``.

        ``mask`` hides more than the causal mask does: ``(n, n)``; for a batch ``(b, n, n)``, one a sample, or ``(b, h,
        n, n)``; without a batch ``(h, n, n)``. Boolean (``True`` = may look) or added.
        """
        visible = self.visible(x, mask)
        query, key, value = self.project(x)  # (..., h, n, d)
        if self.fused and not need_weights:
            return self.merge(self.fused_attention(query, key, value, visible, is_causal=self.causal and mask is None))
        in_blocks = self.causal and mask is None and not torch.compiler.is_exporting()  # an export leaves n open
        if in_blocks and not need_weights:
            return self.merge(self.causal_attention(query, key, value))
        weights = attention_weights(query, key, mask=visible, no_empty_rows=mask is None)  # (..., h, n, n)
        output = self.merge(self.dropout(weights) @ value)
        return (output, weights) if need_weights else output

    def causal_attention(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """The context vectors ``(..., h, n, d)``, some queries at a time: no block needs a key later than itself.

        It spares nearly half of the work in a long sequence, and never holds all ``n * n`` weights.
        """
        blocks = []
        for rows in blocks_of(query.shape[-2]):
            seen = slice(rows.stop)
            weights = attention_weights(
                query[..., rows, :], key[..., seen, :], mask=self.mask[rows, seen], no_empty_rows=True
            )  # (..., h, rows, seen)
            blocks.append(self.dropout(weights) @ value[..., seen, :])
        return torch.cat(blocks, dim=-2)

    def fused_attention(
        self, query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None, *, is_causal: bool
    ) -> Tensor:
        """The same attention by PyTorch's own op, heads ``(..., h, n, d)``; ``is_causal`` spares it the mask."""
        dropout = self.dropout.p if self.training else 0.0
        allowed, bias = split_mask(None if is_causal else visible, query.dtype)
        if bias is not None and allowed is not None:
            allowed = bias.masked_fill(~allowed, -torch.inf).to(query.dtype)
        return F.scaled_dot_product_attention(
            query, key, value, attn_mask=allowed, dropout_p=dropout, is_causal=is_causal
        )

    @classmethod
    def from_torch(
        cls, module: nn.MultiheadAttention, *, context_length: int, causal: bool = False, fused: bool = False
    ) -> Self:
        """A copy of PyTorch's module, its weights in this book's layout.

        PyTorch packs the three projections in one matrix, rows in the order query, key, value. It hides the future
        only when told to at each call, so ``causal`` is off unless given.

        Args:
            module: the module to copy; batch-first or not, the copy takes the batch first.
            context_length: longest sequence taken.
            causal: whether later tokens are hidden.
            fused: whether to use PyTorch's own op.

        Raises:
            TypeError: ``module`` is not an ``nn.MultiheadAttention``.
            ValueError: keys or values have another width than queries, or tokens are appended to the keys.
        """
        width, dropout, num_heads, bias, state = unpack(module)
        with torch.random.fork_rng(devices=[]):  # these fresh weights are overwritten: leave the caller's random state
            copy = cls(
                width, width, context_length, dropout, num_heads, bias, causal=causal, out_bias=bias, fused=fused
            )
        copy.to(module.in_proj_weight.device, module.in_proj_weight.dtype).train(module.training)
        copy.load_state_dict(state)
        return copy

    def to_torch(self) -> nn.MultiheadAttention:
        """A copy as PyTorch's own module, batch first; give it ``attn_mask=~causal_mask(n)`` to hide the future.

        PyTorch has all biases or none: those that are missing here are 0 there.

        Raises:
            ValueError: ``d_in`` and ``d_out`` differ; PyTorch's module has one width.
        """
        d_in, d_out = self.W_query.in_features, self.W_query.out_features
        if d_in != d_out:
            raise ValueError(f"d_in is {d_in} but d_out is {d_out}; torch.nn.MultiheadAttention has one width for both")
        bias = self.W_query.bias is not None or self.out_proj.bias is not None
        with torch.random.fork_rng(devices=[]):
            module = nn.MultiheadAttention(d_out, self.num_heads, self.dropout.p, bias=bias, batch_first=True)
        module.to(self.W_query.weight.device, self.W_query.weight.dtype).train(self.training)
        module.load_state_dict(pack(self.state_dict(), bias))
        return module


def blocks_of(n: int, size: int = 256) -> list[slice]:
    """The ``n`` queries in blocks of ``size``; none of them is one empty block."""
    return [slice(start, min(start + size, n)) for start in range(0, max(n, 1), size)]
