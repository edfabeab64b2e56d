"""One head that sees everything: act 2."""

from typing import TypeAlias

import torch
from torch import Tensor, nn

from attention_book.checks import check_sizes, check_x
from attention_book.functional import attention_weights

Result: TypeAlias = Tensor | tuple[Tensor, Tensor]


class SelfAttention_v1(nn.Module):
    r"""Self-attention with three weight matrices drawn by ``torch.rand``.

    .. math:: Q = X W_q, \quad K = X W_k, \quad V = X W_v, \qquad
              \text{output} = \operatorname{softmax}\left(Q K^\top / \sqrt{d_k}\right) V

    Args:
        d_in: width of a token's embedding.
        d_out: width of query, key, value and context vector.

    Raises:
        TypeError: a width is not an integer.
        ValueError: a width is below 1; in ``forward``, ``x`` has another width than ``d_in``.

    Example:
        >>> import torch
        >>> from attention_book import JOURNEY, SelfAttention_v1
        >>> _ = torch.manual_seed(123)
        >>> attention = SelfAttention_v1(d_in=3, d_out=2)
        >>> attention(JOURNEY.embeddings)[1]
        tensor([0.3061, 0.8210], grad_fn=<SelectBackward0>)
    """

    W_query: nn.Parameter
    W_key: nn.Parameter
    W_value: nn.Parameter

    def __init__(self, d_in: int, d_out: int) -> None:
        check_sizes(d_in=d_in, d_out=d_out)
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value of each token, each of shape ``(..., n, d_out)``."""
        return x @ self.W_query, x @ self.W_key, x @ self.W_value

    def check(self, x: Tensor) -> None:
        """Refuses tokens that the weights cannot take."""
        check_x(x, self.W_query, d_in=self.W_query.shape[0])

    def forward(self, x: Tensor, *, need_weights: bool = False) -> Result:
        """Context vectors ``(..., n, d_out)``; with ``need_weights`` also the weights ``(..., n, n)``."""
        self.check(x)
        query, key, value = self.project(x)
        weights = attention_weights(query, key)
        output = weights @ value
        return (output, weights) if need_weights else output


class SelfAttention_v2(nn.Module):
    """Self-attention with linear layers: the same computation as ``SelfAttention_v1``, its weights stored transposed.

    Args:
        d_in: width of a token's embedding.
        d_out: width of query, key, value and context vector.
        qkv_bias: whether the three layers add a bias.

    Raises:
        TypeError: a width is not an integer.
        ValueError: a width is below 1; in ``forward``, ``x`` has another width than ``d_in``.

    Example:
        >>> import torch
        >>> from attention_book import JOURNEY, SelfAttention_v2
        >>> _ = torch.manual_seed(789)
        >>> attention = SelfAttention_v2(d_in=3, d_out=2)
        >>> attention(JOURNEY.embeddings)[1]
        tensor([-0.0748,  0.0703], grad_fn=<SelectBackward0>)
    """

    W_query: nn.Linear
    W_key: nn.Linear
    W_value: nn.Linear

    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False) -> None:
        check_sizes(d_in=d_in, d_out=d_out)
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value of each token, each of shape ``(..., n, d_out)``."""
        return self.W_query(x), self.W_key(x), self.W_value(x)

    def check(self, x: Tensor) -> None:
        """Refuses tokens that the weights cannot take."""
        check_x(x, self.W_query.weight, d_in=self.W_query.in_features)

    def forward(self, x: Tensor, *, need_weights: bool = False) -> Result:
        """Context vectors ``(..., n, d_out)``; with ``need_weights`` also the weights ``(..., n, n)``."""
        self.check(x)
        query, key, value = self.project(x)
        weights = attention_weights(query, key)
        output = weights @ value
        return (output, weights) if need_weights else output
