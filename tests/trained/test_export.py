"""The file for the browser: small, exact to float16, and enough to compute what torch computes."""

import json

import pytest
import torch

from attention_book.trained.ablate import without
from attention_book.trained.export import LARGEST, export, pack, reference_forward, reference_vectors, to_float16, unpack
from attention_book.trained.grammar import VOCABULARY
from attention_book.trained.transformer import Transformer
from attention_book.trained.who_is_it import answer, held_out_set, new_model, train_who_is_it


@pytest.fixture(scope="module")
def model():
    return train_who_is_it(2, steps=25)  # the norms' weights are no longer 1, nor their biases 0


@pytest.fixture(scope="module")
def content(model):
    text = export(model, seed=2)
    assert len(text) <= LARGEST
    return json.loads(text)


def test_the_weights_come_back_as_float16_holds_them(model, content):
    exact = to_float16(model).state_dict()
    assert content["weights"].keys() == exact.keys()
    for name, packed in content["weights"].items():
        assert torch.equal(unpack(packed), exact[name])
        assert torch.equal(unpack(packed), model.state_dict()[name].half().float())
    assert unpack(pack(torch.tensor([[1.5, -2.0], [0.25, 65504.0]]))).tolist() == [[1.5, -2.0], [0.25, 65504.0]]


def test_the_listed_operations_give_what_torch_gives(model, content):
    exact = to_float16(model)
    for each in held_out_set(2, count=6).sentences:
        _, probabilities, weights = answer(exact, each.tokens)
        mine, rows = reference_forward(content, each.tokens)
        torch.testing.assert_close(torch.tensor(mine), probabilities, rtol=0, atol=1e-5)
        torch.testing.assert_close(torch.tensor(rows), weights, rtol=0, atol=1e-5)
        mine, _ = reference_forward(content, each.tokens, off=[(0, 3), (1, 1)])
        torch.testing.assert_close(torch.tensor(mine), answer(without(exact, [(0, 3), (1, 1)]), each.tokens)[1], rtol=0, atol=1e-5)


def test_the_test_vectors_are_torchs_own_and_show_a_head_switched_off(model):
    vectors = reference_vectors(model, seed=2, count=10)
    assert len(vectors) == 10
    exact = to_float16(model)
    for each in vectors:
        n = len(each["tokens"])
        assert torch.tensor(each["weights"]).shape == (2, 4, n, n)
        assert each["probabilities"] == answer(exact, each["tokens"])[1].tolist()
        assert each["probabilities"] != each["probabilities without"]
        assert len(each["probabilities"]) == len(VOCABULARY)


def test_a_reader_can_build_every_sentence_from_the_file_and_no_word_is_missing(content):
    known = set(content["words"])
    for family in content["families"]:
        for pattern in family["patterns"]:
            for word in pattern.split():
                options = content["slots"].get(word, [word]) if word != "ADJECTIVE" else []
                assert set(options) <= known
        for meant in family["answers"].values():
            assert set(meant["adjectives"]) <= known
            assert all(meant["noun"] in pattern for pattern in family["patterns"])


def test_the_order_of_draws_in_the_docstring_gives_the_untrained_model(content):
    config = content["config"]
    words, d_model, n = config["words"], config["d_model"], config["context_length"]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config["seed"])
        torch.randn(words, d_model), torch.randn(n, d_model)
        drawn = {name: torch.randn(rows, d_model) * d_model**-0.5 for name, rows in (("embedding", words), ("positions", n))}
        for layer in range(config["num_layers"]):
            for name in ("W_query", "W_key", "W_value", "out_proj"):
                drawn[f"blocks.{layer}.attention.{name}"] = torch.nn.Linear(d_model, d_model, bias=False).weight
        drawn["unembedding"] = torch.nn.Linear(d_model, words, bias=False).weight
    state = new_model(config["seed"]).state_dict()
    for name, value in drawn.items():
        torch.testing.assert_close(value.detach(), state[f"{name}.weight"], rtol=0, atol=1e-7)
    assert len(drawn) + 6 == len(state)


def test_a_model_too_large_for_a_page_is_refused():
    large = Transformer(len(VOCABULARY), 96, 4, 2, 24, causal=False)
    with pytest.raises(ValueError, match="bytes but a page may load 150000"):
        export(large, seed=0)
