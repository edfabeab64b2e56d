"""Writing from the earlier to the later word, with the keys and values of earlier words kept or computed again."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_book.functional import scaled_dot_product_attention
from attention_book.trained.transformer import Transformer

Kept = list[tuple[Tensor, Tensor]]  # each layer's keys and values, both (b, h, n, d)


@dataclass(frozen=True)
class Written:
    """What a model wrote, and how.

    Attributes:
        ids: word numbers, ``(n,)``, the beginning included.
        scores: each new word's scores for all words, ``(new, words)``.
        rows: where each new word's predecessor looked when it chose it: one tensor a word, ``(layer, h, earlier)``.
    """

    ids: Tensor
    scores: Tensor
    rows: tuple[Tensor, ...]


@torch.no_grad()
def next_scores(model: Transformer, ids: Tensor, kept: Kept | None = None) -> tuple[Tensor, Tensor, Kept]:
    """Reads ``ids`` of shape ``(b, n)``, which follow the words whose keys and values are ``kept``.

    Returns:
        Scores for the next word ``(b, words)``, the last word's weights ``(layer, b, h, earlier)``, and all keys and
        values so far.

    Raises:
        ValueError: there are several new words after kept ones; they would see one another.
    """
    if kept and ids.shape[1] != 1:
        raise ValueError(f"{ids.shape[1]} new words follow kept ones; give one at a time")
    earlier = kept[0][0].shape[-2] if kept else 0
    x, now, rows = model.embed(ids, start=earlier), [], []
    for layer, block in enumerate(model.each_block()):
        read, attention = block.norm(x), block.attention
        query, key, value = attention.project(read)  # (b, h, new, d)
        if kept:
            key, value = torch.cat([kept[layer][0], key], dim=-2), torch.cat([kept[layer][1], value], dim=-2)
        # A word that comes last may look at all others, so it needs no mask.
        mask = None if kept else attention.visible(read)
        output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
        x = block.add_mlp(x + attention.merge(output))
        now.append((key, value))
        rows.append(weights[:, :, -1])
    return model.unembedding(model.norm(x[:, -1])), torch.stack(rows), now


def write(
    model: Transformer, ids: Tensor, count: int, *, keep: bool, temperature: float = 0.0, seed: int = 0, stop: int | None = None
) -> Written:
    """Writes up to ``count`` words after ``ids`` of shape ``(n,)``.

    Args:
        model: a causal model.
        ids: the beginning.
        count: how many words at most.
        keep: whether keys and values of earlier words are kept; the words are the same.
        temperature: 0 takes the word with the highest score; above, words are drawn, the more freely the higher it is.
        seed: of the generator that draws.
        stop: a word that ends the writing.

    Raises:
        ValueError: the model's context is too short for so many words.
    """
    room = model.positions.num_embeddings
    if len(ids) + count > room:
        raise ValueError(f"{len(ids)} words and {count} new ones make {len(ids) + count}, but the model has room for {room}")
    generator = torch.Generator().manual_seed(seed)
    kept: Kept | None = None
    new, all_scores, rows = ids[None], [], []
    for _ in range(count):
        scores, row, now = next_scores(model, new, kept)
        chosen = _choose(scores[0], temperature, generator)
        ids = torch.cat([ids, chosen])
        all_scores.append(scores[0])
        rows.append(row[:, 0])
        if stop is not None and int(chosen) == stop:
            break
        kept, new = (now, chosen[None]) if keep else (None, ids[None])
    return Written(ids, torch.stack(all_scores), tuple(rows))


def _choose(scores: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    if not temperature:
        return scores.argmax().view(1)
    return torch.multinomial((scores / temperature).softmax(dim=-1), 1, generator=generator)
