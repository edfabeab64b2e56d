"""
Wrap-up: the whole program on one screen, and ten questions
===========================================================

A function of five lines, a class of a dozen, a mask of one. Is that really all of it?
"""

# %%
# What you will do
# ----------------
#
# Read the whole program once without interruption, run it, decide what to keep, and answer ten questions. Each answer is
# computed from the program's own variables.
#
# Predict before you run
# ----------------------
#
# Cover the output and say aloud, for each line that prints, what it will print. The quiz at the end asks the rest.

# %%
# The full code
# -------------
import math
import textwrap

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

from attention_book import CAT, diagnose
from attention_book.heatmaps import compare, head_grid
from attention_book.mistakes import mistake

sentence = "The cat sat on the mat because it was tired"


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
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def split(self, x):
        b, n, d_model = x.shape
        return x.view(b, n, self.num_heads, d_model // self.num_heads).transpose(1, 2)  # (b, h, n, d)

    def forward(self, x, mask=None):
        query, key, value = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        heads, weights = attention(query, key, value, mask)  # (b, h, n, d), (b, h, n, n)
        return self.W_o(heads.transpose(1, 2).reshape(x.shape)), weights


tokens = sentence.split()
n = len(tokens)
torch.manual_seed(42)
X = torch.randn(1, n, 64)
W_q, W_k, W_v = (nn.Linear(64, 64, bias=False) for _ in range(3))
multi_head = MultiHeadAttention(64, num_heads=4)
causal = torch.ones(n, n, dtype=torch.bool).tril()

query, key, value = W_q(X), W_k(X), W_v(X)
scores = query @ key.mT
unscaled = scores.softmax(dim=-1)
output, weights = attention(query, key, value)
mixed, by_head = multi_head(X)
_, causal_by_head = multi_head(X, causal)
apart = (F.scaled_dot_product_attention(query, key, value) - output).abs().max().item()

print(f"scores from {scores.min():.4f} to {scores.max():.4f}")
print(f"largest weight unscaled {unscaled.max():.4f}, scaled {weights.max():.4f}")
print("shapes", tuple(output.shape), tuple(by_head.shape))
print("agrees with PyTorch:", apart < 1e-6)
compare({"unscaled": unscaled[0], "scaled": weights[0]}, tokens, title="Weights without and with scaling")
head_grid(causal_by_head[0], tokens, mask=causal, title="Four untrained heads that cannot read ahead")
plt.show()

# %%
# The class draws its four layers in one line now; the order is the same, and so are the numbers.
#
# You should see
# --------------
#
# Scores from -6.0884 to 6.1142; a largest weight of 0.9646 without scaling and 0.1904 with it; the shapes (1, 10, 64) and
# (1, 4, 10, 10); and a yes from PyTorch.
cat, it = (tokens.index(word) if word in tokens else 0 for word in ("cat", "it"))
entropy = torch.special.entr(by_head[0]).sum(dim=-1).mean(dim=-1)  # (h,), in nats
assert apart < 1e-6
assert torch.equal(causal_by_head[0] > 0, causal.expand(4, n, n))
if tokens == list(CAT.tokens):
    assert abs(scores.min() - -6.0884) < 1e-4
    assert abs(scores.max() - 6.1142) < 1e-4
    assert abs(unscaled.max() - 0.9646) < 1e-4
    assert abs(weights.max() - 0.1904) < 1e-4
    assert abs(unscaled[0, cat].max() - 0.6983) < 1e-4
    assert abs(weights[0, cat].max() - 0.1569) < 1e-4
    assert output.shape == (1, 10, 64)
    assert by_head.shape == (1, 4, 10, 10)
    assert torch.allclose(mixed[0, 0, :4], torch.tensor([-0.1961, -0.0083, -0.1770, 0.1869]), rtol=0, atol=1e-4)
    assert torch.allclose(entropy, torch.tensor([2.2597, 2.2490, 2.2691, 2.2563]), rtol=0, atol=1e-4)

# %%
# Seeing something else?
# ----------------------
#
# Each number here was met on an earlier page, and that page has the table of what goes wrong with it: the scores in step
# 2, the weights in step 3, the heads in step 4, PyTorch in step 5, the triangle in the secret mission. The commonest of
# all, with their entries in the bug zoo, :mistake:`no scale` and :mistake:`scale by d_k`:
print(f"{(0 * scores).softmax(dim=-1).max():.4f}  the scores are all zero")
for name in ("no scale", "scale by d_k"):
    print(f"{mistake(name).attend(query, key, value, None)[1].max():.4f}  {name}")

# %%
# Or let ``diagnose`` find it: it runs a function or a module on hidden inputs and names the mistake that gives its numbers.
# Here it is asked about the function above, and then about one without the scale.
print(textwrap.fill(str(diagnose(attention)), 44))
print(textwrap.fill(str(diagnose(lambda query, key, value: (query @ key.mT).softmax(dim=-1) @ value)), 44))
assert diagnose(attention).ok
assert diagnose(multi_head).ok

# %%
# So the function is right, with one remark: a query that may look at nothing, as in a batch where one text is all padding.
# In this project every token sees itself, so there is none.

# %%
# What to keep, what to delete
# ----------------------------
#
# * **Keep** ``attention`` and ``MultiHeadAttention``: they are right, and with a mask they serve a model that writes.
# * **Keep the comparison of step 5** as a test. It is the one thing that tells you when a change has broken them.
# * **Delete** the tables of mistakes, the prints and the maps, once they have done their work.
# * **Replace** ``torch.randn`` by ``nn.Embedding`` and add positions: random rows know no words and no order.
# * **Replace** the inside of ``attention`` by ``F.scaled_dot_product_attention`` where speed counts and nobody looks at the
#   weights.
# * **Train it.** Until then, a map shows how the machine works, and nothing about the sentence.

# %%
# Ten questions
# -------------
#
# .. quiz::
#
#    .. predict:: Which two are multiplied to give the scores?
#       :choices: query and key | query and value | key and value
#       :answer: [torch.equal(scores, a @ b.mT) for a, b in ((query, key), (query, value), (key, value))].index(True)
#
#       The value takes no part in the choice: it is what is handed over once the choice is made.
#
#    .. predict:: What is the sum of each row of weights?
#       :answer: weights[0, 0].sum().item()
#       :tolerance: 0.001
#
#       Softmax divides by the sum of the row, so that the output is an average. Columns may sum to anything.
#
#    .. predict:: By what are scores of queries with 64 numbers divided?
#       :answer: math.sqrt(query.shape[-1])
#       :tolerance: 0
#
#       By the root of the width. A sum of 64 products spreads 8 times as wide as one product, not 64 times.
#
#    .. predict:: The largest weight of "cat" is 0.698 without scaling. With it?
#       :choices: 0.698 as before | 0.157 | 0.087
#       :answer: [0.698, 0.157, 0.087].index(round(weights[0, cat].max().item(), 3))
#
#       The scores are divided, not the weights: an eighth of 0.698 would be 0.087, less than an equal share of 0.1.
#
#    .. predict:: How wide is one head, when 64 numbers are cut into four heads?
#       :answer: multi_head.split(X).shape[-1]
#       :tolerance: 0
#
#       64 divided by four. Each head therefore divides its scores by 4, the root of its own 16.
#
#    .. predict:: Do four random heads specialise?
#       :choices: yes, each finds its own kind of word | no, all of them stay close to even
#       :answer: int(entropy.min() > 0.97 * math.log(n))
#
#       They differ, because they were drawn differently. Their entropies are all above 97 percent of the largest possible.
#
#    .. predict:: In the causal map of ten tokens, how many keys has the query "it", the eighth token?
#       :answer: (causal_by_head[0, 0, it] > 0).sum().item()
#       :tolerance: 0
#
#       Itself and the seven earlier ones.
#
#    .. predict:: What must stand in the place of a hidden score before softmax?
#       :choices: 0 | minus infinity | a very small positive number
#       :answer: [torch.tensor([1.0, hidden]).softmax(dim=0)[1].item() == 0 for hidden in (0.0, -math.inf, 1e-9)].index(True)
#
#       The exponential of 0 is 1, and a hidden key would keep a good share. Only minus infinity gives exactly 0.
#
#    .. predict:: Your output and PyTorch's differ by 1e-7. What is that?
#       :choices: a mistake in the scaling | rounding: the sums are added in another order | a mistake in the mask
#       :answer: int(0 <= apart < 1e-6)
#
#       Each mistake in the table of step 5 moves the output by more than a tenth. Numbers of 32 bits carry about seven digits.
#
#    .. predict:: What does F.scaled_dot_product_attention not give you?
#       :choices: the output | the gradients | the weights
#       :answer: 2 if isinstance(F.scaled_dot_product_attention(query, key, value), torch.Tensor) else 0
#
#       It returns one tensor, the output, and gradients flow through it. The weights are never handed out.

# %%
# That is all of it: a comparison, a softmax, an average, several times over. Put your own sentence in the one line,
# and run the program again, or type it :lab:`into the lab <example=text&attention=MultiHeadAttention>`. And if your
# own code runs, and its numbers are others? :doc:`The bug zoo </zoo>` knows sixteen ways to go wrong.
