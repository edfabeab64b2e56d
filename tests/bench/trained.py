"""How long training takes, what keeping the weights saves the next build, and what keeping keys and values saves a model that writes."""

import os
import statistics
import tempfile
import time
from typing import Any

import torch

from attention_book.trained import cache
from attention_book.trained.generate import write
from attention_book.trained.induction import train_induction
from attention_book.trained.storyteller import new_model, train_storyteller
from attention_book.trained.transformer import Transformer
from attention_book.trained.who_is_it import train_who_is_it

TRAININGS = {"who is it": train_who_is_it, "induction": train_induction, "storyteller": train_storyteller}
LONG = 512  # words


def training(train: Any) -> tuple[float, float]:
    """Seconds to train the pages' model, and to read its weights where they are kept."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[cache.FOLDER] = folder
        try:
            taken = []
            for _ in range(2):
                start = time.perf_counter()
                cache.remembered(train, 0)
                taken.append(time.perf_counter() - start)
        finally:
            del os.environ[cache.FOLDER]
    return taken[0], taken[1]


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
    train_storyteller(0, steps=2)  # whatever torch sets up at its first steps
    times = {name: training(train) for name, train in TRAININGS.items()}
    return {
        **{f"training, {name}, s": trained for name, (trained, _) in times.items()},
        **{f"training over reading the kept weights, {name}": trained / read for name, (trained, read) in times.items()},
        f"recomputed over kept, a story of {story.sizes['context_length']} words": recomputed_over_kept(story, story.sizes["context_length"] - 1),
        f"recomputed over kept, {LONG} words": recomputed_over_kept(longer, LONG - 1, rounds=2),
    }
