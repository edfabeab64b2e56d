"""The hidden inputs on which a candidate is run, and what right code and each mistake give there.

Sizes are distinct primes, heads are several numbers wide, samples differ, one query has large scores, and one may look at nothing: no
mistake hides.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import torch
from torch import Tensor

from attention_book.diagnosis.candidates import Form
from attention_book.diagnosis.mask_kinds import BOOLEAN, MaskKind, padding_masks
from attention_book.diagnosis.projections import Projections
from attention_book.masks import causal_mask
from attention_book.mistakes import Mistake
from attention_book.steps import Pair

B, H, N, M, D, E = 2, 3, 5, 11, 7, 13  # batch, heads, queries, keys, width, value width: primes, so that no two can be swapped
LARGE = 1  # the query whose scores are large


@dataclass(frozen=True, eq=False)
class Probe:
    """One call of a candidate.

    Attributes:
        tensors: query, key and value, or ``x``.
        mask: what a query may look at, if a mask is given.
        says: when this is, in words: ``"with a causal mask"``.
        reads_weights: whether the values are unit vectors, so that the output shows the weights.
        ask_weights: whether a module is asked for its weights.
        mask_axes: with how many axes the mask is handed over, 2 or more.
        kind: what is handed over for the mask.
    """

    tensors: tuple[Tensor, ...]
    mask: Tensor | None = None
    says: str = ""
    reads_weights: bool = False
    ask_weights: bool = False
    mask_axes: int = 2
    kind: MaskKind = BOOLEAN
    known: dict[tuple["Reading", Mistake], Pair] = field(default_factory=dict, repr=False)

    def handed(self) -> Tensor | None:
        """The mask as the candidate gets it."""
        return None if self.mask is None else self.kind.hand(self.mask, self.tensors[0].dtype)[(None,) * (self.mask_axes - 2)]

    def expects(self, reading: "Reading", mistake: Mistake) -> Pair:
        """Output and weights if a candidate is read so and makes this mistake; NaN where anything may stand.

        What a query gets that may look at nothing is judged apart, so anything may stand in its row.
        """
        if (reading, mistake) not in self.known:
            output, weights = reading.gives(self, mistake)
            empty = self.empty_rows(reading)
            if empty is not None:
                output, weights = output.masked_fill(empty, torch.nan), weights.masked_fill(empty, torch.nan)
            self.known[reading, mistake] = output, weights
        return self.known[reading, mistake]

    def visible(self, reading: "Reading") -> Tensor | None:
        """The mask given, joined with the candidate's own."""
        if not reading.causal:
            return self.mask
        own = causal_mask(self.tensors[0].shape[-2], device="cpu")
        return own if self.mask is None else own & self.mask

    def empty_rows(self, reading: "Reading") -> Tensor | None:
        """Where a query may look at nothing, shape ``(n, 1)``; ``None`` if each may look at something."""
        visible = self.visible(reading)
        empty = None if visible is None else ~visible.any(dim=-1, keepdim=True)
        return empty if empty is not None and empty.any() else None


class Reading(Protocol):
    """How a candidate is read: whether it has a causal mask of its own, and for a module what its layers are."""

    @property
    def causal(self) -> bool:
        """Whether it hides later tokens unasked."""

    def gives(self, probe: Probe, mistake: Mistake) -> Pair:
        """Output and weights of a mistake, or of ``RIGHT``."""


@dataclass(frozen=True, eq=False)
class FunctionReading:
    """A function of query, key and value."""

    causal: bool

    def gives(self, probe: Probe, mistake: Mistake) -> Pair:
        query, key, value = probe.tensors
        output, weights = mistake.attend(query, key, value, probe.visible(self))
        return output, mistake.report_weights(weights)


@dataclass(frozen=True, eq=False)
class ModuleReading:
    """A module of ``x``, its layers read in one way."""

    causal: bool
    layers: Projections

    @property
    def narrow(self) -> bool:
        """Whether heads are one number wide, and the root of the width is 1."""
        return self.layers.query(draw(1, self.layers.d_in, seed=0)).shape[-1] == self.layers.num_heads

    def gives(self, probe: Probe, mistake: Mistake) -> Pair:
        x = probe.tensors[0]  # (b, n, d_in), or (n, d_in)
        query, key, value = self.layers.query(x), self.layers.key(x), self.layers.value(x)
        if x.dim() == 2:
            query, key, value = query[None], key[None], value[None]
        last = self.layers.out or (lambda merged: merged)
        output, weights = mistake.multi_head(query, key, value, self.layers.num_heads, last, probe.visible(self))
        return (output, weights) if x.dim() == 3 else (output[0], weights[0])


PLAIN, CAUSAL = FunctionReading(False), FunctionReading(True)


def draw(*shape: int, seed: int) -> Tensor:
    """Seeded random numbers in float64, whatever the caller's defaults are."""
    return torch.randn(shape, generator=torch.Generator("cpu").manual_seed(seed), dtype=torch.float64, device="cpu")


def qkv(rank: int, *, keys: int = N, width: int = D, large: float = 30.0) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value with 4, 3 or 2 axes."""
    query, key, value = draw(B, H, N, D, seed=11), draw(B, H, keys, D, seed=12), draw(B, H, keys, width, seed=13)
    query[..., LARGE, :] *= large
    lead = {4: (), 3: (slice(None), 0), 2: (0, 0)}[rank]
    return query[lead], key[lead], value[lead]


def masks() -> list[tuple[str, Tensor]]:
    """The masks that a candidate is given; the last one leaves a query nothing to look at.

    The second one is unlike its inverse and its transpose, and each token sees and is seen, another one than itself too.
    """
    rows = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 1, 0], [0, 0, 1, 0, 1], [1, 0, 0, 1, 1]], device="cpu").bool()
    empty = rows.clone()
    empty[3] = False
    return [("with a causal mask", causal_mask(N, device="cpu")), ("with a mask", rows), ("with a mask that hides every key from one query", empty)]


@lru_cache(maxsize=32)
def function_probes(rank: int, masked: bool, mask_needed: bool, kind: MaskKind = BOOLEAN, *, square: bool = False) -> tuple[Probe, ...]:
    """What a function is run on. With ``square`` there are as many tokens as numbers."""
    query, key, value = qkv(rank, width=D)
    if square:
        query, key, value = query[..., :N], key[..., :N], value[..., :N]
    unit = torch.eye(*value.shape[-2:], dtype=value.dtype, device="cpu").expand(value.shape)  # the output is then the weights
    given: list[tuple[str, Tensor | None]] = [] if mask_needed else [("", None)]
    if masked:
        given += padding_masks(B, N, rank) if kind.padding else masks()
    return tuple(
        Probe((query, key, values), mask, says, reads_weights=values is unit, kind=kind) for says, mask in given for values in (unit, value)
    )


def module_probes(form: Form, d_in: int, tokens: int, batch: int | None, mask_axes: int = 2, kind: MaskKind = BOOLEAN) -> tuple[Probe, ...]:
    """What a module is run on: ``x`` of shape ``(b, n, d_in)``, or ``(n, d_in)`` without a batch."""
    x = draw(batch or 1, tokens, d_in, seed=14)
    x[:, LARGE % tokens] *= 4.0
    x = x if batch else x[0]
    given: list[tuple[str, Tensor | None]] = [] if form.mask_needed else [("", None)]
    if form.mask is not None and kind.padding and batch:
        given += padding_masks(batch, tokens, 4)
    elif form.mask is not None:
        given += masks() if tokens == N else [("with a causal mask", causal_mask(tokens, device="cpu"))]
    asked = (True, False) if form.ask_weights else (False,)
    return tuple(Probe((x,) * form.tensors, mask, says, ask_weights=ask, mask_axes=mask_axes, kind=kind) for says, mask in given for ask in asked)
