"""Boolean masks: True = may look."""

import math

import pytest
import torch
from torch.nn import functional as F
from torch.nn.attention.bias import causal_lower_right

from attention_book import causal_mask, padding_mask, scaled_dot_product_attention
from tests import oracle
from tests.refusals import refused

SIZES = [(1, 1), (2, 5), (5, 2), (3, 3), (0, 3), (3, 0), (0, 0)]


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_a_causal_mask_lets_each_token_look_at_itself_and_earlier_ones(n):
    expected = [[j <= i for j in range(n)] for i in range(n)]
    assert causal_mask(n).tolist() == expected
    assert causal_mask(n).dtype == torch.bool
    assert causal_mask(n, n, align="lower_right").tolist() == causal_mask(n, n, align="upper_left").tolist() == expected


# https://github.com/pytorch/pytorch/issues/108108 (A6)
@pytest.mark.parametrize(("i", "j"), SIZES)
def test_upper_left_starts_at_the_first_key_and_lower_right_ends_at_the_last(i, j):
    assert causal_mask(i, j, align="upper_left").tolist() == [[k <= q for k in range(j)] for q in range(i)]
    assert causal_mask(i, j, align="lower_right").tolist() == [[k <= q + j - i for k in range(j)] for q in range(i)]


# https://github.com/pytorch/pytorch/issues/108108 (A6)
@pytest.mark.parametrize("dtype", oracle.TOLERANCE, ids=str)
def test_two_queries_of_five_keys_see_one_and_two_keys_or_four_and_five(dtype):
    query, key, value = (oracle.spread(n, 7, phase=n, dtype=dtype)[None, None] for n in (2, 5, 5))
    upper, lower = (causal_mask(2, 5, align=align) for align in ("upper_left", "lower_right"))
    assert upper.sum(dim=1).tolist() == [1, 2]
    assert lower.sum(dim=1).tolist() == [4, 5]
    first = scaled_dot_product_attention(query, key, value, mask=upper)[0]
    last = scaled_dot_product_attention(query, key, value, mask=lower)[0]
    close = {"rtol": 0, "atol": oracle.TOLERANCE[dtype]}
    torch.testing.assert_close(first, F.scaled_dot_product_attention(query, key, value, is_causal=True), **close)
    theirs = F.scaled_dot_product_attention(query, key, value, attn_mask=causal_lower_right(2, 5))
    torch.testing.assert_close(last, theirs, **close)
    assert not torch.allclose(first, last, atol=0.1), "the two meanings must differ here"


# https://github.com/pytorch/pytorch/issues/108108 (A6)
def test_causal_without_an_alignment_is_refused_when_the_numbers_differ():
    with refused(ValueError, 2, 5, "upper_left", "lower_right"):
        causal_mask(2, 5)
    with refused(ValueError, "'middle'"):
        causal_mask(2, 5, align="middle")


# https://github.com/Dao-AILab/flash-attention/issues/1778 (A8)
@pytest.mark.parametrize("dtype", oracle.TOLERANCE, ids=str)
def test_more_queries_than_keys_under_lower_right_leave_the_first_rows_at_zero(dtype):
    query, key, value = (oracle.spread(n, 3, phase=n, dtype=dtype).requires_grad_() for n in (5, 2, 2))
    mask = causal_mask(5, 2, align="lower_right")
    assert mask.tolist() == [[False, False]] * 3 + [[True, False], [True, True]]
    output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    assert not output[:3].any()
    assert not weights[:3].any()
    expected, _ = oracle.attention(query, key, value, allowed=mask)
    torch.testing.assert_close(output.double(), expected, rtol=0, atol=oracle.TOLERANCE[dtype])
    output.sum().backward()
    assert all(x.grad.isfinite().all() for x in (query, key, value))
    naive = (query @ key.T).masked_fill(~mask, -math.inf).softmax(dim=-1)
    assert naive[:3].isnan().all(), "the mistake must show here"


# https://github.com/pytorch/pytorch/issues/106341 (A33)
def test_a_causal_mask_becomes_an_added_one_without_nan():
    added = torch.zeros(3, 3).masked_fill(~causal_mask(3), -math.inf)
    assert torch.equal(added, torch.nn.Transformer.generate_square_subsequent_mask(3))
    wrong = torch.triu(torch.ones(3, 3), 1) * -math.inf
    assert wrong.tril().isnan().any(), "the mistake must show here"
    x = oracle.spread(3, 5)
    torch.testing.assert_close(scaled_dot_product_attention(x, x, x, mask=added), scaled_dot_product_attention(x, x, x, mask=causal_mask(3)))


# https://github.com/pbloem/former/issues/10 (E6)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_token_sees_itself_so_the_first_row_of_weights_is_one_and_zeros(n):
    x = oracle.spread(n, 3)
    weights = scaled_dot_product_attention(x, x, x, mask=causal_mask(n))[1]
    assert weights[0].tolist() == [1.0] + [0.0] * (n - 1)
    wrong = scaled_dot_product_attention(x, x, x, mask=torch.ones(n, n, dtype=torch.bool).tril(-1))[1]
    assert weights[0].tolist() != wrong[0].tolist(), "the mistake must show here"


def test_masks_are_made_where_they_are_wanted():
    assert causal_mask(3, device="meta").device.type == "meta"
    assert padding_mask(torch.tensor([1, 2], device="meta"), 3).device.type == "meta"
    with torch.device("meta"):
        assert causal_mask(3).device.type == "meta"


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8], ids=str)
def test_a_padding_mask_shows_each_sample_its_own_tokens(dtype):
    lengths = torch.tensor([0, 2, 5], dtype=dtype)
    mask = padding_mask(lengths, 5)
    assert mask.shape == (3, 1, 5)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[[j < n for j in range(5)]] for n in (0, 2, 5)]
    assert lengths.tolist() == [0, 2, 5]


def test_a_padding_mask_of_nothing_is_empty():
    assert padding_mask(torch.tensor([], dtype=torch.int64), 3).shape == (0, 1, 3)
    assert padding_mask(torch.tensor([0]), 0).shape == (1, 1, 0)


def test_masks_are_made_inside_compiled_and_exported_code():
    class Model(torch.nn.Module):
        def forward(self, x, lengths):
            return causal_mask(x.shape[-2]) & padding_mask(lengths, x.shape[-2])

    x, lengths = torch.zeros(2, 5, 3), torch.tensor([3, 5])
    expected = Model()(x, lengths)
    assert torch.equal(torch.compile(Model(), backend="eager", fullgraph=True)(x, lengths), expected)
    exported = torch.export.export(Model(), (x, lengths), dynamic_shapes={"x": {1: torch.export.Dim("n")}, "lengths": None})
    longer = torch.zeros(2, 11, 3)
    assert torch.equal(exported.module()(longer, lengths), Model()(longer, lengths))


@pytest.mark.parametrize("number", [-1, -7])
def test_a_negative_number_of_tokens_is_refused(number):
    lengths = torch.empty(0, dtype=torch.int64)
    with refused(ValueError, number):
        causal_mask(number)
    with refused(ValueError, number):
        causal_mask(3, number, align="upper_left")
    with refused(ValueError, number):
        padding_mask(lengths, number)


@pytest.mark.parametrize("number", [2.0, True, "3", None])
def test_a_number_of_tokens_that_is_none_is_refused(number):
    lengths = torch.tensor([1])
    with refused(TypeError, repr(number)):
        causal_mask(number)
    with refused(TypeError, repr(number)):
        padding_mask(lengths, number)


def test_lengths_that_cannot_be_are_refused():
    lengths = {
        "float": torch.tensor([1.0]),
        "bool": torch.tensor([True]),
        "flat": torch.tensor([[1, 2]]),
        "one": torch.tensor(1),
    }
    with refused(TypeError, "torch.float32"):
        padding_mask(lengths["float"], 3)
    with refused(TypeError, "torch.bool"):
        padding_mask(lengths["bool"], 3)
    with refused(TypeError, "list"):
        padding_mask([1, 2], 3)
    with refused(ValueError, "(1, 2)"):
        padding_mask(lengths["flat"], 3)
    with refused(ValueError, "()"):
        padding_mask(lengths["one"], 3)
    for too_far in ([1, 5], [-2, 1]):
        with pytest.raises(ValueError, match=rf"from {min(too_far)} to {max(too_far)}, but there are 3 keys"):
            padding_mask(torch.tensor(too_far), 3)
