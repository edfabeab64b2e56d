"""
A mask before softmax equals a mask after it, renormalised
==========================================================

A token must not look at later ones. Is it better to hide their scores before softmax, or to strike out their weights
after it?
"""

import matplotlib.pyplot as plt
import torch

from attention_book import JOURNEY, SelfAttention_v2, causal_mask, trace
from attention_book.heatmaps import compare

torch.manual_seed(789)
steps = trace(SelfAttention_v2(d_in=3, d_out=2), JOURNEY.embeddings)
allowed = causal_mask(6)  # True = may look

struck = steps.weights * allowed  # after softmax
renormalised = struck / struck.sum(dim=-1, keepdim=True)
before = steps.scaled.masked_fill(~allowed, -torch.inf).softmax(dim=-1)

maps = {"no mask": steps.weights, "masked after softmax": struck, "renormalised, or masked before": before}
everything = torch.ones_like(allowed)
compare(maps, JOURNEY.tokens, mask=torch.stack([everything, allowed, allowed]), title="Three ways with later tokens")
plt.show()

# %%
# On the left every token looks at all six. In the middle the later ones are struck out, and the rows have lost what
# those had: the first keeps less than 0.2 of its 1. On the right each row sums to 1 again.
assert torch.allclose(steps.weights.sum(dim=-1), torch.ones(6))
assert (struck.sum(dim=-1)[:-1] < 0.9).all()
assert struck[0].sum() < 0.2
assert torch.allclose(before.sum(dim=-1), torch.ones(6))
print("sums of rows, masked after:", struck.sum(dim=-1))

# %%
# The map on the right has two names since both ways lead to it. Later tokens get a weight of exactly 0 either way.
difference = (renormalised - before).abs().max().item()
assert difference < 1e-6
assert (before[~allowed] == 0).all()
assert (renormalised[~allowed] == 0).all()
print("largest difference between the two is at most 1e-6:", difference < 1e-6)

# %%
# Why the two agree
# -----------------
#
# The ratio of two weights in a row is e to the difference of their scores. No third key has a say in it; all that a
# third key changes is the sum below both. Take keys away, divide by the new sum, and the old ratios give the new weights.
ratio = (steps.scaled[4, 0] - steps.scaled[4, 3]).exp()
assert torch.isclose(steps.weights[4, 0] / steps.weights[4, 3], ratio)
assert torch.isclose(before[4, 0] / before[4, 3], ratio)
print(f"weight of Your over weight of with, for one: {ratio:.4f} with the mask and without")

# %%
# Why the mask comes first all the same
# -------------------------------------
#
# Forget to renormalise, and the future leaks: the sum below the weights in the middle map holds the later tokens. Change
# the last token, and the struck weights of the first change with it. With the mask first they stay as they are.
torch.manual_seed(789)
attention = SelfAttention_v2(d_in=3, d_out=2)
changed = JOURNEY.embeddings
changed[-1] += 1
other = trace(attention, changed)
assert ((other.weights * allowed)[:-1] - struck[:-1]).abs().amax(dim=-1).min() > 1e-3
assert torch.equal(other.scaled.masked_fill(~allowed, -torch.inf).softmax(dim=-1)[:-1], before[:-1])

# %%
# And there is a score that no division can repair. If a hidden key outdoes all visible ones by far, their weights
# vanish before the mask comes, and 0 is divided by 0.
scores, visible = torch.tensor([0.0, 200.0]), torch.tensor([True, False])
late = scores.softmax(dim=-1) * visible
late = late / late.sum()
early = scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)
assert late.isnan().all()
assert early.tolist() == [1.0, 0.0]
print("masked after: ", late)
print("masked before:", early)

# %%
# In training, a second kind of zero falls on the weights, this time by chance, and there the rows do *not* sum to 1.
# How can that be right? The next script: :doc:`Dropout silences weights, and their mean survives
# <act3_2_dropout_on_weights>`.
