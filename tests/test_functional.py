"""Attention as functions, against float64 loops and PyTorch's own op."""

import math
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from attention_book import causal_mask, padding_mask, scaled_dot_product_attention, simple_attention
from attention_book.functional import attention_scores
from tests import oracle
from tests.refusals import refused

DTYPES = pytest.mark.parametrize("dtype", oracle.TOLERANCE, ids=str)
# Batch axes, queries, keys, width, value width: primes, all different, so that a swapped axis cannot pass.
SHAPES = pytest.mark.parametrize("shape", [((), 3, 5, 7, 2), ((2, 3), 5, 7, 11, 13), ((2,), 7, 3, 5, 11)], ids=str)
KINDS = ["boolean", "-inf", "finfo.min", "float32 -inf", "float32 min", "float64 min", "bfloat16 min"]
QUICK = settings(max_examples=15, derandomize=True, deadline=None, database=None)

# The second query may look at nothing.
ALLOWED = torch.tensor([[1, 0, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], dtype=torch.bool)


def tensors(batch, i, j, d, e, dtype=torch.float64):
    """Query, key and value."""
    return (
        oracle.spread(*batch, i, d, phase=0.1, dtype=dtype),
        oracle.spread(*batch, j, d, phase=1.2, dtype=dtype),
        oracle.spread(*batch, j, e, phase=2.3, dtype=dtype),
    )


def as_kind(allowed, kind, dtype):
    """The same mask as a boolean, or as something to add."""
    if kind == "boolean":
        return allowed
    name, _, low = kind.rpartition(" ")
    dtype = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16}.get(name, dtype)
    value = -math.inf if low == "-inf" else torch.finfo(dtype).min
    return torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, value)


def assert_close(actual, expected, dtype):
    """Equal to the loops within what the dtype can hold."""
    assert actual.dtype == dtype
    torch.testing.assert_close(actual.double(), expected.double(), rtol=0, atol=oracle.TOLERANCE[dtype])


# Value by value


@DTYPES
@SHAPES
def test_output_and_weights_equal_the_float64_loops(shape, dtype):
    batch, i, j, _, e = shape
    query, key, value = tensors(*shape, dtype=dtype)
    output, weights = scaled_dot_product_attention(query, key, value)
    assert output.shape == (*batch, i, e)
    assert weights.shape == (*batch, i, j)
    expected_output, expected_weights = oracle.attention(query, key, value)
    assert_close(output, expected_output, dtype)
    assert_close(weights, expected_weights, dtype)


@DTYPES
@SHAPES
@pytest.mark.parametrize("scale", [None, 0.3, 2, 0.0, -1.5])
def test_the_output_equals_the_one_of_pytorchs_op(shape, dtype, scale):
    query, key, value = tensors(*shape, dtype=dtype)
    expected = F.scaled_dot_product_attention(query, key, value, scale=scale)
    assert_close(scaled_dot_product_attention(query, key, value, scale=scale)[0], expected, dtype)


@DTYPES
def test_simple_attention_compares_the_vectors_as_they_stand(dtype):
    x = oracle.spread(2, 3, 5, dtype=dtype)
    output, weights = simple_attention(x)
    expected_output, expected_weights = oracle.attention(x, x, x, scale=1.0)
    assert_close(output, expected_output, dtype)
    assert_close(weights, expected_weights, dtype)
    assert not torch.allclose(weights, scaled_dot_product_attention(x, x, x)[1], atol=0.02), "scaled must differ here"


# https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146 (E3)
@DTYPES
def test_each_query_shares_out_one_over_the_keys_and_not_each_key_over_the_queries(dtype):
    query, key, value = tensors((2,), 3, 5, 7, 11, dtype)
    weights = scaled_dot_product_attention(query, key, value)[1]
    assert_close(weights.sum(dim=-1), torch.ones(2, 3), dtype)
    wrong = (query.double() @ key.double().mT / math.sqrt(7)).softmax(dim=-2)
    assert (wrong.sum(dim=-1) - 1).abs().min() > 0.1, "the mistake must show here"


# https://github.com/uTensor/uTensor/issues/175 (D11)
def test_large_scores_do_not_overflow_the_softmax():
    rows = torch.tensor([[1000.0, 999.0], [-1000.0, -1001.0], [3.0, -1e300]], dtype=torch.float64)
    query, key, value = rows, torch.eye(2, dtype=torch.float64), oracle.spread(2, 3)
    output, weights = scaled_dot_product_attention(query, key, value, scale=1.0)
    expected_output, expected_weights = oracle.attention(query, key, value, scale=1.0)
    assert_close(weights, expected_weights, torch.float64)
    assert_close(output, expected_output, torch.float64)
    assert rows.exp().div(rows.exp().sum(dim=-1, keepdim=True))[:2].isnan().any(), "the mistake must show here"


# https://github.com/NVIDIA/apex/issues/1052 (A14: the same limit, 65504, met by the scores)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_scores_over_65504_do_not_overflow_in_half_precision(dtype, autocast, masked):
    query, key = (torch.tensor([[200.0], n, m]).expand(3, 5).to(dtype) for n, m in (([201.0], [198.0]), ([202.0], [199.0])))
    value = oracle.spread(3, 7, dtype=dtype)
    mask = causal_mask(3) if masked else None
    with torch.autocast("cpu", dtype=dtype, enabled=autocast):
        output, weights = scaled_dot_product_attention(query, key, value, mask=mask, scale=1e-3)
        assert attention_scores(query, key).dtype == torch.float32
    expected_output, expected_weights = oracle.attention(query, key, value, allowed=mask, scale=1e-3)
    assert_close(weights, expected_weights, dtype)
    assert_close(output, expected_output, dtype)
    wrong, right = (query @ key.mT).double(), query.double() @ key.double().mT
    assert (wrong - right).abs().max() * 1e-3 > 0.3, "infinite, or too coarse to compare: the mistake must show here"


def test_float32_inputs_do_not_overflow_under_float16_autocast():
    x = torch.full((3, 5), 200.0) + oracle.spread(3, 5, dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.float16):
        output, weights = scaled_dot_product_attention(x, x, x)
        assert (x @ x.mT).isinf().all(), "the mistake must show here"
    assert weights.isfinite().all()
    assert output.isfinite().all()
    torch.testing.assert_close(weights.double(), oracle.attention(x, x, x)[1], rtol=0, atol=1e-3)


# https://github.com/pytorch/pytorch/pull/64180 (A22)
def test_keys_of_a_batch_are_transposed_in_their_last_two_axes_alone():
    x = oracle.spread(2, 3, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weights = scaled_dot_product_attention(x, x, x)[1]
    assert_close(weights, oracle.attention(x, x, x)[1], torch.float64)
    assert x.permute(2, 1, 0).shape != x.mT.shape, "the mistake, all axes reversed, must show here"


# Masks


# https://github.com/pytorch/pytorch/pull/170415 (A1)
@DTYPES
@pytest.mark.parametrize("kind", KINDS)
def test_true_means_may_look_and_a_hidden_weight_is_exactly_zero(dtype, kind):
    query, key, value = tensors((2,), 5, 5, 3, 7, dtype)
    allowed = causal_mask(5)
    output, weights = scaled_dot_product_attention(query, key, value, mask=as_kind(allowed, kind, dtype))
    expected_output, expected_weights = oracle.attention(query, key, value, allowed=allowed)
    assert_close(output, expected_output, dtype)
    assert_close(weights, expected_weights, dtype)
    assert not weights[:, ~allowed].any()
    assert_close(output, F.scaled_dot_product_attention(query, key, value, attn_mask=allowed), dtype)
    wrong = F.scaled_dot_product_attention(query, key, value, attn_mask=~allowed)
    assert not torch.allclose(output, wrong, atol=0.1), "the opposite meaning must show here"


# https://github.com/rasbt/LLMs-from-scratch/issues/1061 (E1)
@DTYPES
def test_a_mask_of_the_future_handed_over_as_it_stands_shows_only_the_future(dtype):
    query, key, value = tensors((), 3, 3, 5, 7, dtype)
    future = torch.ones(3, 3, dtype=torch.bool).triu(1)
    right, wrong = (scaled_dot_product_attention(query, key, value, mask=mask)[1] for mask in (~future, future))
    assert not right[future].any()
    assert not wrong[~future].any(), "taken literally: True = may look"
    assert not wrong[-1].any()


# https://github.com/hyunwoongko/transformer/issues/10 (E12)
@DTYPES
def test_hiding_leaves_nothing_behind_and_each_row_still_sums_to_one(dtype):
    scores = torch.tensor([[2.0, 1.0, -3.0]], dtype=dtype)
    keep = torch.tensor([[True, True, False]])
    _, weights = scaled_dot_product_attention(scores, torch.eye(3, dtype=dtype), scores.mT, mask=keep, scale=1.0)
    assert_close(weights, torch.tensor([[1 / (1 + math.exp(-1)), 1 / (1 + math.exp(1)), 0.0]], dtype=torch.float64), dtype)
    assert weights[0, 2] == 0
    tiny = scores.double().masked_fill(~keep, -1e-12).softmax(dim=-1)
    late = scores.double().softmax(dim=-1) * keep
    assert tiny[0, 2] > 0.08, "filled with about 0: the mistake must show here"
    assert late.sum() < 0.999, "hidden after softmax: the mistake must show here"


@DTYPES
def test_an_added_mask_moves_the_scores_and_hides_where_it_says_so(dtype):
    query, key, value = tensors((2,), 3, 5, 7, 11, dtype)
    bias = oracle.spread(3, 5, phase=3.0, dtype=dtype) * 2
    hidden = torch.zeros(3, 5, dtype=torch.bool)
    hidden[0, 1] = hidden[2, 3] = True
    output, weights = scaled_dot_product_attention(query, key, value, mask=bias.masked_fill(hidden, -math.inf))
    expected_output, expected_weights = oracle.attention(query, key, value, allowed=~hidden, bias=bias)
    assert_close(output, expected_output, dtype)
    assert_close(weights, expected_weights, dtype)
    assert not torch.allclose(weights, scaled_dot_product_attention(query, key, value)[1], atol=0.1)


# https://github.com/pytorch/pytorch/issues/99012 (A29)
@DTYPES
@pytest.mark.parametrize("mask_dtype", [torch.bool, *oracle.TOLERANCE], ids=str)
def test_a_mask_of_any_float_dtype_leaves_the_dtype_of_the_query(dtype, mask_dtype):
    query, key, value = tensors((2,), 3, 5, 7, 11, dtype)
    mask = ALLOWED if mask_dtype == torch.bool else torch.zeros(3, 5, dtype=mask_dtype).masked_fill(~ALLOWED, -math.inf)
    output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    expected_output, expected_weights = oracle.attention(query, key, value, allowed=ALLOWED)
    assert_close(output, expected_output, dtype)
    assert_close(weights, expected_weights, dtype)


# https://github.com/NVIDIA/apex/issues/1052 (A14)
@DTYPES
@pytest.mark.parametrize("low", [-1e9, -1e4])
def test_minus_a_billion_hides_in_every_dtype_without_overflow(dtype, low):
    query, key, value = tensors((), 3, 5, 7, 11, dtype)
    keep = ALLOWED.clone()
    keep[1, 2] = True
    mask = torch.zeros(3, 5).masked_fill(~keep, low)
    output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    assert_close(output, oracle.attention(query, key, value, allowed=keep)[0], dtype)
    assert not weights[~keep].any()
    with pytest.raises(RuntimeError, match="overflow"):
        torch.zeros(2, dtype=torch.float16).masked_fill(torch.tensor([True, False]), -1e9)


def test_a_number_too_low_for_the_scores_hides_instead_of_overflowing():
    query, key, value = (x.float() for x in tensors((), 3, 5, 7, 11))
    mask = torch.full((3, 5), -1e300, dtype=torch.float64)
    output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    assert not weights.any()
    assert not output.any()
    assert (query @ key.mT + mask.float()).softmax(dim=-1).isnan().all(), "the mistake must show here"


# https://github.com/pytorch/pytorch/issues/106341 (A33)
def test_a_mask_spoilt_by_nan_is_seen_in_the_output_and_hides_nothing_silently():
    x = oracle.spread(3, 5)
    spoilt = torch.triu(torch.ones(3, 3), 1) * -math.inf
    output, weights = scaled_dot_product_attention(x, x, x, mask=spoilt)
    assert weights.isnan().all()
    assert output.isnan().all()


@pytest.mark.parametrize("mask_shape", [(3, 5), (1, 5), (3, 1), (1, 1), (2, 7, 3, 5), (2, 1, 1, 5), (1, 7, 3, 1), (2, 7, 3, 1), (1, 1, 3, 5)])
@pytest.mark.parametrize("kind", ["boolean", "-inf"])
def test_a_mask_lies_over_the_scores_axis_by_axis(mask_shape, kind):
    query, key, value = tensors((2, 7), 3, 5, 11, 13)
    allowed = oracle.spread(*mask_shape, phase=0.5) > -0.3
    output, weights = scaled_dot_product_attention(query, key, value, mask=as_kind(allowed, kind, torch.float64))
    expected_output, expected_weights = oracle.attention(query, key, value, allowed=allowed)
    assert_close(output, expected_output, torch.float64)
    assert_close(weights, expected_weights, torch.float64)


# Rows that may look at nothing


# https://github.com/pytorch/pytorch/issues/160064 (A3), https://github.com/pytorch/pytorch/issues/110213 (A16)
@DTYPES
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", [(), (2,), (2, 7)])
def test_a_query_that_may_look_at_nothing_gets_zeros_and_the_others_stay_right(dtype, kind, batch):
    query, key, value = tensors(batch, 3, 5, 7, 11, dtype)
    output, weights = scaled_dot_product_attention(query, key, value, mask=as_kind(ALLOWED, kind, dtype))
    assert not output[..., 1, :].any()
    assert not weights[..., 1, :].any()
    expected_output, expected_weights = oracle.attention(query, key, value, allowed=ALLOWED)
    assert_close(output, expected_output, dtype)
    assert_close(weights, expected_weights, dtype)
    naive = (query @ key.mT).masked_fill(~ALLOWED, -math.inf).softmax(dim=-1)
    assert naive[..., 1, :].isnan().all(), "the mistake must show here"


# https://github.com/pytorch/pytorch/issues/41508 (A4)
@DTYPES
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [[0, 2], [0, 1, 2]], ids=["the loss leaves it out", "the loss counts it"])
@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled:UserWarning")  # it is what the test is about
def test_an_empty_row_leaves_gradients_finite_and_equal_to_those_of_pytorchs_op(dtype, kind, rows):
    def gradients(attend):
        inputs = [x.requires_grad_() for x in tensors((2,), 3, 5, 7, 11, dtype)]
        with torch.autograd.set_detect_anomaly(True):
            (attend(*inputs)[:, rows] * oracle.spread(11, dtype=dtype)).sum().backward()
        return [x.grad for x in inputs]

    mask = as_kind(ALLOWED, kind, dtype)
    ours = gradients(lambda q, k, v: scaled_dot_product_attention(q, k, v, mask=mask)[0])
    theirs = gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=ALLOWED))
    for mine, reference in zip(ours, theirs, strict=True):
        assert mine.isfinite().all()
        torch.testing.assert_close(mine.double(), reference.double(), rtol=0, atol=5 * oracle.TOLERANCE[dtype])
    assert not ours[0][:, 1].any(), "a query that sees nothing has no say"


# https://github.com/pytorch/pytorch/issues/41508 (A4)
def test_the_added_form_of_an_empty_row_ruins_the_gradients():
    query, key, value = (x.requires_grad_() for x in tensors((), 3, 5, 7, 11))
    bias = torch.zeros(3, 5).masked_fill(~ALLOWED, -math.inf)
    ((query @ key.mT + bias).softmax(dim=-1) @ value)[[0, 2]].sum().backward()
    assert key.grad.isnan().any(), "the mistake that the test before this one guards against must show"


# https://github.com/pytorch/pytorch/issues/110213 (A16)
@DTYPES
def test_two_smallest_numbers_added_still_hide_and_one_does_not_average_the_padding(dtype):
    x = oracle.spread(3, 7, dtype=dtype)
    lowest = torch.full((3, 3), torch.finfo(dtype).min, dtype=dtype)
    for mask in (lowest, lowest + lowest):
        output, weights = scaled_dot_product_attention(x, x, x, mask=mask)
        assert not output.any()
        assert not weights.any()
    single, number = x.float()[None], torch.full((3, 3), torch.finfo(torch.float32).min)
    average = F.scaled_dot_product_attention(single, single, single, attn_mask=number)
    torch.testing.assert_close(average, single.mean(dim=1, keepdim=True).expand(1, 3, 7))  # what the number alone gives


# https://github.com/d2l-ai/d2l-en, chapter_attention-mechanisms-and-transformers/attention-scoring-functions.md (E11)
@DTYPES
def test_a_sample_of_padding_alone_gets_zeros_and_nothing_of_the_callers_is_changed(dtype):
    query, key, value = tensors((2,), 3, 5, 7, 11, dtype)
    mask = padding_mask(torch.tensor([0, 2]), 5)
    before = [x.clone() for x in (query, key, value, mask)]
    output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    assert not output[0].any()
    assert not weights[0].any()
    expected_output, expected_weights = oracle.attention(query, key, value, allowed=mask)
    assert_close(output, expected_output, dtype)
    assert_close(weights, expected_weights, dtype)
    assert all(torch.equal(x, y) for x, y in zip((query, key, value, mask), before, strict=True))
    filled = (query @ key.mT).double().masked_fill(~mask, -1e6).softmax(dim=-1)
    assert torch.allclose(filled[0], torch.full((3, 5), 0.2).double()), "the mistake, uniform, must show here"


# Sizes at the edge, layouts


# https://github.com/pytorch/pytorch/pull/192651 (A23)
@DTYPES
@pytest.mark.parametrize("shape", [((1,), 0, 0, 7, 5), ((), 0, 3, 7, 5), ((2,), 3, 0, 7, 5), ((0,), 3, 5, 7, 2)], ids=str)
@pytest.mark.parametrize("masked", [None, "boolean", "-inf"])
def test_no_tokens_give_empty_results_and_queries_without_keys_give_zeros(shape, dtype, masked):
    batch, i, j, _, e = shape
    query, key, value = tensors(*shape, dtype=dtype)
    mask = None if masked is None else as_kind(torch.ones(i, j, dtype=torch.bool), masked, dtype)
    inputs = [x.requires_grad_() for x in (query, key, value)]
    output, weights = scaled_dot_product_attention(*inputs, mask=mask)
    assert output.shape == (*batch, i, e)
    assert weights.shape == (*batch, i, j)
    assert not output.any()
    output.sum().backward()
    assert all(x.grad.isfinite().all() for x in inputs)


@DTYPES
def test_one_token_looks_at_itself_alone(dtype):
    x = oracle.spread(1, 7, dtype=dtype)
    output, weights = scaled_dot_product_attention(x, x, x)
    assert weights.tolist() == [[1.0]]
    assert torch.equal(output, x)


@DTYPES
def test_strided_expanded_and_transposed_inputs_give_what_their_copies_give(dtype):
    query = oracle.spread(7, 3, 2, dtype=dtype).permute(2, 1, 0)  # (2, 3, 7)
    key = oracle.spread(1, 5, 7, phase=1.0, dtype=dtype).expand(2, 5, 7)
    value = oracle.spread(2, 10, 22, phase=2.0, dtype=dtype)[:, ::2, ::2]  # (2, 5, 11)
    mask = (oracle.spread(5, 3) > -0.5).mT
    assert not any(x.is_contiguous() for x in (query, key, value, mask))
    output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    expected_output, expected_weights = oracle.attention(query, key, value, allowed=mask)
    assert_close(output, expected_output, dtype)
    assert_close(weights, expected_weights, dtype)


def test_batch_axes_of_one_are_spread_over_the_others():
    query, key, value = oracle.spread(2, 1, 3, 7), oracle.spread(1, 11, 5, 7, phase=1.0), oracle.spread(1, 1, 5, 13)
    output, weights = scaled_dot_product_attention(query, key, value)
    assert weights.shape == (2, 11, 3, 5)
    expected_output, expected_weights = oracle.attention(query, key, value)
    assert_close(output, expected_output, torch.float64)
    assert_close(weights, expected_weights, torch.float64)


# https://github.com/om-ai-lab/OmDet/issues/19 (A21)
@pytest.mark.parametrize("masked", [False, True])
def test_a_sample_in_a_batch_gives_what_it_gives_alone(masked):
    query, key, value = tensors((2, 7), 3, 5, 11, 13)
    mask = (oracle.spread(2, 7, 3, 5) > -0.4) if masked else None
    output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    for b in range(2):
        for h in range(7):
            alone = None if mask is None else mask[b, h]
            one, one_weights = scaled_dot_product_attention(query[b, h], key[b, h], value[b, h], mask=alone)
            torch.testing.assert_close(output[b, h], one, rtol=0, atol=1e-14)
            torch.testing.assert_close(weights[b, h], one_weights, rtol=0, atol=1e-14)


# Gradients, transformations


@pytest.mark.parametrize("kind", [None, "boolean", "-inf", "finfo.min"])
def test_gradients_equal_finite_differences(kind):
    inputs = [x.requires_grad_() for x in tensors((2,), 3, 5, 2, 3)]
    mask = None if kind is None else as_kind(ALLOWED, kind, torch.float64)
    assert torch.autograd.gradcheck(lambda q, k, v: scaled_dot_product_attention(q, k, v, mask=mask), inputs)


def test_an_added_mask_can_be_learned():
    query, key, value = tensors((), 3, 5, 2, 3)
    bias = oracle.spread(3, 5, phase=4.0).masked_fill(~ALLOWED, -math.inf).requires_grad_()
    scaled_dot_product_attention(query, key, value, mask=bias)[0].square().sum().backward()
    assert bias.grad.isfinite().all()
    assert not bias.grad[~ALLOWED].any()
    assert bias.grad[2].any()
    free = oracle.spread(3, 5, phase=4.0).requires_grad_()
    assert torch.autograd.gradcheck(lambda m: scaled_dot_product_attention(query, key, value, mask=m), [free])


# https://github.com/pytorch/pytorch/issues/151558 (A34)
def test_under_vmap_the_result_is_the_one_of_the_loop():
    query, key, value = tensors((7, 2), 3, 5, 11, 13)
    masks = oracle.spread(7, 3, 5) > 0.0
    masks[3, 1] = False
    assert (~masks.any(dim=-1)).any(), "an empty row must be among them"
    for mask in (masks, torch.zeros(7, 3, 5).masked_fill(~masks, -math.inf)):
        mapped = torch.vmap(lambda q, k, v, m: scaled_dot_product_attention(q, k, v, mask=m))(query, key, value, mask)
        looped = [scaled_dot_product_attention(*one, mask=m) for *one, m in zip(query, key, value, mask, strict=True)]
        torch.testing.assert_close(mapped[0], torch.stack([output for output, _ in looped]), rtol=0, atol=1e-14)
        torch.testing.assert_close(mapped[1], torch.stack([weights for _, weights in looped]), rtol=0, atol=1e-14)
        alone = torch.vmap(lambda m: scaled_dot_product_attention(query[0], key[0], value[0], mask=m)[1])(mask)
        assert torch.equal(alone[3], scaled_dot_product_attention(query[0], key[0], value[0], mask=mask[3])[1])
    with pytest.raises(RuntimeError, match="data-dependent"):
        torch.vmap(lambda m: m if m.any() else ~m)(masks)  # what a branch on the mask's content would meet


@pytest.mark.parametrize(("kind", "dtype"), [(None, torch.float32), ("boolean", torch.float64), ("-inf", torch.bfloat16)])
def test_compiled_in_one_graph_the_numbers_stay(kind, dtype):
    query, key, value = tensors((2,), 3, 5, 7, 11, dtype)
    mask = None if kind is None else as_kind(ALLOWED, kind, dtype)
    torch.compiler.reset()  # each case is a first compilation, as a reader's is
    compiled = torch.compile(scaled_dot_product_attention, backend="eager", fullgraph=True)
    expected = scaled_dot_product_attention(query, key, value, mask=mask)
    assert all(map(torch.equal, compiled(query, key, value, mask=mask), expected))


@DTYPES
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_no_input_is_changed_and_no_random_number_drawn(dtype, kind):
    query, key, value = tensors((2,), 3, 5, 7, 11, dtype)
    mask = None if kind is None else as_kind(ALLOWED, kind, dtype)
    inputs = [x for x in (query, key, value, mask) if x is not None]
    before, versions, state = [x.clone() for x in inputs], [x._version for x in inputs], torch.get_rng_state()
    scaled_dot_product_attention(query, key, value, mask=mask)
    simple_attention(query)
    assert [x._version for x in inputs] == versions
    assert all(map(torch.equal, inputs, before))
    assert torch.equal(torch.get_rng_state(), state)


@QUICK
@given(st.data())
def test_whatever_the_shape_and_the_mask_it_is_pytorchs_op_and_the_weights_are_shares(data):
    i, j, d, e = (data.draw(st.integers(1, 6), label=name) for name in "ijde")
    numbers = st.floats(-4, 4, width=32)
    query, key, value = (torch.tensor(data.draw(st.lists(numbers, min_size=n * w, max_size=n * w))).double().reshape(n, w) for n, w in ((i, d), (j, d), (j, e)))
    mask = torch.tensor(data.draw(st.lists(st.booleans(), min_size=i * j, max_size=i * j))).reshape(i, j)
    output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    theirs = F.scaled_dot_product_attention(query[None], key[None], value[None], attn_mask=mask)[0]
    torch.testing.assert_close(output, theirs, rtol=0, atol=1e-12)
    torch.testing.assert_close(weights.sum(dim=-1), mask.any(dim=-1).double(), rtol=0, atol=1e-12)
    assert (weights >= 0).all()
    assert not weights[~mask].any()
    order = torch.tensor(data.draw(st.permutations(range(j))))
    shuffled, _ = scaled_dot_product_attention(query, key[order], value[order], mask=mask[:, order])
    torch.testing.assert_close(shuffled, output, rtol=0, atol=1e-12)


# Refusals

X = torch.zeros(3, 5)
REFUSED = {
    # https://github.com/pytorch/pytorch/pull/193728 (A28)
    "keys and values differ in number": (ValueError, (5, 6), (torch.zeros(1, 1, 3, 8), torch.zeros(1, 1, 5, 8), torch.zeros(1, 1, 6, 8))),
    "widths differ": (ValueError, (7, 5, "width"), (torch.zeros(3, 7), X, X)),
    "axes differ": (ValueError, (3, 2, "(1, 3, 5)", "(3, 5)"), (X, X[None], X)),
    "batches differ": (ValueError, ("(2,)", "(7,)"), (torch.zeros(2, 3, 5), torch.zeros(7, 3, 5), torch.zeros(2, 3, 5))),
    "batches of values and queries differ": (ValueError, ("value", "query", "(2,)", "(7,)"), (X[None].expand(2, 3, 5), X[None], X[None].expand(7, 3, 5))),
    "batches of values and keys differ": (ValueError, ("value", "key", "(2,)", "(7,)"), (X[None], X[None].expand(2, 3, 5), X[None].expand(7, 3, 5))),
    "dtypes differ": (TypeError, ("torch.float64", "torch.float32", "key"), (X, X.double(), X)),
    "devices differ": (ValueError, ("meta", "cpu", "value"), (X, X, X.to("meta"))),
    # https://github.com/pytorch/pytorch/issues/14224 (A30)
    "whole numbers": (TypeError, ("torch.int64", "query.float()"), (X.long(), X.long(), X.long())),
    "booleans": (TypeError, ("torch.bool", "floating point"), (X.bool(), X.bool(), X.bool())),
    "complex numbers": (TypeError, ("torch.complex64",), (X.to(torch.complex64),) * 3),
    "a list": (TypeError, ("list", "torch.Tensor"), ([[1.0]], X, X)),
    "nothing": (TypeError, ("NoneType",), (X, X, None)),
    "one token without its axis": (ValueError, ("(5,)",), (X[0], X, X)),
    "no width": (ValueError, ("(3, 0)",), (X[:, :0], X[:, :0], X)),
    "no width of value": (ValueError, ("(3, 0)", "value"), (X, X, X[:, :0])),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_work_is_refused_in_a_sentence_before_anything_is_computed(case):
    error, words, inputs = REFUSED[case]
    with refused(error, *words):
        scaled_dot_product_attention(*inputs)


MASKS = {
    # https://github.com/pytorch/pytorch/issues/99012 (A29)
    "whole numbers": (TypeError, ("torch.int64", "mask.bool()"), torch.ones(3, 3, dtype=torch.int64)),
    "bytes": (TypeError, ("torch.uint8", "mask.bool()"), torch.ones(3, 3, dtype=torch.uint8)),
    "a list": (TypeError, ("list",), [[True]]),
    "too many keys": (ValueError, ("(3, 7)", "(3, 3)", "(2, 3, 3)"), torch.ones(3, 7, dtype=torch.bool)),
    "the wrong batch": (ValueError, ("(7, 3, 3)", "(2, 3, 3)"), torch.ones(7, 3, 3, dtype=torch.bool)),
    "too many axes": (ValueError, ("(1, 1, 3, 3)", "(2, 3, 3)"), torch.ones(1, 1, 3, 3, dtype=torch.bool)),
    "too few axes": (ValueError, ("(3,)", "(3, 3)"), torch.ones(3, dtype=torch.bool)),
    "another device": (ValueError, ("meta", "cpu"), torch.ones(3, 3, dtype=torch.bool, device="meta")),
}


@pytest.mark.parametrize("case", MASKS)
def test_a_mask_that_does_not_fit_is_refused_before_anything_is_computed(case):
    error, words, mask = MASKS[case]
    x = torch.zeros(2, 3, 5)
    with refused(error, *words):
        scaled_dot_product_attention(x, x, x, mask=mask)


@pytest.mark.parametrize(
    ("scale", "error"),
    [("1", TypeError), (True, TypeError), (torch.tensor(1.0), TypeError), (math.inf, ValueError), (math.nan, ValueError)],
)  # fmt: skip
def test_a_scale_that_is_no_finite_number_is_refused(scale, error):
    with refused(error, "scale") if not isinstance(scale, torch.Tensor) else pytest.raises(error, match="scale"):
        scaled_dot_product_attention(X, X, X, scale=scale)


@pytest.mark.parametrize(("x", "error", "words"), [
    (X.long(), TypeError, ("torch.int64", "x.float()", "embed")),
    (X[0], ValueError, ("(5,)",)),
    (X[:, :0], ValueError, ("(3, 0)",)),
    ("Your journey", TypeError, ("str",)),
])  # fmt: skip
def test_simple_attention_refuses_in_terms_of_x(x, error, words):
    with refused(error, "x ", *words):
        simple_attention(x)
