"""One plain training loop: AdamW, a short warm-up, then a cosine down to a twentieth of the rate."""

import math
import sys
from collections.abc import Callable

import torch
from torch import Tensor

from attention_book.trained.transformer import Transformer

WARM_UP = 100  # steps
LAST_RATE = 0.05  # of the highest one


def rate(step: int, steps: int) -> float:
    """The share of the highest learning rate at a step."""
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    way = (step - WARM_UP) / max(1, steps - WARM_UP)
    return LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * way))


def train(
    model: Transformer,
    loss: Callable[[Transformer], Tensor],
    *,
    steps: int,
    highest_rate: float = 3e-3,
    weight_decay: float = 0.01,
    head_penalty: float = 0.0,
    watch: Callable[[int, Transformer], None] | None = None,
) -> Transformer:
    """Trains the model in place, and returns it.

    Args:
        model: what is trained.
        loss: draws its next batch, from a generator of its own, and says how wrong the model is on it.
        steps: how many batches.
        highest_rate: the learning rate after the warm-up.
        weight_decay: pulls every matrix towards 0.
        head_penalty: how dear a head is: times the length of what it can hand over, summed over all heads. It changes
            what is learned and not how the model computes; a head that is not needed then goes to 0.
        watch: called before each step with its number.
    """
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    others = [parameter for parameter in model.parameters() if parameter.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=highest_rate, betas=(0.9, 0.98), fused=True)
    model.train()
    for step in range(steps):
        if watch is not None:
            watch(step, model)
        for group in optimizer.param_groups:
            group["lr"] = highest_rate * rate(step, steps)
        wrong = loss(model)
        (wrong + head_penalty * head_sizes(model) if head_penalty else wrong).backward()
        optimizer.step()
        optimizer.zero_grad()
        _tell(step + 1, steps, wrong)
    return model.eval()


def head_sizes(model: Transformer) -> Tensor:
    """The lengths of what each head can hand over, its values and its part of the last layer together, summed."""
    sizes = []
    for block in model.each_block():
        heads = block.attention.num_heads
        value = block.attention.W_value.weight.unflatten(0, (heads, -1))  # (h, d, d_model)
        out = block.attention.out_proj.weight.unflatten(1, (heads, -1))  # (d_model, h, d)
        sizes.append((value.square().sum(dim=(1, 2)) + out.square().sum(dim=(0, 2))).sqrt().sum())
    return torch.stack(sizes).sum()


def _tell(step: int, steps: int, loss: Tensor) -> None:
    """A line that counts up, where somebody watches, at a terminal or in a notebook; nothing in a file or on a page."""
    watched = sys.stderr.isatty() or "ipykernel" in sys.modules
    if watched and (step % 50 == 0 or step == steps):
        end = "\n" if step == steps else ""
        print(f"\rtraining: step {step} of {steps}, loss {loss.item():.3f} ", end=end, file=sys.stderr, flush=True)
