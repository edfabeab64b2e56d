"""Switch heads off, and see what is lost: the only way to tell which head does the work."""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_book.trained.transformer import Transformer

Head = tuple[int, int]  # layer and head, both from 0


def without(model: Transformer, heads: Iterable[Head]) -> Transformer:
    """A copy in which these heads hand over nothing: their columns of the last layer are 0; the model stays as it is.

    Raises:
        ValueError: there is no such layer or head.
    """
    changed = copy.deepcopy(model)
    attentions = [block.attention for block in changed.each_block()]
    for layer, head in heads:
        if not (0 <= layer < len(attentions) and 0 <= head < attentions[layer].num_heads):
            raise ValueError(
                f"there is no head {head} in layer {layer}; the model has {len(attentions)} layers of "
                f"{attentions[0].num_heads} heads, counted from 0"
            )
        columns = attentions[layer].out_proj.weight.detach().unflatten(1, (attentions[layer].num_heads, -1))
        columns[:, head] = 0
    return changed


def all_heads(model: Transformer) -> list[Head]:
    """Every head of the model."""
    return [(layer, head) for layer, block in enumerate(model.each_block()) for head in range(block.attention.num_heads)]


@dataclass(frozen=True)
class Ablations:
    """What is left of a measure without each head.

    Attributes:
        whole: the measure with all heads.
        without: the measure without one head, ``(layer, h)``.
    """

    whole: float
    without: Tensor

    def most_needed(self, layer: int) -> Head:
        """The head of a layer without which least is left."""
        return layer, int(self.without[layer].argmin())


def switch_each_off(model: Transformer, measure: Callable[[Transformer], float]) -> Ablations:
    """Measures the model, then the model without each of its heads in turn."""
    left = [measure(without(model, [head])) for head in all_heads(model)]
    layers = len(list(model.each_block()))
    return Ablations(measure(model), torch.tensor(left, dtype=torch.float64).view(layers, -1))


def switch_off_in_turn(model: Transformer, measure: Callable[[Transformer], float], layer: int) -> list[tuple[Head, float]]:
    """Switches off the heads of a layer one after the other, each time the one without which least is left.

    The result tells how many heads share a job: the measure stays up until the last of them is off.
    """
    off: list[tuple[Head, float]] = []
    rest = [head for head in all_heads(model) if head[0] == layer]
    while rest:
        gone = [head for head, _ in off]
        left = {head: measure(without(model, [*gone, head])) for head in rest}
        worst = min(rest, key=lambda head: left[head])
        off.append((worst, left[worst]))
        rest.remove(worst)
    return off
