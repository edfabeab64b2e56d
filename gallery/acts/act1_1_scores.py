"""
Similar tokens score high, and so do long ones
==============================================

Six tokens stand in a row, each a vector of three numbers. If a token can do nothing but multiply its vector with the
others, which of them will it listen to?
"""

import matplotlib.pyplot as plt
import torch

from attention_book import JOURNEY, simple_attention, trace
from attention_book.heatmaps import heatmap

steps = trace(simple_attention, JOURNEY.embeddings, tokens=JOURNEY.tokens)
heatmap(steps.scores, JOURNEY.tokens, limits=None, title="Scores of six tokens: each vector times each other")
plt.show()

# %%
# Look along the row of "journey": its own cell and the one of "starts" are the brightest of the whole map. The map is
# its own mirror image, since a product does not care which factor comes first.
journey, starts = JOURNEY.tokens.index("journey"), JOURNEY.tokens.index("starts")
assert steps.scores[journey].topk(2).indices.tolist() == [journey, starts]
assert torch.allclose(steps.scores[journey, [journey, starts]], steps.scores.flatten().topk(2).values)
assert torch.allclose(steps.scores, steps.scores.T)

# %%
# Two tokens that point the same way
# ----------------------------------
#
# "journey" and "starts" are nearly the same vector: no number differs by more than 0.02. The cosine of the angle between
# them, 1 for the same direction, is closer to 1 than for any other pair.
x = JOURNEY.embeddings  # (n, d)
assert (x[journey] - x[starts]).abs().max() < 0.0201

direction = x / x.norm(dim=-1, keepdim=True)
cosine = direction @ direction.T  # (i, j)
others = cosine.masked_fill(torch.eye(len(x), dtype=torch.bool), -1)
assert set(divmod(others.argmax().item(), len(x))) == {journey, starts}
print(f"cosine of journey and starts: {cosine[journey, starts]:.4f}")

# %%
# The direction is only half of a score. The other half is length: a score is the cosine times both lengths, so a long
# vector scores high with everyone. "journey" is the longest, "starts" comes next, and all six queries score these two
# above every other token but themselves.
length = x.norm(dim=-1)  # (n,)
assert torch.allclose(steps.scores, cosine * length[:, None] * length)
assert length.topk(2).indices.tolist() == [journey, starts]
for query, scores in enumerate(steps.scores):
    rivals = [key for key in range(len(x)) if key not in (query, journey, starts)]
    assert scores[[journey, starts]].min() > scores[rivals].max()
for token, long in zip(JOURNEY.tokens, length.tolist(), strict=True):
    print(f"{token:8}{long:.4f}")

# %%
# From scores to weights
# ----------------------
#
# Softmax turns each row of scores into weights, and each row sums to 1.
assert torch.allclose(steps.weights.sum(dim=-1), torch.ones(6))
heatmap(steps.weights, JOURNEY.tokens, title="Weights of six tokens: each row sums to 1")
plt.show()

# %%
# Two columns stand out in every row: the longest vectors draw the most. Each column adds up what a token is given by
# all six; an equal share would be 1, and only "journey" and "starts" get more.
drawn = steps.weights.sum(dim=-2)  # (j,)
assert drawn.topk(2).indices.tolist() == [journey, starts]
assert (drawn > 1).nonzero().flatten().tolist() == [journey, starts]
for token, share in zip(JOURNEY.tokens, drawn.tolist(), strict=True):
    print(f"{token:8}{share:.4f}")

# %%
# Softmax brings in an exponential where a plain division by the sum would also give rows of 1. What is the
# exponential good for? The next script answers: :doc:`Dividing by the sum breaks on a negative score, softmax does
# not <act1_2_softmax_or_sum>`.
