"""
A stack of heads equals one split projection
============================================

``MultiHeadAttentionWrapper`` runs one head after the other; ``MultiHeadAttention`` projects once and cuts the result.
Give both the same weights: is there any input on which one can tell them apart?
"""

import matplotlib.pyplot as plt
import torch

from attention_book import JOURNEY, MultiHeadAttention, MultiHeadAttentionWrapper
from attention_book.heatmaps import compare, heatmap

# Sizes that are all different, and items of a batch that are too, so that no swapped axis can pass unseen.
BATCH, HEADS, WIDTH = 4, 5, 2
x = torch.stack([JOURNEY.embeddings.roll(shift, dims=0) for shift in range(BATCH)])  # (b, n, d_in)
assert len({*x.shape, HEADS, WIDTH}) == 5
assert all(not torch.equal(x[0], item) for item in x[1:])

torch.manual_seed(123)
stack = MultiHeadAttentionWrapper(3, WIDTH, context_length=6, dropout=0.0, num_heads=HEADS)
split = MultiHeadAttention(3, HEADS * WIDTH, context_length=6, dropout=0.0, num_heads=HEADS, out_bias=False)

# %%
# Copy the weights
# ----------------
#
# The split has one tall matrix where the stack has five low ones. Lay the five on top of each other, in the order of the
# heads, and the tall one is full. The stack has no last layer, so the last layer of the split becomes the identity: it
# passes on what it gets.
with torch.no_grad():
    for name in ("W_query", "W_key", "W_value"):
        blocks = [getattr(head, name).weight for head in stack.heads]  # five times (d, d_in)
        getattr(split, name).weight.copy_(torch.cat(blocks))  # (h * d, d_in)
    split.out_proj.weight.copy_(torch.eye(HEADS * WIDTH))

rows = [f"head {head}, {number}" for head in range(HEADS) for number in range(WIDTH)]
title = "W_query of the split: two rows for each head"
figure = heatmap(split.W_query.weight, rows, key_tokens=["0", "1", "2"], limits=None, title=title)
figure.axes[0].set(xlabel="input", ylabel="")
figure.axes[0].hlines([WIDTH * head - 0.5 for head in range(1, HEADS)], -0.5, 2.5, color="white", linewidth=3)
plt.show()

# %%
# Between two white lines lie the two rows of one head, unchanged from the stack. To split a projection into heads is to
# remember where these lines are.
for head, module in enumerate(stack.heads):
    assert torch.equal(split.W_query.weight[WIDTH * head : WIDTH * (head + 1)], module.W_query.weight)

# %%
# Compare, head by head
# ---------------------
#
# Each head has its two numbers of the output and its own map of weights, on each item of the batch.
with torch.no_grad():
    stacked, weights_stacked = stack(x, need_weights=True)  # (b, n, h * d), (b, h, i, j)
    parted, weights_parted = split(x, need_weights=True)
assert stacked.shape == parted.shape == (BATCH, 6, HEADS * WIDTH)

for head in range(HEADS):
    own = slice(WIDTH * head, WIDTH * (head + 1))
    outputs = (stacked[..., own] - parted[..., own]).abs().max()
    weights = (weights_stacked[:, head] - weights_parted[:, head]).abs().max()
    assert outputs <= 1e-6
    assert weights <= 1e-6
    print(f"head {head}: outputs and weights of all {BATCH} items differ by at most 1e-6")

tokens = [JOURNEY.tokens[(position - 1) % 6] for position in range(6)]  # item 1 is shifted by one
maps = {"stack": weights_stacked[1, 3], "split": weights_parted[1, 3]}
compare(maps, tokens, mask=split.mask, title="Head 3 on the second item: stack and split")
plt.show()

# %%
# Two programs, one map. What differs is at most rounding: the same products may be added in another order.
#
# Would we have noticed a mistake?
# --------------------------------
#
# A comparison is worth what it can catch. Swap two heads, or two items of the batch, or cut the heads with their two
# numbers in the wrong order, and the outputs are apart by more than a hundredth.
heads = parted.unflatten(-1, (HEADS, WIDTH))  # (b, n, h, d)
mistakes = {
    "two heads swapped": heads[..., [1, 0, 2, 3, 4], :].flatten(-2),
    "two items swapped": parted[[1, 0, 2, 3]],
    "cut in the wrong order": heads.transpose(-2, -1).flatten(-2),
}
for name, wrong in mistakes.items():
    assert (stacked - wrong).abs().max() > 0.01
    print(f"{name}: noticed")

# %%
# One computation, then, written in two ways. Is it also one bill? The next script: :doc:`More heads cost nothing when
# the width is split, except for their maps <act4_3_what_heads_cost>`.
