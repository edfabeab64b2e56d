"""
Step 2. Query, key, value: every word scores every word
=======================================================

Ten rows of numbers, each alone. How does a word find out which others matter to it?
"""

# %%
# What you will do
# ----------------
#
# Make three views of every token: a **query** (what it looks for), a **key** (what it can be found by) and a **value**
# (what it hands over). Multiply every query with every key, look at the scores, and turn them into weights with softmax,
# without any scaling: that is a mistake, and you shall see what it does.

# %%
# Predict before you run
# ----------------------
#
# .. predict:: What is the largest raw score, roughly?
#    :answer: scores.max().item()
#    :tolerance: 1
#
#    It is the largest of a hundred sums of 64 products each. Tutorials often print "above 10"; here it is not, and this
#    page says why.
#
# .. predict:: Softmax turns the ten scores of "cat" into ten weights that sum to 1. How large is the largest?
#    :answer: unscaled[0, 1].max().item()
#    :tolerance: 0.1
#
#    Softmax sees differences: the best score is 1.4 above the next, which makes its weight four times as large.

# %%
# What step 1 left
# ----------------
import matplotlib.pyplot as plt
import torch
from torch import nn

from attention_book import CAT
from attention_book.heatmaps import heatmap
from attention_book.mistakes import mistake

sentence = "The cat sat on the mat because it was tired"

tokens = sentence.split()
n = len(tokens)
example = tokens == list(CAT.tokens)
cat = tokens.index("cat") if "cat" in tokens else 0  # the row to watch
torch.manual_seed(42)
X = torch.randn(1, n, 64)  # (1, n, 64)

# %%
# Query, key, value
# -----------------
W_q = nn.Linear(64, 64, bias=False)
W_k = nn.Linear(64, 64, bias=False)
W_v = nn.Linear(64, 64, bias=False)
query, key, value = W_q(X), W_k(X), W_v(X)  # three times (1, n, 64)
print(tuple(query.shape), tuple(key.shape), tuple(value.shape))

# %%
# Each ``nn.Linear`` is a matrix of 64 times 64 random numbers: in a model, this is what training changes. The order
# matters for the numbers: W_q, W_k, W_v are drawn after X, from the generator as X left it.

# %%
# Scores
# ------
scores = query @ key.mT  # (1, n, n)
print(tuple(scores.shape))
print(f"from {scores.min():.4f} to {scores.max():.4f}")
if n > 1:  # a single score has no spread
    print(f"spread {scores.std():.4f}")

# %%
# ``mT`` swaps the last two axes of the keys, so that ``@`` multiplies every query with every key. Row i, column j holds
# how well the query of token i fits the key of token j. The matrix is not symmetric: to look for is not to be found by.
heatmap(scores[0], tokens, limits=None, decimals=1, title="Raw scores: queries in rows, keys in columns")
plt.show()

# %%
# Softmax without scaling
# -----------------------
unscaled = scores.softmax(dim=-1)  # (1, n, n)
print(f'the row of "{tokens[cat]}"')
print("   score  weight  key")
for token, score, weight in zip(tokens, scores[0, cat], unscaled[0, cat], strict=True):
    print(f"{score:8.4f}  {weight:.4f}  {token}")
best = unscaled[0, cat].argmax()
print(f'largest weight: {unscaled[0, cat, best]:.4f}, token {best}, "{tokens[best]}"')
print(f"smallest weight: {unscaled[0, cat].min():.6f}")

# %%
# ``softmax`` takes the exponential of each score and divides by the sum of the row; ``dim=-1`` means along the keys.
# Every row now sums to 1. How hard does each row choose? Its largest weight says it, and so does its entropy: 0 for a
# single key, the logarithm of the number of keys for equal weights.
entropy = torch.special.entr(unscaled).sum(dim=-1)  # (1, n), in nats
print("largest  query")
for token, weight in zip(tokens, unscaled[0].amax(dim=-1), strict=True):
    print(f" {weight:.4f}  {token}")
print(f"mean entropy: {entropy.mean():.4f} of at most {torch.tensor(n).log():.4f} nats")

# %%
# You should see
# --------------
#
# Scores from -6.0884 to 6.1142, with a spread of 2.3717. Not one lies beyond 10, as is often said. The layers are the
# reason: ``nn.Linear(64, 64)`` draws its matrix between -1/8 and 1/8, which shrinks the numbers of X, of spread 1, to a
# spread of about 0.58, the root of 1/3, in queries and keys. A product of two such numbers then has a spread of 1/3, and
# a sum of 64 of them 8 times that: 8/3. Beyond 10 is nearly four such spreads away. It happens, but rarely.
#
# "cat" puts 0.6983 of its weight on "The". That is much, but not "nearly everything", as is said as well: of the ten
# rows, one has a weight above 0.9, and five have none above 0.7.
HINT = 'not what this page gives: run the cell under "Seeing something else?" and look for your numbers in it'
assert torch.allclose(unscaled.sum(dim=-1), torch.ones(1, n)), HINT
if example:
    assert abs(scores.min() - -6.0884) < 1e-4, HINT
    assert abs(scores.max() - 6.1142) < 1e-4, HINT
    assert abs(scores.std() - 2.3717) < 1e-4, HINT
    seen = [5.0703, 2.1330, 0.9117, -3.1681, 3.7120, 2.4907, 0.2641, 0.6050, -0.1653, -0.1649]
    assert torch.allclose(scores[0, cat], torch.tensor(seen), rtol=0, atol=1e-4), HINT
    assert abs(unscaled[0, cat].max() - 0.6983) < 1e-4, HINT
    assert best == 0, HINT
    first, second = scores[0, cat].topk(2).values
    assert abs(first - second - 1.4) < 0.05, HINT
    assert abs((first - second).exp() - 4) < 0.2, HINT
    assert abs(unscaled[0, cat].min() - 0.000185) < 1e-6, HINT
    top = unscaled[0].amax(dim=-1)
    seen = [0.6487, 0.6983, 0.6295, 0.8881, 0.5667, 0.8103, 0.9646, 0.5181, 0.8365, 0.7983]
    assert torch.allclose(top, torch.tensor(seen), rtol=0, atol=1e-4), HINT
    assert (top > 0.9).sum() == 1, HINT
    assert (top < 0.7).sum() == 5, HINT
    assert abs(entropy.mean() - 0.8496) < 1e-4, HINT
    assert abs(torch.tensor(10).log() - 2.3026) < 1e-4, HINT
    assert W_q.weight.abs().max() <= 1 / 8, HINT
    assert abs(query.std() - 0.58) < 0.05, HINT
    assert abs(key.std() - 0.58) < 0.05, HINT

# %%
# Seeing something else?
# ----------------------
#
# Look for your largest score in this table; each line commits a mistake and prints what it gives.
mistakes = {"no layers: X times X": X @ X.mT}


def layers(**options):
    """Query and key layer, drawn from the generator as it stands."""
    return nn.Linear(64, 64, **options), nn.Linear(64, 64, **options)


torch.manual_seed(42)
first, second = layers(bias=False)
later = torch.randn(1, n, 64)
mistakes["the layers were drawn before X"] = first(later) @ second(later).mT
torch.manual_seed(42)
first, second = layers(bias=False)
mistakes["manual_seed(42) again between X and the layers"] = first(X) @ second(X).mT
torch.manual_seed(42)
torch.randn(1, n, 64)
first, second = layers()
mistakes["bias=False was forgotten"] = first(X) @ second(X).mT
mistakes["the values in the place of the keys"] = query @ value.mT
mistakes["already divided by 8: that is step 3"] = scores / 8
for cause, wrong in mistakes.items():
    print(f"{wrong.max():7.4f}  {cause}")
if example:
    assert all(abs(wrong.max() - scores.max()) > 0.01 for wrong in mistakes.values())

# %%
# Rows that do not sum to 1: softmax ran along the queries, ``dim=1``, in place of ``dim=-1`` (in the bug zoo,
# :mistake:`softmax over queries`). An error that says "Expected size" comes from ``query @ key`` without ``.mT``: a row of
# 64 does not fit a column of ten. A reshape would make it fit, and mix the tokens (:mistake:`keys not transposed`).
_, columns = mistake("softmax over queries").attend(query, key, value, None)
try:
    query @ key
except RuntimeError as error:
    message = str(error)
print("query @ key:", message[:13])
assert message.startswith("Expected size")
if example:
    assert not torch.allclose(columns.sum(dim=-1), torch.ones(1, n), atol=0.1)

# %%
# The full code so far
# --------------------
#
# .. code-block:: python
#
#     import matplotlib.pyplot as plt
#     import torch
#     from attention_book.heatmaps import heatmap
#     from torch import nn
#
#     sentence = "The cat sat on the mat because it was tired"
#
#     tokens = sentence.split()
#     n = len(tokens)
#     torch.manual_seed(42)
#     X = torch.randn(1, n, 64)
#
#     W_q = nn.Linear(64, 64, bias=False)
#     W_k = nn.Linear(64, 64, bias=False)
#     W_v = nn.Linear(64, 64, bias=False)
#     query, key, value = W_q(X), W_k(X), W_v(X)
#
#     scores = query @ key.mT
#     print(f"from {scores.min():.4f} to {scores.max():.4f}")
#     heatmap(scores[0], tokens, limits=None, decimals=1, title="Raw scores")
#     plt.show()
#
#     unscaled = scores.softmax(dim=-1)
#     entropy = torch.special.entr(unscaled).sum(dim=-1)
#     print(f"mean entropy: {entropy.mean():.4f} of at most {torch.tensor(n).log():.4f} nats")

# %%
# Your own sentence can be :lab:`compared in the lab, cell by cell <example=text&attention=SelfAttention_v2&view=scores>`.
#
# The choice is hard, and nobody asked for it: the weights are random. What softens it? The next step: :doc:`Step 3.
# Scale and complete: divided by 8, the spike opens <project_3_scale_and_complete>`.
