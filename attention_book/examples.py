"""The two running examples of the book.

``JOURNEY`` follows Sebastian Raschka, "Build a Large Language Model (From Scratch)", section 3.3.1
(Apache 2.0); ``CAT`` is the sentence of the project "Visual attention in PyTorch".
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Example:
    """A sentence as tokens and as one embedding per token.

    Attributes:
        tokens: the ``n`` tokens, in the order of the sentence.

    Example:
        >>> from attention_book import JOURNEY
        >>> JOURNEY.tokens
        ('Your', 'journey', 'starts', 'with', 'one', 'step')
        >>> JOURNEY.embeddings.shape
        torch.Size([6, 3])
    """

    tokens: tuple[str, ...]
    _draw: Callable[[], Tensor]

    @property
    def embeddings(self) -> Tensor:
        """The embeddings, shape ``(n, d)``, float32. They are a fresh tensor each time, so yours to change."""
        return self._draw()


def _journey() -> Tensor:
    return torch.tensor(
        [
            [0.43, 0.15, 0.89],  # Your
            [0.55, 0.87, 0.66],  # journey
            [0.57, 0.85, 0.64],  # starts
            [0.22, 0.58, 0.33],  # with
            [0.77, 0.25, 0.10],  # one
            [0.05, 0.80, 0.55],  # step
        ],
        dtype=torch.float32,
    )


def _cat() -> Tensor:
    # A generator of its own, so that the reader's global random state stays as it was.
    generator = torch.Generator().manual_seed(42)
    return torch.randn(10, 64, generator=generator, dtype=torch.float32, device="cpu")


#: The six tokens of "Your journey starts with one step", each a 3-dimensional vector.
JOURNEY = Example(("Your", "journey", "starts", "with", "one", "step"), _journey)

#: The ten tokens of "The cat sat on the mat because it was tired", simulated 64-dimensional embeddings, seed 42.
CAT = Example(tuple("The cat sat on the mat because it was tired".split()), _cat)
