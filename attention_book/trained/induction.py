"""Sequences that repeat themselves, and how much each head looks for what came after the last time.

A block of random words, no two of them equal, is laid end to end until the context is full. Where a word has been seen before,
the next word is known: it is what came after it then. A head that looks there is an induction head (Olsson et al., 2022).
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from attention_book.trained.train import train
from attention_book.trained.transformer import Transformer

WORDS, LENGTH, BATCH = 48, 40, 64  # word 0 begins every sequence
SHORTEST, LONGEST = 5, 19  # of a block; were all blocks equally long, to look back by a fixed distance would do
Curve = list[tuple[int, float, float, float]]


def sequences(count: int, generator: torch.Generator) -> Tensor:
    """Repeating sequences, shape ``(count, 40)``, each from a block of its own length."""
    blocks = torch.rand(count, WORDS - 1, generator=generator).argsort(dim=-1) + 1  # distinct words
    lengths = torch.randint(SHORTEST, LONGEST + 1, (count, 1), generator=generator)
    places = torch.arange(LENGTH - 1) % lengths  # (count, 39)
    return torch.cat([torch.zeros(count, 1, dtype=torch.long), blocks.gather(1, places)], dim=1)


def unseen_sequences(count: int = 256) -> Tensor:
    """Sequences that no training draws, ``(count, 40)``."""
    return sequences(count, torch.Generator().manual_seed(9999))


def answers(ids: Tensor) -> Tensor:
    """Where an induction head would look, ``(b, n, n)``: the places right after earlier copies of the query's word."""
    n = ids.shape[1]
    same = (ids[:, :, None] == ids[:, None, :]) & torch.ones(n, n, dtype=torch.bool).tril(-1)  # (b, i, earlier copy)
    after = torch.zeros_like(same)
    after[:, :, 1:] = same[:, :, :-1]
    return after


def new_model(seed: int, num_layers: int = 2, num_heads: int = 1) -> Transformer:
    """The model before training: attention alone, no token sees a later one."""
    return Transformer(WORDS, 64, num_heads, num_layers, LENGTH, causal=True, seed=seed)


@torch.no_grad()
def copying(model: Transformer, ids: Tensor) -> tuple[float, float]:
    """Loss and accuracy on the words that a reader could know, because the block has been seen once."""
    known = answers(ids).any(dim=-1)[:, :-1]
    scores, goal = model(ids)[:, :-1][known], ids[:, 1:][known]
    right = (scores.argmax(dim=-1) == goal).double().mean()
    return F.cross_entropy(scores, goal).item(), right.item()


@torch.no_grad()
def induction_scores(weights: Tensor, ids: Tensor) -> Tensor:
    """Mean weight that each head puts right after earlier copies, ``(layer, b, h, n, n)`` to ``(layer, h)``.

    Example:
        >>> import torch
        >>> from attention_book.trained.induction import answers, induction_scores
        >>> ids = torch.tensor([[0, 7, 5, 7, 5]])
        >>> by_hand = answers(ids).float()  # looks exactly there
        >>> induction_scores(by_hand[None, :, None], ids)
        tensor([[1.]])
    """
    there = answers(ids)  # (b, n, n)
    on_answers = (weights * there[:, None]).sum(dim=-1)  # (layer, b, h, n)
    return on_answers.transpose(2, 3)[:, there.any(dim=-1)].mean(dim=1)


@torch.no_grad()
def previous_scores(weights: Tensor) -> Tensor:
    """Mean weight that each head puts on the token just before, ``(layer, b, h, n, n)`` to ``(layer, h)``."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(1, 3))


def train_induction(seed: int, *, num_layers: int = 2, num_heads: int = 1, steps: int = 600) -> tuple[Transformer, Curve]:
    """Trains a fresh model to predict each next word, and watches.

    Returns:
        The model, and every twentieth step ``(step, copy loss, best induction score, best previous-token score)``.
    """
    generator = torch.Generator().manual_seed(seed)
    held = unseen_sequences(64)
    curve: Curve = []

    def loss(model: Transformer) -> Tensor:
        ids = sequences(BATCH, generator)
        return F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

    @torch.no_grad()
    def watch(step: int, model: Transformer) -> None:
        if step % 20 == 0:
            _, weights = model(held, need_weights=True)
            found = induction_scores(weights, held).max().item(), previous_scores(weights).max().item()
            curve.append((step, copying(model, held)[0], *found))

    model = train(new_model(seed, num_layers, num_heads), loss, steps=steps, watch=watch)
    watch(steps, model)
    return model, curve
