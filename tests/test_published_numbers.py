"""The numbers that readers know, digit for digit, and a second fixture where the published one is too small to tell.

``reference/act_numbers.json`` holds what the notebook of Raschka, "Build a Large Language Model (From Scratch)",
chapter 3, prints; ``reference/wider_numbers.json`` holds the second fixture.
"""

import json
import math
from pathlib import Path

import pytest
import torch

from attention_book import (
    JOURNEY,
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v1,
    SelfAttention_v2,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
    simple_attention,
    trace,
)
from attention_book.functional import attention_scores

REFERENCE = Path(__file__).parent / "reference"
NUMBERS = json.loads((REFERENCE / "act_numbers.json").read_text())
WIDER = json.loads((REFERENCE / "wider_numbers.json").read_text())
X = JOURNEY.embeddings
BATCH = torch.stack([X, X])

#: What stands beside the numbers and is none itself.
REMARKS = {"cell", "platform_dependent", "out_proj"}


def leaves(node, path=()):
    """Every number, tensor or text that is printed, by its path."""
    if isinstance(node, dict):
        for name, child in node.items():
            if name not in REMARKS:
                yield from leaves(child, (*path, name))
    else:
        yield "/".join(path), node


PRINTED = dict(leaves(NUMBERS["printed"]))


def seeded(seed, make, *sizes, **options):
    """A module as the book makes it: after ``torch.manual_seed``."""
    torch.manual_seed(seed)
    return make(*sizes, **options)


def drawn_by_hand():
    """Section 3.4.1 draws three matrices, one after the other."""
    torch.manual_seed(123)
    return [X @ torch.rand(3, 2) for _ in range(3)]


def v2():
    return trace(seeded(789, SelfAttention_v2, 3, 2), X)


def causal():
    """The weights of ``SelfAttention_v2`` in a module that hides the future."""
    module = CausalAttention(3, 2, 6, 0.0)
    module.load_state_dict(seeded(789, SelfAttention_v2, 3, 2).state_dict())
    return trace(module, X)


def masked_after_softmax():
    return v2().weights * causal_mask(6)


def summed(row):
    return row / row.sum()


def reproduced():
    """Each printed thing, made again by the library and by torch, in the order of the chapter."""
    simple, (output, weights) = trace(simple_attention, X), simple_attention(X)
    row = simple.scores[1]
    yield "3.3.1_simple/attn_scores_2/v", row
    yield "3.3.1_simple/dot_inputs0_query/v", torch.dot(X[0], X[1])
    yield "3.3.1_simple/sum_normalized_weights_2/v", summed(row)
    yield "3.3.1_simple/sum_normalized_weights_2/sum_printed", summed(row).sum()
    yield "3.3.1_simple/softmax_naive_weights_2/v", summed(row.exp())
    yield "3.3.1_simple/softmax_naive_weights_2/sum_printed", summed(row.exp()).sum()
    yield "3.3.1_simple/softmax_weights_2/v", weights[1]
    yield "3.3.1_simple/softmax_weights_2/sum_printed", weights[1].sum()
    yield "3.3.1_simple/context_vec_2/v", output[1]
    yield "3.3.2_all_tokens/attn_scores/v", simple.scores
    yield "3.3.2_all_tokens/attn_weights/v", weights
    yield "3.3.2_all_tokens/row_2_sum_of_rounded/v", torch.tensor(PRINTED["3.3.2_all_tokens/attn_weights/v"][1]).sum()
    yield "3.3.2_all_tokens/all_row_sums/v", weights.sum(dim=-1)
    yield "3.3.2_all_tokens/all_context_vecs/v", output
    yield "3.3.2_all_tokens/context_vec_2_again/v", output[1]

    query, keys, values = drawn_by_hand()
    context, shares = scaled_dot_product_attention(query[1:2], keys, values)
    yield "3.4.1_trainable_seed123_rand/query_2/v", query[1]
    yield "3.4.1_trainable_seed123_rand/keys_shape", list(keys.shape)
    yield "3.4.1_trainable_seed123_rand/values_shape", list(values.shape)
    yield "3.4.1_trainable_seed123_rand/attn_score_22/v", attention_scores(query, keys)[1, 1]
    yield "3.4.1_trainable_seed123_rand/attn_scores_2/v", attention_scores(query, keys)[1]
    yield "3.4.1_trainable_seed123_rand/d_k", keys.shape[-1]
    yield "3.4.1_trainable_seed123_rand/attn_weights_2_scaled/v", shares[0]
    yield "3.4.1_trainable_seed123_rand/context_vec_2/v", context[0]

    yield "3.4.2_SelfAttention_v1_seed123/v", seeded(123, SelfAttention_v1, 3, 2)(X)
    yield "3.4.2_SelfAttention_v2_seed789/v", seeded(789, SelfAttention_v2, 3, 2)(X)

    late, section = masked_after_softmax(), "3.5.1_causal_from_SelfAttention_v2_seed789"
    yield f"{section}/attn_weights_unmasked/v", v2().weights
    yield f"{section}/mask_simple_tril/v", causal_mask(6).float()
    yield f"{section}/masked_simple/v", late
    yield f"{section}/masked_simple_norm/v", late / late.sum(dim=-1, keepdim=True)
    yield f"{section}/masked_scores_unscaled_neg_inf/v", v2().scores.masked_fill(~causal_mask(6), -math.inf)
    yield f"{section}/attn_weights_causal_scaled/v", causal().weights

    one = seeded(123, CausalAttention, 3, 2, 6, 0.0)(BATCH)
    yield "3.5.3_CausalAttention_seed123/batch_shape", list(BATCH.shape)
    yield "3.5.3_CausalAttention_seed123/batch_items_identical", torch.equal(one[0], one[1])
    yield "3.5.3_CausalAttention_seed123/shape", list(one.shape)
    yield "3.5.3_CausalAttention_seed123/v_item0", one[0]
    yield "3.5.3_CausalAttention_seed123/v_item1", one[1]

    wrapper = seeded(123, MultiHeadAttentionWrapper, 3, 2, 6, 0.0, num_heads=2)
    stack = wrapper(BATCH)
    yield "3.6.1_MultiHeadAttentionWrapper_seed123/num_heads", len(wrapper.heads)
    yield "3.6.1_MultiHeadAttentionWrapper_seed123/shape", list(stack.shape)
    yield "3.6.1_MultiHeadAttentionWrapper_seed123/v_item0", stack[0]
    yield "3.6.1_MultiHeadAttentionWrapper_seed123/v_item1", stack[1]

    split = seeded(123, MultiHeadAttention, 3, 2, 6, 0.0, num_heads=2)
    yield "3.6.2_MultiHeadAttention_seed123/num_heads", split.num_heads
    yield "3.6.2_MultiHeadAttention_seed123/d_out", split.out_proj.out_features
    yield "3.6.2_MultiHeadAttention_seed123/head_dim", split.project(X)[0].shape[-1]
    yield "3.6.2_MultiHeadAttention_seed123/shape", list(split(BATCH).shape)
    yield "3.6.2_MultiHeadAttention_seed123/v_item0", split(BATCH)[0]
    yield "3.6.2_MultiHeadAttention_seed123/v_item1", split(BATCH)[1]

    demo = "3.6.2_batched_matmul_demo_not_six_tokens"
    a = torch.tensor(PRINTED[f"{demo}/a"])
    product = attention_scores(a, a)
    yield f"{demo}/a", a
    yield f"{demo}/a_at_aT", product
    yield f"{demo}/first_head", product[0, 0]
    yield f"{demo}/second_head", product[0, 1]


def platform_bound(path):
    """Dropout masks come out otherwise on other machines; what is certain about them is tested by itself."""
    return NUMBERS["printed"][path.split("/")[0]].get("platform_dependent", False)


def assert_printed(actual, published):
    """Equal to every digit of the four decimals, and in torch's own print wherever that shows four decimals."""
    if isinstance(published, str):
        assert str(actual.detach()) == published
        return
    if not isinstance(actual, torch.Tensor):
        assert actual == published
        return
    actual = actual.detach()
    expected = torch.tensor(_numbers(published))
    assert actual.shape == expected.shape
    assert [f"{v:.4f}" for v in actual.flatten().tolist()] == [f"{v:.4f}" for v in expected.flatten().tolist()]
    finite = expected[expected.isfinite()]
    if (finite != finite.round()).any():  # else one step of float32 makes it "1." or "1.0000"
        assert str(actual) == str(expected)


def _numbers(node):
    return [_numbers(child) for child in node] if isinstance(node, list) else float(node)


def test_every_number_that_the_notebook_prints_comes_out_digit_for_digit():
    made = dict(reproduced())
    for path, value in made.items():
        try:
            assert_printed(value, PRINTED[path])
        except AssertionError as difference:
            raise AssertionError(f"{path}: {difference}") from None
    assert list(made) == [path for path in PRINTED if not platform_bound(path)], "none is left out"


def test_masking_after_softmax_and_sharing_out_again_is_masking_before():
    late = masked_after_softmax()
    torch.testing.assert_close(late / late.sum(dim=-1, keepdim=True), causal().weights, rtol=0, atol=1e-7)


# Section 3.5.2: the masks that dropout draws vary from platform to platform; this much is certain.


@pytest.mark.parametrize("path", [path for path in PRINTED if platform_bound(path)])
def test_published_dropout_gives_zero_or_twice_the_number(path):
    before = torch.ones(6, 6) if path.split("/")[1] == "ones" else causal().weights
    dropped = torch.tensor(PRINTED[path])
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], 2 * before[kept], rtol=0, atol=1.1e-4)


def test_dropout_in_this_library_gives_zero_or_twice_the_number_and_keeps_the_mean():
    torch.manual_seed(123)
    module = CausalAttention(3, 6, 6, 0.5)
    many = module.dropout(torch.ones(400, 6, 6))
    assert set(many.unique().tolist()) == {0.0, 2.0}
    assert abs(many.mean() - 1) < 0.05
    calm = module.eval()(X)
    module.train()
    first = torch.stack([module(X)[0] for _ in range(40)])  # the first token has one weight: 1, so 0 or 2 here
    assert set((first / calm[0]).round().unique().tolist()) == {0.0, 2.0}


def test_the_weights_shown_in_training_are_those_before_dropout():
    torch.manual_seed(30)
    module = MultiHeadAttention(3, 4, 6, 0.5, 2)
    output, weights = module(wider_batch(), need_weights=True)
    assert_printed(weights, WIDER["weights"])
    assert not torch.equal(output, module(wider_batch())), "the output has dropout"


# The second fixture: heads 2 wide, a batch of two different sentences.


def wider_batch():
    """The six tokens, and the same in reverse."""
    return torch.stack([X, X.flip(0)])


def wider(**options):
    return seeded(WIDER["seed"], MultiHeadAttention, d_in=3, d_out=4, context_length=6, dropout=0.0, num_heads=2, **options)


def test_the_wider_fixture_comes_out_digit_for_digit():
    output, weights = wider()(wider_batch(), need_weights=True)
    assert_printed(output, WIDER["output"])
    assert_printed(weights, WIDER["weights"])
    assert_printed(wider(fused=True)(wider_batch()), WIDER["output"])


def test_the_wider_fixture_is_the_same_in_evaluation_with_dropout():
    for fused in (False, True):
        torch.manual_seed(WIDER["seed"])
        module = MultiHeadAttention(3, 4, 6, 0.5, 2, fused=fused).eval()
        assert_printed(module(wider_batch()), WIDER["output"])


def test_the_wider_fixture_comes_out_item_by_item_and_step_by_step():
    for item, x in enumerate(wider_batch()):
        steps = trace(wider(), x)
        assert_printed(wider()(x), WIDER["output"][item])
        assert_printed(steps.output, WIDER["output"][item])
        assert_printed(steps.weights, WIDER["weights"][item])
        torch.testing.assert_close(steps.scaled, steps.scores / math.sqrt(2), rtol=1e-6, atol=0)


def test_the_wider_fixture_goes_through_pytorchs_module_and_back():
    hide = ~causal_mask(6)
    torch_module = wider_square().to_torch()
    x = wider_square_tokens()
    mine, weights = wider_square()(x, need_weights=True)
    theirs, their_weights = torch_module(x, x, x, attn_mask=hide, average_attn_weights=False)
    torch.testing.assert_close(theirs, mine, rtol=0, atol=1e-6)
    torch.testing.assert_close(their_weights, weights, rtol=0, atol=1e-6)
    back = MultiHeadAttention.from_torch(torch_module, context_length=6, causal=True)
    torch.testing.assert_close(back(x), mine, rtol=0, atol=1e-6)
    assert_printed(x, WIDER["output"])


def wider_square():
    """PyTorch's module has one width: this one is 4 wide on both sides."""
    return seeded(WIDER["seed"], MultiHeadAttention, 4, 4, 6, 0.0, 2, qkv_bias=True)


def wider_square_tokens():
    return wider()(wider_batch()).detach()


def test_in_the_wider_fixture_a_sentence_of_padding_alone_gives_zeros():
    module = wider()
    mask = padding_mask(torch.tensor([6, 0]), 6)
    output, weights = module(wider_batch(), mask=mask, need_weights=True)
    assert_printed(output[0], WIDER["output"][0])
    assert_printed(weights[0], WIDER["weights"][0])
    assert not weights[1].any()
    assert torch.equal(output[1], module.out_proj.bias.expand(6, 4))


def test_the_wider_fixture_tells_its_two_items_its_heads_and_its_widths_apart():
    output, weights = torch.tensor(WIDER["output"]), torch.tensor(WIDER["weights"])
    assert (output[0] - output[1]).abs().max() > 0.05
    assert (weights[:, 0] - weights[:, 1]).abs().max() > 0.05
    assert_far_from_rounding(wider()(wider_batch()))
    assert_far_from_rounding(wider()(wider_batch(), need_weights=True)[1])


def assert_far_from_rounding(x, steps=100):
    """No number lies within so many float32 steps of where its fourth decimal would turn."""
    x = x.detach().double().abs()
    x = x[(x != 0) & (x != 1)]
    distance = ((x * 1e4) % 1 - 0.5).abs() / 1e4
    step = 2.0 ** (x.log2().floor() - 23)
    assert (distance / step).min() >= steps


# The weights behind the numbers, to the bit

WEIGHTS = NUMBERS["derived_not_printed"]
DRAWN = {
    "sec_3_4_1_and_SelfAttention_v1_seed123_torch_rand": lambda: seeded(123, SelfAttention_v1, 3, 2),
    "SelfAttention_v2_seed789_nn_Linear": lambda: seeded(789, SelfAttention_v2, 3, 2),
    "CausalAttention_seed123_nn_Linear": lambda: seeded(123, CausalAttention, 3, 2, 6, 0.0),
    "MultiHeadAttentionWrapper_seed123_nn_Linear": lambda: seeded(123, MultiHeadAttentionWrapper, 3, 2, 6, 0.0, 2),
    "MultiHeadAttention_seed123_nn_Linear": lambda: seeded(123, MultiHeadAttention, 3, 2, 6, 0.0, 2),
}


@pytest.mark.parametrize("name", DRAWN)
def test_the_weights_drawn_are_the_recorded_ones_to_the_bit(name):
    state = DRAWN[name]().state_dict()
    assert list(state) == list(WEIGHTS[name])
    for key, weight in state.items():
        assert torch.equal(weight, torch.tensor(WEIGHTS[name][key])), key
    assert set(DRAWN) == set(WEIGHTS) - {"note"}


# The published exercises

EXERCISES = NUMBERS["exercise_solutions"]


def test_exercise_3_1_holds_with_weights_transposed_across_both_classes_are_one():
    torch.manual_seed(123)
    linear, matrices = SelfAttention_v2(3, 2), SelfAttention_v1(3, 2)
    with torch.no_grad():
        for name in ("W_query", "W_key", "W_value"):
            getattr(matrices, name).copy_(getattr(linear, name).weight.T)
    published = EXERCISES["3.1_seed123_v1_with_v2_weights_transposed"]
    assert_printed(matrices(X), published["v1"])
    assert_printed(linear(X), published["v2"])


def test_exercise_3_2_as_published_is_impossible():
    exercise = EXERCISES["3.2_seed123_wrapper_d_out1_heads2"]
    output = seeded(123, MultiHeadAttentionWrapper, 3, 1, 6, 0.0, num_heads=2)(BATCH)
    assert output.shape == (2, 6, 2)
    assert_printed(output[0], exercise["recomputed_torch_2_13"])
    assert torch.equal(output[0], output[1])
    # No weight of nn.Linear(3, 1) exceeds 1/sqrt(3), and a context vector is an average of tokens times weights.
    bound = X.abs().sum(dim=1).max().item() / math.sqrt(3)
    assert f"{bound:.4f}" == f"{exercise['bound_on_any_output']:.4f}"
    assert output.abs().max() < bound
    assert torch.tensor(exercise["published"]).abs().max() > bound


def test_exercise_3_3_holds_one_layer_of_gpt_2_has_as_many_weights_as_published():
    exercise = EXERCISES["3.3"]
    sizes = (exercise[size] for size in ("d_in", "d_out", "context_length"))
    module = MultiHeadAttention(*sizes, 0.0, exercise["num_heads"])
    assert sum(parameter.numel() for parameter in module.parameters()) == exercise["mha_parameters_published"] == 2360064
