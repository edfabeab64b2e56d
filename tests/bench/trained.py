"""How long training takes, and what keeping keys and values saves when a model writes."""

import statistics
import time
from typing import Any

import torch

from attention_book.trained.generate import write
from attention_book.trained.induction import train_induction
from attention_book.trained.storyteller import new_model, train_storyteller
from attention_book.trained.transformer import Transformer
from attention_book.trained.who_is_it import train_who_is_it

STEPS = 60
TRAININGS = {"who is it": train_who_is_it, "induction": train_induction, "storyteller": train_storyteller}
LONG = 512  # words


def per_step(train: Any) -> float:
    """Seconds of a training step, what comes before the first step taken off."""
    taken = []
    for steps in (1, STEPS + 1):
        start = time.perf_counter()
        train(0, steps=steps)
        taken.append(time.perf_counter() - start)
    return (taken[1] - taken[0]) / STEPS


def recomputed_over_kept(model: Transformer, count: int, rounds: int = 5) -> float:
    """Time without the cache over time with it, for the same words; the two take turns."""
    begin = torch.tensor([0])
    taken: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(rounds):
        for keep, times in taken.items():
            start = time.perf_counter()
            write(model, begin, count, keep=keep)
            times.append(time.perf_counter() - start)
    return statistics.median(taken[False]) / statistics.median(taken[True])


def measure() -> dict[str, Any]:
    story = new_model(0)
    longer = Transformer(story.sizes["words"], 64, 4, 2, LONG, causal=True, mlp=128)
    return {
        **{f"training step, {name}, ms": 1000 * per_step(train) for name, train in TRAININGS.items()},
        f"recomputed over kept, a story of {story.sizes['context_length']} words": recomputed_over_kept(story, story.sizes["context_length"] - 1),
        f"recomputed over kept, {LONG} words": recomputed_over_kept(longer, LONG - 1, rounds=2),
    }
