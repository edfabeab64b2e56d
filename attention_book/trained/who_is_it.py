"""Who is "it"? A small model learns to name the noun; nothing tells its attention where to look."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor
from torch.nn import functional as F

from attention_book.trained.grammar import CONTEXT_LENGTH, IDS, VOCABULARY, Puzzle, encode, held_out_pairs, puzzles
from attention_book.trained.train import train
from attention_book.trained.transformer import Transformer

SENTENCES, TEST_SENTENCES, BATCH = 20_000, 2000, 128


@dataclass(frozen=True)
class Puzzles:
    """Puzzles as tensors, one row each.

    Attributes:
        sentences: the puzzles themselves.
        ids: word numbers, ``(b, n)``.
        it: position of "it", ``(b,)``.
        answer: number of the word that it stands for, ``(b,)``.
    """

    sentences: tuple[Puzzle, ...]
    ids: Tensor
    it: Tensor
    answer: Tensor

    @classmethod
    def of(cls, sentences: Sequence[Puzzle]) -> "Puzzles":
        """The tensors of these puzzles."""
        ids = encode([each.tokens for each in sentences])
        it = torch.tensor([each.it for each in sentences])
        answer = torch.tensor([IDS[each.tokens[each.right]] for each in sentences])
        return cls(tuple(sentences), ids, it, answer)


def new_model(seed: int, num_layers: int = 2) -> Transformer:
    """The model before training: attention alone, every token sees every other."""
    return Transformer(len(VOCABULARY), 64, 4, num_layers, CONTEXT_LENGTH, causal=False, seed=seed)


def training_set(seed: int, *, mixed: bool = True) -> Puzzles:
    """20 000 sentences, none of whose answers and adjectives is a held-out pair."""
    drawn = puzzles(seed + 1000, held_out=held_out_pairs(seed), test=False, mixed=mixed)
    return Puzzles.of(list(islice(drawn, SENTENCES)))


def held_out_set(seed: int, *, mixed: bool = True, count: int = TEST_SENTENCES) -> Puzzles:
    """Sentences whose answer and adjective never stood together in training."""
    drawn = puzzles(seed + 2000, held_out=held_out_pairs(seed), test=True, mixed=mixed)
    return Puzzles.of(list(islice(drawn, count)))


def scores_at_it(model: Transformer, ids: Tensor, it: Tensor) -> Tensor:
    """Scores for every word at the place of "it", ``(b, words)``."""
    seen = model.read(ids, _visible(ids))  # (b, n, d_model)
    return model.unembedding(seen[torch.arange(len(ids)), it])


def train_who_is_it(
    seed: int, *, num_layers: int = 2, mixed: bool = True, steps: int = 1500, head_penalty: float = 0.03
) -> Transformer:
    """Trains a fresh model to name the noun at the place of "it"; the referent is its only label."""
    model, data = new_model(seed, num_layers), training_set(seed, mixed=mixed)
    generator = torch.Generator().manual_seed(seed)
    length = (data.ids != 0).sum(dim=1)

    def loss(model: Transformer) -> Tensor:
        # All sentences of a batch are equally long, so that no time goes into padding; each sentence is equally likely.
        n = length[torch.randint(len(length), (1,), generator=generator)]
        same = (length == n).nonzero()[:, 0]
        rows = same[torch.randint(len(same), (BATCH,), generator=generator)]
        return F.cross_entropy(scores_at_it(model, data.ids[rows, :n], data.it[rows]), data.answer[rows])

    return train(model, loss, steps=steps, head_penalty=head_penalty)


@torch.no_grad()
def accuracy(model: Transformer, test: Puzzles) -> float:
    """How often the right noun gets the highest score, among all words."""
    return (scores_at_it(model, test.ids, test.it).argmax(dim=-1) == test.answer).double().mean().item()


@torch.no_grad()
def answer(model: Transformer, tokens: Sequence[str]) -> tuple[str, Tensor, Tensor]:
    """The noun that the model names, every word's probability ``(words,)``, and the weights ``(layer, h, n, n)``."""
    scores, weights = model(encode([tokens]), need_weights=True)
    probabilities = scores[0, list(tokens).index("it")].softmax(dim=-1)
    return VOCABULARY[int(probabilities.argmax())], probabilities, weights[:, 0]


@dataclass(frozen=True)
class Looks:
    """Where the heads look from "it", each of shape ``(layer, h)``.

    Attributes:
        right: mean weight on the right noun.
        wrong: mean weight on the other noun.
        aside: mean weight on the noun of the sentence beside it, where there is one.
        adjective: mean weight on the adjective.
        pick: share of sentences in which the right noun gets more than each other noun.
    """

    right: Tensor
    wrong: Tensor
    aside: Tensor
    adjective: Tensor
    pick: Tensor


@torch.no_grad()
def looks(model: Transformer, test: Puzzles) -> Looks:
    """Measures where every head looks from "it"."""
    _, weights = model(test.ids, mask=_visible(test.ids), need_weights=True)  # (layer, b, h, n, n)
    rows = torch.arange(len(test.ids))
    seen = weights.permute(1, 3, 4, 0, 2)[rows, test.it]  # (b, n, layer, h)

    def on(positions: list[int]) -> Tensor:
        return seen[rows, torch.tensor(positions)]  # (b, layer, h)

    right, wrong = on([each.right for each in test.sentences]), on([each.wrong for each in test.sentences])
    has_aside = torch.tensor([each.aside is not None for each in test.sentences])
    aside = on([each.aside or 0 for each in test.sentences]) * has_aside[:, None, None]
    pick = (right > wrong) & (right > aside)
    return Looks(
        right.mean(dim=0),
        wrong.mean(dim=0),
        aside[has_aside].mean(dim=0),
        on([each.adjective for each in test.sentences]).mean(dim=0),
        pick.double().mean(dim=0),
    )


def _visible(ids: Tensor) -> Tensor | None:
    """Padding is hidden from every query, ``(b, n, n)``; ``None`` where there is none."""
    return (ids != 0)[:, None, :].expand(-1, ids.shape[1], -1) if (ids == 0).any() else None
