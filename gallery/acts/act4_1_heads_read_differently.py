"""
Two heads read one sentence differently
=======================================

Two attentions stand side by side over the same six tokens, each with matrices of its own. How far apart are their
readings, and does it mean anything?
"""

import matplotlib.pyplot as plt
import torch

from attention_book import JOURNEY, MultiHeadAttentionWrapper, causal_mask
from attention_book.heatmaps import head_grid, heatmap


def two_heads(seed):
    """Output and weights of two freshly drawn heads, each two numbers wide."""
    torch.manual_seed(seed)
    attention = MultiHeadAttentionWrapper(d_in=3, d_out=2, context_length=6, dropout=0.0, num_heads=2)
    with torch.no_grad():
        return attention(JOURNEY.embeddings, need_weights=True)  # (n, h * d), (h, i, j)


output, weights = two_heads(seed=123)
head_grid(weights, JOURNEY.tokens, mask=causal_mask(6), decimals=3, title="Two untrained heads, seed 123")
plt.show()

# %%
# Same tokens, same mask, two maps. In the row of "step" head 0 spreads its weights almost evenly; head 1 gives "Your"
# clearly less than the rest. The first row is the same in both, since a token that sees only itself has no choice.
assert weights[0, -1].max() - weights[0, -1].min() < 0.01
assert weights[1, -1].argmin() == 0
assert weights[1, -1, 1:].min() - weights[1, -1, 0] > 0.02
assert torch.equal(weights[:, 0], causal_mask(6)[:1].float().expand(2, 6))
apart = (weights[0] - weights[1]).abs().max().item()
print(f"largest difference between the two maps: {apart:.4f}")

# %%
# What a token takes away
# -----------------------
#
# The context vectors of both heads stand side by side in the output: four numbers a token, two from each head.
columns = [f"head {head}, {number}" for head in range(2) for number in range(2)]
title = "Context vectors of two heads, side by side"
figure = heatmap(output, JOURNEY.tokens, key_tokens=columns, limits=None, title=title)
figure.axes[0].set(xlabel="", ylabel="token")
plt.show()

# %%
# The outputs differ far more than the maps: head 0 answers "Your" with a negative first number, head 1 with a positive
# one, although both gave it the same weights. A head also has its own values: it looks with other eyes and hands over
# something else.
assert output.shape == (6, 4)
assert output[0, 0] < 0 < output[0, 2]
assert (output[:, :2] - output[:, 2:]).abs().max() > 10 * apart

# %%
# Is that a speciality?
# ---------------------
#
# No. The two heads differ because they were drawn differently, and for no other reason. Draw 100 other pairs, and see
# how far apart the two maps of each pair are.
pairs = torch.stack([two_heads(seed)[1] for seed in range(1000, 1100)])  # (pair, h, i, j)
gaps = (pairs[:, 0] - pairs[:, 1]).abs().amax(dim=(-2, -1))  # (pair,)

figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.hist(gaps.numpy(), bins=20, color="#3d8fc4")
ax.axvline(apart, color=plt.rcParams["text.color"], linestyle="--", label="the pair above")
ax.set(xlabel="largest difference between two maps", ylabel="pairs", title="How far 100 pairs of untrained heads are apart")
ax.legend(frameon=False)
plt.show()

# %%
# The pair above is an ordinary one: among the others are some closer together and some further apart, and both kinds
# are at least a tenth. Heads that follow a verb to its subject or a word to its last mention come from training, and
# nothing here is trained.
further = (gaps > apart).double().mean().item()
assert 0.1 < further < 0.9

# %%
# Two heads here are two modules, run one after the other. Real code has a single module that cuts its width into
# heads. Is that another computation? The next script: :doc:`A stack of heads equals one split projection
# <act4_2_stack_equals_split>`.
