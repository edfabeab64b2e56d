"""
Secret mission: no word sees a later one, so words can follow one another
=========================================================================

To write is to choose the next word from the earlier ones. How does one build attention that cannot read ahead?
"""

# %%
# What you will do
# ----------------
#
# Hide later tokens with a causal mask, look at the triangle that is left, run all four heads under it, prove that a later
# word changes no earlier row, and then let your module put one word after another.

# %%
# Predict before you run
# ----------------------
#
# .. predict:: Under the causal mask the first word sees only itself. What is its weight on itself?
#    :answer: weights[0, 0, 0, 0].item()
#    :tolerance: 0
#
#    A softmax over a single score gives 1, whatever the score.
#
# .. predict:: How many of the hundred cells of a map stay visible?
#    :answer: causal.sum().item()
#    :tolerance: 0
#
#    1 + 2 + ... + 10: the diagonal belongs to it, since a word may see itself.

# %%
# What steps 1 to 5 left
# ----------------------
import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

import attention_book
from attention_book import CAT
from attention_book.heatmaps import head_grid, heatmap
from attention_book.mistakes import RIGHT, mistake

sentence = "The cat sat on the mat because it was tired"

tokens = sentence.split()
n = len(tokens)
example = tokens == list(CAT.tokens)
it = tokens.index("it") if "it" in tokens else n - 1  # the row to watch
torch.manual_seed(42)
X = torch.randn(1, n, 64)  # (1, n, 64)
W_q, W_k, W_v = (nn.Linear(64, 64, bias=False) for _ in range(3))


def attention(query, key, value, mask=None):
    """Output and weights; a boolean mask is True where a query may look."""
    scaled = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scaled = scaled.masked_fill(~mask, -math.inf)
    weights = scaled.softmax(dim=-1)
    return weights @ value, weights


class MultiHeadAttention(nn.Module):
    """Several heads side by side, each attending with its own part of the width."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x):
        b, n, d_model = x.shape
        return x.view(b, n, self.num_heads, d_model // self.num_heads).transpose(1, 2)  # (b, h, n, d)

    def forward(self, x, mask=None):
        query, key, value = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        heads, weights = attention(query, key, value, mask)  # (b, h, n, d), (b, h, n, n)
        joined = heads.transpose(1, 2).reshape(x.shape)  # (b, n, d_model)
        return self.W_o(joined), weights


multi_head = MultiHeadAttention(64, num_heads=4)


# %%
# The mask
# --------
def causal_mask(n):
    """True where a query may look: at itself and at earlier tokens."""
    return torch.ones(n, n, dtype=torch.bool).tril()


causal = causal_mask(n)
print(f"visible: {causal.sum()} of {causal.numel()}")

# %%
# ``tril`` keeps the lower triangle: row i, column j is True where j is not later than i. Your function then puts minus
# infinity in place of every other score. The exponential of minus infinity is exactly 0, so softmax shares the whole 1
# among what is visible.
query, key, value = W_q(X), W_k(X), W_v(X)
output, single = attention(query, key, value, causal)
heatmap(single[0], tokens, mask=causal, title="A single head that cannot read ahead")
plt.show()

# %%
# Hatched cells are hidden: no small number, none at all. The first row has a single cell with all of its weight.
HINT = 'not what this page gives: run the cell under "Seeing something else?" and look for your numbers in it'
assert torch.equal(single[0] != 0, causal), HINT
assert single[0, 0, 0] == 1, HINT
assert torch.allclose(single.sum(dim=-1), torch.ones(1, n)), HINT

# %%
# Four heads under one mask
# -------------------------
output, weights = multi_head(X, causal)
head_grid(weights[0], tokens, mask=causal, title="Four untrained heads that cannot read ahead")
plt.show()

# %%
# The class needs no change: the mask of shape (n, n) serves every head. Here is the row of one word, "it" in the example,
# in head 0, without the mask and with it:
_, unmasked = multi_head(X)
print("without    with  key")
for token, free, bound in zip(tokens, unmasked[0, 0, it], weights[0, 0, it], strict=True):
    print(f" {free:.4f}  {bound:.4f}  {token}")

# %%
# You should see
# --------------
#
# "was" and "tired" come later than "it" and get exactly 0. The eight others grow all by the same factor, 1.61, so that
# the row sums to 1 again: their proportions stay as they were.
assert (weights[0, :, ~causal] == 0).all(), HINT
visible = unmasked[0, 0, it, : it + 1]
assert torch.allclose(weights[0, 0, it, : it + 1], visible / visible.sum(), rtol=0, atol=1e-6), HINT
if example:
    seen = [0.0513, 0.0935, 0.1524, 0.1278, 0.0662, 0.1647, 0.2032, 0.1410, 0.0, 0.0]
    assert torch.allclose(weights[0, 0, it], torch.tensor(seen), rtol=0, atol=1e-4), HINT
    assert causal.sum() == 55, HINT
    assert abs(1 / visible.sum() - 1.61) < 0.005, HINT

# %%
# PyTorch calls the same thing ``is_causal=True``:
cut = [multi_head.split(layer(X)) for layer in (multi_head.W_q, multi_head.W_k, multi_head.W_v)]
official = F.scaled_dot_product_attention(*cut, is_causal=True)
difference = (official - attention(*cut, causal)[0]).abs().max().item()
assert difference < 1e-6, HINT
print("as is_causal=True, within 1e-6:", difference < 1e-6)

# %%
# No earlier row changes
# ----------------------
#
# That is the promise, and it can be tried: replace each token in turn by other numbers, and see which rows of the output
# change.
changed = torch.zeros(2, n, n, dtype=torch.bool)  # (mask or not, token replaced, row of the output)
for replaced in range(n):
    other = X.clone()
    other[0, replaced] = -X[0, replaced]
    for k, mask in enumerate((causal, None)):
        distance = (multi_head(other, mask)[0] - multi_head(X, mask)[0]).abs().amax(dim=-1)  # (1, n)
        changed[k, replaced] = distance[0] > 1e-6
assert torch.equal(changed[0], causal.T), HINT
assert changed[1].all(), HINT
print("with the mask, a token changes its own row and later ones, no earlier one:", torch.equal(changed[0], causal.T))
print("without it, every token changes every row:", changed[1].all().item())

# %%
# Words that follow one another
# -----------------------------
#
# Now the loop that every chatbot runs: attend over the words so far, take the last output, choose the next word, append,
# again. The vocabulary is the sentence's own, and the word chosen is the one whose embedding has the largest dot product
# with the last output.
vocabulary = list(dict.fromkeys(tokens))
rows = X[0, [tokens.index(word) for word in vocabulary]]  # (word, 64)


@torch.no_grad()
def next_word(x):
    """Output for all tokens so far, and the position in the vocabulary of the word to come."""
    output, _ = multi_head(x, causal_mask(x.shape[1]))
    return output, (rows @ output[0, -1]).argmax().item()


start = (n + 1) // 2
words, x, earlier = tokens[:start], X[:, :start], None
for _ in range(5):
    output, best = next_word(x)
    if earlier is not None:
        assert torch.allclose(output[:, :-1], earlier, rtol=0, atol=1e-6), HINT
    earlier = output
    words.append(vocabulary[best])
    x = torch.cat([x, rows[best].view(1, 1, 64)], dim=1)
print(" ".join(words[:start]), "|", " ".join(words[start:]))
print("appending a word left all earlier rows as they were, within 1e-6: True")

# %%
# Since earlier rows never change, a model that writes need not compute them again: it keeps their keys and values, which
# is called the KV cache.
#
# Is that language?
# -----------------
#
# No, it is babble. In the example "The cat sat on the" goes on with "mat", which looks like reading and is luck: the
# matrices are random, and they happen to prefer "mat". Ask after each beginning of the sentence:
right = []
for length in range(1, n):
    _, best = next_word(X[:, :length])
    right.append(vocabulary[best] == tokens[length])
    print(f"chosen {vocabulary[best]}, the sentence has {tokens[length]}")
print(f"right: {sum(right)} of {n - 1}")

# It says "mat" after nearly everything, and is right once, where the sentence does. There are no positions either: the
# module knows what came earlier, but not in which order. A loop that writes is finished; what it needs is training.
if example:
    assert words == [*tokens[:5], "mat", "mat", "mat", "mat", "sat"], HINT
    assert sum(right) == 1, HINT
    assert right.index(True) == 4, HINT
    assert [next_word(X[:, :length])[1] for length in range(1, n)].count(vocabulary.index("mat")) == 8, HINT
order = torch.arange(n)
order[:-1] = order[:-1].flip(0)  # all but the last token, backwards
assert torch.allclose(next_word(X[:, order])[0][0, -1], multi_head(X, causal)[0][0, -1], rtol=0, atol=1e-6), HINT

# %%
# Seeing something else?
# ----------------------
#
# The first line is yours: what "it" gives, in head 0, to the first token and to itself. Which line has the same two? The
# second is right, under the library's own mask; each of the others commits a mistake.
projected = [layer(X) for layer in (multi_head.W_q, multi_head.W_k, multi_head.W_v)]
named = ("mask after softmax", "zero for minus infinity", "inverted mask", "lower triangle", "mask hides itself")
allowed = attention_book.causal_mask(n)
lines = {"yours": weights, "right": RIGHT.multi_head(*projected, 4, multi_head.W_o, allowed)[1]}
lines |= {name: mistake(name).multi_head(*projected, 4, multi_head.W_o, allowed)[1] for name in named}
lines["no mask at all"] = unmasked
print(" first  itself")
for cause, maps in lines.items():
    print(f"{maps[0, 0, it, 0]:.4f}  {maps[0, 0, it, it]:.4f}  {cause}")
if example:
    pairs = {name: (f"{maps[0, 0, it, 0]:.4f}", f"{maps[0, 0, it, it]:.4f}") for name, maps in lines.items()}
    assert pairs["mask after softmax"] == pairs["no mask at all"]
    assert pairs["yours"] == pairs["right"]
    assert len(set(pairs.values())) == len(lines) - 2 == 6
    assert (lines["mask after softmax"].sum(dim=-1)[..., :-1] < 0.95).all()

# %%
# Each has an entry in the bug zoo: :mistake:`mask after softmax`, :mistake:`zero for minus infinity`, :mistake:`inverted mask`,
# :mistake:`lower triangle`, :mistake:`mask hides itself`. The first of them has the weights of no mask at all where one may
# look, and its rows sum to less than one.
#
# NaN has two places that tell its cause. In the first row: the token hides itself, and has nothing to look at. In the
# last: the mask is upside down, and the last token is the one with nothing left.
assert lines["mask hides itself"][0, :, 0].isnan().all()
assert lines["inverted mask"][0, :, -1].isnan().all()

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
#     from attention_book.heatmaps import head_grid
#     from torch import nn
#
#     sentence = "The cat sat on the mat because it was tired"
#
#     tokens = sentence.split()
#     n = len(tokens)
#     torch.manual_seed(42)
#     X = torch.randn(1, n, 64)
#     W_q, W_k, W_v = (nn.Linear(64, 64, bias=False) for _ in range(3))
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
#     class MultiHeadAttention(nn.Module):
#         """Several heads side by side, each attending with its own part of the width."""
#
#         def __init__(self, d_model, num_heads):
#             super().__init__()
#             self.num_heads = num_heads
#             self.W_q = nn.Linear(d_model, d_model, bias=False)
#             self.W_k = nn.Linear(d_model, d_model, bias=False)
#             self.W_v = nn.Linear(d_model, d_model, bias=False)
#             self.W_o = nn.Linear(d_model, d_model, bias=False)
#
#         def split(self, x):
#             b, n, d_model = x.shape
#             return x.view(b, n, self.num_heads, d_model // self.num_heads).transpose(1, 2)
#
#         def forward(self, x, mask=None):
#             query, key, value = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
#             heads, weights = attention(query, key, value, mask)
#             joined = heads.transpose(1, 2).reshape(x.shape)
#             return self.W_o(joined), weights
#
#
#     def causal_mask(n):
#         """True where a query may look: at itself and at earlier tokens."""
#         return torch.ones(n, n, dtype=torch.bool).tril()
#
#
#     multi_head = MultiHeadAttention(64, num_heads=4)
#     causal = causal_mask(n)
#     print(f"visible: {causal.sum()} of {causal.numel()}")
#     output, weights = multi_head(X, causal)
#     head_grid(weights[0], tokens, mask=causal, title="Four untrained heads that cannot read ahead")
#     plt.show()
#
#     vocabulary = list(dict.fromkeys(tokens))
#     rows = X[0, [tokens.index(word) for word in vocabulary]]
#     start = (n + 1) // 2
#     words, x = tokens[:start], X[:, :start]
#     for _ in range(5):
#         output, _ = multi_head(x, causal_mask(x.shape[1]))
#         best = (rows @ output[0, -1]).argmax().item()
#         words.append(vocabulary[best])
#         x = torch.cat([x, rows[best].view(1, 1, 64)], dim=1)
#     print(" ".join(words[:start]), "|", " ".join(words[start:]))

# %%
# Hide the later words of your own sentence: :lab:`in the lab <example=text&attention=MultiHeadAttention&causal=true>`.
#
# You have built all of it. What is worth keeping? The last page: :doc:`Wrap-up: the whole program on one screen, and
# ten questions <project_7_wrap_up>`.
