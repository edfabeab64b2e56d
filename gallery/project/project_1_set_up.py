"""
Step 1. Set up: a sentence becomes rows of 64 numbers
=====================================================

Attention is arithmetic, and a sentence holds no numbers. What does attention compute with?
"""

# %%
# What you will do
# ----------------
#
# Cut a sentence into tokens, draw 64 numbers for each, and look at them. The numbers are random here and in all seven
# steps: nothing is trained. You build the machine first, exact to the last digit shown; what it could learn is a second
# question.

# %%
# Predict before you run
# ----------------------
#
# .. predict:: The sentence has ten words, each gets 64 numbers. How many numbers does X hold?
#    :answer: X.numel()
#    :tolerance: 0
#
#    One sentence times ten tokens times 64 numbers.
#
# .. predict:: "The" opens the sentence and "the" stands before "mat". Do they get the same 64 numbers?
#    :choices: yes, it is the same word | no
#    :answer: 0 if torch.equal(X[0, 0], X[0, 4]) else 1
#
#    Each position gets a draw of its own here. A trained model looks its numbers up in a table, one row for each token of
#    its vocabulary, and "The" and "the" are often two different tokens there as well.

# %%
# Imports and versions
# --------------------
#
# ``torch`` computes and ``matplotlib`` draws. From this book come only the heatmaps and the example to compare with: all
# of the attention will be yours.
import matplotlib
import matplotlib.pyplot as plt
import torch

from attention_book import CAT
from attention_book.heatmaps import heatmap

sentence = "The cat sat on the mat because it was tired"

print("torch", torch.__version__.split("+")[0])
print("matplotlib", matplotlib.__version__)

# %%
# The line ``sentence = ...`` is the only one to change for a sentence of your own. The part of torch's version after a
# "+" names the build for your processor, and does not matter here.

# %%
# Tokens
# ------
tokens = sentence.split()
n = len(tokens)
assert 1 <= n <= 40, f"the sentence has {n} tokens; give 1 to 40"
print(n, "tokens:", tokens)

# %%
# ``split()`` cuts at white space. Real models cut words into smaller pieces, but attention does not care: it sees rows.

# %%
# Embeddings
# ----------
torch.manual_seed(42)
X = torch.randn(1, n, 64)  # (1, n, 64)
print(tuple(X.shape))
print(X[0, 0, :4])

# %%
# ``manual_seed`` sets the random generator to a known start, so that your numbers are this page's numbers. ``randn``
# draws from the normal distribution: mean 0, spread 1. The shape says one sentence, n tokens, 64 numbers each; the first
# axis is there because models read many sentences at a time.
columns = [str(number) for number in range(64)]
title = "X: one row of 64 numbers for each token"
figure = heatmap(X[0], tokens, key_tokens=columns, limits=None, title=title)
figure.axes[0].set(xlabel="number", ylabel="token")
plt.show()

# %%
# You should see
# --------------
#
# Noise. Ten tokens, the shape (1, 10, 64), and a first row that begins with 1.9269, 1.4873,
# 0.9007, -2.1055.
HINT = 'not what this page gives: run the cell under "Seeing something else?" and look for your numbers in it'
assert X.shape == (1, n, 64), HINT
if tokens == list(CAT.tokens):
    assert X.shape == (1, 10, 64), HINT
    assert torch.allclose(X[0, 0, :4], torch.tensor([1.9269, 1.4873, 0.9007, -2.1055]), atol=1e-4), HINT
    assert torch.equal(X[0], CAT.embeddings), HINT

# %%
# Seeing something else?
# ----------------------
#
# Look for your first number in this table; each line commits a mistake and prints what it gives.
mistakes = {}
torch.manual_seed(42)
mistakes["rand (uniform, 0 to 1) in place of randn"] = torch.rand(1, n, 64)
torch.manual_seed(0)
mistakes["manual_seed(0) in place of 42"] = torch.randn(1, n, 64)
torch.manual_seed(42)
torch.randn(1, n, 64)
mistakes["the cell ran twice, but manual_seed only once"] = torch.randn(1, n, 64)
for cause, wrong in mistakes.items():
    print(f"{wrong[0, 0, 0]:7.4f}  {cause}")
if tokens == list(CAT.tokens):
    assert all(abs(wrong[0, 0, 0] - X[0, 0, 0]) > 1 for wrong in mistakes.values())

# %%
# Other numbers at each run: ``manual_seed`` is missing, or comes after ``randn``. A shape of (1, 1, 64): the sentence was
# not split, or its words are joined by something other than white space.

# %%
# The full code so far
# --------------------
#
# .. code-block:: python
#
#     import matplotlib.pyplot as plt
#     import torch
#     from attention_book.heatmaps import heatmap
#
#     sentence = "The cat sat on the mat because it was tired"
#
#     tokens = sentence.split()
#     n = len(tokens)
#     print(n, "tokens:", tokens)
#
#     torch.manual_seed(42)
#     X = torch.randn(1, n, 64)
#     print(tuple(X.shape))
#     print(X[0, 0, :4])
#
#     columns = [str(number) for number in range(64)]
#     title = "X: one row of 64 numbers for each token"
#     figure = heatmap(X[0], tokens, key_tokens=columns, limits=None, title=title)
#     figure.axes[0].set(xlabel="number", ylabel="token")
#     plt.show()

# %%
# Every word is now a row of numbers, and no row knows of any other. How does a word find out which others matter to
# it? The next step: :doc:`Step 2. Query, key, value: every word scores every word <project_2_query_key_value>`.
