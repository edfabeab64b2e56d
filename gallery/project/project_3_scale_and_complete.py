"""
Step 3. Scale and complete: divided by 8, the spike opens
=========================================================

Unscaled, "cat" gives 0.6983 of its weight to one word, and nobody asked it to. What softens the choice?
"""

# %%
# What you will do
# ----------------
#
# Divide the scores by the root of d_k, the width of a query, before softmax; see both maps side by side; average the
# values by the weights; and put all of it into one function that you will use to the end.

# %%
# Predict before you run
# ----------------------
#
# .. predict:: The largest weight of "cat" was 0.698. What is it once all scores are divided by 8?
#    :answer: weights[0, 1].max().item()
#    :tolerance: 0.05
#
#    Not an eighth of it. Softmax takes differences: a lead of 1.36 over the next score becomes 0.17, and equal weights
#    would be 0.1.
#
# .. predict:: Does scaling change which word a row prefers?
#    :choices: yes | no, in no row | in some rows
#    :answer: 1 if torch.equal(unscaled.argsort(), weights.argsort()) else 2
#
#    Dividing by a positive number keeps the order of the scores, and softmax keeps it too. Only the contrast changes.

# %%
# What steps 1 and 2 left
# -----------------------
import math

import matplotlib.pyplot as plt
import torch
from torch import nn

from attention_book import CAT
from attention_book.heatmaps import compare
from attention_book.mistakes import mistake

sentence = "The cat sat on the mat because it was tired"

tokens = sentence.split()
n = len(tokens)
example = tokens == list(CAT.tokens)
cat = tokens.index("cat") if "cat" in tokens else 0  # the row to watch
torch.manual_seed(42)
X = torch.randn(1, n, 64)  # (1, n, 64)
W_q, W_k, W_v = (nn.Linear(64, 64, bias=False) for _ in range(3))
query, key, value = W_q(X), W_k(X), W_v(X)  # three times (1, n, 64)
scores = query @ key.mT  # (1, n, n)
unscaled = scores.softmax(dim=-1)

# %%
# Scale
# -----
d_k = query.shape[-1]
scaled = scores / math.sqrt(d_k)
weights = scaled.softmax(dim=-1)  # (1, n, n)
if n > 1:  # a single score has no spread
    print(f"spread of the scores: {scores.std():.4f}, scaled {scaled.std():.4f}")

# %%
# A score is a sum of d_k products, so its spread grows with the root of d_k. Dividing by that root takes the growth out:
# 8 for 64 numbers. Nothing is learned by it, nothing lost, and the order within a row stays.
compare({"unscaled": unscaled[0], "scaled": weights[0]}, tokens, title="Weights without and with scaling, on one scale")
plt.show()

# %%
# Unscaled, each row of the example has one weight above 0.5; scaled, none reaches 0.2, on the same scale of colours. The
# largest weight of each row:
print("unscaled  scaled  query")
for token, sharp, soft in zip(tokens, unscaled[0].amax(dim=-1), weights[0].amax(dim=-1), strict=True):
    print(f"  {sharp:.4f}  {soft:.4f}  {token}")
print(f'"{tokens[cat]}": from {weights[0, cat].min():.4f} to {weights[0, cat].max():.4f}')
entropy = torch.special.entr(weights).sum(dim=-1)  # (1, n), in nats
even = torch.full((n,), 1 / n)
most = torch.special.entr(even).sum()
print(f"mean entropy: {entropy.mean():.4f} of at most {most:.4f} nats, all weights {even[0]:.4f}")

# %%
# Complete: average the values
# ----------------------------
output = weights @ value  # (1, n, 64)
print(tuple(output.shape))
print(f'"{tokens[cat]}" becomes', *(f"{number:.5f}" for number in output[0, cat, :4]), "...")


# %%
# Each row of the output is the average of all value rows, weighted by one row of the map: the *context vector* of the
# token.
#
# The function to keep
# --------------------
#
# Five lines. The mask has no use yet, so its default hides nothing; steps 5 and 6 need it.
def attention(query, key, value, mask=None):
    """Output and weights; a boolean mask is True where a query may look."""
    scaled = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scaled = scaled.masked_fill(~mask, -math.inf)
    weights = scaled.softmax(dim=-1)
    return weights @ value, weights


HINT = 'not what this page gives: run the cell under "Seeing something else?" and look for your numbers in it'
assert torch.equal(attention(query, key, value)[0], output), HINT
assert torch.equal(attention(query, key, value)[1], weights), HINT
everything = torch.ones(n, n, dtype=torch.bool)
assert torch.equal(attention(query, key, value, everything)[0], output), HINT

# %%
# You should see
# --------------
#
# The largest weight of "cat" falls from 0.6983 to 0.1569, the smallest rises to 0.0560. Every row is now close to even:
# the mean entropy is 2.2613 nats of a possible 2.3026. That is the truth about random layers, and no defect: their scaled
# scores have a spread near 1/3, so every word is heard, and training makes the differences.
assert torch.equal(unscaled.argsort(), weights.argsort()), HINT
assert torch.allclose(weights.sum(dim=-1), torch.ones(1, n)), HINT
if example:
    assert abs(scaled.std() - 1 / 3) < 0.05, HINT
    assert abs(unscaled[0, cat].max() - 0.6983) < 1e-4, HINT
    assert abs(weights[0, cat].max() - 0.1569) < 1e-4, HINT
    assert abs(weights[0, cat].min() - 0.0560) < 1e-4, HINT
    seen = [0.1499, 0.1569, 0.1613, 0.1759, 0.1444, 0.1762, 0.1904, 0.1500, 0.1620, 0.1758]
    assert torch.allclose(weights[0].amax(dim=-1), torch.tensor(seen), rtol=0, atol=1e-4), HINT
    assert (unscaled[0].amax(dim=-1) > 0.5).all(), HINT
    assert (weights < 0.2).all(), HINT
    assert abs(entropy.mean() - 2.2613) < 1e-4, HINT
    assert abs(most - 2.3026) < 1e-4, HINT
    assert even[0] == 0.1, HINT
    seen = [-0.06305, -0.28968, -0.31308, -0.04566]
    assert torch.allclose(output[0, cat, :4], torch.tensor(seen), rtol=0, atol=1e-4), HINT
    lead = scores[0, cat].topk(2).values
    assert abs(lead[0] - lead[1] - 1.36) < 0.01, HINT
    assert abs((lead[0] - lead[1]) / 8 - 0.17) < 0.01, HINT

# %%
# Seeing something else?
# ----------------------
#
# Look for your largest weight in the row of "cat"; each line commits a mistake and prints what it gives.
named = ("no scale", "scale by d_k", "softmax over queries", "keys not transposed")
wrong = {name: mistake(name).attend(query, key, value, None)[1] for name in named}
wrong |= {
    "everywhere: the scores are all zero": (0 * scores).softmax(dim=-1),
    "divided by the root of n, the number of tokens": (scores / math.sqrt(n)).softmax(dim=-1),
    "query and key exchanged": (key @ query.mT / math.sqrt(d_k)).softmax(dim=-1),
    "multiplied by the root, not divided": (scores * math.sqrt(d_k)).softmax(dim=-1),
}
for cause, seen in wrong.items():
    print(f"{seen[0, cat].max():.4f}  {cause}")
keys_averaged, _ = mistake("keys as values").attend(query, key, value, None)
print(f"{keys_averaged[0, cat, 0]:.5f}  keys as values")

# %%
# The first four have an entry in the bug zoo, with their maps and what else gives them away: :mistake:`no scale`,
# :mistake:`scale by d_k`, :mistake:`softmax over queries`, :mistake:`keys not transposed`. The last line is for you whose
# weights are right and whose output is not: if its row of "cat" begins with this number in place of -0.06305, it is the
# average of the keys (:mistake:`keys as values`).
if example:
    tops = [f"{seen[0, cat].max():.4f}" for seen in wrong.values()]
    assert [tops[0], tops[1], tops[4]] == ["0.6983", "0.1062", "0.1000"]
    assert len({*tops, f"{weights[0, cat].max():.4f}"}) == 9
    assert abs(keys_averaged[0, cat, 0] - output[0, cat, 0]) > 0.1

# %%
# The full code so far
# --------------------
#
# .. code-block:: python
#
#     import math
#
#     import matplotlib.pyplot as plt
#     import torch
#     from attention_book.heatmaps import compare
#     from torch import nn
#
#     sentence = "The cat sat on the mat because it was tired"
#
#     tokens = sentence.split()
#     n = len(tokens)
#     torch.manual_seed(42)
#     X = torch.randn(1, n, 64)
#     W_q, W_k, W_v = (nn.Linear(64, 64, bias=False) for _ in range(3))
#     query, key, value = W_q(X), W_k(X), W_v(X)
#
#
#     def attention(query, key, value, mask=None):
#         """Output and weights; a boolean mask is True where a query may look."""
#         scaled = query @ key.mT / math.sqrt(query.shape[-1])
#         if mask is not None:
#             scaled = scaled.masked_fill(~mask, -math.inf)
#         weights = scaled.softmax(dim=-1)
#         return weights @ value, weights
#
#
#     output, weights = attention(query, key, value)
#     unscaled = (query @ key.mT).softmax(dim=-1)
#     print("unscaled  scaled  query")
#     for token, sharp, soft in zip(tokens, unscaled[0].amax(dim=-1), weights[0].amax(dim=-1), strict=True):
#         print(f"  {sharp:.4f}  {soft:.4f}  {token}")
#     compare({"unscaled": unscaled[0], "scaled": weights[0]}, tokens, title="Weights without and with scaling")
#     plt.show()

# %%
# Take the scale away and put it back on your own sentence, :lab:`in the lab <example=text&attention=SelfAttention_v2>`.
#
# One map, one reason to look. But a word may have more than one: its verb, its article, what it stands for. Can it
# look in several ways at once? The next step: :doc:`Step 4. Four heads look at once, and untrained heads do not
# specialise <project_4_multi_head>`.
