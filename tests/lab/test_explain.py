"""One cell explained: every step's numbers are torch's, and its line of Python computes them."""

import contextlib
import io

import pytest
import torch

from attention_book import JOURNEY
from tests.lab.by_torch import draws_with_avx2, reference
from tests.lab.hostile import states

WEIGHT = ["query", "key", "products", "scores", "scaled", "masked", "exponential", "sum", "weights", "value", "part", "output"]
OUTPUT = {True: ["joined", "out_proj", "products", "output"], False: ["weights", "value", "part", "output"]}


def close(numbers, expected, size):
    """Within 5e-6 of numbers up to 1, and in proportion of larger ones: what float32 itself can tell apart."""
    told = torch.tensor([float(number) for number in numbers], dtype=torch.float64)
    expected = torch.as_tensor(expected, dtype=torch.float64).flatten()
    assert told.shape == expected.shape
    same = torch.equal(told.isneginf(), expected.isneginf())
    return same and bool(((told - expected).nan_to_num(nan=0.0).abs() <= 5e-6 * max(1.0, size)).all())


def namespace(program):
    """Every name of a program that has run."""
    names = {}
    with contextlib.redirect_stdout(io.StringIO()), torch.random.fork_rng(devices=[]), torch.no_grad():
        exec(compile(program, "program", "exec"), names)
    return names


def test_each_step_of_a_random_cell_is_what_its_line_of_python_gives(ask):
    given = list(states(240, seed=16))
    for state, steps, program in zip(given, ask("explain", given), ask("program", given), strict=True):
        names = namespace(program)
        size = names["scores"].abs().max().item() * max(1.0, names["scale"])
        with torch.no_grad():
            for step in steps:
                value = eval(step["python"], names)
                assert close(step["numbers"], value, size), (state, step, value)
                assert "undefined" not in step["sentence"]
                assert "NaN" not in step["sentence"]


@pytest.mark.skipif(not draws_with_avx2(), reason="torch draws other last bits on this processor; the test above covers the steps from its own draws")
def test_the_steps_of_a_random_cell_are_those_of_the_library(ask):
    given = list(states(240, seed=17))
    for state, steps in zip(given, ask("explain", given), strict=True):
        tokens = JOURNEY.tokens if state["example"] == "journey" else tuple(state["text"].split())
        own, trace = reference({**state, "tokens": tokens})
        head, row, column = state["head"], state["row"], state["column"]
        step = {each["name"]: each["numbers"] for each in steps}
        size = trace.scores.abs().max().item() * max(1.0, trace.scale)
        if state["view"] == "output":
            assert list(step) == ([*OUTPUT[True][:3], "bias", "output"] if "out_proj.bias" in own else OUTPUT["out_proj.weight" in own])
            assert close(step["output"], trace.output[row, column], size)
            if "joined" in step:
                assert close(step["joined"], (trace.weights @ trace.value).transpose(0, 1).flatten(1)[row], size)
            else:
                width = trace.value.shape[-1]
                assert close(step["weights"], trace.weights.view(-1, *trace.weights.shape[-2:])[column // width, row], size)
                assert close(step["value"], trace.value.view(-1, *trace.value.shape[-2:])[column // width, :, column % width], size)
            continue
        tensors = {name: getattr(trace, name) for name in ("query", "key", "value", "scores", "scaled", "masked", "weights")}
        part = {name: tensor[head] if tensor.dim() == 3 else tensor for name, tensor in tensors.items()}
        masked = part["masked"][row].double()
        exponentials = (masked - masked.max()).exp()
        expected = {
            "query": part["query"][row],
            "key": part["key"][column],
            "products": part["query"][row] * part["key"][column],
            "scores": part["scores"][row, column],
            "scaled": part["scaled"][row, column],
            "masked": part["masked"][row, column],
            "exponential": exponentials[column],
            "sum": exponentials.sum(),
            "weights": part["weights"][row, column],
            "value": part["value"][column],
            "part": part["weights"][row, column] * part["value"][column],
            "output": part["weights"][row] @ part["value"],
        }
        assert list(step) == WEIGHT == list(expected)
        for name, value in expected.items():
            assert close(step[name], value, size * (len(tokens) if name == "sum" else 1)), (state, name, step[name], value)


def test_the_sentences_name_the_tokens_the_scale_and_the_mask(ask):
    default = ask("default", [None])[0]
    act3 = {**default, "attention": "CausalAttention", "causal": True, "scale": True, "row": 1, "temperature": 2}
    seen, itself, hidden = ask("explain", [{**act3, "column": column} for column in range(3)])
    assert {step["name"]: step["sentence"] for step in itself}["masked"] == "“journey” may look at itself: nothing changes."
    said = {step["name"]: step["sentence"] for step in seen}
    assert said["scores"] == "Their sum is the score: how well “Your” answers “journey”."
    assert said["scaled"] == "The score is divided by the root of d_k = 2 and divided by the temperature 2, that is, multiplied by 0.3536."
    assert said["masked"] == "“Your” comes earlier than “journey”, so it may be seen: nothing changes."
    said = {step["name"]: step["sentence"] for step in hidden}
    assert said["masked"] == "“starts” comes later than “journey”, so it is hidden: minus infinity."
    assert said["exponential"] == "e to the power of minus infinity is 0."
    assert said["weights"].startswith("0.0000 divided by ")
    plain = {step["name"]: step["sentence"] for step in ask("explain", [{**default, "row": 1, "column": 0}])[0]}
    assert plain["scaled"] == "There is no scale: the score stays as it is."
    assert plain["masked"] == "There is no mask: every query may look at every key."


def test_a_cell_is_said_as_query_key_and_number(ask):
    default = ask("default", [None])[0]
    act3 = {**default, "attention": "CausalAttention", "causal": True, "scale": True}
    given = [
        {**default, "row": 1, "column": 2},
        {**default, "row": 1, "column": 0, "view": "scores"},
        {**act3, "row": 0, "column": 5},
        {**act3, "row": 0, "column": 5, "view": "masked"},
        {**act3, "row": 1, "column": 1, "view": "output"},
        {**default, "example": "text", "text": "a\u202eb \ud800", "d_model": 2, "row": 0, "column": 1, "view": "scaled"},
    ]
    said = ask("say", given)
    assert said[:5] == [
        "query journey, key starts, weight 0.2333",
        "query journey, key Your, score 0.9544",
        "query Your, key step, weight 0.0000, hidden: a later token",
        "query Your, key step, masked score minus infinity, hidden: a later token",
        "query journey, output 1, 0.0058",
    ]
    assert said[5].startswith("query a<U+202E>b, key <U+D800>, scaled score ")


def test_the_key_that_a_query_likes_most_is_the_largest_of_its_row(ask):
    given = list(states(60, seed=18))
    for state, answered in zip(given, ask("liked", given), strict=True):
        weights = ask("map", [{**state, "view": "weights"}])[0]
        weights = torch.tensor(weights["data"], dtype=torch.float64).view(-1, *weights["shape"][-2:])
        assert [[each["key"] for each in head] for head in answered] == [[row.index(max(row)) for row in head] for head in weights.tolist()]
        assert [[each["weight"] for each in head] for head in answered] == weights.max(dim=-1).values.tolist()
        assert all(abs(each["sum"] - 1) < 1e-6 for head in answered for each in head)


def test_of_two_equal_weights_the_earlier_key_is_named_as_argmax_does(ask):
    weights = {"shape": [2, 2, 3], "data": [0.25, 0.5, 0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 0, 0, 0.5, 0.5]}
    assert [[each["key"] for each in head] for head in ask("likedOf", [weights])[0]] == [[1, 2], [0, 1]]
