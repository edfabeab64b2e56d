"""The trace: every step by name, ending in exactly what the attention itself returns."""

import json
import math

import pytest
import torch
from torch import nn

from attention_book import (
    JOURNEY,
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v1,
    SelfAttention_v2,
    causal_mask,
    padding_mask,
    simple_attention,
    trace,
)
from tests import oracle
from tests.refusals import refused

B, H, N, D, D_IN, CONTEXT = 2, 3, 5, 7, 11, 13
STEPS = ["query", "key", "value", "scores", "scaled", "masked", "weights", "output"]

MAKERS = {
    "simple_attention": lambda: simple_attention,
    "SelfAttention_v1": lambda: SelfAttention_v1(D_IN, D),
    "SelfAttention_v2": lambda: SelfAttention_v2(D_IN, D, qkv_bias=True),
    "CausalAttention": lambda: CausalAttention(D_IN, D, CONTEXT, 0.5),
    "MultiHeadAttentionWrapper": lambda: MultiHeadAttentionWrapper(D_IN, D, CONTEXT, 0.5, H),
    "MultiHeadAttention": lambda: MultiHeadAttention(D_IN, H * D, CONTEXT, 0.5, H),
    "MultiHeadAttention, fused": lambda: MultiHeadAttention(D_IN, H * D, CONTEXT, 0.5, H, fused=True),
    "MultiHeadAttention, not causal": lambda: MultiHeadAttention(D_IN, H * D, CONTEXT, 0.5, H, causal=False),
}
MASKED = [name for name in MAKERS if "elf" not in name and "simple" not in name]
EACH = pytest.mark.parametrize("name", MAKERS)
DTYPES = pytest.mark.parametrize("dtype", oracle.TOLERANCE, ids=str)


def make(name, dtype=torch.float64):
    """An attention in evaluation, the same each time."""
    torch.manual_seed(0)
    attention = MAKERS[name]()
    return attention.to(dtype).eval() if isinstance(attention, nn.Module) else attention


def own(attention, x, **options):
    """What the attention itself returns: output and weights."""
    return attention(x, need_weights=True, **options) if isinstance(attention, nn.Module) else attention(x)


def tokens(*shape, dtype=torch.float64):
    return oracle.spread(*shape, D_IN, dtype=dtype)


def assert_close(actual, expected, dtype=torch.float64):
    torch.testing.assert_close(actual.double(), expected.double(), rtol=0, atol=4 * oracle.TOLERANCE[dtype])


def strict(text):
    """Parses JSON and refuses what only Python takes for JSON."""

    def refuse(token):
        raise ValueError(f"{token} is no JSON")

    return json.loads(text, parse_constant=refuse)


def restored(plain):
    """A tensor out of its JSON."""
    return torch.tensor([float(v) for v in plain["data"]], dtype=torch.float64).reshape(plain["shape"])


@EACH
@DTYPES
@pytest.mark.parametrize("batch", [(), (B,)], ids=["one sample", "a batch"])
def test_it_ends_in_what_the_attention_returns_and_each_step_follows_from_the_one_before(name, dtype, batch):
    attention, x = make(name, dtype), tokens(*batch, N, dtype=dtype)
    steps = trace(attention, x)
    output, weights = own(attention, x)
    assert_close(steps.output, output, dtype)
    assert_close(steps.weights, weights, dtype)
    assert steps.output.shape == output.shape
    assert steps.weights.shape == weights.shape
    assert steps.output.dtype == steps.weights.dtype == dtype
    expected_output, expected_weights = oracle.attention(steps.query, steps.key, steps.value, scale=steps.scale, allowed=steps.masked.isfinite())
    assert_close(steps.weights, expected_weights, dtype)
    mine = expected_output.to(dtype)
    assert_close(attention.merge(mine) if hasattr(attention, "merge") else mine, output, dtype)
    scores = torch.einsum("...id,...jd->...ij", steps.query.double(), steps.key.double())
    assert_close(steps.scores, scores, dtype if dtype == torch.float64 else torch.float32)
    assert torch.equal(steps.scaled, steps.scores * steps.scale)
    assert steps.scale == (1.0 if name == "simple_attention" else 1 / math.sqrt(D))
    hidden = ~causal_mask(N) if name in MASKED and "not causal" not in name else torch.zeros(N, N, dtype=torch.bool)
    assert torch.equal(steps.masked, steps.scaled.masked_fill(hidden, -math.inf))


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("kind", ["boolean", "-inf", "finfo.min", "a bias"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16], ids=str)
def test_with_a_mask_it_still_ends_in_what_the_attention_returns(name, kind, dtype):
    attention, x = make(name, dtype), tokens(B, N, dtype=dtype)
    allowed = padding_mask(torch.tensor([0, 3]), N).expand(B, N, N)
    low = torch.finfo(dtype).min if kind == "finfo.min" else -math.inf
    bias = oracle.spread(B, N, N, dtype=dtype) if kind == "a bias" else torch.zeros(B, N, N, dtype=dtype)
    mask = allowed if kind == "boolean" else bias.masked_fill(~allowed, low)
    steps = trace(attention, x, mask=mask)
    output, weights = own(attention, x, mask=mask)
    assert_close(steps.output, output, dtype)
    assert_close(steps.weights, weights, dtype)
    assert_close(steps.output, attention(x, mask=mask), dtype)
    assert not steps.weights[0].any(), "a sample of padding alone"
    assert steps.masked[0].isneginf().all()
    assert steps.scores.isfinite().all()
    seen = steps.masked.isfinite()
    laid = (bias.unsqueeze(1) if steps.scaled.dim() == 4 else bias).expand(steps.scaled.shape)
    assert_close(steps.masked[seen], (steps.scaled.double() + laid.double())[seen], dtype)


@EACH
def test_the_order_of_the_steps_is_the_order_of_the_computation(name):
    steps = trace(make(name), tokens(N), tokens="abcde")
    assert list(vars(steps)) == ["tokens", *STEPS, "scale"]
    assert steps.tokens == ("a", "b", "c", "d", "e")


@EACH
def test_nothing_carries_a_gradient_and_the_module_stays_as_it_was(name):
    attention, x = make(name), tokens(B, N).requires_grad_()
    modes = [True, False] if isinstance(attention, nn.Module) else [None]
    for training in modes:
        if training is not None:
            attention.train(training)
        state, kept = torch.get_rng_state(), x.detach().clone()
        held = [p.detach().clone() for p in attention.parameters()] if training is not None else []
        steps = trace(attention, x)
        assert not any(getattr(steps, step).requires_grad for step in STEPS)
        assert torch.is_grad_enabled()
        assert torch.equal(torch.get_rng_state(), state), "dropout is off"
        assert torch.equal(x, kept)
        if training is not None:
            assert all(part.training is training for part in attention.modules())
            assert all(map(torch.equal, attention.parameters(), held))
            assert torch.equal(steps.output, trace(attention.eval(), x).output), "the same in training and in evaluation"


def test_a_trace_is_the_callers_own_to_change():
    x = tokens(N)
    steps = trace(simple_attention, x)
    steps.query.zero_()
    assert x.any()


@EACH
@pytest.mark.parametrize("scale", [1.0, 0.25, 2])
def test_another_scale_takes_the_place_of_its_own(name, scale):
    steps = trace(make(name), tokens(N), scale=scale)
    assert steps.scale == scale
    assert torch.equal(steps.scaled, steps.scores * scale)
    seen = steps.masked.isfinite()
    assert_close(steps.weights, oracle.attention(steps.query, steps.key, steps.value, scale=scale, allowed=seen)[1])


@EACH
@DTYPES
def test_its_json_is_strict_and_gives_every_number_back(name, dtype):
    steps = trace(make(name, dtype), tokens(B, N, dtype=dtype), tokens=["$x$", "_", "👩‍🚀", "שלום", '"\\'])
    plain = strict(steps.to_json())
    assert list(plain) == ["tokens", *STEPS, "scale"]
    assert plain["tokens"] == ["$x$", "_", "👩‍🚀", "שלום", '"\\']
    assert plain["scale"] == steps.scale
    for step in STEPS:
        assert torch.equal(restored(plain[step]), getattr(steps, step).double()), step
    assert steps.to_json() == trace(make(name, dtype), tokens(B, N, dtype=dtype), tokens=steps.tokens).to_json()
    assert "\n" not in steps.to_json()


def test_infinities_and_nan_stand_as_words_in_its_json():
    steps = trace(make("CausalAttention"), tokens(2))
    assert strict(steps.to_json())["masked"]["data"][1] == "-inf"
    spoilt = trace(simple_attention, torch.tensor([[math.nan, 1.0], [math.inf, 1.0]]))
    words = {v for step in STEPS for v in strict(spoilt.to_json())[step]["data"] if isinstance(v, str)}
    assert words == {"nan", "inf"}


@EACH
def test_no_tokens_leave_an_empty_trace(name):
    steps = trace(make(name), tokens(0), tokens=[])
    assert steps.weights.shape[-2:] == (0, 0)
    assert strict(steps.to_json())["weights"]["data"] == []


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_scores_over_65504_are_shown_as_numbers(dtype):
    x = torch.full((3, 5), 200.0, dtype=dtype)
    steps = trace(simple_attention, x)
    assert steps.scores.unique().tolist() == [200000.0]
    assert strict(steps.to_json())["scores"]["data"] == [200000.0] * 9


def test_a_mask_per_head_is_shown_head_by_head():
    attention, x = make("MultiHeadAttention"), tokens(N)
    mask = oracle.spread(H, N, N) > 0
    steps = trace(attention, x, mask=mask)
    assert torch.equal(steps.masked.isfinite(), mask & causal_mask(N))
    assert_close(steps.weights, attention(x, mask=mask, need_weights=True)[1])


def test_what_cannot_be_traced_is_refused_in_a_sentence():
    x, tensor = JOURNEY.embeddings, torch.ones(6, 6, dtype=torch.bool)
    whole, module = torch.zeros(6, 3).long(), SelfAttention_v2(3, 2)
    causal, long, wide = CausalAttention(3, 2, 6, 0.0), torch.zeros(7, 3), torch.zeros(6, 5)
    small, other = torch.ones(3, 3, dtype=torch.bool), nn.Linear(3, 2)
    with refused(ValueError, 2, 6):
        trace(simple_attention, x, tokens=["Your", "journey"])
    with refused(TypeError, "simple_attention", "mask"):
        trace(simple_attention, x, mask=tensor)
    with refused(TypeError, "SelfAttention_v2", "mask"):
        trace(module, x, mask=tensor)
    with refused(TypeError, "softmax"):
        trace(torch.softmax, x)
    with refused(TypeError, "Linear"):
        trace(other, x)
    with refused(TypeError, "torch.int64"):
        trace(simple_attention, whole)
    with refused(ValueError, "scale", "inf"):
        trace(simple_attention, x, scale=math.inf)
    with refused(ValueError, 7, 6):
        trace(causal, long)
    with refused(ValueError, 5, 3):
        trace(module, wide)
    with refused(ValueError, "(3, 3)", "(6, 6)"):
        trace(causal, x, mask=small)
