"""
Query, key and value are three views of one token
=================================================

A token asks, is asked, and answers. What changes when it may show another side of itself each time?
"""

import matplotlib.pyplot as plt
import torch

from attention_book import JOURNEY, SelfAttention_v1, SelfAttention_v2, simple_attention, trace
from attention_book.heatmaps import compare

x = JOURNEY.embeddings
torch.manual_seed(123)
matrices = SelfAttention_v1(d_in=3, d_out=2)
v1 = trace(matrices, x)

views = {"query": v1.query, "key": v1.key, "value": v1.value}
title = "Three views of each token"
figure = compare(views, JOURNEY.tokens, key_tokens=("0", "1"), limits=None, title=title)
for ax in figure.axes[:3]:
    ax.set(xlabel="", ylabel="")
plt.show()

# %%
# Each row is one token, seen three times. A view is the token's three numbers times a matrix of its own, and has two
# numbers here: width is free to change. "journey" and "starts", nearly equal as embeddings, stay nearly equal in all
# three views: what is alike going into one matrix comes out alike.
for name, view in views.items():
    assert view.shape == (6, 2)
    assert (view[1] - view[2]).abs().max() < 0.03
    print(f"{name:6}{tuple(x.shape)} to {tuple(view.shape)}")

# %%
# A comparison with a direction
# -----------------------------
#
# Without the three views, "journey" asked "step" exactly what "step" asked "journey". Now one is the query and the
# other the key, and the two scores are no longer the same.
plain = trace(simple_attention, x).scores
assert torch.allclose(plain, plain.T)
assert abs(v1.scores[1, 5] - v1.scores[5, 1]) > 0.1
print(f"no dials:    journey asks step {plain[1, 5]:.4f}, step asks journey {plain[5, 1]:.4f}")
print(f"three views: journey asks step {v1.scores[1, 5]:.4f}, step asks journey {v1.scores[5, 1]:.4f}")

# %%
# Two ways to draw the matrices
# -----------------------------
#
# ``SelfAttention_v1`` draws its matrices evenly between 0 and 1; ``SelfAttention_v2`` uses linear layers, which draw
# small numbers on both sides of 0. The computation is the same.
torch.manual_seed(789)
layers = SelfAttention_v2(d_in=3, d_out=2)
v2 = trace(layers, x)
assert all((matrix >= 0).all() and (matrix < 1).all() for matrix in matrices.parameters())
assert min(matrix.min() for matrix in layers.parameters()) < 0 < max(matrix.max() for matrix in layers.parameters())

for steps in (v1, v2):
    assert torch.allclose(steps.weights.sum(dim=-1), torch.ones(6))
maps = {"SelfAttention_v1, seed 123": v1.weights, "SelfAttention_v2, seed 789": v2.weights}
compare(maps, JOURNEY.tokens, decimals=4, title="Weights of two untrained attentions")
plt.show()

# %%
# Neither map has learned anything yet. The weights of the second are nearly flat: they lie between 0.1477 and 0.2041, where an
# equal share is 1/6. Small matrices make small scores, none as large as 0.5, and softmax of small scores is close to
# even.
lowest, highest = v2.weights.min().item(), v2.weights.max().item()
assert (round(lowest, 4), round(highest, 4)) == (0.1477, 0.2041)
assert v2.scores.abs().max() < 0.5
print(f"lowest {lowest:.4f}, equal {1 / 6:.4f}, highest {highest:.4f}")

# %%
# The dials are in place; what they should be set to, only training can say. But these vectors are two numbers wide,
# and real ones often 64 or more. What does width do to a score? The next script: :doc:`Without the root of d_k,
# softmax collapses into a spike <act2_2_why_root_d_k>`.
