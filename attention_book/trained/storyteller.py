"""A model that learns to write stories by predicting each next word, and the head that remembers the thing."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from attention_book.trained.generate import write
from attention_book.trained.stories import BEGIN, IDS, LENGTH, VOCABULARY, stories, thing_places
from attention_book.trained.train import train
from attention_book.trained.transformer import Transformer

STORIES, BATCH = 4000, 32
NO_WORD = -100  # what cross_entropy passes over


def new_model(seed: int) -> Transformer:
    """The model before training."""
    return Transformer(len(VOCABULARY), 64, 4, 2, LENGTH, causal=True, mlp=128, seed=seed)


def encode(told: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
    """What the model reads and what it should say next, both ``(b, n)``; after a story there is nothing to say."""
    rows = [[IDS[word] for word in (BEGIN, *tokens, BEGIN)] for tokens in told]
    n = max(len(row) for row in rows)
    ids = torch.tensor([row + [0] * (n - len(row)) for row in rows])
    goal = torch.tensor([row[1:] + [NO_WORD] * (n - len(row)) for row in rows])
    return ids[:, :-1], goal


def train_storyteller(seed: int, *, steps: int = 1000) -> Transformer:
    """Trains a fresh model on 4000 stories."""
    ids, goal = encode(stories(STORIES, seed=seed + 1000))
    generator = torch.Generator().manual_seed(seed)

    def loss(model: Transformer) -> Tensor:
        rows = torch.randint(len(ids), (BATCH,), generator=generator)
        return F.cross_entropy(model(ids[rows]).flatten(0, 1), goal[rows].flatten(), ignore_index=NO_WORD)

    return train(new_model(seed), loss, steps=steps)


def unseen_stories(count: int, seed: int) -> list[list[str]]:
    """Stories of the same grammar that the training with this seed does not hold."""
    known = {tuple(told) for told in stories(STORIES, seed=seed + 1000)}
    return [told for told in stories(2 * count, seed=seed + 5000) if tuple(told) not in known][:count]


def tell(model: Transformer, *, keep: bool = True, temperature: float = 0.8, seed: int = 0) -> list[str]:
    """One story, without the signs around it."""
    begin = torch.tensor([IDS[BEGIN]])
    written = write(model, begin, LENGTH - 1, keep=keep, temperature=temperature, seed=seed, stop=IDS[BEGIN])
    return [VOCABULARY[word] for word in written.ids.tolist() if word != IDS[BEGIN]]


@torch.no_grad()
def thing_accuracy(model: Transformer, told: Sequence[Sequence[str]]) -> float:
    """How often the model says the right thing where a story names it again."""
    ids, goal = encode(told)
    again = torch.tensor([thing_places(tokens)[1] for tokens in told])  # the word before it, as a sign stands in front
    rows = torch.arange(len(told))
    return (model(ids)[rows, again].argmax(dim=-1) == goal[rows, again]).double().mean().item()


@torch.no_grad()
def thing_looks(model: Transformer, told: Sequence[Sequence[str]]) -> Tensor:
    """Mean weight on the thing's first mention from the word before its second, ``(layer, h)``."""
    ids, _ = encode(told)
    _, weights = model(ids, need_weights=True)  # (layer, b, h, n, n)
    first, again = torch.tensor([thing_places(tokens) for tokens in told]).T
    rows = torch.arange(len(told))
    return weights.permute(1, 3, 4, 0, 2)[rows, again, first + 1].mean(dim=0)
