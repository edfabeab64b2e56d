"""What is drawn, as plain arrays: values, and where they are hidden or at fault."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

Values = np.ndarray[Any, np.dtype[np.float64]]
Where = np.ndarray[Any, np.dtype[np.bool_]]


class Map(NamedTuple):
    name: str
    values: Values  # (i, j)
    hidden: Where  # (i, j)


def check(name: str, weights: Tensor, axes: int, hint: str) -> None:
    """Refuses what is not a drawable tensor with that many axes."""
    if weights is None:
        raise TypeError(
            f"{name} is None: a fused attention op returns no weights; take them from "
            "attention_book.scaled_dot_product_attention, or from a module by need_weights=True"
        )
    if not isinstance(weights, Tensor):
        raise TypeError(f"{name} is a {type(weights).__name__}; give a torch.Tensor")
    if weights.is_complex():
        raise TypeError(f"{name} holds {weights.dtype}; a colour needs a real number")
    if weights.dim() != axes:
        raise ValueError(f"{name} has {weights.dim()} axes, shape {tuple(weights.shape)}, but {axes} are drawn: {hint}")
    if weights.numel() == 0:
        raise ValueError(f"{name} has shape {tuple(weights.shape)}, so there is no cell to draw")
    if weights.is_meta:
        raise ValueError(f"{name} is on the 'meta' device, which holds shapes but no numbers; use a device with data")


def as_maps(maps: Mapping[str, Tensor], mask: Tensor | None) -> list[Map]:
    """Turns maps and mask into arrays, so that neither gradients, dtype nor device matter from here on."""
    shape = tuple(next(iter(maps.values())).shape)  # (i, j)
    if mask is not None:
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
            found = mask.dtype if isinstance(mask, Tensor) else f"a {type(mask).__name__}"
            raise TypeError(f"mask is {found}; give a boolean tensor, True where a query may look")
        if tuple(mask.shape) not in (shape, (len(maps), *shape)):
            raise ValueError(f"mask has shape {tuple(mask.shape)} but the map needs {shape}, or {(len(maps), *shape)} for all")
        if mask.is_meta:
            raise ValueError("mask is on the 'meta' device, which holds shapes but no values; use a device with data")
    looks = torch.ones(shape, dtype=torch.bool) if mask is None else mask.detach().cpu()
    drawn = []
    for (name, weights), look in zip(maps.items(), looks.expand(len(maps), *shape), strict=True):
        values = weights.detach().cpu().double().numpy(force=True)
        hidden = (~look.numpy(force=True) | np.isneginf(values)) & ~faults(values)
        drawn.append(Map(name, values, hidden))
    return drawn


def faults(values: Values) -> Where:
    """Returns where the map holds what cannot be a weight or a score."""
    return np.isnan(values) | np.isposinf(values)
