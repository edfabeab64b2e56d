"""The kinds of mask that right code takes: boolean, added to the scores, or one row of keys for each sample.

A probe always keeps what a query may look at; its kind says what is handed over for it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class MaskKind:
    """One kind of mask.

    Attributes:
        hand: what is handed over for what a query may look at, in a dtype.
        says: what right code is told that takes only this kind.
        clear: what sets the weights of a query to zero that may look at nothing.
        padding: whether it has shape ``(b, n)``.
    """

    hand: Callable[[Tensor, torch.dtype], Tensor]
    says: str = ""
    clear: str = "weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)"
    padding: bool = False


def _added(visible: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.zeros(visible.shape, dtype=dtype, device="cpu").masked_fill(~visible, -torch.inf)


def _keys(visible: Tensor, dtype: torch.dtype) -> Tensor:
    return visible.flatten(0, -3)[:, 0]  # (b, n): every query of a sample may look at the same keys


BOOLEAN = MaskKind(lambda visible, dtype: visible)

#: What is tried where a boolean mask fails.
OTHERS = (
    MaskKind(
        _added,
        "That is for masks that are added; a boolean mask is added as 0 and 1.",
        "weights.masked_fill(mask.isneginf().all(dim=-1, keepdim=True), 0.0)",
    ),
    MaskKind(_keys, "That is for a padding mask of shape (b, n) in which True means may look.", padding=True),
    MaskKind(lambda visible, dtype: ~_keys(visible, dtype), "That is for a padding mask of shape (b, n) in which True means hidden.", padding=True),
)


def padding_masks(b: int, n: int, axes: int) -> list[tuple[str, Tensor]]:
    """What queries may look at under a padding mask, ``(b, n, n)`` or ``(b, 1, n, n)``: tokens that end early, and tokens left out between.

    The first key is always seen, so that no query is left with nothing, and some key is hidden.
    """
    sample, key = torch.arange(b, device="cpu")[:, None], torch.arange(n, device="cpu")
    rows = key <= sample % (n - 1), (key == 0) | ((key + sample) % 2 == 0)
    between = (1,) * (axes - 3)
    return [("with a padding mask", seen.view(b, *between, 1, n).expand(b, *between, n, n)) for seen in rows]
