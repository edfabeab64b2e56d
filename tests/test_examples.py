"""The two running examples: what they hold, and that looking at them leaves no trace."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch

from attention_book import CAT, JOURNEY

NUMBERS = json.loads((Path(__file__).parent / "reference" / "act_numbers.json").read_text())
both = pytest.mark.parametrize("example", [JOURNEY, CAT], ids=["JOURNEY", "CAT"])


def test_the_journey_is_the_published_one():
    assert list(JOURNEY.tokens) == NUMBERS["tokens"]
    assert torch.equal(JOURNEY.embeddings, torch.tensor(NUMBERS["inputs"]))


def test_the_cat_is_what_torch_draws_from_seed_42():
    assert " ".join(CAT.tokens) == "The cat sat on the mat because it was tired"
    torch.manual_seed(42)
    assert torch.equal(CAT.embeddings, torch.randn(10, 64))


@both
def test_there_is_one_embedding_for_each_token(example):
    assert example.embeddings.shape[0] == len(example.tokens)
    assert example.embeddings.dtype == torch.float32
    assert not example.embeddings.requires_grad


@both
def test_the_embeddings_are_fresh_each_time(example):
    before = example.embeddings.clone()
    example.embeddings.zero_()
    assert torch.equal(example.embeddings, before)


@both
def test_looking_at_the_embeddings_leaves_the_random_state_alone(example):
    state = torch.get_rng_state()
    example.embeddings  # noqa: B018 (the look is the test)
    assert torch.equal(torch.get_rng_state(), state)


@both
def test_the_random_state_and_the_default_dtype_have_no_say(example):
    before = example.embeddings
    torch.manual_seed(7)
    torch.set_default_dtype(torch.float64)
    assert torch.equal(example.embeddings, before)
    assert example.embeddings.dtype == torch.float32


@both
def test_an_example_cannot_be_changed(example):
    with pytest.raises(dataclasses.FrozenInstanceError):
        example.tokens = ("other",)
