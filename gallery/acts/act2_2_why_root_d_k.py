"""
Without the root of d_k, softmax collapses into a spike
=======================================================

Every score is divided by the square root of d_k, the width of query and key. What happens to the weights if it is not?
"""

import math

import matplotlib.pyplot as plt
import torch

from attention_book import scaled_dot_product_attention

WIDTHS = [2**power for power in range(11)]  # 1 to 1024
QUERIES, KEYS = 1000, 10
UNSCALED = {"color": "#e08214", "marker": "o", "label": "scores as they are"}
SCALED = {"color": "#3d8fc4", "marker": "s", "label": "divided by the root of d_k"}
INK = plt.rcParams["text.color"]


def entropy(weights):
    """How undecided the weights are, in bits: 0 for a single key, log2 of their number for equal weights."""
    return -torch.special.xlogy(weights, weights).sum(dim=-1) / math.log(2)


# %%
# Numbers of spread 1, a thousand queries with ten keys each, at eleven widths; the seed belongs to a generator of its
# own. The same draw serves for both curves.
generator = torch.Generator().manual_seed(0)
spread = {"unscaled": [], "scaled": []}
largest, bits = {"unscaled": [], "scaled": []}, {"unscaled": [], "scaled": []}
for d_k in WIDTHS:
    query = torch.randn(QUERIES, 1, d_k, generator=generator)
    key = torch.randn(QUERIES, KEYS, d_k, generator=generator)
    scores = query @ key.mT  # (query, 1, key)
    for name, scale, factor in (("unscaled", 1.0, 1.0), ("scaled", None, 1 / math.sqrt(d_k))):
        _, weights = scaled_dot_product_attention(query, key, key, scale=scale)  # None: divides by the root itself
        spread[name].append((scores * factor).std().item())
        largest[name].append(weights.amax(dim=-1).mean().item())
        bits[name].append(entropy(weights).mean().item())

figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
ax.plot(WIDTHS, [math.sqrt(d_k) for d_k in WIDTHS], "--", color=INK, label="theory: the root of d_k")
ax.plot(WIDTHS, [1.0] * len(WIDTHS), ":", color=INK, label="theory: 1")
ax.plot(WIDTHS, spread["unscaled"], linestyle="none", **UNSCALED)
ax.plot(WIDTHS, spread["scaled"], linestyle="none", **SCALED)
ax.set_xscale("log", base=2)
ax.set_yscale("log", base=2)
ax.set(xlabel="d_k", ylabel="standard deviation", title="Spread of a score against the width of query and key")
ax.legend(frameon=False)
plt.show()

# %%
# A score is a sum of d_k products. Each product has variance 1, the variances add up, so the variance of a score is d_k
# and its standard deviation the root of it. Every measured point lies within 10 percent of that line; after the division
# it stays at 1, within the same 10 percent.
for d_k, unscaled, scaled in zip(WIDTHS, spread["unscaled"], spread["scaled"], strict=True):
    assert abs(unscaled / math.sqrt(d_k) - 1) < 0.1
    assert abs(scaled - 1) < 0.1
print(f"d_k = {WIDTHS[-1]}: a standard deviation of {spread['unscaled'][-1]:.0f} unscaled, {spread['scaled'][-1]:.1f} scaled")

# %%
# What softmax makes of it
# ------------------------
#
# Two ways to see how hard the choice is: the largest weight of a query, and the entropy of all ten, each as the mean over
# the thousand queries.
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, measured, even in ((left, largest, 1 / KEYS), (right, bits, math.log2(KEYS))):
    ax.plot(WIDTHS, measured["unscaled"], **UNSCALED)
    ax.plot(WIDTHS, measured["scaled"], **SCALED)
    ax.axhline(even, color=INK, linestyle=":", label="ten equal weights")
    ax.set_xscale("log", base=2)
    ax.set(xlabel="d_k", ylim=(0, None))
left.set(title="largest weight", ylabel="mean of the largest weight", ylim=(0, 1))
right.set(title="entropy", ylabel="mean entropy in bits")
figure.suptitle("Softmax over ten keys: the unscaled collapses, the scaled does not")
figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# Unscaled, the largest of ten weights grows with the width to more than 0.95: the attention has become a choice of one
# key. Scaled, it stays between 0.25 and 0.35 at every width, and the entropy above 2.7 bits of at most 3.32.
assert largest["unscaled"] == sorted(largest["unscaled"])
assert bits["unscaled"] == sorted(bits["unscaled"], reverse=True)
assert largest["unscaled"][-1] > 0.95
assert all(0.25 < weight < 0.35 for weight in largest["scaled"])
assert all(2.7 < undecided < math.log2(KEYS) < 3.33 for undecided in bits["scaled"])
print(f"largest weight at d_k = 1024: {largest['unscaled'][-1]:.2f} unscaled, {largest['scaled'][-1]:.2f} scaled")

# %%
# A spike is worse than a hard choice: it can hardly be unlearned. The slope of a weight w in its own score is w (1 - w),
# as autograd confirms on the last draw, and near 0 or 1 that is almost nothing. Of the slope that the scaled softmax has
# at the widest, the unscaled one keeps less than a fifth.
slopes = {}
for name, factor in (("unscaled", 1.0), ("scaled", 1 / math.sqrt(WIDTHS[-1]))):
    softened = (scores * factor).requires_grad_()
    top = softened.softmax(dim=-1).amax(dim=-1)  # (query, 1)
    (gradient,) = torch.autograd.grad(top.sum(), softened)
    assert torch.allclose(gradient.amax(dim=-1), top * (1 - top), atol=1e-6)
    slopes[name] = gradient.amax(dim=-1).mean().item()
assert slopes["unscaled"] < slopes["scaled"] / 5
print(f"mean slope of the largest weight: {slopes['unscaled']:.2f} unscaled, {slopes['scaled']:.2f} scaled")

# %%
# Queries may now be as wide as they like, but each still looks at all the keys, later ones included. A model that
# writes must not read what it has yet to write. Where does one hide it? The next script: :doc:`A mask before softmax
# equals a mask after it, renormalised <act3_1_mask_before_and_after>`.
