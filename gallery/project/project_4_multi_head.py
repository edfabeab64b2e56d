"""
Step 4. Four heads look at once, and untrained heads do not specialise
======================================================================

A word may look at others for more than one reason. Can it do so in several ways at once, and does each head find its own?
"""

# %%
# What you will do
# ----------------
#
# Build multi-head attention as a class: project once, cut the 64 numbers into four heads of 16, let your function attend
# in each, join the heads and mix them. Then see all four maps side by side, and measure whether any head has a
# speciality.

# %%
# Predict before you run
# ----------------------
#
# .. predict:: Ten equal weights have an entropy of 2.303 nats, a single key 0. Where is the mean of the first random head?
#    :choices: below 1 | between 1 and 2 | above 2
#    :answer: 0 if entropy[0] < 1 else 1 if entropy[0] < 2 else 2
#
#    All four heads lie between 2.24 and 2.27, close to even. Nothing told any of them what to look for.
#
# .. predict:: How many weights do the four maps hold together?
#    :answer: weights.numel()
#    :tolerance: 0
#
#    Four heads, ten queries, ten keys each. The heads are narrower, their maps are not smaller.

# %%
# What steps 1 to 3 left
# ----------------------
import math

import matplotlib.pyplot as plt
import torch
from torch import nn

from attention_book import CAT
from attention_book.heatmaps import head_grid
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


# %%
# The layers of the single head are not used on this page. They are drawn all the same, so that the generator stands where
# it stood, and the layers of the class get the numbers of this page.
#
# The class
# ---------
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
output, weights = multi_head(X)

# %%
# What its lines do
# -----------------
#
# ``__init__`` owns four matrices, the fourth to mix what the heads bring back. ``split`` cuts each row of 64 numbers into
# four pieces of 16 (``view``), then moves the heads in front of the tokens (``transpose``), so that your function,
# unchanged, treats each head as if it were alone. ``forward`` joins the pieces the other way round: back behind the
# tokens, then flat. Watch the shapes:
projected = multi_head.W_q(X)
cut = multi_head.split(projected)
print("projected ", tuple(projected.shape))
print("split     ", tuple(cut.shape))
print("weights   ", tuple(weights.shape))
print("output    ", tuple(output.shape))

# %%
# Nothing is computed by a split: head 0 has the first 16 numbers of each row, head 1 the next 16. And each divides its
# scores by the root of 16, its own width, and not by the root of 64.
for head in range(4):
    assert torch.equal(cut[0, head], projected[0, :, 16 * head : 16 * (head + 1)])

# %%
# Four maps
# ---------
head_grid(weights[0], tokens, title="Four untrained heads on one sentence")
plt.show()

# %%
# Heads are counted from 0, as torch does. Four different maps: the heads were drawn differently. Is that a speciality? A
# head that has one puts much weight on few keys, and its entropy is low.
entropy = torch.special.entr(weights[0]).sum(dim=-1).mean(dim=-1)  # (h,), in nats
for head in range(4):
    extremes = f"weights {weights[0, head].min():.4f} to {weights[0, head].max():.4f}"
    print(f"head {head}: {extremes}, mean entropy {entropy[head]:.4f}")
print(f"equal weights: {1 / n:.4f}, entropy {math.log(n):.4f}")

# %%
# Now the row of one word, which in the example is "it". A reader knows that "it" is the cat.
print(f'the row of "{tokens[it]}" in each head')
for j, token in enumerate(tokens):
    print(*(f"{weights[0, head, it, j]:.4f}" for head in range(4)), token)
print("output begins", *(f"{number:.4f}" for number in output[0, 0, :4]))

# %%
# You should see
# --------------
#
# Mean entropies of 2.2597, 2.2490, 2.2691 and 2.2563 nats, where 2.3026 is perfectly even. Random heads do not
# specialise. The largest weight in all four maps is 0.3091. "it" gives "cat" 0.0580 in head 0, less than an equal share,
# and more to "mat", 0.1022; in head 3 it is the other way round, by a little. None of it means anything: X holds random
# numbers, and no head has ever seen a sentence.
HINT = 'not what this page gives: run the cell under "Seeing something else?" and look for your numbers in it'
assert torch.allclose(weights.sum(dim=-1), torch.ones(1, 4, n)), HINT
if example:
    assert weights.shape == (1, 4, 10, 10), HINT
    heads = [  # largest weight, smallest weight, mean entropy, from "it" to "cat", from "it" to "mat"
        [0.2830, 0.0318, 2.2597, 0.0580, 0.1022],
        [0.3091, 0.0418, 2.2490, 0.1092, 0.1195],
        [0.1787, 0.0430, 2.2691, 0.0996, 0.1241],
        [0.1949, 0.0349, 2.2563, 0.0972, 0.0910],
    ]
    rows = [
        [0.0318, 0.0580, 0.0945, 0.0793, 0.0411, 0.1022, 0.1261, 0.0875, 0.2830, 0.0966],
        [0.0823, 0.1092, 0.1217, 0.1423, 0.0644, 0.1195, 0.1042, 0.0437, 0.1105, 0.1022],
        [0.1577, 0.0996, 0.0846, 0.0945, 0.0804, 0.1241, 0.0938, 0.0538, 0.1026, 0.1088],
        [0.0944, 0.0972, 0.1949, 0.0848, 0.0553, 0.0910, 0.0719, 0.0931, 0.0864, 0.1310],
    ]
    for head, numbers in enumerate(heads):
        attended = weights[0, head]
        found = torch.stack([attended.max(), attended.min(), entropy[head], attended[it, 1], attended[it, 5]])
        assert torch.allclose(found, torch.tensor(numbers), rtol=0, atol=1e-4), HINT
    assert torch.allclose(weights[0, :, it], torch.tensor(rows), rtol=0, atol=1e-4), HINT
    assert torch.allclose(output[0, 0, :4], torch.tensor([-0.1961, -0.0083, -0.1770, 0.1869]), rtol=0, atol=1e-4), HINT
    assert 2.24 < entropy.min() < entropy.max() < 2.27, HINT

# %%
# What would make them specialise
# -------------------------------
#
# Training: an aim, and a gradient that moves the matrices towards it. Here is the smallest aim there is, given to a copy
# of the module: in head 0 the watched word shall look at the second word. Thirty steps are enough. A language model gets
# no such order; it is asked for the next word, and a head becomes whatever helped with that.
pupil = MultiHeadAttention(64, num_heads=4)
pupil.load_state_dict(multi_head.state_dict())
dials = (pupil.W_q.weight, pupil.W_k.weight)
target = min(1, n - 1)
for _ in range(30):
    _, taught = pupil(X)
    slopes = torch.autograd.grad(-taught[0, 0, it, target].log(), dials)
    with torch.no_grad():
        for dial, slope in zip(dials, slopes, strict=True):
            dial -= 0.1 * slope
_, taught = pupil(X)
assert taught[0, 0, it, target] > 0.99, HINT
print(f'head 0, "{tokens[it]}" to "{tokens[target]}": {weights[0, 0, it, target]:.4f}, and after 30 steps above 0.99')

# %%
# Seeing something else?
# ----------------------
#
# The first line is yours: the largest weight in the row of "it" in head 0, and the first number of the output. Which line
# has the same two? The second is right, each of the others commits a mistake.
projected = [layer(X) for layer in (multi_head.W_q, multi_head.W_k, multi_head.W_v)]
named = ("scale by d_model", "no scale", "split by view", "averaged weights", "merge without transpose", "no output projection")
lines = {"yours": (output, weights), "right": RIGHT.multi_head(*projected, 4, multi_head.W_o, None)}
lines |= {name: mistake(name).multi_head(*projected, 4, multi_head.W_o, None) for name in named}
torch.manual_seed(42)
torch.randn(1, n, 64)
lines["the three layers of step 2 were not drawn first"] = MultiHeadAttention(64, num_heads=4)(X)
print("weight   output")
for cause, (seen, maps) in lines.items():
    print(f"{maps.reshape(-1, n, n)[0, it].max():.4f}  {seen[0, 0, 0]:7.4f}  {cause}")

# %%
# All but the last have an entry in the bug zoo: :mistake:`scale by d_model`, :mistake:`no scale`, :mistake:`split by view`,
# :mistake:`averaged weights`, and two that leave the weights as they are, :mistake:`merge without transpose` and
# :mistake:`no output projection`.
if example:
    pairs = {(f"{maps.reshape(-1, n, n)[0, it].max():.4f}", f"{seen[0, 0, 0]:.4f}") for seen, maps in lines.values()}
    assert len(pairs) == len(lines) - 1 == 8  # yours is right
    assert all(torch.equal(lines[name][1], weights) for name in named[-2:])

# %%
# An error that begins "view size is not compatible" means ``view`` after ``transpose``: the numbers no longer lie in that
# order, and ``reshape`` is allowed to copy them.
heads = cut.contiguous()  # (b, h, n, d), as attention returns them
try:
    heads.transpose(1, 2).view(X.shape)
    message = ""  # a single token has only one order
except RuntimeError as error:
    message = str(error)
print(message[:27])
if example:
    assert message.startswith("view size is not compatible")

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
#     multi_head = MultiHeadAttention(64, num_heads=4)
#     output, weights = multi_head(X)
#     print("weights   ", tuple(weights.shape))
#     print("output    ", tuple(output.shape))
#     print("output begins", *(f"{number:.4f}" for number in output[0, 0, :4]))
#     head_grid(weights[0], tokens, title="Four untrained heads on one sentence")
#     plt.show()

# %%
# The heads of your own sentence, side by side: :lab:`in the lab <example=text&attention=MultiHeadAttention>`.
#
# Everything so far was checked against this page, and the page might be wrong. Does PyTorch agree? The next step:
# :doc:`Step 5. Validate: PyTorch's own attention gives your output and your gradients <project_5_validate>`.
