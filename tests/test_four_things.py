"""The four sentences of docs/four_things.md; the page shows these tests."""

import torch

from attention_book import (
    JOURNEY,
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v2,
    scaled_dot_product_attention,
    simple_attention,
)


def test_attention_is_a_weighted_average():
    x = JOURNEY.embeddings
    output, weights = simple_attention(x)
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(6))
    torch.testing.assert_close(output, sum(weights[:, [j]] * x[j] for j in range(6)))
    assert (output >= x.min(dim=0).values).all()
    assert (output <= x.max(dim=0).values).all()


def test_query_key_and_value_are_three_views_of_one_token():
    x = JOURNEY.embeddings
    attention = SelfAttention_v2(d_in=3, d_out=3)
    for layer in (attention.W_query, attention.W_key, attention.W_value):
        torch.nn.init.eye_(layer.weight)
    output, weights = simple_attention(x)
    assert not torch.allclose(attention(x), output)  # the scale is all that is left between them
    torch.testing.assert_close(scaled_dot_product_attention(*attention.project(x), scale=1.0), (output, weights))


def test_the_causal_mask_makes_a_language_model():
    x = JOURNEY.embeddings
    attention = CausalAttention(d_in=3, d_out=2, context_length=6, dropout=0.0)
    for n in range(1, 7):
        torch.testing.assert_close(attention(x)[:n], attention(x[:n]))


def test_multi_head_is_a_split_not_a_stack():
    batch = torch.stack([JOURNEY.embeddings, JOURNEY.embeddings.flip(0)])
    stack = MultiHeadAttentionWrapper(d_in=3, d_out=2, context_length=6, dropout=0.0, num_heads=2)
    split = MultiHeadAttention(d_in=3, d_out=4, context_length=6, dropout=0.0, num_heads=2, out_bias=False)
    for name in ("W_query", "W_key", "W_value"):
        rows = torch.cat([getattr(head, name).weight for head in stack.heads])
        getattr(split, name).weight.data.copy_(rows)
    torch.nn.init.eye_(split.out_proj.weight)
    torch.testing.assert_close(split(batch), stack(batch))
    one_wide_head = CausalAttention(d_in=3, d_out=4, context_length=6, dropout=0.0)
    assert count(stack) == count(split) - count(split.out_proj) == count(one_wide_head)


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())
