"""The pins: programs that give what they say, JSON that gives every bit back, and counts that count."""

import json
import math
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attention_book.lab import pins as pinning
from attention_book.lab.pins import DRAWS, PINS, numbers_in, pins, plain, shortest, tolerances

ROOT = Path(__file__).parent.parent.parent
PUBLISHED = json.loads((ROOT / "tests/reference/act_numbers.json").read_text("utf-8"))["printed"]


@pytest.fixture(scope="module")
def pinned():
    return json.loads(json.dumps(pins(), allow_nan=False))


def restored(tensor):
    return torch.tensor([float(number) for number in tensor["data"]]).reshape(tensor["shape"])


def test_the_outputs_are_the_published_ones(pinned):
    traces = {trace["name"]: restored(trace["steps"]["output"]) for trace in pinned["traces"]}
    for name, section in {
        "Weight matrices": "3.4.2_SelfAttention_v1_seed123",
        "Linear layers": "3.4.2_SelfAttention_v2_seed789",
        "Causal attention": "3.5.3_CausalAttention_seed123",
        "Two heads, stacked": "3.6.1_MultiHeadAttentionWrapper_seed123",
        "Two heads, split": "3.6.2_MultiHeadAttention_seed123",
    }.items():
        published = torch.tensor(PUBLISHED[section].get("v_item0", PUBLISHED[section].get("v")))
        assert torch.allclose(traces[name], published, rtol=0, atol=5.1e-5), name


@pytest.mark.parametrize("number", range(len(PINS)), ids=[pin.name for pin in PINS])
def test_the_lines_of_a_pin_give_its_numbers_in_a_fresh_interpreter(pinned, number):
    pin, trace = PINS[number], pinned["traces"][number]
    program = "\n".join(["import torch", "from attention_book import *", *pin.lines, "print(steps.to_json())"])
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    told = json.loads(ran.stdout)
    assert trace["lines"] == list(pin.lines)
    assert (told["tokens"], told["scale"]) == (trace["tokens"], trace["scale"])
    for step in pinning.STEPS:
        assert torch.allclose(restored(told[step]), restored(trace["steps"][step]), rtol=0, atol=1e-6), step


def test_each_draw_is_what_its_line_gives_after_the_ones_before(pinned):
    from torch import nn

    for sequence in pinned["draws"]:
        torch.manual_seed(int(sequence["seed"]))
        assert [step["line"] for step in sequence["steps"]] == [line for line, _ in DRAWS]
        for step in sequence["steps"]:
            drawn = eval(step["line"], {"torch": torch, "nn": nn})
            named = dict(drawn.named_parameters()) if isinstance(drawn, nn.Module) else {"drawn": drawn}
            assert list(named) == list(step["tensors"])
            for name, tensor in named.items():
                assert torch.equal(restored(step["tensors"][name]), tensor.detach()), step["line"]


def test_a_tensor_that_an_earlier_pin_drew_is_not_written_twice(pinned):
    drawn = {trace["name"]: list(trace["drawn"]) for trace in pinned["traces"]}
    assert drawn["The cat, one head"] == ["x", "W_query.weight", "W_key.weight", "W_value.weight"]
    assert drawn["The cat, four heads"] == ["out_proj.weight"]
    assert drawn["The cat, causal"] == []
    assert drawn["Simple attention"] == ["x"]
    assert drawn["Causal attention"] == ["W_query.weight", "W_key.weight", "W_value.weight"]


@pytest.mark.parametrize("number", [0.1, -0.0, 1 / 3, 1e-45, 3.4028234663852886e38, 16777217.0, 5e-6, -2.5, 1.1754943508222875e-38])
def test_a_number_is_written_as_the_shortest_decimal_that_gives_its_bits(number):
    bits = struct.pack("<f", number)
    (rounded,) = struct.unpack("<f", bits)
    written = shortest(rounded)
    assert struct.pack("<f", written) == bits
    assert len(repr(written)) <= len(repr(rounded))


def test_infinity_is_written_as_a_word():
    assert plain(torch.tensor([[-math.inf, 0.1]])) == {"shape": [1, 2], "data": ["-inf", 0.1]}


def test_numbers_are_counted_wherever_they_stand(pinned):
    assert numbers_in({"a": {"shape": [2], "data": [1, 2]}, "b": [{"c": {"shape": [1], "data": [3]}}], "d": "text", "e": 7}) == 3
    assert numbers_in(pinned) == numbers_in(pinned["draws"]) + numbers_in(pinned["traces"]) > 30_000


def test_pinning_leaves_the_random_state_as_it_was():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    pins()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(("capability", "expected"), [("AVX2", (0.0, 5e-6)), ("AVX512", (0.0, 5e-6)), ("DEFAULT", (3e-6, 1e-4)), ("SVE256", (3e-6, 1e-4))])
def test_a_processor_without_avx2_is_granted_other_last_bits(monkeypatch, capability, expected):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    assert tuple(tolerances().values()) == expected
