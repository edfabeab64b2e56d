"""Any sentence, read by attention: words in; tokens, weights and output out.

The embeddings and the weights are drawn at random, as everywhere before training: the maps show how attention works, not
what the words mean.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from attention_book.checks import check_sizes
from attention_book.functional import attention_scores, default_scale, masked_softmax
from attention_book.masks import causal_mask
from attention_book.tables import html_table, plain, text_table

if TYPE_CHECKING:  # matplotlib is imported when something is drawn, and not before
    import matplotlib.figure

    import attention_book.lab

MOST_TOKENS, MOST_WIDTH, MOST_WEIGHTS = 512, 4096, 2**26  # so that a slip of the keyboard does not fill the memory
FEW_TOKENS = 20  # as many as have their numbers printed
TITLE_LENGTH = 48


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """A sentence as attention read it; what :func:`attend` returns. A notebook shows it as tables.

    Attributes:
        tokens: the ``n`` words.
        embeddings: one random vector for each token, ``(n, d_model)``.
        scores: every query times every key, not scaled, ``(h, n, n)``.
        weights: softmax of the scaled scores, ``(h, n, n)``; each row sums to 1, and a hidden weight is 0.
        output: one context vector for each token, ``(n, d_model)``.
        d_model: width of embeddings and output.
        num_heads: number of heads, ``h``.
        seed: seed of everything that was drawn.
        causal: whether later tokens are hidden.
    """

    tokens: tuple[str, ...]
    embeddings: Tensor
    scores: Tensor
    weights: Tensor
    output: Tensor
    d_model: int
    num_heads: int
    seed: int
    causal: bool

    @property
    def mask(self) -> Tensor | None:
        """What each query may look at, boolean, ``(n, n)``; ``None`` if every token may look at all."""
        return causal_mask(len(self.tokens), device="cpu") if self.causal else None

    def heatmap(self, head: int = 0) -> "matplotlib.figure.Figure":
        """Draws one head's weights as a new pyplot figure.

        A notebook shows a pyplot figure by itself; write ``figure = reading.heatmap()``, or it appears a second time as
        the cell's value. Up to 20 tokens the numbers are printed and the colours go from 0 to 1; beyond, from 0 to four
        times an even share, and the legend says so.

        Raises:
            TypeError: ``head`` is not a whole number.
            ValueError: there is no such head.
        """
        from attention_book import heatmaps

        self._check_head(head)
        title = self._title("weights" if self.num_heads == 1 else f"weights of head {head} of {self.num_heads}")
        return heatmaps.heatmap(self.weights[head], self.tokens, mask=self.mask, title=title, limits=self._limits())

    def heads(self) -> "matplotlib.figure.Figure":
        """Draws every head's weights on one scale, as a new pyplot figure.

        Raises:
            ValueError: there are more heads than a figure can hold.
        """
        from attention_book import heatmaps

        title = self._title("weights" if self.num_heads == 1 else f"weights of {self.num_heads} heads")
        return heatmaps.head_grid(self.weights, self.tokens, mask=self.mask, title=title, limits=self._limits())

    def compare_scaling(self, head: int = 0) -> "matplotlib.figure.Figure":
        """Draws what the same query and key give without and with the scale, on one scale from 0 to 1.

        Raises:
            TypeError: ``head`` is not a whole number.
            ValueError: there is no such head.
        """
        from attention_book import heatmaps

        self._check_head(head)
        unscaled = masked_softmax(self.scores[head], self.mask)
        maps = {"unscaled": unscaled, f"scaled by 1/sqrt({self.d_model // self.num_heads})": self.weights[head]}
        whose = "" if self.num_heads == 1 else f", head {head} of {self.num_heads}"
        title = self._title(f"weights without and with the scale{whose}")
        return heatmaps.compare(maps, self.tokens, mask=self.mask, title=title)

    def lab(self) -> "attention_book.lab.Lab":
        """The lab on this sentence: a notebook shows it in the output cell, without a network.

        Everything is drawn anew in the browser, to the bit, so seed, sizes, mask, scale and temperature can be turned.

        Raises:
            ValueError: ``d_model`` is above 1024, or there are more than 64 heads or 4194304 weights.
        """
        from attention_book.lab import lab_of_reading

        return lab_of_reading(self)

    def table(self, *, width: int | None = None) -> str:
        """The weights as plain text with aligned columns: a row for each query, a column for each key.

        Args:
            width: longest line wanted; what does not fit continues below. All in one line unless given.

        Raises:
            TypeError: ``width`` is not a whole number.
            ValueError: it is below 1.

        Example:
            >>> from attention_book import attend
            >>> print(attend("The dog slept", causal=True).table())
            3 tokens, 1 head, d_model 64, seed 42, causal: random weights, not trained.
            Rows are queries, columns are keys; each row sums to 1; "-" is hidden.
            <BLANKLINE>
                      The     dog   slept
            The    1.0000       -       -
            dog    0.5529  0.4471       -
            slept  0.2699  0.2375  0.4926
        """
        if width is not None:
            check_sizes(width=width)
        hidden = '; "-" is hidden' if self.causal else ""
        heading = f"{self}.\nRows are queries, columns are keys; each row sums to 1{hidden}."
        return f"{heading}\n\n{text_table(self.weights, self.tokens, self.mask, width=width)}"

    def __repr__(self) -> str:
        tokens, heads = _counted(len(self.tokens), "token"), _counted(self.num_heads, "head")
        causal = ", causal" if self.causal else ""
        return f"{tokens}, {heads}, d_model {self.d_model}, seed {self.seed}{causal}: random weights, not trained"

    def _repr_html_(self) -> str:
        # Tables and no picture: a browser has a font for every word, a screen reader reads them, no figure stays open.
        return html_table(self.weights, self.tokens, self.mask, caption=f"{self}. Each row sums to 1.")

    def _title(self, what: str) -> str:
        causal = ", causal" if self.causal else ""
        return f'"{plain(" ".join(self.tokens), TITLE_LENGTH)}": {what}{causal}, random (seed {self.seed})'

    def _limits(self) -> tuple[float, float]:
        """The ends of the colour scale: 0 to 1 for a short sentence.

        In a long one a weight is about 1/n, which 0 to 1 would show as one dark square: 0 to four times that.
        """
        n = len(self.tokens)
        return (0.0, 1.0) if n <= FEW_TOKENS else (0.0, 4 / n)

    def _check_head(self, head: int) -> None:
        if isinstance(head, bool) or not isinstance(head, int):
            raise TypeError(f"head is {head!r}; give a whole number")
        if not 0 <= head < self.num_heads:
            raise ValueError(f"head is {head}, but there are {self.num_heads}: give 0 to {self.num_heads - 1}")


def attend(
    sentence: str, *, d_model: int = 64, num_heads: int = 1, seed: int = 42, causal: bool = False
) -> Reading:
    r"""Reads a sentence by attention: splits it into words, draws an embedding for each, and weighs them.

    .. math:: \text{weights}_h = \operatorname{softmax}\left(Q_h K_h^\top / \sqrt{d_k}\right), \qquad
              d_k = d_\text{model} / H

    To repeat it by hand: ``torch.manual_seed(seed)``; ``x = torch.randn(n, d_model)``; then three layers
    ``nn.Linear(d_model, d_model, bias=False)``, in the order query, key, value, as ``SelfAttention_v2`` makes them, or
    ``CausalAttention`` for ``causal``. More than one head share these layers and draw a fourth, ``out_proj``, as
    ``MultiHeadAttention(..., causal=causal, out_bias=False)``. All in float32 on the CPU, whatever the defaults are; the
    caller's random state stays as it was.

    Args:
        sentence: 1 to 512 words, split as ``str.split()`` does; a mark stays with its word, and case counts.
        d_model: width of embeddings and output, at most 4096.
        num_heads: number of heads; must divide ``d_model``.
        seed: from -2**63 to 2**64 - 1, as PyTorch takes it.
        causal: whether later tokens are hidden.

    Returns:
        The reading, with tokens, embeddings ``(n, d_model)``, scores and weights ``(h, n, n)``, output ``(n, d_model)``.

    Raises:
        TypeError: ``sentence`` is not a string, a size or the seed not a whole number, or ``causal`` not a bool.
        ValueError: the sentence has no word or too many, a size is below 1 or too large, ``num_heads`` does not divide
            ``d_model``, or the seed has more than 64 bits.

    Example:
        >>> import torch
        >>> from attention_book import SelfAttention_v2, attend
        >>> reading = attend("The cat sat on the mat because it was tired")
        >>> reading
        10 tokens, 1 head, d_model 64, seed 42: random weights, not trained
        >>> reading.weights[0, 1]
        tensor([0.1569, 0.1087, 0.0933, 0.0560, 0.1324, 0.1137, 0.0861, 0.0898, 0.0816,
                0.0816])
        >>> _ = torch.manual_seed(42)
        >>> x = torch.randn(10, 64)
        >>> attention = SelfAttention_v2(64, 64)
        >>> torch.allclose(attention(x), reading.output, atol=1e-5)
        True
    """
    _check(sentence, d_model, num_heads, seed, causal)
    tokens = tuple(sentence.split())
    n, d = len(tokens), d_model // num_heads
    layer = partial(nn.Linear, d_model, d_model, bias=False, device="cpu", dtype=torch.float32)
    with torch.random.fork_rng(devices=[]), torch.no_grad(), torch.autocast("cpu", enabled=False):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would reseed the caller's GPUs too
        x = torch.randn(n, d_model, device="cpu", dtype=torch.float32)
        layers = [layer(), layer(), layer()]
        query, key, value = (each(x).view(n, num_heads, d).transpose(0, 1) for each in layers)  # (h, n, d)
        scores = attention_scores(query, key)  # (h, n, n)
        mask = causal_mask(n, device="cpu") if causal else None
        weights = masked_softmax(scores * default_scale(query), mask)
        output = (weights @ value).transpose(0, 1).flatten(1)  # (n, d_model)
        if num_heads > 1:
            output = layer()(output)
    return Reading(tokens, x, scores, weights, output, d_model, num_heads, seed, causal)


def _check(sentence: str, d_model: int, num_heads: int, seed: int, causal: bool) -> None:
    """Refuses what cannot be read, before anything is drawn."""
    if not isinstance(sentence, str):
        raise TypeError(f"sentence is a {type(sentence).__name__}; give one string, such as 'The dog slept'")
    words = len(sentence.split())
    if words == 0:
        found = f"has {_counted(len(sentence), 'character')}, all blank" if sentence else "is empty"
        raise ValueError(f"sentence {found}; give at least 1 word")
    if words > MOST_TOKENS:
        raise ValueError(f"sentence has {words} words, but at most {MOST_TOKENS} are read; shorten it")
    check_sizes(d_model=d_model, num_heads=num_heads)
    if d_model > MOST_WIDTH:
        raise ValueError(f"d_model is {d_model}; give at most {MOST_WIDTH}")
    if d_model % num_heads:
        raise ValueError(
            f"d_model {d_model} is not divisible by num_heads {num_heads}; each head takes an equal share of the width"
        )
    if num_heads * words**2 > MOST_WEIGHTS:
        raise ValueError(
            f"{num_heads} heads of {words} x {words} make {num_heads * words**2} weights, but at most {MOST_WEIGHTS} "
            f"are kept; take fewer heads"
        )
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"seed is {seed!r}; give a whole number")
    if not -(2**63) <= seed < 2**64:
        raise ValueError(f"seed is {seed}, which needs more than 64 bits; give {-(2**63)} to {2**64 - 1}")
    if not isinstance(causal, bool):
        raise TypeError(f"causal is {causal!r}; give True or False")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
