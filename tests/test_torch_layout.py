"""From PyTorch's packed weights and back: the same outputs, weights per head and gradients."""

import pytest
import torch
from torch import nn

from attention_book import MultiHeadAttention, SelfAttention_v2, causal_mask, padding_mask
from tests import oracle
from tests.refusals import refused

B, H, N, E, CONTEXT = 2, 3, 5, 21, 7  # 3 heads, 7 wide
DTYPES = pytest.mark.parametrize("dtype", oracle.TOLERANCE, ids=str)
BIASES = pytest.mark.parametrize("bias", [True, False], ids=["biases", "no biases"])


def theirs(bias=True, dtype=torch.float64, **options):
    """PyTorch's module with weights that tell query, key and value apart."""
    module = nn.MultiheadAttention(E, H, bias=bias, batch_first=True, **options).to(dtype)
    with torch.no_grad():
        for p, parameter in enumerate(module.parameters()):
            parameter.copy_(oracle.spread(*parameter.shape, phase=1.9 * p) * 0.4)
    return module


def ours(**options):
    """This book's module, the same way."""
    module = MultiHeadAttention(E, E, CONTEXT, 0.0, H, **options).double()
    with torch.no_grad():
        for p, parameter in enumerate(module.parameters()):
            parameter.copy_(oracle.spread(*parameter.shape, phase=1.9 * p) * 0.4)
    return module


def tokens(*shape, dtype=torch.float64):
    return oracle.spread(*shape, E, phase=0.3, dtype=dtype)


def call(module, x, hide=None, padded=None):
    """PyTorch's output and weights per head; its masks are True where a query may not look."""
    return module(x, x, x, attn_mask=hide, key_padding_mask=padded, average_attn_weights=False)


def assert_close(actual, expected, dtype=torch.float64, factor=2):
    assert actual.dtype == dtype
    torch.testing.assert_close(actual.double(), expected.double(), rtol=0, atol=factor * oracle.TOLERANCE[dtype])


# https://github.com/pytorch/pytorch/issues/166378 (A26), https://github.com/pytorch/pytorch/issues/34537 (A25)
@DTYPES
@BIASES
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("batch", [(), (B,)], ids=["one sample", "a batch"])
def test_a_copy_gives_pytorchs_output_and_weights_per_head(dtype, bias, causal, batch):
    module, x = theirs(bias, dtype), tokens(*batch, N, dtype=dtype)
    hide = ~causal_mask(N) if causal else None
    expected_output, expected_weights = call(module, x, hide)
    copy = MultiHeadAttention.from_torch(module, context_length=CONTEXT, causal=causal)
    output, weights = copy(x, need_weights=True)
    assert_close(output, expected_output, dtype)
    assert_close(weights, expected_weights, dtype)
    assert_close(MultiHeadAttention.from_torch(module, context_length=N, causal=causal, fused=True)(x), output, dtype)


# https://github.com/pytorch/pytorch/issues/166378 (A26)
def test_packed_rows_are_query_key_value_and_another_order_shows():
    module, x = theirs(), tokens(N)
    copy = MultiHeadAttention.from_torch(module, context_length=CONTEXT)
    for at, name in enumerate(("W_query", "W_key", "W_value")):
        rows = slice(at * E, (at + 1) * E)
        assert torch.equal(getattr(copy, name).weight, module.in_proj_weight[rows])
        assert torch.equal(getattr(copy, name).bias, module.in_proj_bias[rows])
    right = oracle.module(copy, x, causal=False)[0]
    assert_close(call(module, x)[0], right)
    copy.W_query, copy.W_key = copy.W_key, copy.W_query
    assert (copy(x) - right).abs().max() > 0.01, "query and key exchanged must show here"
    copy.W_query, copy.W_value = copy.W_value, copy.W_query
    assert (copy(x) - right).abs().max() > 0.01, "another order must show here"


# https://github.com/pytorch/pytorch/issues/166378 (A26)
def test_fresh_weights_are_drawn_from_other_bounds_so_they_must_be_copied_and_not_seeded():
    torch.manual_seed(0)
    packed = nn.MultiheadAttention(E, H).in_proj_weight.abs().max().item()
    assert packed <= (6 / (4 * E)) ** 0.5 < (6 / (2 * E)) ** 0.5
    assert packed > 0.95 * (6 / (4 * E)) ** 0.5


@BIASES
@pytest.mark.parametrize("causal", [False, True])
def test_a_copys_gradients_are_pytorchs(bias, causal):
    module = theirs(bias)
    copy = MultiHeadAttention.from_torch(module, context_length=CONTEXT, causal=causal)
    inputs = [tokens(B, N).requires_grad_() for _ in range(2)]
    loss = oracle.spread(B, N, E, phase=5.0)
    call(module, inputs[0], ~causal_mask(N) if causal else None)[0].backward(loss)
    copy(inputs[1]).backward(loss)
    assert_close(inputs[1].grad, inputs[0].grad, factor=20)
    packed = torch.cat([getattr(copy, name).weight.grad for name in ("W_query", "W_key", "W_value")])
    assert_close(packed, module.in_proj_weight.grad, factor=20)
    assert_close(copy.out_proj.weight.grad, module.out_proj.weight.grad, factor=20)
    if bias:
        packed = torch.cat([getattr(copy, name).bias.grad for name in ("W_query", "W_key", "W_value")])
        assert_close(packed, module.in_proj_bias.grad, factor=20)
        assert_close(copy.out_proj.bias.grad, module.out_proj.bias.grad, factor=20)


# https://github.com/pytorch/pytorch/pull/170415 (A1), https://discuss.pytorch.org/t/193765 (A10)
def test_pytorchs_masks_mean_the_opposite_and_its_batch_of_masks_repeats_each_for_its_heads():
    module, x = theirs(), tokens(B, N)
    allowed = oracle.spread(B, N, N) > -0.3
    allowed[..., 0] = True
    copy = MultiHeadAttention.from_torch(module, context_length=CONTEXT)
    output, weights = copy(x, mask=allowed, need_weights=True)
    expected_output, expected_weights = call(module, x, (~allowed).repeat_interleave(H, 0))
    assert_close(output, expected_output)
    assert_close(weights, expected_weights)
    wrong = call(module, x, (~allowed).repeat(H, 1, 1))[1]
    assert (weights - wrong).abs().max() > 0.1, "another sample's mask must show here"
    inverted = call(module, x, allowed.repeat_interleave(H, 0))[1]
    assert not torch.allclose(inverted, weights, atol=0.1), "the opposite meaning must show here"


def test_pytorchs_padding_mask_is_this_books_inverted():
    module, x, lengths = theirs(), tokens(B, N), torch.tensor([3, N])
    mask = padding_mask(lengths, N)
    output, weights = MultiHeadAttention.from_torch(module, context_length=N)(x, mask=mask, need_weights=True)
    expected_output, expected_weights = call(module, x, padded=~mask[:, 0])
    assert_close(output, expected_output)
    assert_close(weights, expected_weights)


# https://github.com/pytorch/pytorch/issues/160064 (A3)
def test_where_pytorchs_module_gives_nan_for_an_empty_row_the_copy_gives_zeros():
    module, x = theirs(), tokens(B, N)
    allowed = causal_mask(N).clone()
    allowed[2] = False
    assert call(module, x, ~allowed)[0].isnan().any()
    output, weights = MultiHeadAttention.from_torch(module, context_length=N)(x, mask=allowed, need_weights=True)
    assert not weights[..., 2, :].any()
    assert torch.equal(output[:, 2], module.out_proj.bias.expand(B, E))


# https://github.com/om-ai-lab/OmDet/issues/19 (A21)
def test_a_module_that_takes_the_batch_second_is_copied_to_one_that_takes_it_first():
    second = nn.MultiheadAttention(E, H).double()
    second.load_state_dict(theirs().state_dict())
    copy, x = MultiHeadAttention.from_torch(second, context_length=CONTEXT), tokens(B, N)
    right = second(*[x.transpose(0, 1)] * 3)[0].transpose(0, 1)
    assert_close(copy(x), right)
    assert (second(x, x, x)[0] - right).abs().max() > 0.05, "attention across the batch must show here"


@BIASES
@pytest.mark.parametrize("training", [True, False])
def test_to_torch_gives_the_same_output_weights_and_mode(bias, training):
    module = ours(qkv_bias=bias, out_bias=bias, causal=False).train(training)
    other, x = module.to_torch(), tokens(B, N)
    assert other.training is training
    assert other.batch_first
    output, weights = module(x, need_weights=True)
    expected_output, expected_weights = call(other, x)
    assert_close(output, expected_output)
    assert_close(weights, expected_weights)


@pytest.mark.parametrize(("qkv_bias", "out_bias"), [(True, False), (False, True)])
def test_where_pytorch_has_all_biases_or_none_a_missing_one_is_zero(qkv_bias, out_bias):
    module = ours(qkv_bias=qkv_bias, out_bias=out_bias)
    other, x = module.to_torch(), tokens(B, N)
    assert not (other.out_proj if qkv_bias else other).state_dict()["bias" if qkv_bias else "in_proj_bias"].any()
    assert_close(call(other, x, ~causal_mask(N))[0], module(x))


@BIASES
@DTYPES
def test_there_and_back_every_weight_is_the_same_to_the_bit(bias, dtype):
    module = theirs(bias, dtype, dropout=0.25).eval()
    back = MultiHeadAttention.from_torch(module, context_length=CONTEXT).to_torch()
    assert back.state_dict().keys() == module.state_dict().keys()
    assert all(torch.equal(back.state_dict()[key], weight) for key, weight in module.state_dict().items())
    assert (back.num_heads, back.dropout, back.training) == (H, 0.25, False)
    mine = ours(qkv_bias=bias, out_bias=bias).to(dtype)
    again = MultiHeadAttention.from_torch(mine.to_torch(), context_length=CONTEXT, causal=True)
    assert all(torch.equal(again.state_dict()[key], weight) for key, weight in mine.state_dict().items())
    assert torch.equal(again(tokens(N, dtype=dtype)), mine(tokens(N, dtype=dtype)))


def test_a_copy_shares_no_weight_with_the_module_it_came_from():
    module = theirs()
    copy = MultiHeadAttention.from_torch(module, context_length=CONTEXT)
    before = copy(tokens(N))
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
    assert torch.equal(copy(tokens(N)), before)
    source = ours()
    other = source.to_torch()
    before = source(tokens(N))
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    assert torch.equal(source(tokens(N)), before)
    assert all(parameter.requires_grad for parameter in (*copy.parameters(), *other.parameters()))


def test_copying_leaves_the_random_state_alone():
    module, mine = theirs(), ours()
    state = torch.get_rng_state()
    MultiHeadAttention.from_torch(module, context_length=CONTEXT)
    mine.to_torch()
    assert torch.equal(torch.get_rng_state(), state)


def test_modules_on_another_device_are_copied_there():
    copy = MultiHeadAttention.from_torch(theirs().to("meta"), context_length=CONTEXT)
    assert {tensor.device.type for tensor in (*copy.parameters(), *copy.buffers())} == {"meta"}
    assert {tensor.device.type for tensor in ours().to("meta").to_torch().parameters()} == {"meta"}


def test_what_cannot_be_copied_is_refused_in_a_sentence_before_a_weight_is_drawn():
    narrow, appended = nn.MultiheadAttention(E, H, kdim=5, vdim=11), nn.MultiheadAttention(E, H, add_bias_kv=True)
    zeros, other = nn.MultiheadAttention(E, H, add_zero_attn=True), SelfAttention_v2(3, 2)
    wide, whole = MultiHeadAttention(3, 4, 6, 0.0, 2), theirs()
    with refused(ValueError, 5, 11, E):
        MultiHeadAttention.from_torch(narrow, context_length=CONTEXT)
    with refused(ValueError, "add_bias_kv"):
        MultiHeadAttention.from_torch(appended, context_length=CONTEXT)
    with refused(ValueError, "add_zero_attn"):
        MultiHeadAttention.from_torch(zeros, context_length=CONTEXT)
    with refused(TypeError, "SelfAttention_v2"):
        MultiHeadAttention.from_torch(other, context_length=CONTEXT)
    with refused(ValueError, 3, 4):
        wide.to_torch()
    state = torch.get_rng_state()
    with pytest.raises(ValueError, match="context_length is 0"):
        MultiHeadAttention.from_torch(whole, context_length=0)
    assert torch.equal(torch.get_rng_state(), state)
