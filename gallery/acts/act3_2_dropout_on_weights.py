"""
Dropout silences weights, and their mean survives
=================================================

In training, dropout sets weights to 0 by chance, and no row is normalised again. Why does the average not suffer?
"""

from itertools import product

import matplotlib.pyplot as plt
import torch

from attention_book import JOURNEY, CausalAttention
from attention_book.heatmaps import compare

torch.manual_seed(789)
attention = CausalAttention(d_in=3, d_out=2, context_length=6, dropout=0.5)
attention.eval()
with torch.no_grad():
    output, weights = attention(JOURNEY.embeddings, need_weights=True)  # (i, e), (i, j)

DRAWS = 20_000
torch.manual_seed(123)
drop = torch.nn.Dropout(0.5)
draws = drop(weights.expand(DRAWS, 6, 6))  # (draw, i, j)

maps = {"no dropout": weights, "one draw": draws[0], f"mean of {DRAWS} draws": draws.mean(dim=0)}
compare(maps, JOURNEY.tokens, mask=attention.mask, limits=(0, 2), title="Dropout with p = 0.5 on causal weights")
plt.show()

# %%
# In the middle, each weight is either 0 or twice what it was, and nothing else. On the right, the mean over many draws is
# back where it began. Which cells a draw takes depends on the machine as well as on the seed, so your middle map may
# show others; what this page says about them holds for every draw.
visible = draws[:, attention.mask]  # (draw, visible cells)
assert ((visible == 0) | (visible == 2 * weights[attention.mask])).all()
assert (draws.mean(dim=0) - weights).abs().max() < 0.05
print("every weight is 0 or doubled: True")
print("the mean is within 0.05 of the weights: True")

# %%
# Half of the weights are silenced, the other half doubled: 0.5 times 2 is 1, so each weight keeps its expected value.
# That is the reason for the factor 1 / (1 - p).
silenced = (visible == 0).double().mean().item()
assert abs(silenced - 0.5) < 0.01
assert 1 / (1 - drop.p) == 2
print(f"share of weights silenced: {silenced:.1f}")

# %%
# No draw leaves a row at 1
# -------------------------
#
# There are 64 ways to keep or drop the six weights of a row. Not one of them leaves any of these rows with a sum of 1,
# so this needs no luck: in training the output is no weighted average. The first row is the clearest case, 0 or 2; the nearest
# miss of any row is about a thousandth.
kept = torch.tensor(list(product([0.0, 2.0], repeat=6)))  # (64, j)
sums = kept @ weights.T  # (64, i)
assert len(kept) == 64
nearest = (sums - 1).abs().min().item()
assert nearest > 1e-3
print(f"nearest miss: {nearest:.3f}")
assert set(sums[:, 0].tolist()) == {0.0, 2.0}
assert set(draws[:, 0].sum(dim=-1).tolist()) == {0.0, 2.0}
assert torch.allclose(draws.sum(dim=-1).mean(dim=0), torch.ones(6), atol=0.05)

figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.hist(draws[:, -1].sum(dim=-1).numpy(), bins=20, range=(0, 2), color="#3d8fc4")
ax.axvline(1, color=plt.rcParams["text.color"], linestyle="--", label="without dropout")
ax.set(xlabel='sum of the weights of "step"', ylabel="draws", title="Sums of the last row over all draws: their mean is 1")
ax.legend(frameon=False)
plt.show()

# %%
# The sums of the last row lie on both sides of 1, as far as 0 and 2, and their mean is 1. The model learns under this
# noise not to lean on any single token.
last = draws[:, -1].sum(dim=-1)
assert last.min() == 0
assert abs(last.max() - 2) < 1e-5
assert abs(last.mean() - 1) < 0.02

# %%
# In evaluation there is none of it
# ---------------------------------
#
# After ``eval()`` the same input gives the same output each time. After ``train()`` the first token, which sees only
# itself, gets 0 or twice its context vector, whatever the draw.
with torch.no_grad():
    assert torch.equal(attention(JOURNEY.embeddings), output)
    attention.train()
    first = [attention(JOURNEY.embeddings)[0] for _ in range(20)]
assert all(torch.equal(context, 0 * output[0]) or torch.equal(context, 2 * output[0]) for context in first)

# %%
# One attention is now complete: three views, scaled, masked, with dropout. But it has one set of weights for each
# token, and a word may have more than one reason to look back. What does a second one see? The next script: :doc:`Two
# heads read one sentence differently <act4_1_heads_read_differently>`.
