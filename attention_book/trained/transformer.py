"""The smallest honest transformer, made of this book's own attention, each head's weights readable.

Embeddings plus learned positions, then blocks of attention (and, if asked for, a two-layer perceptron), each reading a
normalised copy of the stream and adding to it; at the end a score for every word. Pre-norm: Xiong et al. (2020).
"""

from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn

from attention_book.checks import check_sizes
from attention_book.modules import MultiHeadAttention


class Block(nn.Module):
    """Attention, and a perceptron where ``mlp`` is not 0, each added to what it read."""

    norm: nn.LayerNorm
    attention: MultiHeadAttention
    mlp: nn.Module | None

    def __init__(self, d_model: int, num_heads: int, context_length: int, mlp: int, causal: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, d_model, context_length, 0.0, num_heads, causal=causal, out_bias=False)
        self.mlp = None
        if mlp:
            layers = (nn.LayerNorm(d_model), nn.Linear(d_model, mlp), nn.GELU(), nn.Linear(mlp, d_model))
            self.mlp = nn.Sequential(*layers)

    def forward(self, x: Tensor, mask: Tensor | None = None, *, need_weights: bool = False) -> tuple[Tensor, Tensor | None]:
        """The stream ``(b, n, d_model)`` with this block's part added, and the weights ``(b, h, n, n)`` if asked for."""
        weights = None
        if need_weights:
            found, weights = self.attention(self.norm(x), mask=mask, need_weights=True)
        else:
            found = self.attention(self.norm(x), mask=mask)
        return self.add_mlp(x + found), weights

    def add_mlp(self, x: Tensor) -> Tensor:
        """The stream with the perceptron's part added, if there is one."""
        return x if self.mlp is None else x + self.mlp(x)


class Transformer(nn.Module):
    """Reads word numbers, and gives each word's place a score for every word.

    Args:
        words: number of words in the vocabulary.
        d_model: width of the stream.
        num_heads: heads in each layer.
        num_layers: number of blocks.
        context_length: longest sequence.
        causal: whether later tokens are hidden.
        mlp: width of each block's perceptron; 0 for attention alone.
        seed: draws the weights, from a generator of its own.

    Raises:
        TypeError: a size is not an integer.
        ValueError: a size is below 1, or ``num_heads`` does not divide ``d_model``.

    Example:
        >>> import torch
        >>> from attention_book.trained.transformer import Transformer
        >>> model = Transformer(words=11, d_model=6, num_heads=2, num_layers=3, context_length=7, causal=True)
        >>> scores, weights = model(torch.tensor([[1, 5, 2, 9]]), need_weights=True)
        >>> scores.shape, weights.shape  # (b, n, words), (layer, b, h, n, n)
        (torch.Size([1, 4, 11]), torch.Size([3, 1, 2, 4, 4]))
    """

    sizes: dict[str, int]
    embedding: nn.Embedding
    positions: nn.Embedding
    blocks: nn.ModuleList
    norm: nn.LayerNorm
    unembedding: nn.Linear

    def __init__(
        self,
        words: int,
        d_model: int,
        num_heads: int,
        num_layers: int,
        context_length: int,
        *,
        causal: bool,
        mlp: int = 0,
        seed: int = 0,
    ) -> None:
        check_sizes(words=words, d_model=d_model, num_layers=num_layers)
        super().__init__()
        self.sizes = {
            "words": words,
            "d_model": d_model,
            "num_heads": num_heads,
            "num_layers": num_layers,
            "context_length": context_length,
            "causal": causal,
            "mlp": mlp,
        }
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = nn.Embedding(words, d_model)
            self.positions = nn.Embedding(context_length, d_model)
            for table in (self.embedding, self.positions):
                nn.init.normal_(table.weight, std=d_model**-0.5)
            self.blocks = nn.ModuleList(
                Block(d_model, num_heads, context_length, mlp, causal) for _ in range(num_layers)
            )
            self.norm = nn.LayerNorm(d_model)
            self.unembedding = nn.Linear(d_model, words, bias=False)

    def each_block(self) -> Iterable[Block]:
        """The blocks, the first one first."""
        return cast(Iterable[Block], self.blocks)

    def embed(self, ids: Tensor, start: int = 0) -> Tensor:
        """Word plus position, ``(b, n)`` to ``(b, n, d_model)``; the first word stands at position ``start``.

        Raises:
            ValueError: the last word would stand beyond the last position.
        """
        end, room = start + ids.shape[-1], self.positions.num_embeddings
        if end > room:
            raise ValueError(f"the words reach position {end}, but the model has room for {room}; give fewer words")
        return self.embedding(ids) + self.positions.weight[start:end]

    def read(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """The normalised stream after the last block, ``(b, n, d_model)``."""
        x = self.embed(ids)
        for block in self.each_block():
            x, _ = block(x, mask)
        return self.norm(x)

    def forward(
        self, ids: Tensor, *, mask: Tensor | None = None, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Scores for every word ``(b, n, words)``; with ``need_weights`` also all weights ``(layer, b, h, n, n)``.

        ``mask`` is what ``MultiHeadAttention`` takes, ``True`` where a query may look.
        """
        if not need_weights:
            return self.unembedding(self.read(ids, mask))
        x, weights = self.embed(ids), []
        for block in self.each_block():
            x, each = block(x, mask, need_weights=True)
            weights.append(each)
        return self.unembedding(self.norm(x)), torch.stack(weights)
