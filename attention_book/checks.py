"""What the library refuses, each in a sentence with the offending values, before anything is computed."""

import math

import torch
from torch import Tensor


def check_tensor(name: str, x: Tensor) -> None:
    """Refuses anything but a floating-point tensor with at least a token axis and a width."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} is a {type(x).__name__}; give a torch.Tensor")
    if not x.is_floating_point():
        raise TypeError(
            f"{name} holds {x.dtype}; attention needs floating point: call {name}.float(), "
            f"or embed the tokens first if these are ids"
        )
    if x.dim() < 2:
        raise ValueError(f"{name} has shape {tuple(x.shape)}; give one row for each token, shape (..., tokens, width)")
    if x.shape[-1] == 0:
        raise ValueError(
            f"{name} has shape {tuple(x.shape)}: width 0 leaves nothing to compare; give a width of 1 or more"
        )


def check_inputs(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float | None) -> None:
    """Refuses what cannot work, before anything is computed."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        check_tensor(name, x)
        if x.dtype != query.dtype:
            raise TypeError(f"{name} is {x.dtype} but query is {query.dtype}; convert one of them")
        if x.device != query.device:
            raise ValueError(f"{name} is on {x.device} but query is on {query.device}; move one of them")
        if x.dim() != query.dim():
            raise ValueError(
                f"{name} has {x.dim()} axes but query has {query.dim()}: {tuple(x.shape)} and {tuple(query.shape)}"
            )
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query has width {query.shape[-1]} but key has width {key.shape[-1]}; they must be equal to be compared"
        )
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key has {key.shape[-2]} tokens but value has {value.shape[-2]}; each key needs its value")
    for name, x, other_name, other in (
        ("key", key, "query", query),
        ("value", value, "query", query),
        ("value", value, "key", key),
    ):
        batch, other_batch = tuple(x.shape[:-2]), tuple(other.shape[:-2])
        if not all(a == b or 1 in (a, b) for a, b in zip(batch, other_batch, strict=True)):
            raise ValueError(
                f"{name} has batch axes {batch} but {other_name} has {other_batch}; they must be equal, or 1"
            )
    if scale is not None:
        check_scale(scale)
    if mask is not None:
        tokens = (query.shape[-2], key.shape[-2])
        # Not torch.broadcast_shapes, whose first call imports sympy, a second or so.
        lead = [k if q == 1 else q for q, k in zip(query.shape[:-2], key.shape[:-2], strict=True)]
        check_mask(mask, [tokens, (*lead, *tokens)], query.device)


def check_scale(scale: float) -> None:
    """Refuses a scale that is not a finite number."""
    if isinstance(scale, bool) or not isinstance(scale, int | float):
        raise TypeError(f"scale is {scale!r}; give a number, or None for 1/sqrt(d_k)")
    if not math.isfinite(scale):
        raise ValueError(f"scale is {scale}; give a finite number, or None for 1/sqrt(d_k)")


def check_mask(mask: Tensor, accepted: list[tuple[int, ...]], device: torch.device) -> None:
    """Refuses a mask of integers, or one that lies over none of the accepted shapes, axis by axis."""
    if not isinstance(mask, Tensor):
        raise TypeError(
            f"mask is a {type(mask).__name__}; give a torch.Tensor, boolean (True = may look) or floating point (added)"
        )
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise TypeError(
            f"mask holds {mask.dtype}, which could mean either kind; give mask.bool() (True = may look), "
            f"or floating point to add to the scores"
        )
    if mask.device != device:
        raise ValueError(f"mask is on {mask.device} but the tokens are on {device}; move one of them")
    fits = (
        len(shape) == mask.dim() and all(m in (1, s) for m, s in zip(mask.shape, shape, strict=True))
        for shape in accepted
    )
    if not any(fits):
        shapes = " or ".join(str(shape) for shape in dict.fromkeys(accepted))
        raise ValueError(f"mask has shape {tuple(mask.shape)} but must be {shapes}, where an axis may be 1")


def check_sizes(**sizes: int) -> None:
    """Refuses a size that is not a whole number of 1 or more."""
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"{name} is {size!r}; give a whole number")
        if size < 1:
            raise ValueError(f"{name} is {size}; give 1 or more")


def check_dropout(dropout: float) -> None:
    """Refuses a dropout that is not a share from 0 to 1."""
    if isinstance(dropout, bool) or not isinstance(dropout, int | float):
        raise TypeError(f"dropout is {dropout!r}; give a number from 0 to 1")
    if not 0 <= dropout <= 1:
        raise ValueError(f"dropout is {dropout}; give a share of the weights, from 0 to 1")


def autocasts(device: torch.device) -> bool:
    """Whether autocast is on for this kind of device; some kinds, like ``meta``, know no autocast."""
    return torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type)


def check_x(x: Tensor, weight: Tensor, *, d_in: int, context_length: int | None = None) -> None:
    """Refuses tokens that the module's weights cannot take, before anything is computed."""
    check_tensor("x", x)
    if x.dim() > 3:
        raise ValueError(f"x has shape {tuple(x.shape)}; give (tokens, width) or (batch, tokens, width)")
    if x.shape[-1] != d_in:
        raise ValueError(f"x has width {x.shape[-1]} but the weights take width {d_in}")
    if context_length is not None and x.shape[-2] > context_length:
        raise ValueError(
            f"x has {x.shape[-2]} tokens but context_length is {context_length}; shorten x or build a longer context"
        )
    if x.device != weight.device:
        raise ValueError(f"x is on {x.device} but the weights are on {weight.device}; move one of them")
    # Autocast brings half and single precision together, and leaves float64 alone.
    if x.dtype != weight.dtype and (torch.float64 in (x.dtype, weight.dtype) or not autocasts(x.device)):
        raise TypeError(f"x is {x.dtype} but the weights are {weight.dtype}; convert one of them")
