"""
More heads cost nothing when the width is split, except for their maps
======================================================================

A model may read a sentence with one head or with sixteen. What does each further head cost, if all share one width, and
what if each has the full width to itself?
"""

import matplotlib.pyplot as plt
import torch
from torch.utils.flop_counter import FlopCounterMode

from attention_book import MultiHeadAttention, MultiHeadAttentionWrapper

TOKENS, WIDTH = 256, 128
HEADS = [1, 2, 4, 8, 16]
x = torch.randn(TOKENS, WIDTH, generator=torch.Generator().manual_seed(0))


def measure(attention):
    """Parameters, multiply-adds of one pass, and bytes of the weights that it returns."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        _, weights = attention(x, need_weights=True)
    parameters = sum(parameter.numel() for parameter in attention.parameters())
    # The counter counts a multiplication and an addition as two.
    return parameters, counter.get_total_flops() // 2, weights.nbytes


split, stack = [], []
for heads in HEADS:
    split.append(measure(MultiHeadAttention(WIDTH, WIDTH, TOKENS, 0.0, heads, out_bias=False)))
    stack.append(measure(MultiHeadAttentionWrapper(WIDTH, WIDTH, TOKENS, 0.0, heads)))

PANELS = {"thousands of parameters": 1e3, "millions of multiply-adds": 1e6, "kilobytes of weights": 1e3}
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
for column, (ax, (name, unit)) in enumerate(zip(axes, PANELS.items(), strict=True)):
    shared, full = ([costs[column] / unit for costs in kind] for kind in (split, stack))
    ax.plot(HEADS, full, color="#e08214", marker="o", label="stack: full width for each head")
    ax.plot(HEADS, shared, "--", color="#3d8fc4", marker="s", label="split: one width shared")
    ax.set_xticks(HEADS, HEADS)
    ax.set(xlabel="heads", title=name, xlim=(0, None), ylim=(0, None))
figure.suptitle(f"What heads cost, {TOKENS} tokens of width {WIDTH}")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
plt.show()

# %%
# The blue lines in the first two panels are level: parameters and multiply-adds of the split do not depend on the number
# of heads. Those of the stack grow in step with it. In the third panel both lines are one: each head has a map of its
# own, in either way.
assert len({parameters for parameters, _, _ in split}) == 1
assert len({multiply_adds for _, multiply_adds, _ in split}) == 1
for heads, part, full in zip(HEADS, split, stack, strict=True):
    assert full[:2] == (heads * stack[0][0], heads * stack[0][1])
    assert part[2] == full[2] == heads * split[0][2]

print("heads         parameters               multiply-adds  bytes of weights")
print("         split       stack        split        stack              both")
for heads, part, full in zip(HEADS, split, stack, strict=True):
    print(f"{heads:5}  {part[0]:7,}  {full[0]:10,}  {part[1]:11,}  {full[1]:11,}  {full[2]:16,}")

# %%
# Counted by hand
# ---------------
#
# The counter watched the matrix products as they ran. By hand: the split projects n tokens of width d three times and mixes
# them once, 4 n d² multiply-adds, whatever the cut. Each of h heads compares n queries with n keys of width d / h and
# averages as many values; h cancels, and 2 n² d remains. In the stack no width is shared, so everything comes h times;
# it has no last layer to pay for.
n, d = TOKENS, WIDTH
for heads, part, full in zip(HEADS, split, stack, strict=True):
    assert part == (4 * d * d, 4 * n * d * d + 2 * n * n * d, 4 * heads * n * n)
    assert full == (3 * heads * d * d, heads * (3 * n * d * d + 2 * n * n * d), 4 * heads * n * n)

# %%
# So the split is the better bargain already with two heads. With one, the stack is cheaper, by just that last layer.
assert all(part[0] < full[0] and part[1] < full[1] for part, full in zip(split[1:], stack[1:], strict=True))
assert split[0][0] - stack[0][0] == d * d
assert split[0][1] - stack[0][1] == n * d * d

# %%
# What is not free
# ----------------
#
# The maps. Sixteen heads keep sixteen times the bytes of one, and each map grows with the square of the number of tokens.
# The counter sees the hidden part of a causal map too: this code computes all scores and hides afterwards. Fused
# attention need not keep the maps at all, and then cannot show them: that is why its answer has none.
assert split[-1][2] == 16 * split[0][2]
half = MultiHeadAttention(WIDTH, WIDTH, TOKENS, 0.0, 1)(x[: TOKENS // 2], need_weights=True)[1]
assert 4 * half.nbytes == split[0][2]

# %%
# Every number here was counted, so it is the same on any machine. Seconds are not; ``make bench`` measures them on
# yours. The pictures end here. What do masks, shapes and scales mean in the code of others? :doc:`Conventions
# </conventions>`.
