"""The modules, against float64 loops over their own weights, PyTorch's op and PyTorch's module."""

import copy
import io
import math
import pickle
import typing
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from attention_book import (
    JOURNEY,
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v1,
    SelfAttention_v2,
    causal_mask,
    padding_mask,
)
from tests import oracle
from tests.refusals import refused

# Primes, all different, so that a swapped axis cannot pass: batch 2, heads 3, tokens 5, width per head 7, width in 11.
B, H, N, D, D_IN, CONTEXT = 2, 3, 5, 7, 11, 13

MAKERS = {
    "SelfAttention_v1": lambda: SelfAttention_v1(D_IN, D),
    "SelfAttention_v2": lambda: SelfAttention_v2(D_IN, D),
    "SelfAttention_v2, biases": lambda: SelfAttention_v2(D_IN, D, qkv_bias=True),
    "CausalAttention": lambda: CausalAttention(D_IN, D, CONTEXT, 0.0),
    "CausalAttention, biases": lambda: CausalAttention(D_IN, D, CONTEXT, 0.0, qkv_bias=True),
    "MultiHeadAttentionWrapper": lambda: MultiHeadAttentionWrapper(D_IN, D, CONTEXT, 0.0, H),
    "MultiHeadAttention": lambda: MultiHeadAttention(D_IN, H * D, CONTEXT, 0.0, H),
    "MultiHeadAttention, biases": lambda: MultiHeadAttention(D_IN, H * D, CONTEXT, 0.0, H, qkv_bias=True),
    "MultiHeadAttention, not causal": lambda: MultiHeadAttention(D_IN, H * D, CONTEXT, 0.0, H, causal=False),
    "MultiHeadAttention, no out_bias": lambda: MultiHeadAttention(D_IN, H * D, CONTEXT, 0.0, H, out_bias=False),
    "MultiHeadAttention, fused": lambda: MultiHeadAttention(D_IN, H * D, CONTEXT, 0.0, H, fused=True),
    "MultiHeadAttention, fused, not causal": lambda: MultiHeadAttention(D_IN, H * D, CONTEXT, 0.0, H, causal=False, fused=True),
}
CORE = [name for name in MAKERS if "bias" not in name and name != "MultiHeadAttention, not causal"]
CAUSAL = [name for name in CORE if "Self" not in name and "not causal" not in name]
MULTI = [name for name in CORE if "MultiHeadAttention" in name]
MASKED = [name for name in CORE if "Self" not in name]
SPLIT = [name for name in MULTI if "Wrapper" not in name]

DTYPES = pytest.mark.parametrize("dtype", oracle.TOLERANCE, ids=str)
QUICK = settings(max_examples=20, derandomize=True, deadline=None, database=None)
# torch has no batching rule for its fused op on CPU, says so once, and loops: right, if slower.
LOOPS = pytest.mark.filterwarnings("ignore:There is a performance drop because we have not yet implemented")


def modules(names=tuple(CORE)):
    """Runs a test for each module of these names."""
    return pytest.mark.parametrize("name", names)


def make(name, dtype=torch.float64):
    """A module with the same weights each time, wide enough apart to tell its mistakes."""
    torch.manual_seed(0)
    module = MAKERS[name]().to(dtype)
    with torch.no_grad():
        for p, parameter in enumerate(module.parameters()):
            parameter.copy_(oracle.spread(*parameter.shape, phase=1.9 * p) * 0.5)
    return module


def tokens(*shape, dtype=torch.float64):
    """Embeddings; every item of a batch is different."""
    return oracle.spread(*shape, D_IN, phase=0.3, dtype=dtype)


def expected(module, name, x, allowed=None, bias=None):
    """Output and weights by the loops."""
    return oracle.module(module, x, causal="Self" not in name and "not causal" not in name, allowed=allowed, bias=bias)


def assert_close(actual, reference, dtype=torch.float64, factor=4):
    """Equal within what the dtype can hold after two layers."""
    assert actual.dtype == dtype
    torch.testing.assert_close(actual.double(), reference.double(), rtol=0, atol=factor * oracle.TOLERANCE[dtype])


# Value by value


@modules(MAKERS)
@DTYPES
@pytest.mark.parametrize("batch", [(), (B,)], ids=["one sample", "a batch"])
def test_output_and_weights_equal_the_float64_loops(name, dtype, batch):
    module, x = make(name, dtype), tokens(*batch, N, dtype=dtype)
    output, weights = module(x, need_weights=True)
    expected_output, expected_weights = expected(module, name, x)
    assert output.shape == expected_output.shape
    assert weights.shape == expected_weights.shape
    assert_close(output, expected_output, dtype)
    assert_close(weights, expected_weights, dtype)
    assert_close(module(x), output, dtype)


# https://github.com/pytorch/pytorch/issues/34537 (A25)
@modules(MULTI)
def test_weights_come_per_head_and_asking_for_them_changes_no_output(name):
    module, x = make(name), tokens(B, N)
    output, weights = module(x, need_weights=True)
    assert weights.shape == (B, H, N, N)
    assert_close(weights.sum(dim=-1), torch.ones(B, H, N))
    assert_close(module(x), output)
    averaged = weights.mean(dim=1, keepdim=True)
    assert (averaged - weights).abs().max() > 0.05, "an average over the heads must show here"


# https://github.com/om-ai-lab/OmDet/issues/19 (A21)
@pytest.mark.parametrize("n", [256, 257, 523])
def test_a_long_sequence_taken_in_blocks_gives_what_it_gives_whole(n):
    attention, x = MultiHeadAttention(D_IN, H * D, n, 0.0, H), torch.randn(B, n, D_IN)
    results = {}
    for way, output in {"in blocks": attention(x), "whole": attention(x, need_weights=True)[0]}.items():
        attention.zero_grad()
        output.square().sum().backward()
        results[way] = [output, attention.W_key.weight.grad.clone()]
    for in_blocks, whole in zip(*results.values(), strict=True):
        torch.testing.assert_close(in_blocks, whole, atol=1e-4, rtol=1e-4)


def test_in_blocks_too_dropout_acts_in_training_alone():
    attention, x = MultiHeadAttention(D_IN, H * D, 300, 0.5, H), torch.randn(300, D_IN)
    assert not torch.equal(attention(x), attention(x))
    assert torch.equal(attention.eval()(x), attention(x))


@modules()
def test_a_sample_in_a_batch_gives_what_it_gives_alone(name):
    module, x = make(name), tokens(B, N)
    output, weights = module(x, need_weights=True)
    for b in range(B):
        one, one_weights = module(x[b], need_weights=True)
        torch.testing.assert_close(output[b], one, rtol=0, atol=1e-13)
        torch.testing.assert_close(weights[b], one_weights, rtol=0, atol=1e-13)
        torch.testing.assert_close(module(x[b : b + 1])[0], one, rtol=0, atol=1e-13)
    assert not torch.allclose(output[0], output[1], atol=0.05), "the items must differ"
    across = module(x.transpose(0, 1)).transpose(0, 1)
    assert not torch.allclose(across, output, atol=0.02), "attention across the batch must show here"


# https://github.com/lucidrains/vit-pytorch/issues/65 (A11)
@modules(SPLIT)
def test_scores_are_divided_by_the_root_of_the_width_per_head(name):
    module, x = make(name), tokens(N)
    query, key, _ = module.project(x)
    hidden = ~causal_mask(N) if name in CAUSAL else torch.zeros(N, N, dtype=torch.bool)
    right, wrong = ((query @ key.mT / math.sqrt(d)).masked_fill(hidden, -math.inf).softmax(dim=-1) for d in (D, H * D))
    weights = module(x, need_weights=True)[1]
    assert_close(weights, right)
    assert (weights - wrong).abs().max() > 0.05, "the root of the model's width must show here"


# https://github.com/reczoo/FuxiCTR/issues/30 (A18)
@modules(SPLIT)
@pytest.mark.parametrize("batch", [(), (B,)])
def test_head_h_of_a_token_is_its_own_slice_of_the_width(name, batch):
    x = oracle.spread(*batch, N, H * D)
    heads = make(name).split(x)
    assert heads.shape == (*batch, H, N, D)
    for h in range(H):
        for t in range(N):
            assert torch.equal(heads[..., h, t, :], x[..., t, h * D : (h + 1) * D])
    assert not torch.equal(heads, x.view(*batch, H, N, D)), "split by view alone must show here"


# https://github.com/facebookresearch/fairseq/issues/2598 (A17), https://github.com/jsbaan/transformer-from-scratch/pull/6 (E5)
@modules(SPLIT)
@pytest.mark.parametrize("batch", [(), (B,)])
def test_a_tokens_heads_are_joined_again_token_by_token(name, batch):
    module = make(name)
    heads = oracle.spread(*batch, H, N, D)
    joined = torch.stack([torch.cat([heads[..., h, t, :] for h in range(H)], dim=-1) for t in range(N)], dim=-2)
    assert_close(module.merge(heads), module.out_proj(joined))
    assert not torch.equal(joined, heads.reshape(*batch, N, H * D)), "merged without transpose must show here"
    strided = oracle.spread(*batch, N, H, D).transpose(-3, -2)
    assert not strided.is_contiguous()
    assert_close(module.merge(strided), module.out_proj(strided.transpose(-3, -2).reshape(*batch, N, H * D)))


def test_the_stack_and_the_split_are_one_computation_once_weights_are_copied():
    stack, split = make("MultiHeadAttentionWrapper"), make("MultiHeadAttention")
    with torch.no_grad():
        for projection in ("W_query", "W_key", "W_value"):
            stacked = torch.cat([getattr(head, projection).weight for head in stack.heads])
            getattr(split, projection).weight.copy_(stacked)
        split.out_proj.weight.copy_(torch.eye(H * D))
        split.out_proj.bias.zero_()
    x = tokens(B, N)
    for one, other in zip(stack(x, need_weights=True), split(x, need_weights=True), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-14)


@modules(SPLIT)
def test_the_split_equals_pytorchs_op_between_its_own_layers(name):
    module, x = make(name), tokens(B, N)
    fused = F.scaled_dot_product_attention(*module.project(x), is_causal=name in CAUSAL)
    assert_close(module(x), module.out_proj(fused.transpose(1, 2).flatten(2)))


# Weights: which, how many, in which order drawn


def test_weights_are_drawn_in_the_order_query_key_value_output():
    torch.manual_seed(1)
    drawn = [nn.Linear(D_IN, H * D, bias=False).weight for _ in range(3)]
    last = nn.Linear(H * D, H * D)
    torch.manual_seed(1)
    module = MultiHeadAttention(D_IN, H * D, CONTEXT, 0.1, H)
    ours = [module.W_query.weight, module.W_key.weight, module.W_value.weight, *module.out_proj.parameters()]
    assert all(map(torch.equal, ours, [*drawn, *last.parameters()]))
    torch.manual_seed(1)
    drawn = [torch.rand(D_IN, D) for _ in range(3)]
    torch.manual_seed(1)
    assert all(map(torch.equal, SelfAttention_v1(D_IN, D).parameters(), drawn))


def test_positional_arguments_mean_what_readers_know():
    assert list(SelfAttention_v2(3, 2, True).state_dict()) == [f"{name}.{kind}" for name in ("W_query", "W_key", "W_value") for kind in ("weight", "bias")]
    assert list(CausalAttention(3, 2, 6, 0.5, True).state_dict()) == list(SelfAttention_v2(3, 2, True).state_dict())
    assert list(MultiHeadAttention(3, 2, 6, 0.5, 2).state_dict()) == [
        "W_query.weight", "W_key.weight", "W_value.weight", "out_proj.weight", "out_proj.bias",
    ]  # fmt: skip
    assert len(MultiHeadAttentionWrapper(3, 2, 6, 0.5, 7).heads) == 7
    assert CausalAttention(3, 2, 6, 0.25).dropout.p == MultiHeadAttention(3, 2, 6, 0.25, 2).dropout.p == 0.25


def test_the_projects_four_unmasked_heads_of_16_come_by_keywords():
    module = MultiHeadAttention(d_in=64, d_out=64, context_length=10, dropout=0.0, num_heads=4, causal=False, out_bias=False)
    assert [name for name, _ in module.named_parameters()] == [
        "W_query.weight", "W_key.weight", "W_value.weight", "out_proj.weight",
    ]  # fmt: skip
    assert module(torch.randn(10, 64), need_weights=True)[1].all(), "no weight is hidden"


# The future


# https://github.com/rasbt/LLMs-from-scratch/issues/1061 (E1)
@modules(CAUSAL)
@QUICK
@given(st.integers(1, 9), st.data())
def test_changing_a_later_token_changes_no_earlier_row(name, n, data):
    changed = data.draw(st.integers(0, n - 1))
    module, x = make(name), tokens(n)
    before, weights = module(x, need_weights=True)
    fused = module(x)
    assert not weights.triu(1).any()
    x[changed] = torch.tensor(data.draw(st.lists(st.floats(-9, 9), min_size=D_IN, max_size=D_IN))).double()
    assert torch.equal(module(x, need_weights=True)[0][:changed], before[:changed])
    torch.testing.assert_close(module(x)[:changed], fused[:changed], rtol=0, atol=1e-14)


@modules(CAUSAL)
def test_changing_an_earlier_token_does_change_later_rows(name):
    module, x = make(name), tokens(N)
    before = module(x)
    x[0] += 1
    assert ((module(x) - before).abs().amax(dim=-1) > 1e-4).all()


# https://github.com/pbloem/former/issues/10 (E6)
@modules(CAUSAL)
def test_the_first_token_looks_at_itself_alone(name):
    weights = make(name)(tokens(B, N), need_weights=True)[1]
    assert torch.equal(weights[..., 0, :], torch.eye(N).double()[0].expand(weights.shape[:-2] + (N,)))


@modules([name for name in MAKERS if "Self" in name or "not causal" in name])
def test_without_a_causal_mask_every_token_looks_at_every_other(name):
    assert (make(name)(tokens(B, N), need_weights=True)[1] > 0).all()


# Masks


def mask_shapes(name):
    """Each shape that the module takes for a batch, and what it lies over: the weights."""
    shapes = [(N, N), (1, N), (B, N, N), (B, 1, N), (1, N, N), (B, N, 1)]
    return shapes + ([(B, H, N, N), (B, 1, 1, N), (1, H, N, N)] if name in SPLIT else [])


@pytest.mark.parametrize(("name", "shape"), [(name, shape) for name in MASKED for shape in mask_shapes(name)])
@pytest.mark.parametrize("added", [False, True])
def test_a_mask_hides_more_than_the_future_does(name, shape, added):
    module, x = make(name), tokens(B, N)
    allowed = oracle.spread(*shape, phase=0.9) > -0.4
    laid = allowed.unsqueeze(1) if len(shape) == 3 and name in MULTI else allowed
    bias = oracle.spread(*shape, phase=2.0) if added else torch.zeros(shape).double()
    laid_bias = bias.unsqueeze(1) if len(shape) == 3 and name in MULTI else bias
    mask = bias.masked_fill(~allowed, -math.inf) if added else allowed
    expected_output, expected_weights = expected(module, name, x, laid.expand(expected_shape(name)), laid_bias.expand(expected_shape(name)))
    output, weights = module(x, mask=mask, need_weights=True)
    assert_close(output, expected_output)
    assert_close(weights, expected_weights)
    assert_close(module(x, mask=mask), expected_output)
    assert not torch.allclose(output, module(x), atol=1e-3), "the mask must matter here"


def expected_shape(name):
    """The shape of the weights of a batch."""
    return (B, H, N, N) if name in MULTI else (B, N, N)


@modules(SPLIT)
def test_without_a_batch_a_mask_may_differ_from_head_to_head(name):
    module, x = make(name), tokens(N)
    allowed = oracle.spread(H, N, N) > -0.3
    output, weights = module(x, mask=allowed, need_weights=True)
    expected_output, expected_weights = expected(module, name, x, allowed)
    assert_close(output, expected_output)
    assert_close(weights, expected_weights)
    assert_close(module(x, mask=allowed), expected_output)


# https://discuss.pytorch.org/t/different-attention-mask-for-each-example-in-a-batch/193765 (A10)
@modules(MASKED)
def test_the_mask_of_a_sample_reaches_each_head_of_that_sample_and_no_other(name):
    module, x = make(name), tokens(B, N)
    mask = padding_mask(torch.tensor([N, 2]), N)  # the second sample alone is padded
    output, weights = module(x, mask=mask, need_weights=True)
    assert not weights[1][..., 2:].any()
    for b in range(B):
        alone, alone_weights = module(x[b], mask=mask[b].expand(N, N), need_weights=True)
        torch.testing.assert_close(output[b], alone, rtol=0, atol=1e-13)
        torch.testing.assert_close(weights[b], alone_weights, rtol=0, atol=1e-13)
        torch.testing.assert_close(module(x, mask=mask)[b], alone, rtol=0, atol=1e-13)
    swapped = module(x, mask=mask.flip(0), need_weights=True)[1]
    assert swapped[1][..., 2:].any(), "the other sample's padding must show here"


@modules(["CausalAttention", "MultiHeadAttention", "MultiHeadAttention, fused, not causal"])
@DTYPES
@pytest.mark.parametrize("kind", ["boolean", "-inf", "finfo.min"])
@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled:UserWarning")  # it is what the test is about
# https://github.com/pytorch/pytorch/issues/160064 (A3), https://github.com/pytorch/pytorch/issues/41508 (A4)
def test_a_sample_of_padding_alone_gives_zeros_and_finite_gradients(name, dtype, kind):
    module, x = make(name, dtype), tokens(B, N, dtype=dtype).requires_grad_()
    allowed = padding_mask(torch.tensor([0, 3]), N)
    low = -math.inf if kind == "-inf" else torch.finfo(dtype).min
    mask = allowed if kind == "boolean" else torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, low)
    laid = (allowed.unsqueeze(1) if name in MULTI else allowed).expand(expected_shape(name))
    expected_output, expected_weights = expected(module, name, x, laid)
    output, weights = module(x, mask=mask, need_weights=True)
    assert not weights[0].any()
    assert_close(weights, expected_weights, dtype)
    assert_close(output, expected_output, dtype)
    nothing = module.out_proj.bias.expand(N, H * D) if name in SPLIT else torch.zeros_like(output[0])
    assert torch.equal(output[0], nothing), "zeros, and what the last layer makes of zeros"
    loss = oracle.spread(*output.shape, phase=5.0, dtype=dtype)
    with torch.autograd.set_detect_anomaly(True):
        quick = module(x, mask=mask)
        quick.backward(loss)
    assert_close(quick, expected_output, dtype)
    assert not x.grad[0].any(), "what nobody looks at has no say"
    found = [x.grad, *(parameter.grad for parameter in module.parameters())]
    assert all(gradient.isfinite().all() for gradient in found)
    if name in SPLIT:
        for gradient, reference in zip(found, gradients_by_pytorchs_op(name, allowed, loss), strict=True):
            assert_close(gradient, reference, dtype, factor=16)


def gradients_by_pytorchs_op(name, allowed, loss):
    """Of the tokens and of each weight, in float64."""
    module, x = make(name), tokens(B, N).requires_grad_()
    seen = allowed.unsqueeze(1) & (causal_mask(N) if name in CAUSAL else torch.ones(N, N, dtype=torch.bool))
    heads = F.scaled_dot_product_attention(*module.project(x), attn_mask=seen)
    module.out_proj(heads.transpose(1, 2).flatten(2)).backward(loss.double())
    return [x.grad, *(parameter.grad for parameter in module.parameters())]


@DTYPES
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("low", [-math.inf, -1e9, -1e4])
def test_fused_equals_explicit_with_an_added_float32_mask(dtype, causal, low):
    name = "MultiHeadAttention" if causal else "MultiHeadAttention, not causal"
    module, x = make(name, dtype), tokens(B, N, dtype=dtype)
    mask = torch.zeros(B, N, N).masked_fill(~(oracle.spread(B, N, N) > 0.0), low)
    mask[0, 3] = low
    explicit = module(x, mask=mask)
    module.fused = True
    assert_close(module(x, mask=mask), explicit, dtype)
    assert explicit.isfinite().all()


MASKS = {
    "whole numbers": (TypeError, ("torch.int64", "mask.bool()"), torch.ones(N, N, dtype=torch.int64)),
    "bytes": (TypeError, ("torch.uint8", "mask.bool()"), torch.ones(N, N, dtype=torch.uint8)),
    "a list": (TypeError, ("list",), [[True] * N] * N),
    "another length": (ValueError, (f"({N}, 7)", f"({N}, {N})"), torch.ones(N, 7, dtype=torch.bool)),
    "another batch": (ValueError, (f"(7, {N}, {N})", f"({B}, {N}, {N})"), torch.ones(7, N, N, dtype=torch.bool)),
    "a mask per head and sample in one axis": (ValueError, (f"({B * H}, {N}, {N})", f"({B}, {N}, {N})"), torch.ones(B * H, N, N, dtype=torch.bool)),
    "another number of heads": (ValueError, (f"({B}, 7, {N}, {N})",), torch.ones(B, 7, N, N, dtype=torch.bool)),
    "one axis": (ValueError, (f"({N},)", f"({N}, {N})"), torch.ones(N, dtype=torch.bool)),
    "another device": (ValueError, ("meta", "cpu"), torch.ones(N, N, dtype=torch.bool, device="meta")),
}  # fmt: skip


@modules(MASKED)
@pytest.mark.parametrize("case", MASKS)
def test_a_mask_that_does_not_fit_is_refused_before_anything_is_computed(name, case):
    error, words, mask = MASKS[case]
    module, x = make(name), tokens(B, N)
    with refused(error, *words):
        module(x, mask=mask)
    with refused(error, *words):
        module(x, mask=mask, need_weights=True)


# Dropout


# https://github.com/pytorch/pytorch/issues/124464 (A12), https://github.com/harvardnlp/annotated-transformer/issues/138 (E9)
@modules(MASKED)
@DTYPES
def test_dropout_acts_in_training_alone(name, dtype):
    module, x = make(name, dtype), tokens(B, N, dtype=dtype)
    without = module(x)
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.5
    module.eval()
    state = torch.get_rng_state()
    assert torch.equal(module(x), without)
    assert torch.equal(module(x), module(x))
    assert torch.equal(module(x, need_weights=True)[0], module(x, need_weights=True)[0])
    assert torch.equal(torch.get_rng_state(), state), "nothing is drawn"
    module.train()
    assert not torch.equal(module(x), module(x))
    weights = module(x, need_weights=True)[1]
    assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]), dtype)
    assert_close(weights, module.eval()(x, need_weights=True)[1], dtype)


@modules(["CausalAttention", "MultiHeadAttentionWrapper"])
def test_in_training_a_weight_is_dropped_or_doubled_and_the_mean_is_kept(name):
    module, x = make(name), tokens(N)
    calm = module(x)
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.5
    first = module(x.expand(50, N, D_IN))[:, 0]  # the first token has one weight: it is 0 or 2
    ratio = first[:, :D] / calm[0, :D]
    assert torch.equal(ratio.round().unique(), torch.tensor([0.0, 2.0]).double())
    many = module(x.expand(4000, N, D_IN)).mean(dim=0)
    torch.testing.assert_close(many, calm, rtol=0, atol=0.1)


@pytest.mark.parametrize("fused", [False, True])
def test_a_dropout_of_one_leaves_what_the_last_layer_makes_of_zeros(fused):
    module = MultiHeadAttention(D_IN, H * D, CONTEXT, 1.0, H, fused=fused).double()
    output = module(tokens(B, N))
    assert torch.equal(output, module.out_proj.bias.expand_as(output))


# Sizes at the edge, layouts


# https://github.com/pytorch/pytorch/pull/192651 (A23)
@modules()
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(0,), (B, 0), (0, N), (0, 0)], ids=str)
def test_no_tokens_or_no_samples_give_empty_results_of_the_right_shape(name, dtype, shape):
    module, x = make(name, dtype), tokens(*shape, dtype=dtype).requires_grad_()
    output, weights = module(x, need_weights=True)
    width = D if "Attention_v" in name or "Causal" in name else H * D
    assert output.shape == (*shape, width)
    heads = (H,) if name in MULTI else ()
    assert weights.shape == (*shape[:-1], *heads, shape[-1], shape[-1])
    assert module(x).shape == output.shape
    module(x).sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in module.parameters())


@modules()
@DTYPES
def test_one_token_looks_at_itself_alone(name, dtype):
    module, x = make(name, dtype), tokens(1, dtype=dtype)
    output, weights = module(x, need_weights=True)
    assert weights.flatten().tolist() == [1.0] * (H if name in MULTI else 1)
    assert_close(output, expected(module, name, x)[0], dtype)


# https://github.com/facebookresearch/fairseq/issues/2598 (A17)
@modules()
def test_strided_expanded_and_transposed_tokens_give_what_their_copies_give(name):
    module = make(name)
    for x in (
        oracle.spread(D_IN, N, B).permute(2, 1, 0),
        oracle.spread(1, N, D_IN).expand(B, N, D_IN),
        oracle.spread(B, 2 * N, 2 * D_IN)[:, ::2, ::2],
        oracle.spread(N, B, D_IN).transpose(0, 1),
    ):
        assert not x.is_contiguous()
        copied = x.contiguous() if x.stride(0) else x.clone(memory_format=torch.contiguous_format)
        torch.testing.assert_close(module(x), module(copied), rtol=0, atol=1e-13)


@modules()
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_scores_over_65504_stay_finite_in_half_precision(name, dtype):
    module, x = make(name, dtype), tokens(B, N, dtype=dtype) * 600
    query, key, _ = module.project(x)
    assert (query.double() @ key.double().mT).abs().max() > 65504
    output, weights = module(x, need_weights=True)
    assert weights.isfinite().all()
    assert output.isfinite().all()
    assert module(x).isfinite().all()
    assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]), dtype)


# https://github.com/karpathy/nanoGPT/issues/473 (E8)
@modules(MASKED)
def test_a_sequence_as_long_as_the_context_is_taken_and_a_longer_one_refused(name):
    module = make(name)
    assert module(tokens(B, CONTEXT)).shape[:2] == (B, CONTEXT)
    several, one = tokens(B, CONTEXT + 3), tokens(CONTEXT + 3)
    with refused(ValueError, CONTEXT, CONTEXT + 3, "context_length"):
        module(several)
    with refused(ValueError, CONTEXT, CONTEXT + 3):
        module(one, need_weights=True)


@modules([name for name in CORE if name not in MASKED])
def test_a_module_without_a_context_takes_any_length(name):
    assert make(name)(tokens(101)).shape == (101, D)


# State, copies, devices


# https://github.com/OpenMOSS/MOSS/issues/322 (A31)
@modules(MASKED)
def test_the_mask_is_no_part_of_the_state_moves_with_the_module_and_stays_boolean(name):
    module = make(name)
    assert not [key for key in module.state_dict() if "mask" in key]
    masks = [buffer for key, buffer in module.named_buffers() if key.endswith("mask")]
    assert masks
    assert all(torch.equal(mask, causal_mask(CONTEXT)) for mask in masks)
    for dtype in oracle.TOLERANCE:
        assert {buffer.dtype for _, buffer in make(name).to(dtype).named_buffers()} == {torch.bool}
    assert {buffer.dtype for buffer in make(name).half().buffers()} == {torch.bool}
    moved = make(name).to("meta")
    assert {tensor.device.type for tensor in (*moved.parameters(), *moved.buffers())} == {"meta"}


# https://github.com/OpenMOSS/MOSS/issues/322 (A31)
@modules(MASKED)
def test_old_files_that_carry_a_mask_load_strictly_and_so_do_longer_contexts(name):
    module, x = make(name), tokens(B, N)
    old = module.state_dict()
    prefixes = [f"heads.{h}." for h in range(H)] if "Wrapper" in name else [""]
    old |= {f"{prefix}mask": torch.ones(4, 4).triu(1) for prefix in prefixes}  # the book's own: True = hidden, and shorter
    before = dict(old)
    for fresh in (MAKERS[name]().double(), copy.deepcopy(MAKERS[name]().double()), pickle.loads(pickle.dumps(make(name)))):
        assert str(fresh.load_state_dict(old)) == "<All keys matched successfully>"
        assert torch.equal(fresh(x), module(x))
    assert old.keys() == before.keys(), "the caller's file is left as it was"
    nested = nn.Sequential(nn.Identity(), MAKERS[name]().double())
    nested.load_state_dict({f"1.{key}": value for key, value in old.items()})
    assert torch.equal(nested(x), module(x))
    with pytest.raises(RuntimeError, match="Unexpected key.*mask_of_mine"):
        MAKERS[name]().load_state_dict(module.state_dict() | {"mask_of_mine": torch.ones(1)})


def test_a_longer_context_takes_the_weights_of_a_shorter_one():
    short, long = make("MultiHeadAttention"), MultiHeadAttention(D_IN, H * D, 2 * CONTEXT, 0.0, H).double()
    long.load_state_dict(short.state_dict())
    assert torch.equal(long(tokens(B, N)), short(tokens(B, N)))
    assert long(tokens(2 * CONTEXT)).shape == (2 * CONTEXT, H * D)


@modules()
def test_copies_pickles_and_saved_modules_give_the_same_numbers_and_share_nothing(name):
    module, x = make(name), tokens(B, N)
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    loaded = MAKERS[name]().double()
    loaded.load_state_dict(torch.load(file, weights_only=True))
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module)), loaded):
        assert torch.equal(other(x), module(x))
        with torch.no_grad():
            next(other.parameters()).add_(1)
        assert not torch.equal(other(x), module(x))


@modules()
def test_on_another_device_shapes_come_out_and_a_mixture_is_refused(name):
    module, x = make(name).to("meta"), tokens(B, N)
    output, weights = module(x.to("meta"), need_weights=True)
    here = make(name)(x, need_weights=True)
    assert (output.device.type, weights.device.type) == ("meta", "meta")
    assert (output.shape, weights.shape) == (here[0].shape, here[1].shape)
    assert module(x.to("meta")).shape == output.shape
    with refused(ValueError, "cpu", "meta"):
        module(x)
    single = torch.zeros(N, D_IN, device="meta")
    with refused(TypeError, "torch.float32", "torch.float64"):
        module(single)


# Transformations


@modules(["SelfAttention_v1", "MultiHeadAttentionWrapper", "MultiHeadAttention", "MultiHeadAttention, fused"])
def test_compiled_in_one_graph_the_numbers_stay(name):
    torch.compiler.reset()  # each case is a first compilation, as a reader's is
    module, x = make(name), tokens(B, N)
    compiled = torch.compile(module, backend="eager", fullgraph=True)
    assert torch.equal(compiled(x), module(x))
    assert all(map(torch.equal, compiled(x, need_weights=True), module(x, need_weights=True)))
    if name in MASKED:
        mask = padding_mask(torch.tensor([0, 3]), N)
        assert torch.equal(compiled(x, mask=mask), module(x, mask=mask))


# https://github.com/pytorch/pytorch/issues/151558 (A34)
@modules()
@LOOPS
def test_under_vmap_the_result_is_the_one_of_the_loop(name):
    module, x = make(name), tokens(7, N)
    torch.testing.assert_close(torch.vmap(module)(x), torch.stack([module(one) for one in x]), rtol=0, atol=1e-13)
    several = tokens(7, B, N)
    mapped = torch.vmap(module)(several)
    torch.testing.assert_close(mapped, torch.stack([module(one) for one in several]), rtol=0, atol=1e-13)
    if name in MASKED:
        masks = oracle.spread(7, N, N) > -0.2
        masks[3, 2] = False
        for mask in (masks, torch.zeros(7, N, N).double().masked_fill(~masks, -math.inf)):
            mapped = torch.vmap(lambda one, m: module(one, mask=m))(x, mask)
            looped = torch.stack([module(one, mask=m) for one, m in zip(x, mask, strict=True)])
            torch.testing.assert_close(mapped, looped, rtol=0, atol=1e-13)
            alone = torch.vmap(lambda m: module(x[0], mask=m))(mask)
            torch.testing.assert_close(alone, torch.stack([module(x[0], mask=m) for m in mask]), rtol=0, atol=1e-13)


@modules(["SelfAttention_v2", "MultiHeadAttentionWrapper", "MultiHeadAttention"])
def test_exported_with_a_dynamic_length_it_serves_every_length_up_to_the_context(name):
    module = make(name).eval()
    length = torch.export.Dim("n", max=CONTEXT)
    exported = torch.export.export(module, (tokens(B, N),), dynamic_shapes={"x": {1: length}}).module()
    for n in (1, 2, N, CONTEXT):
        torch.testing.assert_close(exported(tokens(B, n)), module(tokens(B, n)), rtol=0, atol=1e-13)


@modules(["CausalAttention", "MultiHeadAttention, fused"])
def test_exported_with_a_mask_it_serves_every_length_up_to_the_context(name):
    module = make(name).eval()
    length = torch.export.Dim("n", max=CONTEXT)
    mask = oracle.spread(B, N, N) > 0
    exported = torch.export.export(module, (tokens(B, N),), {"mask": mask}, dynamic_shapes={"x": {1: length}, "mask": {1: length, 2: length}}).module()
    for n in (2, CONTEXT):
        mask = oracle.spread(B, n, n) > 0
        torch.testing.assert_close(exported(tokens(B, n), mask=mask), module(tokens(B, n), mask=mask))


@modules()
def test_functional_call_uses_the_weights_it_is_given(name):
    module, x = make(name), tokens(B, N)
    other = {key: weight * 0.5 for key, weight in module.state_dict().items()}
    called = torch.func.functional_call(module, other, (x,))
    module_of_these = make(name)
    module_of_these.load_state_dict(other)
    assert torch.equal(called, module_of_these(x))
    assert not torch.equal(called, module(x))


@modules()
def test_an_ensemble_of_stacked_modules_gives_what_each_gives(name):
    ensemble = [make(name) for _ in range(3)]
    with torch.no_grad():
        for m, module in enumerate(ensemble):
            for parameter in module.parameters():
                parameter.mul_(m + 1)
    parameters, buffers = torch.func.stack_module_state(ensemble)
    x = tokens(N)

    def call(parameters, buffers):
        return torch.func.functional_call(ensemble[0], (parameters, buffers), (x,))

    torch.testing.assert_close(torch.vmap(call)(parameters, buffers), torch.stack([module(x) for module in ensemble]), rtol=0, atol=1e-13)


@modules()
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_under_autocast_the_output_is_half_and_right(name, dtype):
    module, x = make(name, torch.float32), tokens(B, N, dtype=torch.float32)
    with torch.autocast("cpu", dtype=dtype):
        output, weights = module(x, need_weights=True)
        quick = module(x)
        query, key, _ = module.project(x * 600)
        loud = module(x * 600, need_weights=True)[1]
    assert output.dtype == quick.dtype == dtype
    reference = expected(module, name, x)
    torch.testing.assert_close(output.double(), reference[0], rtol=0, atol=0.15)
    torch.testing.assert_close(quick.double(), reference[0], rtol=0, atol=0.15)
    torch.testing.assert_close(weights.double(), reference[1], rtol=0, atol=0.03)
    assert (query.double() @ key.double().mT).abs().max() > 65504
    assert loud.isfinite().all()


@modules(CORE)
def test_gradients_equal_finite_differences(name):
    module, x = make(name), tokens(B, 3).requires_grad_()
    assert torch.autograd.gradcheck(module, [x], fast_mode=True)
    if name in MASKED:
        mask = padding_mask(torch.tensor([0, 2]), 3)
        assert torch.autograd.gradcheck(lambda x: module(x, mask=mask), [x], fast_mode=True)
        assert torch.autograd.gradcheck(lambda x: module(x, mask=mask, need_weights=True), [x], fast_mode=True)


@modules()
@DTYPES
def test_no_input_is_changed_and_no_random_number_drawn(name, dtype):
    module, x = make(name, dtype), tokens(B, N, dtype=dtype)
    masks = [None]
    if name in MASKED:
        masks += [causal_mask(N).clone(), torch.zeros(N, N, dtype=dtype).masked_fill(~causal_mask(N), -math.inf)]
    before, version, state = x.clone(), x._version, torch.get_rng_state()
    held = [(tensor, tensor.clone(), tensor._version) for tensor in (*module.parameters(), *module.buffers(), *masks[1:])]
    for mask in masks:
        options = {} if mask is None else {"mask": mask}
        module(x, **options)
        module(x, need_weights=True, **options)
    assert torch.equal(x, before)
    assert x._version == version
    assert all(torch.equal(tensor, copied) and tensor._version == v for tensor, copied, v in held)
    assert torch.equal(torch.get_rng_state(), state)


@modules(MASKED)
def test_the_result_is_the_callers_own_to_change(name):
    module, x = make(name).requires_grad_(False), tokens(B, N)
    output, weights = module(x, need_weights=True)
    kept = output.clone()
    output.zero_()
    weights.zero_()
    assert torch.equal(module(x, need_weights=True)[0], kept)


# Refusals

SIZED = {
    "SelfAttention_v1": (SelfAttention_v1, {"d_in": 3, "d_out": 2}),
    "SelfAttention_v2": (SelfAttention_v2, {"d_in": 3, "d_out": 2}),
    "CausalAttention": (CausalAttention, {"d_in": 3, "d_out": 2, "context_length": 6, "dropout": 0.0}),
    "MultiHeadAttentionWrapper": (
        MultiHeadAttentionWrapper,
        {"d_in": 3, "d_out": 2, "context_length": 6, "dropout": 0.0, "num_heads": 2},
    ),
    "MultiHeadAttention": (
        MultiHeadAttention,
        {"d_in": 3, "d_out": 4, "context_length": 6, "dropout": 0.0, "num_heads": 2},
    ),
}


@pytest.mark.parametrize(("name", "size"), [(n, s) for n, (_, sizes) in SIZED.items() for s in sizes if s != "dropout"])
def test_a_size_that_cannot_be_is_refused_before_a_weight_is_drawn(name, size):
    maker, sizes = SIZED[name]
    for bad in (0, -2):
        with refused(ValueError, size, bad):
            maker(**sizes | {size: bad})
    for bad in (2.0, "2", None, True):
        with refused(TypeError, size, repr(bad)):
            maker(**sizes | {size: bad})


@pytest.mark.parametrize("name", ["CausalAttention", "MultiHeadAttentionWrapper", "MultiHeadAttention"])
def test_a_dropout_that_cannot_be_is_refused_before_a_weight_is_drawn(name):
    maker, sizes = SIZED[name]
    for bad in (-0.1, 1.5, 50, math.nan):
        with refused(ValueError, "dropout", bad):
            maker(**sizes | {"dropout": bad})
    for bad in ("0.1", None, True):
        with refused(TypeError, "dropout", repr(bad)):
            maker(**sizes | {"dropout": bad})
    for good in (0, 0.0, 0.5, 1, 1.0):
        maker(**sizes | {"dropout": good})


# https://github.com/pytorch/pytorch/issues/28719 (A19)
@pytest.mark.parametrize(("d_out", "num_heads"), [(10, 3), (10, 20), (4, 3), (2, 7), (768, 13)])
def test_heads_that_do_not_divide_the_width_are_refused_with_both_numbers(d_out, num_heads):
    with refused(ValueError, d_out, num_heads, "divisible"):
        MultiHeadAttention(3, d_out, 6, 0.0, num_heads)
    with pytest.raises(AssertionError) as theirs:
        nn.MultiheadAttention(d_out, num_heads)
    assert str(num_heads) not in str(theirs.value), "what PyTorch's own sentence leaves out"


def test_the_width_of_a_head_of_the_wrapper_need_not_be_divided():
    assert MultiHeadAttentionWrapper(3, 2, 6, 0.0, 7)(JOURNEY.embeddings).shape == (6, 14)


@modules()
def test_tokens_that_the_weights_cannot_take_are_refused_before_anything_is_computed(name):
    module, single, narrow = make(name), tokens(N, dtype=torch.float32), oracle.spread(B, N, 7)
    whole, deep, flat, none = torch.zeros(N, D_IN).long(), tokens(2, 2, N), tokens(N)[0], tokens(N)[:, :0]
    with refused(ValueError, 7, D_IN, "width"):
        module(narrow)
    with refused(TypeError, "torch.float32", "torch.float64"):
        module(single)
    # https://github.com/pytorch/pytorch/issues/14224 (A30)
    with refused(TypeError, "torch.int64", "x.float()"):
        module(whole)
    with refused(ValueError, tuple(deep.shape)):
        module(deep)
    with refused(ValueError, tuple(flat.shape)):
        module(flat)
    with refused(ValueError, f"({N}, 0)"):
        module(none)
    with refused(TypeError, "list"):
        module([[1.0] * D_IN])


@modules()
def test_float64_beside_float32_is_refused_under_autocast_too(name):
    module, x = make(name, torch.float32), tokens(N)
    with torch.autocast("cpu", dtype=torch.bfloat16), refused(TypeError, "torch.float64", "torch.float32"):
        module(x)


def test_no_module_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in MAKERS:
            make(name)(tokens(B, N), need_weights=True)


@modules(MAKERS)
def test_every_attribute_is_declared_with_its_type(name):
    """So that an editor and a type checker know what they hold; the package says py.typed."""
    module = make(name)
    declared = typing.get_type_hints(type(module))
    held = [each for each in (*vars(module), *module._parameters, *module._modules, *module._buffers) if not each.startswith("_")]
    assert len(held) >= 2
    for attribute in held:
        assert isinstance(getattr(module, attribute), declared[attribute]), attribute
