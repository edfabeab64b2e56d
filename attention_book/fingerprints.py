"""What the six tokens give under each mistake of the zoo, and what a reader would notice in it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_book.examples import JOURNEY
from attention_book.masks import causal_mask
from attention_book.mistakes import RIGHT, Mistake
from attention_book.steps import Pair


def fingerprint(mistake: Mistake, *, right: bool = False) -> Pair:
    """What the six tokens of ``JOURNEY`` give when the mistake is made, always the same.

    The embeddings are projected by fixed matrices to one head of width 4, or to two of width 2 and a last layer where the
    mistake needs heads; later tokens are hidden where it needs a mask.

    Args:
        mistake: an entry of ``MISTAKES``.
        right: whether to give what right code gives there, for comparison.

    Returns:
        ``(output, weights)``: shape ``(6, 4)``, and ``(6, 6)`` or, for two heads, ``(2, 6, 6)``; averaged over heads it
        is ``(6, 6)``. Float32; a query that may look at nothing is NaN.

    Example:
        >>> from attention_book.fingerprints import fingerprint
        >>> from attention_book.mistakes import mistake
        >>> output, weights = fingerprint(mistake("no scale"))
        >>> weights[1]
        tensor([0.9680, 0.0045, 0.0041, 0.0066, 0.0014, 0.0153])
        >>> output, weights = fingerprint(mistake("no scale"), right=True)
        >>> weights[1]
        tensor([0.7244, 0.0495, 0.0473, 0.0600, 0.0277, 0.0911])
    """
    num_heads = 2 if mistake.needs == "heads" else 1
    mask = causal_mask(6) if mistake.needs == "mask" else None
    generator = torch.Generator().manual_seed(123)
    W_query, W_key, W_value = 2 * torch.randn(3, 3, 4, generator=generator, dtype=torch.float32)
    W_out = torch.randn(4, 4, generator=generator, dtype=torch.float32)
    x = JOURNEY.embeddings[None]  # (1, 6, 3)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(123)  # for dropout
        output, weights = (RIGHT if right else mistake).multi_head(
            x @ W_query, x @ W_key, x @ W_value, num_heads, lambda heads: heads @ W_out if num_heads > 1 else heads, mask
        )
    weights = weights[0]  # (h, 6, 6), or (6, 6) when averaged
    return output[0], weights[0] if num_heads == 1 else weights


@dataclass(frozen=True, eq=False)
class Seen:
    """The numbers that catch the eye in a fingerprint, or in the right one beside it."""

    output: Tensor
    weights: Tensor  # (6, 6), or (h, 6, 6)
    right_output: Tensor

    @property
    def maps(self) -> Tensor:
        return self.weights.reshape(-1, 6, 6)

    @property
    def peak(self) -> float:
        return self.weights.amax(dim=-1).mean().item()

    @property
    def even(self) -> float:
        return 1 / len(JOURNEY.tokens)

    @property
    def favourite(self) -> str:
        return JOURNEY.tokens[int(self.weights.sum(dim=-2).argmax())]

    @property
    def least_sum(self) -> float:
        return self.weights.sum(dim=-1).min().item()

    @property
    def largest_sum(self) -> float:
        return self.weights.sum(dim=-1).max().item()

    @property
    def ahead(self) -> float:
        return self.weights.triu(1).nan_to_num().max().item()

    @property
    def zeros(self) -> int:
        return int((self.weights == 0).sum())

    @property
    def journey(self) -> list[float]:
        return self.maps[0, 1].tolist()

    @property
    def last_head(self) -> list[float]:
        return self.maps[-1, 1].tolist()

    @property
    def far(self) -> float:
        return (self.output - self.right_output).abs().max().item()


def noticed(mistake: Mistake) -> str:
    """What a reader would notice in the fingerprint, with its numbers.

    Example:
        >>> from attention_book.fingerprints import noticed
        >>> from attention_book.mistakes import mistake
        >>> noticed(mistake("softmax over queries"))
        'The rows sum to anything between 0.81 and 1.43; the columns sum to one.'
    """
    right, weights = fingerprint(mistake, right=True)
    return mistake.notice.format(here=Seen(*fingerprint(mistake), right), right=Seen(right, weights, right))
