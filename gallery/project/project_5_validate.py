"""
Step 5. Validate: PyTorch's own attention gives your output and your gradients
==============================================================================

Your numbers agree with this book's, and the book might be wrong. Does PyTorch agree?
"""

# %%
# What you will do
# ----------------
#
# Compare your function with ``F.scaled_dot_product_attention``, plain, causal and masked, and your class with
# ``nn.MultiheadAttention`` through copied weights: the output, and the gradients too, because training follows those.

# %%
# Predict before you run
# ----------------------
#
# .. predict:: Both compute the same formula in 32-bit numbers. How far apart are the outputs, at most?
#    :choices: not at all, every bit is equal | less than a millionth | about a thousandth
#    :answer: 0 if apart == 0 else 1 if apart < 1e-6 else 2
#
#    A sum depends on the order of its terms, since each step is rounded. The official op adds in another order, which
#    depends on your processor and its threads: about 1e-7 is usual, and "exactly 0" is luck.
#
# .. predict:: nn.MultiheadAttention keeps W_q, W_k and W_v in one tall matrix. How many rows does it have?
#    :answer: official.in_proj_weight.shape[0]
#    :tolerance: 0
#
#    Three matrices of 64 rows, on top of each other.

# %%
# What steps 1 to 4 left
# ----------------------
import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

from attention_book import CAT
from attention_book.heatmaps import compare
from attention_book.mistakes import mistake

sentence = "The cat sat on the mat because it was tired"

tokens = sentence.split()
n = len(tokens)
example = tokens == list(CAT.tokens)
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
query, key, value = W_q(X), W_k(X), W_v(X)  # three times (1, n, 64)

# %%
# Output and gradients
# --------------------
TOLERANCE = 1e-5
push = torch.randn(1, n, 64)  # what a loss might send back


def largest_difference(mine, official, inputs):
    """Over the outputs, and over the gradients of all inputs."""
    gradients = [torch.autograd.grad(output, inputs, push, retain_graph=True) for output in (mine, official)]
    pairs = zip((mine, *gradients[0]), (official, *gradients[1]), strict=True)
    return max((a - b).abs().max().item() for a, b in pairs)


# %%
# An equal output is not enough: a wrong implementation can agree forwards and still learn something else. So the same
# random numbers are sent back through both, and what arrives at query, key and value is compared as well.
#
# Three cases
# -----------
#
# A mask is a table of True and False: may this query look at that key? The causal mask lets each token see itself and
# earlier ones; the next step is about it. The other one lets each token see its neighbours, two on either side.
causal = torch.ones(n, n, dtype=torch.bool).tril()  # True = may look
position = torch.arange(n)
near = (position[:, None] - position).abs() <= 2
cases = {
    "plain": (None, {}),
    "causal": (causal, {"is_causal": True}),
    "masked": (near, {"attn_mask": near}),
}
for name, (mask, options) in cases.items():
    mine, _ = attention(query, key, value, mask)
    official_output = F.scaled_dot_product_attention(query, key, value, **options)
    difference = largest_difference(mine, official_output, (query, key, value))
    assert difference < TOLERANCE
    assert torch.allclose(mine, official_output, rtol=0, atol=1e-6)
    print(f"{name}: output and gradients agree within {TOLERANCE}")

# %%
# The largest difference is compared and not printed: it is about 1e-7 for the outputs, but its digits depend on the
# machine. "0.00e+00", as some pages show, is no promise that anyone gives. And ``allclose`` alone can deceive: its
# default adds a
# *relative* tolerance, so here it is switched off, ``rtol=0``.
mine, _ = attention(query, key, value)
apart = (mine - F.scaled_dot_product_attention(query, key, value)).abs().max().item()
print("plain output: largest difference below a millionth:", apart < 1e-6)

# %%
# The class, with copied weights
# ------------------------------
#
# ``nn.MultiheadAttention`` draws numbers of its own, so it gets yours: three matrices on top of each other, and W_o.
official = nn.MultiheadAttention(64, num_heads=4, bias=False, batch_first=True)
with torch.no_grad():
    stacked = [multi_head.W_q.weight, multi_head.W_k.weight, multi_head.W_v.weight]
    official.in_proj_weight.copy_(torch.cat(stacked))  # (192, 64)
    official.out_proj.weight.copy_(multi_head.W_o.weight)

# %%
# Its masks mean the opposite: True *hides*. So yours goes in as ``~mask``. And it averages the maps of its heads unless
# told not to.
own_layers = (multi_head.W_q, multi_head.W_k, multi_head.W_v, multi_head.W_o)
for name, mask in (("plain", None), ("causal", causal), ("masked", near)):
    x = X.clone().requires_grad_()
    mine, weights = multi_head(x, mask)
    hidden = None if mask is None else ~mask
    theirs, their_weights = official(x, x, x, attn_mask=hidden, average_attn_weights=False)
    assert torch.allclose(weights, their_weights, rtol=0, atol=1e-6)
    assert largest_difference(mine, theirs, (x,)) < TOLERANCE
    my_gradients = torch.autograd.grad(mine, [layer.weight for layer in own_layers], push)
    their_gradients = torch.autograd.grad(theirs, (official.in_proj_weight, official.out_proj.weight), push)
    for a, b in zip(my_gradients, (*their_gradients[0].chunk(3), their_gradients[1]), strict=True):
        assert (a - b).abs().max() < 10 * TOLERANCE
    print(f"{name}: output and weights of all heads agree")
    print(f"{name}: gradients of all four matrices agree")

maps = {"yours": weights[0, 0], "PyTorch's": their_weights[0, 0]}
compare(maps, tokens, mask=near, title="Head 0 with neighbours only, from your class and from PyTorch's")
plt.show()

# %%
# One map, twice: what one hides is hidden in the other, and what is left agrees.
#
# The gradients of the matrices are sums over all tokens and larger than the rest, so they may differ by ten times as
# much.
#
# You should see
# --------------
#
# Ten sentences that say yes. What you built is what PyTorch computes, forwards and backwards, with and without masks.
#
# Which one to use
# ----------------
#
# * **The official op** in a model that shall be fast: it need not keep the n times n weights, and it has kernels of its own for
#   many processors. It gives no weights: what comes back is one tensor, the output.
# * **nn.MultiheadAttention** where you want layers, masks and padding ready made. Weights on request, averaged over heads unless
#   you say ``average_attn_weights=False``.
# * **Yours** to look inside: weights of every head, each step open to change. And as the test of the other two.
alone = F.scaled_dot_product_attention(query, key, value)
HINT = 'not what this page gives: run the cell under "Seeing something else?" and look for your numbers in it'
assert isinstance(alone, torch.Tensor), HINT
assert alone.shape == (1, n, 64), HINT
_, averaged = official(X, X, X)
_, by_head = multi_head(X)
assert averaged.shape == (1, n, n), HINT
assert torch.allclose(averaged, by_head.mean(dim=1), rtol=0, atol=1e-6), HINT

# %%
# Seeing something else?
# ----------------------
#
# Look for your largest difference between the outputs in this table; each line commits a mistake and prints what it
# gives.
right = F.scaled_dot_product_attention(query, key, value)
right_causal = F.scaled_dot_product_attention(query, key, value, is_causal=True)
upside_down, _ = official(X, X, X, attn_mask=causal)
named = ("no scale", "scale by d_k", "keys as values")
wrong = {name: mistake(name).attend(query, key, value, None)[0] - right for name in named}
wrong |= {
    "causal on one side only": attention(query, key, value)[0] - right_causal,
    "heads of the class against the single head": multi_head(X)[0] - right,
    "inverted mask: the last token may see nothing": upside_down - multi_head(X, causal)[0],
}
for cause, difference in wrong.items():
    print(f"{difference.abs().max():6.4f}  {cause}")
if example:
    assert all(not difference.abs().max() < 0.1 for difference in wrong.values())
    assert upside_down[0, -1].isnan().all()

# %%
# In the bug zoo: :mistake:`no scale`, :mistake:`scale by d_k`, :mistake:`keys as values`, :mistake:`inverted mask`.

# %%
# The full code so far
# --------------------
#
# .. code-block:: python
#
#     import math
#
#     import torch
#     import torch.nn.functional as F
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
#     multi_head = MultiHeadAttention(64, num_heads=4)
#     query, key, value = W_q(X), W_k(X), W_v(X)
#     push = torch.randn(1, n, 64)
#     TOLERANCE = 1e-5
#
#
#     def largest_difference(mine, official, inputs):
#         """Over the outputs, and over the gradients of all inputs."""
#         gradients = [torch.autograd.grad(output, inputs, push, retain_graph=True) for output in (mine, official)]
#         pairs = zip((mine, *gradients[0]), (official, *gradients[1]), strict=True)
#         return max((a - b).abs().max().item() for a, b in pairs)
#
#
#     causal = torch.ones(n, n, dtype=torch.bool).tril()
#     position = torch.arange(n)
#     near = (position[:, None] - position).abs() <= 2
#     cases = {"plain": (None, {}), "causal": (causal, {"is_causal": True}), "masked": (near, {"attn_mask": near})}
#     for name, (mask, options) in cases.items():
#         mine, _ = attention(query, key, value, mask)
#         theirs = F.scaled_dot_product_attention(query, key, value, **options)
#         assert largest_difference(mine, theirs, (query, key, value)) < TOLERANCE
#         print(f"{name}: output and gradients agree within {TOLERANCE}")
#
#     official = nn.MultiheadAttention(64, num_heads=4, bias=False, batch_first=True)
#     with torch.no_grad():
#         stacked = [multi_head.W_q.weight, multi_head.W_k.weight, multi_head.W_v.weight]
#         official.in_proj_weight.copy_(torch.cat(stacked))
#         official.out_proj.weight.copy_(multi_head.W_o.weight)
#     for name, mask in (("plain", None), ("causal", causal), ("masked", near)):
#         x = X.clone().requires_grad_()
#         mine, weights = multi_head(x, mask)
#         hidden = None if mask is None else ~mask
#         theirs, their_weights = official(x, x, x, attn_mask=hidden, average_attn_weights=False)
#         assert torch.allclose(weights, their_weights, rtol=0, atol=1e-6)
#         assert largest_difference(mine, theirs, (x,)) < TOLERANCE
#         print(f"{name}: output and weights of all heads agree")

# %%
# The causal case was waved through: it agreed, and nobody has looked at it. What does a mask do to the map, and what
# is it for? The next step: :doc:`Secret mission: no word sees a later one, so words can follow one another
# <project_6_secret_mission>`.
